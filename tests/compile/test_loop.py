"""Sampled loops: machine code against the fallback, lanes against single runs, jumps, bad arguments."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dynid.compile import ir_program
from dynid.compile.ir_loop import LoopSizes
from dynid.compile.loop import Loop, compile_loop, describe_loop
from dynid.core.errors import DynidError, ModelError, ShapeError
from dynid.dynamics.operations import symbolic

SIZES = LoopSizes(states=2, modes=1, memory=1, inputs=1, held=1, parameters=3, records=2)
H = 0.01


def bouncing(jumps: bool = True, work: int = 0) -> Loop:
    """A pendulum under a law with an integral, with a stop that may be hit; ``work`` lengthens it."""

    def step(s: dict[str, list[Any]]) -> list[Any]:
        (x, v, _, z), (r,), (_, kp, ki) = s["x"], s["u"], s["p"]
        return [kp * (r - x) - v + ki * z, z + H * (r - x), x, v]

    def rate(s: dict[str, list[Any]]) -> list[Any]:
        (x, v, mode), (w,), (k, _, _) = s["x"], s["w"], s["p"]
        extra = 0.0
        for i in range(work):
            extra = extra + symbolic().sin(x * (i + 1)) * (1e-3 / (i + 1) ** 2)
        return [v, w - k * symbolic().sin(x) + 0.1 * mode + extra]

    def jump(s: dict[str, list[Any]]) -> list[Any]:
        (x, v, mode), (h,) = s["x"], s["h"]
        step = symbolic().functions["step"]
        # It is a stop at x = −0.2 with half the speed back, and a counter of the time spent beyond it.
        hit = step(-0.2 - x)
        return [x, v * (1.0 - 1.5 * hit * step(-1.0 * v)), mode + hit * h]

    return describe_loop("bouncing", f"{jumps} {work}", SIZES, step, rate, jump if jumps else None)


def arguments(lanes: int, samples: int = 60) -> tuple[np.ndarray, ...]:
    rng = np.random.default_rng(1)
    state = np.zeros((lanes, 4))
    state[:, :2] = rng.normal((-0.3, -1.0), 0.2, size=(lanes, 2))
    inputs = rng.normal(size=(lanes, samples, 1)).cumsum(axis=1) * 0.1
    return state, inputs, rng.uniform(1.0, 3.0, (lanes, 3))


@pytest.mark.parametrize("jumps", [False, True], ids=["smooth", "jumps"])
@pytest.mark.parametrize("lanes", [1, 4])
def test_machine_code_equals_the_fallback_and_single_runs(lanes: int, jumps: bool) -> None:
    loop = bouncing(jumps)
    state, inputs, p = arguments(lanes)
    given = state.copy()
    fast = compile_loop(loop, lanes=lanes, backend="llvm")
    slow = compile_loop(loop, lanes=lanes, backend="casadi")
    assert (fast.backend, slow.backend, slow.reason) == ("llvm", "casadi", "asked for")
    records, final = fast(state, inputs, p, H, 3)
    again, end = slow(state, inputs, p, H, 3)
    assert records.shape == (lanes, 60, 4)
    assert np.allclose(records, again, rtol=1e-12, atol=1e-12)
    assert np.allclose(final, end, rtol=1e-12, atol=1e-12)
    assert np.array_equal(state, given), "the caller's start is left alone"
    assert bool(np.any(final[:, 2] > 0)) is jumps
    single = compile_loop(loop, backend="llvm")
    for lane in range(lanes):
        one, last = single(state[lane : lane + 1], inputs[lane], p[lane : lane + 1], H, 3)
        assert np.allclose(one[0], records[lane], rtol=1e-12, atol=1e-12)
        assert np.allclose(last[0], final[lane], rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("lanes", [1, 4])
def test_long_programs_are_cut_into_parts_with_the_same_result(
    lanes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    state, inputs, p = arguments(lanes)
    whole = compile_loop(bouncing(work=60), lanes=lanes, backend="casadi")(state, inputs, p, H, 2)
    monkeypatch.setattr(ir_program, "PART", 50)
    cut = compile_loop(bouncing(work=60), lanes=lanes, backend="llvm")(state, inputs, p, H, 2)
    for a, b in zip(whole, cut, strict=True):
        assert np.allclose(a, b, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("backend", ["llvm", "casadi"])
def test_jumps_are_told_the_length_of_the_substep(backend: str) -> None:
    """Without the stop's own speed the counter is the time spent beyond it, whatever the substeps."""
    sizes = LoopSizes(1, 2, 0, 0, 0, 0, 0)

    def jump(s: dict[str, list[Any]]) -> list[Any]:
        (x, time, calls), (h,) = s["x"], s["h"]
        return [x, time + h, calls + 1.0]

    loop = describe_loop("clock", "", sizes, lambda s: [], lambda s: [0.0], jump)
    run = compile_loop(loop, lanes=4, backend=backend)
    _, final = run(np.zeros((4, 3)), np.zeros((10, 0)), np.zeros((4, 0)), 0.02, 5)
    assert np.allclose(final, [0.0, 0.2, 10 * (5 + 1)])


