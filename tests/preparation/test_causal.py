"""Causal filters sample by sample: the block's numbers, alignment, gaps, saved states, no allocation."""

from __future__ import annotations

import sys
import tracemalloc
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from dynid.core.errors import DynidError, ShapeError, UnknownNameError
from dynid.logs.log import Log
from dynid.preparation.causal import CausalFilter, causal_motion
from dynid.preparation.causal_plan import CausalPlan

Array = NDArray[np.float64]
RATE, AXES = 500.0, 3
PLANS = {
    "raw": CausalPlan(RATE),
    "filtered": CausalPlan(RATE, 12.0),
    "measured speeds": CausalPlan(RATE, 20.0, velocity="measured", decimation=7),
    "held": CausalPlan(RATE, 20.0, held_torque=True),
    "before rows": CausalPlan(RATE, 20.0, decimation=3, row_decimation=5),
}


def drawn_log(samples: int = 900, *, uneven: bool = False) -> Log:
    rng = np.random.default_rng(3)
    time = 5.0 + np.arange(samples) / RATE
    if uneven:
        time = time + rng.uniform(-0.3, 0.3, samples) / RATE
    w, phase = 2 * np.pi * rng.uniform(0.3, 2.0, AXES), rng.uniform(0, 6, AXES)
    q = np.sin(time[:, None] * w + phase) + 1e-4 * rng.standard_normal((samples, AXES))
    qd = w * np.cos(time[:, None] * w + phase)
    tau = 3 * np.cos(time[:, None] * w) + rng.standard_normal((samples, AXES))
    return Log("drawn", time, {"position": q, "torque": tau, "velocity": qd, "reference": q})


def instants(filter: CausalFilter, log: Log, rows: slice = slice(None)) -> dict[str, Array]:
    """All instants that a filter makes of some samples."""
    q, tau, qd, reference = (log.array(name) for name in ("position", "torque", "velocity", "reference"))
    names = ("q", "qd", "qdd", "tau", "reference_q", "reference_qd", "reference_qdd")
    made: dict[str, list[Array]] = {name: [] for name in ("time", *names)}
    for k in range(log.samples)[rows]:
        ready = filter.push(float(log.time[k]), q[k], tau[k], qd[k], reference[k])
        while ready:
            made["time"].append(np.array(filter.time))
            for name in names:
                made[name].append(getattr(filter, name).copy())
            ready = filter.advance()
    return {name: np.array(values) for name, values in made.items()}


def new_filter(plan: CausalPlan) -> CausalFilter:
    return CausalFilter(plan, AXES, ("velocity", "reference"))


@pytest.mark.parametrize("uneven", [False, True])
@pytest.mark.parametrize("name", PLANS)
def test_pushing_gives_what_the_block_gives(name: str, uneven: bool) -> None:
    log = drawn_log(2600, uneven=uneven)
    plan = replace(PLANS[name], stamps="measured" if uneven else "even")
    made, motion = instants(new_filter(plan), log), causal_motion(log, plan)
    assert len(motion.q) > 300
    np.testing.assert_allclose(made["time"], motion.time, atol=1e-12, rtol=0)
    for signal in ("q", "qd", "qdd", "tau"):
        expected = np.asarray(getattr(motion, signal))
        np.testing.assert_allclose(
            made[signal], expected, rtol=0, atol=1e-12 * np.abs(expected).max() + 1e-12
        )


def test_delay_is_exact_and_instruments_are_aligned() -> None:
    """A cubic in time passes unchanged, so every instant shows to which time it belongs."""
    t = np.arange(400) / RATE
    q = np.stack([1 + t - t**2 + 2 * t**3, 0 * t + 2, t**3], axis=1)
    qd = np.stack([1 - 2 * t + 6 * t**2, 0 * t, 3 * t**2], axis=1)
    qdd = np.stack([-2 + 12 * t, 0 * t, 6 * t], axis=1)
    log = Log("cubic", t, {"position": q, "torque": 5 * q, "velocity": qd, "reference": q - 1})
    for plan in (PLANS["filtered"], PLANS["before rows"]):
        made = instants(new_filter(plan), log)
        rows = np.round(made["time"] * RATE).astype(int)
        np.testing.assert_allclose(made["time"], t[rows], atol=1e-12)
        assert made["time"][0] == pytest.approx(t[new_filter(plan).warm_up - 1] - plan.delay_s)
        for signal, exact in (("q", q), ("qd", qd), ("qdd", qdd), ("tau", 5 * q), ("reference_q", q - 1)):
            np.testing.assert_allclose(made[signal], exact[rows], atol=1e-8)
        np.testing.assert_allclose(made["reference_qd"], made["qd"], atol=1e-9)
        np.testing.assert_allclose(made["reference_qdd"], made["qdd"], atol=1e-7)


def test_a_held_torque_belongs_to_the_middle_of_its_sample() -> None:
    t = np.arange(300) / RATE
    ramp = np.repeat(4.0 * t[:, None], AXES, axis=1)
    for plan in (PLANS["held"], CausalPlan(RATE, held_torque=True)):
        motion = causal_motion(Log("ramp", t, {"position": ramp, "torque": ramp}), plan)
        np.testing.assert_allclose(np.asarray(motion.q) - np.asarray(motion.tau), 2.0 / RATE, atol=1e-12)


