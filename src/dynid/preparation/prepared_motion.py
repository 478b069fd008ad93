"""From a log to a motion: filtered positions, speeds, accelerations and torques, axis by axis."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import BoolArray, FloatArray
from dynid.core.errors import (
    DynidError,
    NotTrustworthyError,
    ShapeError,
    option_words,
    unknown_name,
)
from dynid.core.kinds import require_kinds
from dynid.logs.log import Log, Step
from dynid.logs.resample import SAME_RATE, grid, interpolate, is_even, steady_rate
from dynid.logs.spool import ArrayWriter, Samples, SpoolWriter, writer_of
from dynid.preparation.derivative import central_difference
from dynid.preparation.filters import low_pass
from dynid.preparation.motion import CONSTANT_TORQUE, Motion, count_not_finite
from dynid.preparation.preparation import DIFFERENTIATED, Preparation
from dynid.preparation.robust import replace_outliers, rloess, window_samples

FEWEST_SAMPLES = 5
"""Samples a log must have after trimming, whatever the plan."""
_STILL = 1e-4
"""Share of the widest axis' travel below which an axis stands still: what is left is noise of its encoder."""
_SLOWEST = 0.8
"""Share of the log's rate below which interpolation would fold high frequencies into low ones."""


def prepare(log: Log, plan: Preparation) -> Motion:
    """Run the steps of a plan on a log, in the plan's order, and record what each changed (P0 §II, P1 §2.2).

    Decimation and speed masks belong to the regression, which has the columns to filter in parallel; they are
    not run here. A log on disk gives a motion on disk, and one axis at a time is held in memory.

    Args:
        log: joint side, with position and torque, finite, stamps increasing.
        plan: what to do.

    Raises:
        NotTrustworthyError: when values or stamps must be repaired first (`dynid check`).
        ShapeError: when the log is too short for the plan.
    """
    require_kinds(prepare, locals())
    refuse_unprepared(log, plan.logged_derivatives)
    course = _course(log, plan)
    still = _still_axes(log, course)
    groups = [slice(axis, axis + 1) for axis in range(log.axes)] if log.on_disk else [slice(0, log.axes)]
    samples = course.kept.stop - course.kept.start
    q, qd, qdd, tau = (writer_of(samples, log.axes, on_disk=log.on_disk) for _ in range(4))
    position, torque = _Changes(), _Changes()
    for axes in groups:
        position += _write_positions(log, axes, course, still[axes], (q, qd, qdd))
        torque += _write_torques(log.channels["torque"], axes, course, tau)
    return Motion(
        name=log.name,
        time=course.start + np.arange(course.kept.start, course.kept.stop) / course.rate_hz,
        q=q.finish(),
        qd=qd.finish(),
        qdd=qdd.finish(),
        tau=tau.finish(),
        rate_hz=course.rate_hz,
        history=(
            *log.history,
            *_steps(course, log, position, torque),
            *_hold_steps(still),
            *_constant_torque_steps(log),
        ),
        sources=log.sources,
        made_up=_made_up(log, course),
        condition=log.condition,
    )


@dataclass(frozen=True, eq=False)
class _Course:
    """What a plan means for one log, the same for all its axes.

    Args:
        plan: the plan.
        rows: samples of the log that are not trimmed.
        time: their stamps [s].
        at: even stamps to interpolate to [s]; None when the samples are even already.
        rate_hz: rate of the motion.
        kept: samples of the motion that are left when its ends are dropped.
    """

    plan: Preparation
    rows: slice
    time: FloatArray
    at: FloatArray | None
    rate_hz: float
    kept: slice

    @property
    def start(self) -> float:
        """First stamp before the ends are dropped [s]."""
        return float(self.time[0])

    @property
    def samples(self) -> int:
        """Samples while the ends are still there."""
        return len(self.time) if self.at is None else len(self.at)


