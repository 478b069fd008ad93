"""From a log to a motion."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.core.errors import DynidError, NotTrustworthyError, ShapeError, UnknownNameError
from dynid.logs.log import Log, Source, Step
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare

RATE = 1000.0


def sines(samples: int = 4000, noise: float = 0.0, seed: int = 0) -> Log:
    t = 5.0 + np.arange(samples) / RATE
    w = np.array([2.0, 5.0])
    rng = np.random.default_rng(seed)
    q = np.sin(w * t[:, None]) + noise * rng.standard_normal((samples, 2))
    tau = 3.0 - w**2 * np.sin(w * t[:, None]) + noise * rng.standard_normal((samples, 2))
    source = Source("log.csv", "00", 1)
    return Log("sines", t, {"position": q, "torque": tau}, history=(Step("read"),), sources=(source,))


def test_every_step_runs_in_the_plan_s_order_and_is_recorded() -> None:
    plan = Preparation(
        trim_start_s=0.1,
        trim_end_s=0.2,
        median_window=7,
        stamps="measured",
        cutoff_hz=50.0,
        torque_cutoff_hz=80.0,
        rloess_acceleration=0.02,
        rloess_torque=0.02,
        drop_samples=30,
        drop_end=10,
    )
    log = sines(noise=1e-5)
    log.channels["torque"][1000, 1] = 1e4
    motion = prepare(log, plan)
    assert [step.name for step in motion.history] == [
        "read",
        "trim",
        "median filter",
        "resample",
        "position low-pass",
        "central differences",
        "torque low-pass",
        "acceleration RLOESS",
        "torque RLOESS",
        "drop ends",
    ]
    notes = {step.name: step.note for step in motion.history}
    assert notes["trim"] == "dropped 100 samples at the start and 200 at the end"
    assert notes["median filter"] == "replaced 0 positions and 1 torques"
    assert motion.history[4].options == {"cutoff_hz": 50.0, "order": 4, "convention": "scipy"}
    assert "moved by" in notes["position low-pass"]
    assert motion.samples == 4000 - 300 - 40
    assert motion.time[0] == pytest.approx(5.13)
    assert motion.sources == log.sources
    assert motion.name == "sines"
    inner = slice(200, -200)
    w = np.array([2.0, 5.0])
    phase = w * motion.time[:, None]
    np.testing.assert_allclose(motion.q[inner], np.sin(phase)[inner], atol=1e-4)
    np.testing.assert_allclose(motion.qd[inner], (w * np.cos(phase))[inner], atol=2e-3)
    np.testing.assert_allclose(motion.qdd[inner], (-(w**2) * np.sin(phase))[inner], atol=0.4)
    np.testing.assert_allclose(motion.tau[inner], (3.0 - w**2 * np.sin(phase))[inner], atol=1e-2)


def test_an_empty_plan_only_differentiates() -> None:
    log = sines()
    motion = prepare(log, Preparation())
    np.testing.assert_array_equal(motion.q, log.channels["position"])
    np.testing.assert_array_equal(motion.tau, log.channels["torque"])
    np.testing.assert_allclose(motion.qd[1:-1], (motion.q[2:] - motion.q[:-2]) * 500.0, rtol=1e-12)
    assert [step.name for step in motion.history] == ["read", "central differences"]
    assert motion.rate_hz == RATE


def test_the_log_is_not_changed() -> None:
    log = sines()
    before = log.channels["torque"].copy()
    prepare(log, Preparation(median_window=5, cutoff_hz=20.0, torque_cutoff_hz=20.0))
    np.testing.assert_array_equal(log.channels["torque"], before)


def test_filtering_reduces_the_noise_of_accelerations() -> None:
    clean, noisy = sines(), sines(noise=1e-4)
    truth = prepare(clean, Preparation()).qdd
    errors = [
        float(np.std((prepare(noisy, plan).qdd - truth)[500:-500]))
        for plan in (Preparation(), Preparation(cutoff_hz=100.0), Preparation(cutoff_hz=25.0))
    ]
    assert errors[0] > 5 * errors[1] > 50 * errors[2]


def test_logs_that_cannot_be_prepared() -> None:
    log = sines(400)
    with pytest.raises(DynidError, match=r"'sines' holds motor-side signals.*to_joint_side"):
        prepare(replace(log, side="motor"), Preparation())
    with pytest.raises(UnknownNameError, match=r"'torque'.*A fit needs position and torque"):
        prepare(Log("bare", log.time, {"position": log.channels["position"]}), Preparation())
    spoiled = log.channels["torque"].copy()
    spoiled[3:5, 0] = np.nan
    with pytest.raises(
        NotTrustworthyError, match=r"2 values of the torque in log 'sines'.*repair it \(add --repair"
    ):
        prepare(replace(log, channels={**log.channels, "torque": spoiled}), Preparation())
    back = log.time.copy()
    back[100] = back[99]
    with pytest.raises(
        NotTrustworthyError, match=r"1 stamps of log 'sines' repeat or go backward.*repair it \(add --repair"
    ):
        prepare(replace(log, time=back), Preparation())
    back[100] = np.nan
    with pytest.raises(NotTrustworthyError, match=r"stamps of log 'sines' are not finite"):
        prepare(replace(log, time=back), Preparation())


def test_plans_that_do_not_fit_the_log() -> None:
    log = sines(400)
    with pytest.raises(ShapeError, match=r"0 samples after trimming; a preparation needs at least 5"):
        prepare(log, Preparation(trim_start_s=1.0))
    with pytest.raises(DynidError, match=r"cut-off is 600 Hz and the rate 1000 Hz"):
        prepare(log, Preparation(cutoff_hz=600.0))
    with pytest.raises(ShapeError, match=r"400 samples; a low-pass at 1 Hz"):
        prepare(log, Preparation(cutoff_hz=1.0))
    with pytest.raises(
        ShapeError, match=r"the plan drops 300 at the start and 300 at the end; nothing is left"
    ):
        prepare(log, Preparation(drop_samples=300))
    with pytest.raises(DynidError, match=r"Preparation: drop_end is -1; it must be a whole number from 0"):
        Preparation(drop_end=-1)
    with pytest.raises(DynidError, match=r"Preparation: median_window is -3; it must be 0 or an odd number"):
        Preparation(median_window=-3)


def test_logged_speeds_and_accelerations_take_the_place_of_differences() -> None:
    log, rng, w = sines(noise=1e-4), np.random.default_rng(1), np.array([2.0, 5.0])
    logged = {
        name: w**k * np.sin(w * log.time[:, None] + k * np.pi / 2) + 1e-6 * rng.standard_normal((4000, 2))
        for k, name in enumerate(("velocity", "acceleration"), start=1)
    }
    log = replace(log, channels={**log.channels, **logged})
    plan = Preparation(cutoff_hz=20.0, drop_samples=100)
    errors = {}
    for keys in ({}, {"velocity": "measured"}, {"velocity": "measured", "acceleration": "measured"}):
        motion = prepare(log, replace(plan, **keys))
        kept = slice(100, -100)
        errors[len(keys)] = [
            float(np.std(made - w**k * np.sin(w * log.time[kept, None] + k * np.pi / 2)))
            for k, made in ((1, motion.qd), (2, motion.qdd))
        ]
    assert errors[1][0] < 0.01 * errors[0][0]
    assert errors[1][1] < 0.1 * errors[0][1]
    assert errors[2][1] < 0.1 * errors[1][1]
    assert [step.name for step in motion.history if "low-pass" not in step.name][1:] == [
        "logged derivatives",
        "drop ends",
    ]
    with pytest.raises(UnknownNameError, match='velocity = "measured" was asked for; map its columns'):
        prepare(sines(), replace(plan, velocity="measured"))
    assert replace(plan, velocity="measured").for_channels(sines().channels) == plan


def test_the_noise_of_an_axis_that_stands_still_is_not_motion() -> None:
    """Else the sign of its noise passes for the sign of a speed, and Fc comes out as zero, and as known."""
    rng = np.random.default_rng(3)
    t = np.arange(2000) / 500.0
    q = np.column_stack([np.sin(t), 0.3 + 1e-5 * rng.standard_normal(len(t))])
    log = Log("held", t, {"position": q, "torque": np.cos(q)}, side="joint")
    motion = prepare(log, Preparation(cutoff_hz=20.0))
    assert np.ptp(motion.q[:, 1]) == 0.0
    assert motion.q[0, 1] == pytest.approx(0.3, abs=1e-6)
    assert not np.any(motion.qd[:, 1])
    assert not np.any(motion.qdd[:, 1])
    assert np.ptp(motion.qd[:, 0]) > 1.0
    assert [step.options for step in motion.history if step.name == "held axes"] == [{"axes": [2]}]
    slow = np.column_stack([np.sin(t), 0.3 + 1e-3 * np.sin(t)])
    moving = prepare(Log("slow", t, {"position": slow, "torque": np.cos(q)}, side="joint"), Preparation())
    assert np.any(moving.qd[:, 1])
