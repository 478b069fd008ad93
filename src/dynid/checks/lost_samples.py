"""Were samples lost that the stamps do not show? All axes then move twice as far at the same instants."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.checks.data_check import Checked
from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name, Where
from dynid.estimators.linear.least_squares import MEDIAN_OF_NORMAL
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation.bad_rows import Columns


@dataclass(frozen=True)
class LostSampleRules:
    """When samples are missing. Set on one half of ``tests/population`` (see docs/data-check.md for rates).

    Args:
        samples: looked at, from the beginning.
        doubt: standard error of the excess of a step, in steps, up to which an instant is looked at.
        near: how far from a whole step an excess may be.
        fewest: instants that lack a sample, at least …
        share: … and their share of those looked at.
        control: instants that lack one over those where a step is missing instead: where samples are late or
            held there are as many of these.
    """

    samples: int = 300_000
    doubt: float = 0.1
    near: float = 0.3
    fewest: int = 4
    share: float = 0.002
    control: float = 4.0


LOST = LostSampleRules()


def check_lost_samples(log: Log, columns: Columns, robot: Robot | None = None) -> Checked:
    """Count the instants between even stamps at which all axes move by whole steps too far.

    Args:
        log: raw.
        columns: not needed.
        robot: not needed.
    """
    if "position" not in log.channels or log.samples < 20:
        return Checked()
    excess = step_excess(log)
    lost = np.flatnonzero((excess > 1 - LOST.near) & (np.abs(excess - np.round(excess)) < LOST.near))
    missing = int(np.count_nonzero(excess < LOST.near - 1))
    looked_at = int(np.count_nonzero(np.isfinite(excess)))
    count = len(lost)
    facts = {"steps_looked_at": looked_at, "steps_too_long": count, "steps_missing": missing}
    if count < max(LOST.fewest, LOST.share * looked_at) or count < LOST.control * missing:
        return Checked((), facts)
    share = count / looked_at
    sentence = (
        f"At {count} of {looked_at} instants ({100 * share:.2g} %) all axes move twice as far as before and "
        "after: samples were lost there, and the stamps do not show it."
    )
    remedy = "Log the controller's own stamps or a counter of samples: speeds are wrong where one is lost."
    place = Where(channel="position", moment=f"t = {log.time[lost[0] + 1]:.4f} s, sample {lost[0] + 2}")
    finding = Finding(Name.LOST_SAMPLES, Level.CARE, sentence, remedy, place, {"share": share})
    return Checked((finding,), facts)


def step_excess(log: Log) -> FloatArray:
    """By how many usual steps all axes together move too far between two samples, (samples − 1,).

    With d the steps of an axis, p the mean of those before and after, and σ the spread of d − p, it is
    Σ (d − p) p / σ² over Σ p² / σ²: 0 where nothing is lost, 1 where one sample is; not a number where the
    axes are too slow to tell, and next to a gap of the stamps.
    """
    count = min(log.samples, LOST.samples)
    pull, size = np.zeros((2, count - 1))
    for axis in range(log.axes):
        d = np.diff(log.column("position", axis)[:count])
        p = np.zeros_like(d)
        p[1:-1] = 0.5 * (d[:-2] + d[2:])
        off = (d - p)[1:-1]
        moves = np.abs(d[(d != 0) & np.isfinite(d)])
        if not len(moves) or not np.all(np.isfinite(off)):
            continue
        # Steps of an encoder hide noise below them: half of one is the least doubt.
        sigma = max(float(np.median(np.abs(off))) / MEDIAN_OF_NORMAL, 0.5 * float(moves.min()))
        pull[1:-1] += off * p[1:-1] / sigma**2
        size += p**2 / sigma**2
    steps = np.diff(log.time[:count])
    even = np.abs(steps / np.median(steps) - 1.0) < LOST.near
    # Stamps are taken a sample early or late by some loggers: their gap counts for the neighbours too.
    even[1:-1] &= even[:-2] & even[2:]
    clear = even & (size > LOST.doubt**-2)
    return np.where(clear, pull / np.where(clear, size, 1.0), np.nan)