def test_records_are_those_of_the_samples_and_the_first_rate() -> None:
    state, inputs, p = arguments(1)
    records, final = compile_loop(bouncing(False))(state, inputs, p, H, 2)
    x, v, dx, dv = records[0].T
    assert (x[0], v[0]) == tuple(state[0, :2])
    assert np.array_equal(dx, v)
    held = p[0, 1] * (inputs[0, 0, 0] - x[0]) - v[0]
    assert dv[0] == pytest.approx(held - p[0, 0] * np.sin(x[0]), rel=1e-14)
    # The integral is advanced once a sample: a rectangle sum of the error.
    assert final[0, 3] == pytest.approx(H * np.sum(inputs[0, :, 0] - x), rel=1e-12)


@pytest.mark.parametrize("backend", ["llvm", "casadi"])
@pytest.mark.parametrize("lanes", [1, 4])
def test_fewer_rates_can_be_noted(lanes: int, backend: str) -> None:
    """The last ones stay, and nothing else changes."""
    state, inputs, p = arguments(lanes)
    every, final = compile_loop(bouncing(), lanes=lanes, backend=backend)(state, inputs, p, H, 2)
    for noted in (0, 1):
        loop = bouncing()
        fewer = replace(loop, sizes=replace(SIZES, noted=noted))
        records, end = compile_loop(fewer, lanes=lanes, backend=backend)(state, inputs, p, H, 2)
        kept = np.concatenate([every[:, :, :2], every[:, :, 4 - noted :]], axis=2)
        assert np.array_equal(records, kept)
        assert np.array_equal(end, final)


def test_the_plant_between_samples_is_of_fourth_order() -> None:
    state, inputs, p = arguments(1, 30)
    run = compile_loop(bouncing(False))
    ends = {s: run(state, inputs, p, 0.1, s)[1][0] for s in (1, 2, 4, 128)}
    errors = [np.abs(ends[s] - ends[128]).max() for s in (1, 2, 4)]
    assert np.all(np.abs(np.log2(np.array(errors[:-1]) / errors[1:]) - 4) < 0.4), errors


def test_bad_arguments_are_told_in_a_sentence() -> None:
    run = compile_loop(bouncing())
    state, inputs, p = arguments(1)
    with pytest.raises(ShapeError, match=r"state of the loop has shape \(1, 3\); expected \(1, 4\)"):
        run(state[:, :3], inputs, p, H)
    with pytest.raises(ShapeError, match=r"parameters of the loop has shape \(1, 2\); expected \(1, 3\)"):
        run(state, inputs, p[:, :2], H)
    with pytest.raises(ShapeError, match=r"inputs of the loop has shape \(1, 60, 2\); expected \(1, 60, 1\)"):
        run(state, np.zeros((1, 60, 2)), p, H)
    with pytest.raises(ShapeError, match=r"A step of 0\.01 s in 0 substeps cannot be taken"):
        run(state, inputs, p, H, 0)
    with pytest.raises(ShapeError, match="A step of 0 s in 1 substeps cannot be taken"):
        run(state, inputs, p, 0.0)
    with pytest.raises(ModelError, match="lanes is 3; allowed are"):
        compile_loop(bouncing(), lanes=3)
    with pytest.raises(DynidError, match="Unknown backend 'gcc'"):
        compile_loop(bouncing(), backend="gcc")
    with pytest.raises(ModelError, match="The loop 'none' has no state"):
        describe_loop("none", "", LoopSizes(0, 0, 0, 1, 1, 1, 1), lambda s: [], lambda s: [])


def test_the_environment_chooses_the_backend(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DYNID_BACKEND", "casadi")
    assert compile_loop(bouncing()).backend == "casadi"
