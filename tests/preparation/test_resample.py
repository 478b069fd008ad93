"""Rates, uneven stamps, interpolation."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.core.errors import DynidError, NotTrustworthyError, UnknownNameError
from dynid.logs.log import Log
from dynid.logs.resample import interpolate, is_even, steady_rate
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare, target_rate


def jittered(rng: np.random.Generator, share: float, samples: int = 2000, rate: float = 500.0) -> Log:
    t = (np.arange(samples) + share * rng.uniform(-0.5, 0.5, samples)) / rate
    return Log("jittered", t, {"position": np.sin(6 * t)[:, None], "torque": np.cos(6 * t)[:, None]})


def test_rates_are_rounded_as_far_as_clocks_can_tell() -> None:
    k = np.arange(5000)
    assert steady_rate(k * 0.001 * (1 + 1e-6)) == 1000.0
    assert steady_rate(k * 0.001 * (1 + 4e-4)) == pytest.approx(1000.0 / 1.0004, rel=1e-12)
    assert steady_rate(k / 3.7) == pytest.approx(3.7)


def test_even_stamps_are_left_alone() -> None:
    log = jittered(np.random.default_rng(0), 0.015)
    assert is_even(log.time)
    motion = prepare(log, Preparation())
    assert motion.samples == log.samples
    np.testing.assert_array_equal(motion.q, log.channels["position"])
    assert "resample" not in [step.name for step in motion.history]


def test_uneven_stamps_are_interpolated() -> None:
    log = jittered(np.random.default_rng(1), 0.8)
    motion = prepare(log, Preparation())
    assert "resample" in [step.name for step in motion.history]
    np.testing.assert_allclose(np.diff(motion.time), 1 / motion.rate_hz, rtol=1e-9)
    np.testing.assert_allclose(motion.q[:, 0], np.sin(6 * motion.time), atol=1e-8)
    np.testing.assert_allclose(motion.qd[5:-5, 0], 6 * np.cos(6 * motion.time[5:-5]), atol=1e-3)
    np.testing.assert_allclose(motion.tau[:, 0], np.cos(6 * motion.time), atol=1e-8)


def test_stamps_can_be_trusted_or_ignored_on_request() -> None:
    log = jittered(np.random.default_rng(2), 0.8)
    ignored = prepare(log, Preparation(stamps="even"))
    np.testing.assert_array_equal(ignored.q, log.channels["position"])
    even = jittered(np.random.default_rng(3), 0.0)
    forced = prepare(even, Preparation(stamps="measured"))
    np.testing.assert_allclose(forced.q, even.channels["position"], atol=1e-9)
    assert "resample" in [step.name for step in forced.history]


def test_another_rate() -> None:
    log = jittered(np.random.default_rng(4), 0.0)
    motion = prepare(log, Preparation(resample_hz=800.0))
    assert motion.rate_hz == 800.0
    np.testing.assert_allclose(motion.q[:, 0], np.sin(6 * motion.time), atol=1e-8)


def test_sentences() -> None:
    log = jittered(np.random.default_rng(5), 0.0)
    with pytest.raises(DynidError, match=r"resample_hz is 100 Hz and the log has 500 Hz.*Use the decimation"):
        target_rate(log.time, Preparation(resample_hz=100.0))
    with pytest.raises(UnknownNameError, match=r"Unknown stamps 'evne'.*'even'"):
        Preparation(stamps="evne")
    t = log.time.copy()
    t[1000:] += 0.2
    gap = Log("gap", t, log.channels)
    with pytest.raises(NotTrustworthyError, match=r"gap of 0.202 s after t = 1.998 s.*dynid check"):
        prepare(gap, Preparation())


def test_samples_nearly_at_one_time_do_not_make_the_spline_swing() -> None:
    """White noise at random stamps: a spline through all of them is 200 times as large as the noise."""
    rng = np.random.default_rng(1)
    stamps = np.sort(rng.uniform(0, 20000, 20000))
    read = interpolate(stamps, rng.standard_normal((20000, 1)), np.arange(10.0, 19990.0))
    assert 0.9 < read.std() < 2.0
    assert np.abs(read).max() < 50
