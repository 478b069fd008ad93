"""Preparation in pieces equals preparation of the whole."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest

from dynid.core.errors import DynidError, NotTrustworthyError, ShapeError
from dynid.logs.log import Log
from dynid.preparation.chunked import prepare_chunks
from dynid.preparation.decimate import decimate_rows
from dynid.preparation.decimator import Decimator
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepare import prepare

RATE = 1000.0


def long_log(samples: int = 40_000, jitter: float = 0.0, seed: int = 0) -> Log:
    rng = np.random.default_rng(seed)
    t = 2.0 + (np.arange(samples) + jitter * rng.uniform(-0.5, 0.5, samples)) / RATE
    w = np.array([1.3, 4.1, 7.7])
    q = np.sin(w * t[:, None]) + 1e-4 * rng.standard_normal((samples, 3))
    tau = np.cos(w * t[:, None]) + 0.1 * rng.standard_normal((samples, 3))
    return Log("long", t, {"position": q, "torque": tau})


def pieces(log: Log, sizes: int | list[int]) -> Iterator[Log]:
    at, turn = 0, 0
    while at < log.samples:
        size = sizes if isinstance(sizes, int) else sizes[turn % len(sizes)]
        part = slice(at, at + size)
        yield Log(log.name, log.time[part], {name: c[part] for name, c in log.channels.items()})
        at, turn = at + size, turn + 1


def joined(motions: list[Motion], name: str) -> np.ndarray:
    return np.concatenate([getattr(motion, name) for motion in motions])


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
    "matlab filter": Preparation(cutoff_hz=40.0, convention="matlab", drop_samples=49, drop_end=0),
    "long differences": Preparation(difference_points=9),
    "nothing": Preparation(),
}


@pytest.mark.parametrize("plan", PLANS.values(), ids=PLANS.keys())
@pytest.mark.parametrize("sizes", [7000, [1, 9000, 300, 0, 41], 100_000], ids=["even", "odd", "one"])
@pytest.mark.parametrize("jitter", [0.0, 0.6], ids=["even stamps", "jitter"])
def test_pieces_equal_the_whole(plan: Preparation, sizes: int | list[int], jitter: float) -> None:
    log = long_log(jitter=jitter)
    if jitter:
        plan = Preparation(**{**plan.to_dict(), "resample_hz": RATE})
    whole = prepare(log, plan)
    motions = list(prepare_chunks(pieces(log, sizes), plan))
    np.testing.assert_allclose(joined(motions, "time"), whole.time, rtol=1e-12)
    for name in ("q", "qd", "qdd", "tau"):
        ours, theirs = joined(motions, name), getattr(whole, name)
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-8 * np.max(np.abs(theirs)), err_msg=name)
    if sizes == 7000 and plan.cutoff_hz:
        assert len(motions) > 3
        assert max(motion.samples for motion in motions) < 10_000


def test_decimation_goes_on_across_pieces() -> None:
    plan = PLANS["low-pass"]
    log = long_log()
    whole = decimate_rows(prepare(log, plan).tau.T, plan.decimation)
    stream = Decimator(3, plan.decimation)
    parts = [stream.push(motion.tau.T) for motion in prepare_chunks(pieces(log, 3001), plan)]
    small = np.concatenate([*parts, stream.finish()], axis=1)
    np.testing.assert_allclose(small, whole, rtol=0, atol=1e-8)


def test_outliers_are_found_in_pieces_too() -> None:
    log = long_log()
    log.channels["torque"][5000::6000, 1] = 1e3
    plan = PLANS["everything"]
    motions = list(prepare_chunks(pieces(log, 7000), plan))
    np.testing.assert_allclose(joined(motions, "tau"), prepare(log, plan).tau, rtol=0, atol=1e-8)
    assert np.max(np.abs(joined(motions, "tau"))) < 3


def test_what_needs_the_whole_log_is_refused() -> None:
    with pytest.raises(DynidError, match="RLOESS takes its span as a share of the whole log"):
        next(prepare_chunks([long_log(3000)], Preparation(rloess_torque=0.1)))
    with pytest.raises(DynidError, match="MATLAB's decimation counts from the end of the log"):
        next(prepare_chunks([long_log(3000)], Preparation(decimation=5, convention="matlab")))


def test_sentences_on_the_stream() -> None:
    with pytest.raises(ShapeError, match="log is empty or trimmed away"):
        list(prepare_chunks([], Preparation()))
    with pytest.raises(ShapeError, match="log is empty or trimmed away"):
        list(prepare_chunks([long_log(3000)], Preparation(trim_start_s=60.0)))
    with pytest.raises(ShapeError, match="nothing is left"):
        list(prepare_chunks([long_log(300)], Preparation(drop_samples=200)))
    first, second = pieces(long_log(8000), 4000)
    with pytest.raises(NotTrustworthyError, match="repeat or go backward"):
        list(prepare_chunks([second, first], Preparation()))
    uneven = Log("late", second.time + 0.3 / RATE, second.channels)
    with pytest.raises(NotTrustworthyError, match="set stamps to 'measured'"):
        list(prepare_chunks([first, uneven], Preparation()))
    assert (
        sum(motion.samples for motion in prepare_chunks([first, uneven], Preparation(stamps="even"))) == 8000
    )