def _made_up(log: Log, course: _Course) -> BoolArray | None:
    """Samples of the motion whose torques were made up, or read between such ones."""
    if log.made_up is None:
        return None
    made_up = log.made_up[course.rows]
    if course.at is not None:
        made_up = np.interp(course.at, course.time, made_up.astype(float)) > 0
    return made_up[course.kept]


@dataclass(frozen=True)
class _Changes:
    """What was done to a channel.

    Args:
        replaced: outliers that were replaced.
        moved: sum of the squares by which the low-pass moved values.
    """

    replaced: int = 0
    moved: float = 0.0

    def __add__(self, other: _Changes) -> _Changes:
        return _Changes(self.replaced + other.replaced, self.moved + other.moved)


def trimmed_rows(log: Log, plan: Preparation) -> slice:
    """Samples of a log that a plan's trimming leaves.

    Raises:
        ShapeError: when they are too few.
    """
    t, rows = log.time, slice(0, log.samples)
    if (plan.trim_start_s or plan.trim_end_s) and len(t):
        start = int(np.searchsorted(t, t[0] + plan.trim_start_s, side="left"))
        stop = int(np.searchsorted(t, t[-1] - plan.trim_end_s, side="right"))
        rows = slice(start, max(start, stop))
    _refuse_short(rows.stop - rows.start, log.name)
    return rows


def _course(log: Log, plan: Preparation) -> _Course:
    rows = trimmed_rows(log, plan)
    time = log.time[rows]
    rate, uneven = target_rate(time, plan)
    at = grid(float(time[0]), float(time[-1]), rate) if uneven else None
    samples = len(time) if at is None else len(at)
    _refuse_short(samples, log.name)
    first, last = plan.ends
    if samples <= first + last:
        raise ShapeError(
            f"Log {log.name!r} has {samples} samples at this step and the plan drops {first} at the start "
            f"and {last} at the end; nothing is left. Drop fewer or use a longer log."
        )
    return _Course(plan, rows, time, at, rate, slice(first, samples - last))


def _still_axes(log: Log, course: _Course) -> BoolArray:
    """Which axes stand still in the whole log, (axes,)."""
    position = log.channels["position"]
    travel = np.array([np.ptp(position[course.rows, j : j + 1]) for j in range(log.axes)])
    return stands_still(travel)


def stands_still(travel: FloatArray) -> BoolArray:
    """Which axes stand still, (axes,): they travel less than 1e-4 of what the widest does [rad or m]."""
    return np.asarray(travel < _STILL * travel.max(initial=0.0), dtype=bool)


def _hold_steps(still: BoolArray) -> tuple[Step, ...]:
    """That axes were taken as held in their place."""
    if not np.any(still):
        return ()
    axes = (np.flatnonzero(still) + 1).tolist()
    note = "they stand still: speed and acceleration are zero, and friction and drive inertia are not seen"
    return (Step("held axes", {"axes": axes}, note),)


def _constant_torque_steps(log: Log) -> tuple[Step, ...]:
    """That torques are one value other than zero throughout, which says nothing about a robot that moves."""
    columns = (log.column("torque", axis) for axis in range(log.axes))
    axes = [axis + 1 for axis, x in enumerate(columns) if len(x) and x[0] != 0 and np.all(x == x[0])]
    if not axes:
        return ()
    note = (
        f"torque of axis {', '.join(map(str, axes))} never changes: its rows are left out of the regression"
    )
    return (Step(CONSTANT_TORQUE, {"axes": axes}, note),)


def target_rate(time: FloatArray, plan: Preparation) -> tuple[float, bool]:
    """The rate a plan asks for, and whether the samples must be interpolated to get there.

    Args:
        time: stamps [s], increasing.
        plan: its ``stamps`` and ``resample_hz`` count.
    """
    own = steady_rate(time)
    if plan.resample_hz is not None and plan.resample_hz < _SLOWEST * own:
        raise DynidError(
            f"resample_hz is {plan.resample_hz:g} Hz and the log has {own:g} Hz; interpolation may not lower "
            "the rate by more than a fifth. Use the decimation to lower it: it filters first."
        )
    rate = own if plan.resample_hz is None else plan.resample_hz
    if plan.stamps == "even":
        return own, False
    changed = abs(rate / own - 1.0) > SAME_RATE
    return rate, changed or plan.stamps == "measured" or not is_even(time)


