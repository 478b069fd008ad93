"""From a log to a motion: filtered positions, speeds, accelerations and torques."""

from __future__ import annotations

import numpy as np

from dynid.core.errors import ShapeError
from dynid.logs.log import Log, Step
from dynid.logs.resample import grid
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.rate import target_rate
from dynid.preparation.steps import cleaned, dropped, interpolated, signals_of, states_of, trimmed

FEWEST_SAMPLES = 5
"""Samples a log must have after trimming, whatever the plan."""


def prepare(log: Log, plan: Preparation) -> Motion:
    """Run the steps of a plan on a log, in the plan's order, and record what each changed (P0 §II, P1 §2.2).

    Decimation and speed masks belong to the regression, which has the columns to filter in parallel; they are
    not run here.

    Args:
        log: joint side, with position and torque, finite, stamps increasing.
        plan: what to do.

    Raises:
        NotTrustworthyError: when values or stamps must be repaired first (`dynid check`).
        ShapeError: when the log is too short for the plan.
    """
    signals, trim = trimmed(signals_of(log), plan)
    refuse_short(len(signals), log.name)
    signals, clean = cleaned(signals, plan)
    rate, uneven = target_rate(signals.time, plan)
    resample: Step | None = None
    start = float(signals.time[0])
    if uneven:
        signals, resample = interpolated(signals, grid(start, float(signals.time[-1]), rate), rate)
    refuse_short(len(signals), log.name)
    states, smoothing = states_of(signals, rate, plan)
    kept, drop = dropped(len(signals), plan, log.name)
    states = states.part(kept.start, kept.stop)
    steps = (trim, clean, resample, *smoothing, drop)
    return Motion(
        name=log.name,
        time=start + np.arange(kept.start, kept.stop) / rate,
        q=states.q,
        qd=states.qd,
        qdd=states.qdd,
        tau=states.tau,
        rate_hz=rate,
        history=(*log.history, *(step for step in steps if step is not None)),
        sources=log.sources,
    )


def refuse_short(samples: int, name: str) -> None:
    """Refuse logs with too few samples for any derivative."""
    if samples < FEWEST_SAMPLES:
        raise ShapeError(
            f"Log {name!r} has {samples} samples after trimming; a preparation needs at least "
            f"{FEWEST_SAMPLES}. Trim less or use a longer log."
        )
