"""A log on disk is prepared as one in memory is."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.core.errors import NotTrustworthyError
from dynid.logs import resample
from dynid.logs.log import Log
from dynid.logs.spool import Spool
from dynid.preparation import filters
from dynid.preparation.motion import SIGNALS
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.preparation.suggestion import SuggestionRules, suggest
from support.spooled import log_on_disk, motion_on_disk

RATE = 1000.0


def long_log(samples: int = 40_000, jitter: float = 0.0, seed: int = 0) -> Log:
    rng = np.random.default_rng(seed)
    t = 2.0 + (np.arange(samples) + jitter * rng.uniform(-0.5, 0.5, samples)) / RATE
    w = np.array([1.3, 4.1, 7.7])
    q = np.sin(w * t[:, None]) + 1e-4 * rng.standard_normal((samples, 3))
    tau = np.cos(w * t[:, None]) + 0.1 * rng.standard_normal((samples, 3))
    tau[5000::6000, 1] = 1e3
    return Log("long", t, {"position": q, "torque": tau})


PLANS = {
    "low-pass": Preparation(cutoff_hz=20.0, drop_samples=50, decimation=20),
    "everything": Preparation(
        trim_start_s=0.35,
        trim_end_s=1.25,
        median_window=9,
        median_threshold=12.0,
        cutoff_hz=15.0,
        torque_cutoff_hz=30.0,
        drop_samples=120,
        drop_end=7,
    ),
    "smoothed": Preparation(rloess_acceleration=0.01, rloess_torque=0.01),
    "matlab filter": Preparation(cutoff_hz=40.0, convention="matlab", drop_samples=49, drop_end=0),
    "long differences": Preparation(difference_points=9),
    "nothing": Preparation(),
}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS.keys())
@pytest.mark.parametrize("jitter", [0.0, 0.6], ids=["even stamps", "jitter"])
def test_the_motion_is_that_of_the_log_in_memory(
    plan: Preparation, jitter: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where filter and spline work in pieces, as they do in millions of samples."""
    log = long_log(jitter=jitter)
    if jitter:
        plan = Preparation(**{**plan.to_dict(), "resample_hz": RATE})
    whole = prepare(log, plan)
    monkeypatch.setattr(filters, "_PIECE", 16)
    monkeypatch.setattr(resample, "_AT_ONCE", 7001)
    motion = prepare(log_on_disk(log), plan)
    assert motion.on_disk
    assert not whole.on_disk
    np.testing.assert_array_equal(motion.time, whole.time)
    for name in SIGNALS:
        ours, theirs = getattr(motion, name), getattr(whole, name)
        assert isinstance(ours, Spool)
        scale = np.max(np.abs(theirs))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-11 * scale, err_msg=name)
    assert [(s.name, s.options, s.note) for s in motion.history] == [
        (s.name, s.options, s.note) for s in whole.history
    ]


def test_garbage_and_stamps_are_refused_on_disk_too() -> None:
    log = long_log(3000)
    log.channels["torque"][7, 2] = np.nan
    with pytest.raises(NotTrustworthyError, match="1 values of the torque"):
        prepare(log_on_disk(log), Preparation())


def test_a_suggestion_looks_at_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    log = long_log()
    monkeypatch.setattr("dynid.preparation.suggestion.RULES", SuggestionRules(stretch=10_000))
    found, wanted = suggest(log_on_disk(log)), suggest(log.part(slice(15_000, 25_000)))
    assert found.plan == wanted.plan
    assert found.reasons[0] == "The log is long: its 10000 samples in the middle were looked at."


def test_pieces_of_a_motion_follow_each_other() -> None:
    whole = prepare(long_log(3000), Preparation())
    assert list(whole.pieces()) == [whole]
    parts = list(motion_on_disk(whole).pieces(1000))
    assert [part.samples for part in parts] == [1000, 1000, 1000]
    np.testing.assert_array_equal(np.concatenate([part.qdd for part in parts]), whole.qdd)
    assert motion_on_disk(whole).nbytes == whole.nbytes