def _write_positions(
    log: Log,
    axes: slice,
    course: _Course,
    still: BoolArray,
    writers: Sequence[ArrayWriter | SpoolWriter],
) -> _Changes:
    """Positions without outliers, at the rate, low-passed, with speeds and accelerations.

    The speed of an axis that stands still is noise, and its sign would pass for friction: it is zero.
    """
    plan, rate, points = course.plan, course.rate_hz, course.plan.difference_points
    q, replaced = _even_values(log.channels["position"], axes, course)
    q, moved = _low_passed_values(q, plan.cutoff_hz, course)
    logged = {
        name: _low_passed_values(_even_values(log.channels[name], axes, course)[0], plan.cutoff_hz, course)[0]
        for name in plan.logged_derivatives
    }
    qd = logged["velocity"] if "velocity" in logged else central_difference(q, rate, points)
    qdd = logged["acceleration"] if "acceleration" in logged else central_difference(qd, rate, points)
    if plan.rloess_acceleration:
        qdd = rloess(qdd, plan.rloess_acceleration)
    if np.any(still):
        q, qd, qdd = np.where(still, q.mean(axis=0), q), np.where(still, 0.0, qd), np.where(still, 0.0, qdd)
    for writer, values in zip(writers, (q, qd, qdd), strict=True):
        writer.put(axes.start, values[course.kept])
    return _Changes(replaced, moved)


def _write_torques(
    channel: Samples, axes: slice, course: _Course, writer: ArrayWriter | SpoolWriter
) -> _Changes:
    """Torques without outliers, at the rate, low-passed or smoothed."""
    plan = course.plan
    tau, replaced = _even_values(channel, axes, course)
    tau, moved = _low_passed_values(tau, plan.torque_cutoff_hz, course)
    if plan.rloess_torque:
        tau = rloess(tau, plan.rloess_torque)
    writer.put(axes.start, tau[course.kept])
    return _Changes(replaced, moved)


def _even_values(channel: Samples, axes: slice, course: _Course) -> tuple[FloatArray, int]:
    """Values of some axes without outliers at even stamps, and how many outliers there were."""
    plan, replaced = course.plan, 0
    x = channel[course.rows, axes]
    if plan.median_window > 1:
        cleaned = replace_outliers(x, plan.median_window, plan.median_threshold)
        x, replaced = cleaned.values, sum(cleaned.replaced)
    return (x if course.at is None else interpolate(course.time, x, course.at)), replaced


def _low_passed_values(x: FloatArray, cutoff_hz: float | None, course: _Course) -> tuple[FloatArray, float]:
    """Values below a cut-off, and the sum of the squares of what was taken off."""
    if cutoff_hz is None:
        return x, 0.0
    y = low_pass(x, cutoff_hz, course.rate_hz, course.plan.order, course.plan.convention)
    moved = (y - x).reshape(-1)
    return y, float(moved @ moved)


