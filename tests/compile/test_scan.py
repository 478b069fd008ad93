"""Scan kernels: a compiled time loop against SciPy, against the fallback, and its order of convergence."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from dynid.compile.scan import ScanKernel, compile_scan, describe_step
from dynid.compile.trace import Kernel
from dynid.core.errors import DynidError, ShapeError
from dynid.dynamics.direct import direct_dynamics
from dynid.dynamics.operations import NUMERIC, symbolic
from dynid.model.load import load_robot
from dynid.model.robot import Robot

KP, KD = 2.0, 0.2


def pendulum() -> Robot:
    return load_robot("double_pendulum").with_terms("Fv")


def closed_loop(robot: Robot) -> Kernel:
    """PD control of a robot: states (q, q̇), inputs (q_r, q̇_r), records (q, τ)."""
    n = robot.n_coordinates

    def body(s: dict) -> list:  # type: ignore[type-arg]
        q, qd, ref = s["x"][:n], s["x"][n:], s["u"]
        tau = [KP * (ref[i] - q[i]) + KD * (ref[n + i] - qd[i]) for i in range(n)]
        return [*qd, *direct_dynamics(robot, s["p"], q, qd, tau, symbolic()), *q, *tau]

    return describe_step(
        "pd_loop", f"{robot.digest} {KP} {KD}", (2 * n, 2 * n, len(robot.table), 2 * n), body
    )


def reference(steps: int) -> np.ndarray:
    phase = np.arange(steps)[:, None] * 0.01 + np.array([0.0, 1.0])
    return np.hstack([np.sin(phase), np.cos(phase)])


X0 = np.array([0.3, -0.2, 0.0, 0.5])


def test_the_loop_equals_an_independent_integrator() -> None:
    robot = pendulum()
    p = robot.table.vector(robot.parameters)
    held = np.array([[0.4, -0.7, 0.0, 0.0]] * 50)
    records, final = compile_scan(closed_loop(robot))(X0, held, p, step=0.01, substeps=8)

    def rate(_: float, x: np.ndarray) -> np.ndarray:
        tau = KP * (held[0, :2] - x[:2]) - KD * x[2:]
        return np.concatenate(
            [x[2:], direct_dynamics(robot, list(p), list(x[:2]), list(x[2:]), list(tau), NUMERIC)]
        )

    truth = solve_ivp(
        rate, (0.0, 0.5), X0, method="DOP853", rtol=1e-12, atol=1e-12, t_eval=np.arange(51) * 0.01
    )
    assert np.abs(final[0] - truth.y[:, -1]).max() < 1e-8
    assert np.abs(records[0, :, :2] - truth.y[:2, :50].T).max() < 1e-8


def test_the_error_falls_with_the_fourth_power_of_the_step() -> None:
    robot = pendulum()
    p = robot.table.vector(robot.parameters)
    scan = compile_scan(closed_loop(robot))
    ends = {s: scan(X0, reference(30), p, 0.01, s)[1][0] for s in (2, 4, 8, 128)}
    errors = [np.abs(ends[s] - ends[128]).max() for s in (2, 4, 8)]
    slopes = np.log2(np.array(errors[:-1]) / errors[1:])
    assert np.all((slopes > 3.7) & (slopes < 4.4)), slopes


@pytest.mark.parametrize("lanes", [1, 4])
def test_lanes_are_separate_simulations_and_equal_the_fallback(lanes: int) -> None:
    robot = pendulum()
    rng = np.random.default_rng(0)
    p = robot.table.vector(robot.parameters) * rng.uniform(0.8, 1.2, (lanes, len(robot.table)))
    x0 = X0 + 0.1 * rng.normal(size=(lanes, 4))
    u = reference(40) + 0.1 * rng.normal(size=(lanes, 40, 4))
    kernel = closed_loop(robot)
    fast = compile_scan(kernel, lanes=lanes, backend="llvm")
    slow = compile_scan(kernel, lanes=lanes, backend="casadi")
    records, final = fast(x0, u, p, 0.01, 3)
    again, end = slow(x0, u, p, 0.01, 3)
    assert records.shape == (lanes, 40, 4)
    assert np.allclose(records, again, rtol=1e-11, atol=1e-11)
    assert np.allclose(final, end, rtol=1e-11, atol=1e-11)
    single = compile_scan(kernel)
    for lane in range(lanes):
        alone, last = single(x0[lane], u[lane], p[lane], 0.01, 3)
        assert np.allclose(records[lane], alone[0], rtol=1e-12, atol=1e-12)
        assert np.allclose(final[lane], last[0], rtol=1e-12, atol=1e-12)


def oscillator(backend: str = "auto") -> ScanKernel:
    """A discrete rotation with a record and an output that is zero by structure."""

    def body(s: dict) -> list:  # type: ignore[type-arg]
        (a, b), (c, d) = s["x"], s["p"]
        return [c * a - d * b + s["u"][0], d * a + c * b, a * a + b * b, 0.0]

    return compile_scan(describe_step("turn", "test", (2, 1, 2, 2), body), integrator="map", backend=backend)


@pytest.mark.parametrize("backend", ["llvm", "casadi"])
def test_a_map_gives_its_own_next_state(backend: str) -> None:
    angle = 0.1
    records, final = oscillator(backend)([1.0, 0.0], np.zeros((100, 1)), [np.cos(angle), np.sin(angle)])
    assert np.allclose(final[0], [np.cos(10.0), np.sin(10.0)], atol=1e-13)
    assert np.allclose(records[0, :, 0], 1.0)
    assert not records[0, :, 1].any()


def test_the_callers_arrays_are_left_alone() -> None:
    x0, u, p = np.array([1.0, 0.0]), np.zeros((5, 1)), np.array([0.0, 1.0])
    oscillator()(x0, u, p)
    assert x0.tolist() == [1.0, 0.0]


def test_bad_arguments_are_told_in_a_sentence() -> None:
    scan = oscillator()
    with pytest.raises(ShapeError, match=r"x has shape \(3,\); expected \(2,\) or \(1, 2\)"):
        scan(np.zeros(3), np.zeros((5, 1)), np.zeros(2))
    with pytest.raises(ShapeError, match=r"inputs have shape \(5, 2\); expected \(steps, 1\)"):
        scan(np.zeros(2), np.zeros((5, 2)), np.zeros(2))
    with pytest.raises(ShapeError, match="in 0 substeps cannot be taken"):
        scan(np.zeros(2), np.zeros((5, 1)), np.zeros(2), 0.1, 0)
    with pytest.raises(DynidError, match="lanes is 3; allowed are"):
        compile_scan(scan.kernel, lanes=3)
    with pytest.raises(DynidError, match=r"Unknown integrator 'rk5'\. Did you mean 'rk4'"):
        compile_scan(scan.kernel, integrator="rk5")
    with pytest.raises(DynidError, match="has no state"):
        describe_step("none", "", (0, 1, 1, 1), lambda s: [])


def test_a_body_with_too_few_or_many_values_is_told() -> None:
    for count in (3, 9):
        kernel = describe_step("short", "test", (4, 2, 3, 4), lambda s, count=count: [1.0] * count)  # type: ignore[misc]
        with pytest.raises(DynidError, match=rf"gives {count} values; its outputs \(dx: 4, y: 4\) need 8"):
            compile_scan(kernel)


def test_an_edited_body_is_another_program() -> None:
    def doubled(factor: float) -> Kernel:
        return describe_step("edit", "same key", (1, 1, 1, 0), lambda s: [factor * s["x"][0]])

    def halved() -> Kernel:
        return describe_step("edit", "same key", (1, 1, 1, 0), lambda s: [s["x"][0] / 2.0])

    keys = {doubled(2.0).key, doubled(3.0).key, halved().key}
    assert len(keys) == 3
    assert doubled(2.0).key in keys
    ends = [
        compile_scan(k, integrator="map")([1.0], [[0.0]], [0.0])[1][0, 0] for k in (doubled(2.0), halved())
    ]
    assert ends == [2.0, 0.5]
