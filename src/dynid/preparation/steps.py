"""The steps of a preparation on bare signals: ``prepare`` runs them on a log, others on pieces."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import DynidError, NotTrustworthyError, ShapeError, unknown_name
from dynid.logs.log import Log, Step
from dynid.logs.resample import interpolate
from dynid.preparation.derivative import speed_and_acceleration
from dynid.preparation.filters import low_pass
from dynid.preparation.outliers import replace_outliers
from dynid.preparation.preparation import Preparation
from dynid.preparation.rloess import rloess, window_samples

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Signals:
    """What a preparation works on: stamps [s], positions and torques (samples, axes), joint side."""

    time: FloatArray
    q: FloatArray
    tau: FloatArray

    def __len__(self) -> int:
        """Number of samples."""
        return len(self.time)

    def part(self, start: int, stop: int | None = None) -> Signals:
        """Samples ``start`` to ``stop``."""
        return Signals(self.time[start:stop], self.q[start:stop], self.tau[start:stop])

    def then(self, other: Signals) -> Signals:
        """These samples followed by others."""
        return Signals(
            np.concatenate([self.time, other.time]),
            np.concatenate([self.q, other.q]),
            np.concatenate([self.tau, other.tau]),
        )


@dataclass(frozen=True, eq=False)
class States:
    """Positions, speeds, accelerations and torques (samples, axes) at a constant rate."""

    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    tau: FloatArray

    def part(self, start: int, stop: int | None = None) -> States:
        """Samples ``start`` to ``stop``."""
        return States(self.q[start:stop], self.qd[start:stop], self.qdd[start:stop], self.tau[start:stop])


def signals_of(log: Log) -> Signals:
    """Position and torque of a log that can be prepared, or a sentence on why it cannot."""
    if log.side != "joint":
        raise DynidError(
            f"Log {log.name!r} holds motor-side signals; convert it to the joint side with the robot's "
            "drives (to_joint_side) before preparing it."
        )
    for name in ("position", "torque"):
        if name not in log.channels:
            raise unknown_name(
                f"channel in log {log.name!r}", name, log.channels, "A fit needs position and torque."
            )
        bad = np.count_nonzero(~np.isfinite(log.channels[name]))
        if bad:
            raise NotTrustworthyError(
                f"{bad} values of the {name} in log {log.name!r} are not finite; run `dynid check` on it "
                "and repair it."
            )
    refuse_stamps(log.time, log.name)
    return Signals(log.time, log.array("position"), log.array("torque"))


def refuse_stamps(time: FloatArray, name: str) -> None:
    """Refuse stamps that are not finite or do not increase."""
    if not np.all(np.isfinite(time)):
        raise NotTrustworthyError(
            f"Some stamps of log {name!r} are not finite; run `dynid check` on it and repair it."
        )
    wrong = np.flatnonzero(np.diff(time) <= 0)
    if len(wrong):
        raise NotTrustworthyError(
            f"{len(wrong)} stamps of log {name!r} repeat or go backward, the first after t = "
            f"{time[wrong[0]]:.6g} s; run `dynid check` on it and repair it."
        )


def trimmed(signals: Signals, plan: Preparation) -> tuple[Signals, Step | None]:
    """Drop the seconds at both ends."""
    if not (plan.trim_start_s or plan.trim_end_s) or not len(signals):
        return signals, None
    t = signals.time
    start = int(np.searchsorted(t, t[0] + plan.trim_start_s, side="left"))
    stop = int(np.searchsorted(t, t[-1] - plan.trim_end_s, side="right"))
    options = {"trim_start_s": plan.trim_start_s, "trim_end_s": plan.trim_end_s}
    note = f"dropped {start} samples at the start and {len(t) - max(stop, start)} at the end"
    return signals.part(start, max(stop, start)), Step("trim", options, note)


def cleaned(signals: Signals, plan: Preparation) -> tuple[Signals, Step | None]:
    """Replace outliers of positions and torques by the running median."""
    if plan.median_window <= 1:
        return signals, None
    q = replace_outliers(signals.q, plan.median_window, plan.median_threshold)
    tau = replace_outliers(signals.tau, plan.median_window, plan.median_threshold)
    options = {"median_window": plan.median_window, "median_threshold": plan.median_threshold}
    note = f"replaced {sum(q.replaced)} positions and {sum(tau.replaced)} torques"
    return replace(signals, q=q.values, tau=tau.values), Step("median filter", options, note)


def interpolated(signals: Signals, at: FloatArray, rate_hz: float) -> tuple[Signals, Step]:
    """Read the signals at even stamps."""
    both = interpolate(signals.time, np.concatenate([signals.q, signals.tau], axis=1), at)
    axes = signals.q.shape[1]
    note = f"interpolated {len(signals)} samples to {len(at)} at {rate_hz:g} Hz"
    return Signals(at, both[:, :axes], both[:, axes:]), Step("resample", {"rate_hz": rate_hz}, note)


def states_of(signals: Signals, rate_hz: float, plan: Preparation) -> tuple[States, tuple[Step, ...]]:
    """Low-pass, differentiate and smooth, as the plan says."""
    steps = []
    q, tau = signals.q, signals.tau
    if plan.cutoff_hz is not None:
        q = low_pass(q, plan.cutoff_hz, rate_hz, plan.order, plan.convention)
        options = {"cutoff_hz": plan.cutoff_hz, "order": plan.order, "convention": plan.convention}
        moved = float(np.sqrt(np.mean((q - signals.q) ** 2)))
        steps.append(Step("position low-pass", options, f"positions moved by {moved:.3g} rms"))
    qd, qdd = speed_and_acceleration(q, rate_hz, plan.difference_points)
    options = {"rate_hz": rate_hz, "points": plan.difference_points}
    steps.append(Step("central differences", options, "speed, then acceleration from the speed"))
    if plan.torque_cutoff_hz is not None:
        tau = low_pass(tau, plan.torque_cutoff_hz, rate_hz, plan.order, plan.convention)
        options = {"cutoff_hz": plan.torque_cutoff_hz, "order": plan.order, "convention": plan.convention}
        moved = float(np.sqrt(np.mean((tau - signals.tau) ** 2)))
        steps.append(Step("torque low-pass", options, f"torques moved by {moved:.3g} rms"))
    if plan.rloess_acceleration:
        qdd = rloess(qdd, plan.rloess_acceleration)
        steps.append(_rloess_step("acceleration", plan.rloess_acceleration, len(qdd)))
    if plan.rloess_torque:
        tau = rloess(tau, plan.rloess_torque)
        steps.append(_rloess_step("torque", plan.rloess_torque, len(tau)))
    return States(q, qd, qdd, tau), tuple(steps)


def dropped(samples: int, plan: Preparation, name: str) -> tuple[slice, Step | None]:
    """Which samples remain after the ends are dropped."""
    start, end = plan.ends
    if samples <= start + end:
        raise ShapeError(
            f"Log {name!r} has {samples} samples at this step and the plan drops {start} at the start and "
            f"{end} at the end; nothing is left. Drop fewer or use a longer log."
        )
    if not (start or end):
        return slice(0, samples), None
    note = f"dropped {start} samples at the start and {end} at the end, where the filter swings in"
    return slice(start, samples - end), Step("drop ends", {"start": start, "end": end}, note)


def _rloess_step(what: str, span: float, samples: int) -> Step:
    note = f"local quadratics over {window_samples(samples, span)} samples"
    return Step(f"{what} RLOESS", {"span": span}, note)