def _steps(course: _Course, log: Log, position: _Changes, torque: _Changes) -> tuple[Step, ...]:
    """What was done, in the order of the plan."""
    plan, steps = course.plan, list[Step]()
    before, after = course.rows.start, log.samples - course.rows.stop
    if plan.trim_start_s or plan.trim_end_s:
        options = {"trim_start_s": plan.trim_start_s, "trim_end_s": plan.trim_end_s}
        note = f"dropped {before} samples at the start and {after} at the end"
        steps.append(Step("trim", options, note))
    if plan.median_window > 1:
        settings = {"median_window": plan.median_window, "median_threshold": plan.median_threshold}
        note = f"replaced {position.replaced} positions and {torque.replaced} torques"
        steps.append(Step("median filter", settings, note))
    if course.at is not None:
        note = f"interpolated {len(course.time)} samples to {len(course.at)} at {course.rate_hz:g} Hz"
        steps.append(Step("resample", {"rate_hz": course.rate_hz}, note))
    count = course.samples * log.axes
    if plan.cutoff_hz is not None:
        steps.append(_low_pass_step("position", plan.cutoff_hz, plan, position.moved / count))
    differences = {"rate_hz": course.rate_hz, "points": plan.difference_points}
    notes = {
        (): "speed, then acceleration from the speed",
        ("velocity",): "acceleration from the logged speed",
        ("acceleration",): "speed; the acceleration as logged",
    }
    if plan.logged_derivatives in notes:
        steps.append(Step("central differences", differences, notes[plan.logged_derivatives]))
    if plan.logged_derivatives:
        steps.append(
            Step("logged derivatives", {"channels": list(plan.logged_derivatives)}, "low-passed alike")
        )
    if plan.torque_cutoff_hz is not None:
        steps.append(_low_pass_step("torque", plan.torque_cutoff_hz, plan, torque.moved / count))
    for what, span in (("acceleration", plan.rloess_acceleration), ("torque", plan.rloess_torque)):
        if span:
            note = f"local quadratics over {window_samples(course.samples, span)} samples"
            steps.append(Step(f"{what} RLOESS", {"span": span}, note))
    first, last = plan.ends
    if first or last:
        note = f"dropped {first} samples at the start and {last} at the end, where the filter swings in"
        steps.append(Step("drop ends", {"start": first, "end": last}, note))
    return tuple(steps)


def _low_pass_step(what: str, cutoff_hz: float, plan: Preparation, moved: float) -> Step:
    options = {"cutoff_hz": cutoff_hz, "order": plan.order, "convention": plan.convention}
    return Step(f"{what} low-pass", options, f"{what}s moved by {np.sqrt(moved):.3g} rms")


def refuse_unprepared(log: Log, derivatives: Sequence[str] = ()) -> None:
    """Refuse a log that cannot be prepared, with a sentence on why.

    Args:
        log: the log.
        derivatives: channels that a plan asks for beside position and torque.
    """
    if log.side != "joint":
        raise DynidError(
            f"Log {log.name!r} holds motor-side signals; convert it to the joint side with the robot's "
            "drives (to_joint_side) before preparing it."
        )
    for name in ("position", "torque", *derivatives):
        if name not in log.channels:
            needs = "A fit needs position and torque."
            if name in derivatives:
                needs = (
                    f'{name} = "measured" was asked for; map its columns, or give '
                    f"{option_words('--velocity', DIFFERENTIATED)}."
                )
            raise unknown_name(f"channel in log {log.name!r}", name, log.channels, needs)
        bad = count_not_finite(log.channels[name])
        if bad:
            raise NotTrustworthyError(
                f"{bad} values of the {name} in log {log.name!r} are not finite; repair it (add "
                "--repair, or use dynid.repair)."
            )
    if not np.all(np.isfinite(log.time)):
        raise NotTrustworthyError(
            f"Some stamps of log {log.name!r} are not finite; repair it (add --repair, or use dynid.repair)."
        )
    wrong = np.flatnonzero(np.diff(log.time) <= 0)
    if len(wrong):
        raise NotTrustworthyError(
            f"{len(wrong)} stamps of log {log.name!r} repeat or go backward, the first after t = "
            f"{log.time[wrong[0]]:.6g} s; repair it (add --repair, or use dynid.repair)."
        )


def _refuse_short(samples: int, name: str) -> None:
    """Refuse logs with too few samples for any derivative."""
    if samples < FEWEST_SAMPLES:
        raise ShapeError(
            f"Log {name!r} has {samples} samples after trimming; a preparation needs at least "
            f"{FEWEST_SAMPLES}. Trim less or use a longer log."
        )
