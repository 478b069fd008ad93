"""Batch kernels: machine code equals CasADi's evaluator for every kernel, size and layout."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from dynid.compile import jit
from dynid.compile.arrays import allocate
from dynid.compile.batch import compile_batch
from dynid.compile.ir_batch import TILE
from dynid.compile.kernels import kernels
from dynid.compile.program import Port
from dynid.compile.trace import KERNELS, Kernel, describe
from dynid.core.errors import DynidError, ShapeError
from dynid.model.friction import FUNCTIONS, FrictionTerm
from dynid.model.load import load_robot
from dynid.model.robot import Robot

SIZES = (1, 3, 4, TILE - 1, TILE, TILE + 1, 5 * TILE + 7)


def physical_vector(robot: Robot, rng: np.random.Generator) -> np.ndarray:
    """Parameters with a positive definite inertia matrix."""
    heavy = {"XX": 3.0, "YY": 3.0, "ZZ": 3.0, "M": 3.0, "Ia": 1.0}
    return np.array([heavy.get(e.symbol, 0.0) + 0.1 * rng.normal() for e in robot.table])


def inputs_for(robot: Robot, kernel: Kernel, samples: int, rng: np.random.Generator) -> list[np.ndarray]:
    given_ = []
    for port in kernel.inputs:
        if port.uniform:
            given_.append(physical_vector(robot, rng))
        elif port.columns:
            given_.append(rng.normal(size=(port.width, samples)))
        else:
            given_.append(rng.normal(size=(samples, port.width)))
    return given_


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("robot_name", ["iiwa14", "tx40_log", "haptic", "emps"])
def test_machine_code_equals_the_fallback(name: str, robot_name: str) -> None:
    robot = load_robot(robot_name)
    rng = np.random.default_rng(1)
    kernel = describe(robot, name)
    fast, slow = compile_batch(kernel, "llvm"), compile_batch(kernel, "casadi")
    assert (fast.backend, slow.backend) == ("llvm", "casadi")
    assert fast.rows == slow.rows
    given_ = inputs_for(robot, kernel, 2 * TILE + 3, rng)
    a, b = fast(*given_), slow(*given_)
    assert np.abs(a - b).max() <= 1e-12 * np.abs(b).max()
    assert bool(fast.rows) == bool(np.abs(b).max() > 0)


@pytest.mark.parametrize("samples", SIZES)
def test_every_size_and_thread_count_gives_the_same(samples: int) -> None:
    robot = load_robot("tx40")
    rng = np.random.default_rng(2)
    kernel = compile_batch(describe(robot, "regressor"))
    q, qd, qdd = rng.normal(size=(3, samples, 6))
    whole = kernel(q, qd, qdd)
    assert whole.shape == (6 * len(robot.table), samples)
    assert np.array_equal(whole, kernel(q, qd, qdd, threads=2))
    one_by_one = np.hstack(
        [kernel(q[i : i + 1], qd[i : i + 1], qdd[i : i + 1]) for i in range(0, samples, 37)]
    )
    assert np.array_equal(whole[:, ::37], one_by_one)


def test_an_empty_log_gives_an_empty_regressor() -> None:
    robot = load_robot("scara")
    W = kernels(robot).regressor(*np.zeros((3, 0, 2)))
    assert W.shape == (0, 2, len(robot.table))


def test_streaming_stores_give_the_same_and_spare_structural_zeros() -> None:
    robot = load_robot("iiwa14")
    rng = np.random.default_rng(3)
    samples = 6 * TILE + 40  # 637 rows × 568 × 8 bytes pass the streaming threshold only when repeated
    q, qd, qdd = np.tile(rng.normal(size=(3, samples, 7)), (1, 5, 1))
    kernel = compile_batch(describe(robot, "regressor"))
    big = allocate(kernel.n_outputs, 5 * samples)
    big[:] = np.nan
    kernel(q, qd, qdd, out=big)
    small = kernel(q[:samples], qd[:samples], qdd[:samples])
    assert big.nbytes > 8_000_000
    rows = list(kernel.rows)
    for repeat in range(5):
        assert np.array_equal(big[rows, repeat * samples : (repeat + 1) * samples], small[rows])
    zero_rows = sorted(set(range(kernel.n_outputs)) - set(rows))
    assert np.isnan(big[zero_rows]).all()
    assert not small[zero_rows].any()


@pytest.mark.parametrize("backend", ["llvm", "casadi"])
@pytest.mark.parametrize("samples", [0, 7, TILE, 2 * TILE, 5 * TILE + 3])
def test_blocks_hold_the_nonzero_outputs(backend: str, samples: int) -> None:
    kernel = compile_batch(describe(load_robot("iiwa14"), "regressor"), backend)
    states = np.random.default_rng(4).normal(size=(3, samples, 7))
    found, seen = [], 0
    for first, count, buffer in kernel.blocks(*states, tiles=2):
        assert first == seen
        seen += count
        found.append(np.concatenate(buffer, axis=1)[:, :count].copy())
        buffer[:] = np.nan
    assert seen == samples
    if samples:
        assert np.array_equal(np.hstack(found), kernel(*states)[list(kernel.rows)])


def test_blocks_move_along_ports_of_every_layout() -> None:
    kernel = compile_batch(describe(load_robot("scara"), "regressor_adjoint"))
    rng = np.random.default_rng(5)
    given_ = [*rng.normal(size=(3, 3 * TILE + 1, 2)), rng.normal(size=(48, 3 * TILE + 1))]
    found = np.hstack(
        [np.concatenate(b, axis=1)[:, :count] for _, count, b in kernel.blocks(*given_, tiles=1)]
    )
    assert np.array_equal(found, kernel(*given_)[list(kernel.rows)])


def test_a_block_of_no_tiles_is_told() -> None:
    kernel = compile_batch(describe(load_robot("scara"), "regressor"))
    with pytest.raises(ShapeError, match="A block of 0 tiles holds nothing"):
        next(kernel.blocks(*np.zeros((3, 5, 2)), tiles=0))


def test_selected_columns_are_the_same_columns() -> None:
    robot = load_robot("tx90")
    rng = np.random.default_rng(5)
    q, qd, qdd = rng.normal(size=(3, 50, 6))
    chosen = tuple(rng.permutation(len(robot.table))[:20])
    everything = kernels(robot).regressor(q, qd, qdd)
    some = kernels(robot, chosen).regressor(q, qd, qdd)
    assert np.allclose(some, everything[:, :, list(chosen)], rtol=1e-13, atol=1e-13)


@pytest.mark.parametrize("robot_name", ["iiwa14", "tx40_log", "haptic"])
def test_adjoint_contracts_the_derivative_of_the_regressor(robot_name: str) -> None:
    robot = load_robot(robot_name)
    smooth = [t for t in robot.terms if t not in ("Fc", "Fcm")]  # a sign has no derivative to compare with
    robot = robot.with_terms(*smooth)
    rng = np.random.default_rng(6)
    n, p, samples = robot.n_coordinates, len(robot.table), 40
    K = kernels(robot)
    states = rng.normal(size=(3, samples, n))
    seed = rng.normal(size=(n, p, samples))
    gradient = K.regressor_adjoint(*states, seed)
    direction = rng.normal(size=states.shape)

    def contracted(step: float) -> np.ndarray:
        return np.einsum("jcs,jcs->s", seed, K.regressor_blocks(*(states + step * direction)))

    h = 1e-3  # Richardson: error O(h^4) of the central difference cancels
    central = [(contracted(s) - contracted(-s)) / (2 * s) for s in (h, h / 2)]
    expected = (4 * central[1] - central[0]) / 3
    found = sum((g * d).sum(axis=1) for g, d in zip(gradient, direction, strict=True))
    assert np.abs(found - expected).max() < 1e-8 * np.abs(expected).max()


def test_adjoint_refuses_a_seed_of_another_shape() -> None:
    K = kernels(load_robot("scara"))
    with pytest.raises(ShapeError, match=r"The seed has shape \(5, 2\); expected \(2, 24, samples\)"):
        K.regressor_adjoint(*np.zeros((3, 5, 2)), np.zeros((5, 2)))


def sine_kernel() -> Kernel:
    def body(s: dict[str, list]) -> list:  # type: ignore[type-arg]
        from dynid.dynamics.operations import symbolic

        ops = symbolic()
        return [ops.sin(s["x"][0]), ops.cos(s["x"][0])]

    return Kernel("sine", "test sine", (Port("x", 1),), (Port("sin", 1), Port("cos", 1)), body)


@given(st.floats(-1e6, 1e6))
@settings(max_examples=300, deadline=None)
def test_inlined_sine_and_cosine_are_accurate(x: float) -> None:
    sine, cosine = compile_batch(sine_kernel(), "llvm")(np.array([[x]]))
    assert abs(sine[0] - math.sin(x)) <= 2.3e-16
    assert abs(cosine[0] - math.cos(x)) <= 2.3e-16


def test_sine_near_multiples_of_half_pi_and_outside_its_range() -> None:
    kernel = compile_batch(sine_kernel(), "llvm")
    k = np.arange(-6000, 6001) * (math.pi / 2)
    x = np.concatenate([k, np.nextafter(k, np.inf), np.nextafter(k, -np.inf)])
    sine, cosine = kernel(x[:, None])
    assert np.abs(sine - np.sin(x)).max() <= 2.3e-16
    assert np.abs(cosine - np.cos(x)).max() <= 2.3e-16
    outside = kernel(np.array([[1.1e6], [-1e300], [np.inf], [np.nan]]))
    assert np.isnan(outside).all()


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_friction_function_compiles(function: str) -> None:
    inside = {"sqrt": "abs(qd)", "log": "1 + qd^2", "min": "qd, q", "max": "qd, q"}.get(function, "qd")
    term = FrictionTerm("Fx", f"{function}({inside}) * 2 - q^3 / (1 + q^2)")
    robot = load_robot("scara")
    robot = Robot("custom", robot.joints, gravity=(0, 0, 0), terms=("Fx",), friction=(term,))
    q, qd, qdd = np.random.default_rng(7).normal(size=(3, 33, 2))
    qd[0] = 0.0
    fast, slow = (kernels(robot, backend=b).regressor(q, qd, qdd) for b in ("llvm", "casadi"))
    assert np.allclose(fast, slow, rtol=1e-13, atol=1e-14)
    column = robot.table.index("Fx1")
    assert fast[:, 0, column].std() > 0
    assert not fast[:, 1, column].any()


def test_without_llvm_the_fallback_serves_and_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise jit.CompileError("llvmlite cannot be imported (test)")

    monkeypatch.setattr(jit, "_binding", missing)
    jit.host.cache_clear()
    kernel = compile_batch(describe(load_robot("scara"), "regressor"))
    assert kernel.backend == "casadi"
    assert "llvmlite cannot be imported" in kernel.reason
    assert kernel(*np.ones((3, 5, 2))).shape == (2 * 24, 5)
    with pytest.raises(jit.CompileError):
        compile_batch(describe(load_robot("scara"), "regressor"), "llvm")
    monkeypatch.undo()
    jit.host.cache_clear()


def test_the_environment_chooses_the_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DYNID_BACKEND", "casadi")
    assert compile_batch(describe(load_robot("scara"), "bias")).backend == "casadi"
    monkeypatch.setenv("DYNID_BACKEND", "lvm")
    with pytest.raises(DynidError, match=r"Unknown backend 'lvm'\. Did you mean 'llvm'"):
        compile_batch(describe(load_robot("scara"), "bias"))


def test_wrong_shapes_are_told_in_a_sentence() -> None:
    K = kernels(load_robot("scara"))
    good = np.zeros((5, 2))
    with pytest.raises(ShapeError, match=r"^qd has shape \(5, 3\); expected \(samples, 2\)\.$"):
        K.regressor(good, np.zeros((5, 3)), good)
    with pytest.raises(ShapeError, match=r"q has shape \(2,\); expected \(samples, 2\)"):
        K.regressor(np.zeros(2), good, good)
    with pytest.raises(ShapeError, match=r"same number of samples \(q: 5, qd: 4, qdd: 5\)"):
        K.regressor(good, np.zeros((4, 2)), good)
    with pytest.raises(ShapeError, match=r"parameters has shape \(3,\); expected \(24,\)"):
        K.inverse(np.zeros(3), good, good, good)
    with pytest.raises(ShapeError, match="q is not an array of numbers"):
        K.gravity(np.zeros(24), [["a", "b"]])
    with pytest.raises(ShapeError, match=r"takes 3 arrays \(q, qd, qdd\); 2 were given"):
        K.kernel("regressor")(good, good)
    with pytest.raises(ShapeError, match=r"out has shape \(3, 5\)"):
        K.kernel("regressor")(good, good, good, out=np.zeros((3, 5)))


def test_unknown_kernels_and_columns_are_told_in_a_sentence() -> None:
    robot = load_robot("scara")
    with pytest.raises(DynidError, match=r"Unknown kernel 'invers'\. Did you mean 'inverse'"):
        describe(robot, "invers")
    with pytest.raises(DynidError, match="not all among the robot's 24 parameters"):
        describe(robot, "regressor", [3, 24])
    with pytest.raises(DynidError, match="'inverse' has no columns to select"):
        describe(robot, "inverse", [1])
    with pytest.raises(DynidError, match="Unknown parameter 'ZZ9'"):
        kernels(robot).gravity({"ZZ9": 1.0}, np.zeros((1, 2)))


def test_a_read_only_or_overlapping_out_is_refused() -> None:
    kernel = compile_batch(describe(load_robot("scara"), "regressor"))
    states = np.ones((3, 4 * TILE, 2))
    out = allocate(kernel.n_outputs, 4 * TILE)
    out.setflags(write=False)
    with pytest.raises(ShapeError, match="out cannot be written"):
        kernel(*states, out=out)
    assert not out.any()
    overlapping = np.lib.stride_tricks.as_strided(np.zeros(8 * TILE), out.shape, (8, 8))
    with pytest.raises(ShapeError, match="with contiguous rows"):
        kernel(*states, out=overlapping)


def test_columns_may_be_named_and_bad_ones_are_told() -> None:
    robot = load_robot("scara")
    states = np.random.default_rng(8).normal(size=(3, 5, 2))
    named = kernels(robot, ["ZZ1", "MX2"]).regressor(*states)
    numbered = kernels(robot, robot.table.indices(["ZZ1", "MX2"])).regressor(*states)
    assert np.array_equal(named, numbered)
    with pytest.raises(DynidError, match=r"Unknown parameter 'ZZ7'"):
        kernels(robot, ["ZZ7"])
    with pytest.raises(DynidError, match="takes a list of whole numbers or texts or None for columns"):
        kernels(robot, [1.7])  # type: ignore[list-item]
    with pytest.raises(DynidError, match="kernels takes a Robot for robot, not str"):
        kernels("scara")  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="q is not an array of numbers"):
        kernels(robot).regressor(states[0] * 1j, *states[1:])


def test_kernels_survive_pickling() -> None:
    K = kernels(load_robot("scara"))
    states = np.random.default_rng(9).normal(size=(3, 5, 2))
    before = K.regressor(*states)
    again = pickle.loads(pickle.dumps(K))
    assert again == K
    assert np.array_equal(again.regressor(*states), before)