def test_a_state_that_was_saved_goes_on_identically() -> None:
    log = drawn_log(2400)
    for plan in PLANS.values():
        whole = instants(new_filter(plan), log)
        first, second = new_filter(plan), new_filter(plan)
        begun = instants(first, log, slice(0, 1507))
        second.restore(first.state())
        ended = instants(second, log, slice(1507, None))
        for name, values in whole.items():
            np.testing.assert_array_equal(np.concatenate([begun[name], ended[name]]), values)


def test_a_state_of_another_plan_is_refused() -> None:
    saved = new_filter(PLANS["filtered"])
    instants(saved, drawn_log(60))
    with pytest.raises(DynidError, match="restore it with the plan and channels"):
        CausalFilter(PLANS["filtered"], AXES + 1).restore(saved.state())


@pytest.mark.parametrize("stamps", ["even", "measured"])
def test_a_gap_begins_a_new_stretch(stamps: str) -> None:
    log = drawn_log(600)
    plan = replace(PLANS["filtered"], stamps=stamps)
    gone = np.r_[0:300, 310:600]
    filter = new_filter(plan)
    made = instants(filter, log, slice(0, 300))
    again = instants(filter, log, slice(310, None))
    assert filter.restarts == 1
    assert len(made["time"]) + len(again["time"]) == len(gone) - 2 * (filter.warm_up - 1)
    alone = instants(new_filter(plan), log, slice(310, None))
    for name, values in alone.items():
        np.testing.assert_array_equal(again[name], values)


@pytest.mark.parametrize("stamps", ["even", "measured"])
def test_few_missing_samples_are_interpolated(stamps: str) -> None:
    t = np.arange(200) / RATE
    line = np.repeat(t[:, None], AXES, axis=1)
    log = Log("line", t, {"position": line, "torque": line, "velocity": line, "reference": line})
    filter = new_filter(replace(PLANS["filtered"], stamps=stamps))
    instants(filter, log, slice(0, 120))
    made = instants(filter, log, slice(123, None))
    assert filter.restarts == 0
    assert len(made["time"]) == 200 - 120
    np.testing.assert_allclose(made["q"][:, 0], made["time"], atol=1e-12)
    np.testing.assert_allclose(made["qd"], 1.0, atol=1e-9)


def test_samples_that_repeat_or_go_backward_are_ignored_and_counted() -> None:
    log = drawn_log(400)
    filter, plain = new_filter(PLANS["filtered"]), new_filter(PLANS["filtered"])
    first = instants(filter, log, slice(0, 200))
    instants(filter, log, slice(195, 200))
    second = instants(filter, log, slice(200, None))
    assert (filter.ignored, filter.restarts) == (5, 0)
    np.testing.assert_array_equal(np.concatenate([first["q"], second["q"]]), instants(plain, log)["q"])


@pytest.mark.parametrize("name", PLANS)
def test_nothing_is_allocated_after_the_warm_up(name: str) -> None:
    log = drawn_log(4)
    q, tau, qd, reference = (log.array(c)[0] for c in ("position", "torque", "velocity", "reference"))
    filter = new_filter(PLANS[name])
    first, later = ([k / RATE for k in range(3000 * i, 3000 * (i + 1))] for i in (0, 1))
    arrays = [id(getattr(filter, signal)) for signal in ("q", "qd", "qdd", "tau", "reference_qdd")]
    for time in first:
        filter.push(time, q, tau, qd, reference)
    tracemalloc.start()
    try:
        blocks, begun = sys.getallocatedblocks(), tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        for time in later:
            filter.push(time, q, tau, qd, reference)
        ended, peak = tracemalloc.get_traced_memory()
        left = sys.getallocatedblocks() - blocks
    finally:
        tracemalloc.stop()
    assert ended - begun < 2000  # a few numbers of Python's own
    assert peak - begun < 4000
    assert left < 50
    assert arrays == [id(getattr(filter, signal)) for signal in ("q", "qd", "qdd", "tau", "reference_qdd")]


def test_made_up_torques_mark_all_instants_that_they_touch() -> None:
    log = drawn_log(300)
    made_up = np.zeros(300, dtype=bool)
    made_up[100] = True
    motion = causal_motion(replace(log, made_up=made_up), PLANS["filtered"])
    half = PLANS["filtered"].kernels.half
    assert motion.made_up is not None
    assert np.flatnonzero(motion.made_up).tolist() == list(range(100 - 2 * half, 101))


def test_what_cannot_be_filtered_is_refused() -> None:
    log = drawn_log(30)
    sample = log.array("position")[0]
    with pytest.raises(ShapeError, match="has 30 samples, and the filter sees"):
        causal_motion(log, PLANS["filtered"])
    with pytest.raises(DynidError, match=r"Cut the log at its gaps.*"):
        causal_motion(replace(log, time=log.time * 3), PLANS["raw"])
    with pytest.raises(UnknownNameError, match="channel"):
        CausalFilter(PLANS["raw"], AXES, ("speed",))
    with pytest.raises(DynidError, match="the samples hold no speeds"):
        CausalFilter(PLANS["measured speeds"], AXES)
    with pytest.raises(DynidError, match="A sample has no speed"):
        CausalFilter(PLANS["measured speeds"], AXES, ("velocity",)).push(0.0, sample, sample)
    with pytest.raises(DynidError, match="A sample has no reference"):
        CausalFilter(PLANS["raw"], AXES, ("reference",)).push(0.0, sample, sample)
