"""How simulations end: fine, diverged, without M(q) > 0, too stiff, inaccurate, outside the limits."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.finding import FINE, Finding, Level, Name, Where
from dynid.model.joint import JointKind
from dynid.model.robot import Robot
from dynid.simulation.inertia import definiteness
from dynid.trajectories.reference import Reference


@dataclass(frozen=True)
class PathLimits:
    """When a simulated path is not what was asked for, and how closely it is looked at.

    Args:
        lost: distance from the reference, in its range plus 1 rad or m, beyond which a loop is lost.
        followed: share of the reference's own rms up to which a loop is said to follow it: above the sound
            loops of the study that set it, below most with a defect (benchmarks/tracking_study.py).
        checked: samples at which M(q) is looked at.
        between: positions looked at between the last sample near the reference and the next.
        countable: positions beyond which sine and cosine mean nothing [rad or m].
    """

    lost: float = 20.0
    followed: float = 0.7
    checked: int = 200
    between: int = 50
    countable: float = 1e5


PATH = PathLimits()


def not_positive_definite(value: float, time: float) -> Finding:
    """M(q) is not positive definite, so accelerations mean nothing."""
    return Finding(
        Name.INERTIA_NOT_POSITIVE,
        Level.FAIL,
        f"The inertia matrix loses its positive definiteness at {time:.3g} s (smallest eigenvalue "
        f"{value:.2g} of the largest): with these parameters no acceleration follows from a torque.",
        "Start from physical parameters (the regular start has M = 1), or keep only essential parameters.",
    )


def reference_failure(
    robot: Robot, parameters: FloatArray, reference: Reference, added: FloatArray | float = 0.0
) -> Finding | None:
    """What forbids a simulation from the start: M(q) not positive definite somewhere on the reference."""
    return _indefinite_on(robot, parameters, reference.q, reference, added)


def friction_too_stiff(limit: int, *, given: bool = False) -> Finding:
    """Friction acts faster than the integrator may step, in steps whose number was ``given`` or chosen."""
    more = "Leave substeps out or allow more of them. " if given else ""
    return Finding(
        Name.FRICTION_TOO_STIFF,
        Level.FAIL,
        f"Friction near rest or a spring is too stiff for {limit} integration step{'s' * (limit > 1)} "
        "per sample.",
        f"{more}Widen the smooth sign (width), use set-valued friction (stick), or check the inertias, which "
        "may be far too small, and the stiffness of springs.",
    )


def tolerance_not_reached(error: float, tolerance: float, substeps: int) -> Finding:
    """Step doubling ended before the tolerance was reached."""
    return Finding(
        Name.TOLERANCE_NOT_REACHED,
        Level.CARE,
        f"With {substeps} integration steps per sample the positions still change by {error:.2g} rad or m, "
        f"more than the tolerance {tolerance:.2g}.",
        "Accept this error, leave substeps out if you gave it, widen the smooth sign (width), use set-valued "
        "friction (stick), or shorten the controller's sample time.",
    )


def encoders_round(step: float) -> Finding:
    """All is fine, but readings that flip leave an error that no shorter step removes."""
    return Finding(
        Name.FINE,
        Level.NOTE,
        f"Encoders round: positions are exact up to single encoder steps ({step:.2g} rad or m), because a "
        "reading that flips one sample earlier or later moves the loop, however short the integration steps.",
        "Compare such simulations by their statistics, or simulate without rounding (resolution 0).",
    )


def judge_path(
    robot: Robot,
    parameters: FloatArray,
    q: FloatArray,
    reference: Reference,
    follows: Sequence[bool],
    tau: FloatArray | None = None,
    added: FloatArray | float = 0.0,
) -> Finding:
    """Whether a simulated path is finite, near its reference, and with M(q) > 0 all along.

    Args:
        robot: the robot.
        parameters: standard parameters in table order.
        q: simulated positions (samples, coordinates).
        reference: what it was to follow.
        follows: whether each coordinate is held to the reference; one that is not may go anywhere.
        tau: torques of the controller, where a law that fails is to be told from a loop that diverges.
        added: inertia of each coordinate beside the robot's own [kg m² or kg].
    """
    end = first_lost_sample(q, reference, follows)
    failed = None if tau is None else law_failure(robot, tau[:end], reference.time)
    if failed is not None:
        return failed
    lost = _indefinite_on(robot, parameters, q[:end], reference, added)
    if lost is not None:
        return lost
    if end == len(q):
        return _limits(robot, q, reference)
    # A robot thrown off where M(q) has become tiny crosses the indefinite region between two samples.
    lost = _indefinite_on(robot, parameters, _positions_ahead(q, end), reference, added, end)
    if lost is not None:
        return lost
    axis = int(np.argmin(_in_sight(q, reference, follows)[end]))
    time, joint = float(reference.time[end]), robot.joints[robot.coordinates[axis]].name
    if end == 0:
        return Finding(
            Name.DIVERGED,
            Level.FAIL,
            f"The start of joint {joint!r} lies far from its reference: {q[0, axis]:.4g} instead of "
            f"{reference.q[0, axis]:.4g} rad or m.",
            f"Start within {PATH.lost:g} times the reference's range and 1 rad or m, or move the reference; "
            "mind that angles are in radians.",
        )
    return Finding(
        Name.DIVERGED,
        Level.FAIL,
        f"The simulated loop diverges at {time:.3g} s, first at joint {joint!r}: its gains do not stabilise "
        "the robot with these parameters.",
        "Check the gains, the sample time and the delay of the controller, or let the gains follow the "
        "inertia.",
    )


def tracking_shares(q: FloatArray, reference: Reference, follows: Sequence[bool]) -> FloatArray:
    """Per coordinate, rms of q − q_r over that of q_r about its mean; NaN where nothing is to be followed.

    Args:
        q: simulated positions (samples, coordinates).
        reference: what they were to follow.
        follows: whether each coordinate is held to the reference.
    """
    span = reference.q.std(axis=0)
    error = np.sqrt(np.mean((q - reference.q) ** 2, axis=0))
    moves = np.array(follows) & (span > 0)
    return np.where(moves, error / np.where(moves, span, 1.0), np.nan)


def judge_tracking(robot: Robot, q: FloatArray, reference: Reference, follows: Sequence[bool]) -> Finding:
    """Whether a path that is sound otherwise is the one asked for; else the joint farthest from it."""
    shares = tracking_shares(q, reference, follows)
    if not np.any(shares > PATH.followed):
        return FINE
    axis = int(np.nanargmax(shares))
    joint = robot.joints[robot.coordinates[axis]]
    error = float(np.sqrt(np.mean((q[:, axis] - reference.q[:, axis]) ** 2)))
    unit = "m" if joint.kind is JointKind.PRISMATIC else "rad"
    return Finding(
        Name.REFERENCE_NOT_FOLLOWED,
        Level.CARE,
        f"Joint {joint.name!r} does not follow its reference: it is off by {error:.2g} {unit} rms, "
        f"{100 * shares[axis]:.0f} % of the reference's own rms, so that the log holds another motion than "
        "was asked for.",
        "Raise the gains or the torque limits (saturation), slow the reference down, or feed the model "
        "forward (feedforward = true in the controller file).",
        Where(axis=axis + 1),
        {"tracking_share": float(shares[axis])},
    )


def first_lost_sample(q: FloatArray, reference: Reference, follows: Sequence[bool]) -> int:
    """The first sample at which a path is not finite or far beyond its reference; its length when none is.

    Args:
        q: simulated positions of the first samples, (samples, coordinates).
        reference: what it was to follow.
        follows: whether each coordinate is held to the reference; one that is not may go anywhere.
    """
    good = _in_sight(q, reference, follows)
    return len(q) if good.all() else int(np.argmin(good.all(axis=1)))


def _in_sight(q: FloatArray, reference: Reference, follows: Sequence[bool]) -> NDArray[np.bool_]:
    # Axis by axis: NumPy is ten times as slow over the short rows.
    span = np.array([np.ptp(axis) for axis in reference.q.T])
    limit = np.where(follows, PATH.lost * (span + 1.0), np.finfo(float).max)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.abs(q - reference.q[: len(q)]) <= limit)


def law_failure(robot: Robot, tau: FloatArray, time: FloatArray) -> Finding | None:
    """The named outcome when a law answers NaN while the robot is still on its way.

    Args:
        robot: the robot.
        tau: torques of the law where the motion was finite (samples, coordinates).
        time: their stamps [s].
    """
    lost = np.argwhere(np.isnan(tau))[:1]
    if not len(lost):
        return None
    sample, axis = (int(k) for k in lost[0])
    return Finding(
        Name.LAW_GAVE_NAN,
        Level.FAIL,
        f"The control law gives NaN as torque of joint {robot.joints[robot.coordinates[axis]].name!r} at "
        f"{float(time[sample]):.3g} s, where positions and speeds are still finite.",
        "Correct the law: look for 0/0, roots and logarithms of negative numbers, and gains that are NaN.",
    )


def _positions_ahead(q: FloatArray, end: int) -> FloatArray:
    """Half a turn from the last sample in sight, in the direction in which the robot went off."""
    last = q[max(end - 1, 0)]
    for ahead, behind in ((end, end - 1), (end - 1, end - 2)):
        with np.errstate(invalid="ignore", over="ignore"):
            way = q[ahead] - q[behind] if behind >= 0 else np.zeros(1)
        if np.all(np.isfinite(way)) and np.any(way):
            return np.asarray(last + np.linspace(0, np.pi, PATH.between)[:, None] * (way / np.abs(way).max()))
    return np.asarray(last[None], dtype=float)


def _indefinite_on(
    robot: Robot,
    parameters: FloatArray,
    q: FloatArray,
    reference: Reference,
    added: FloatArray | float,
    sample: int | None = None,
) -> Finding | None:
    """The named outcome when M(q) loses its definiteness on a path, or on one that leads to a sample."""
    rows = np.unique(np.linspace(0, len(q) - 1, min(PATH.checked, len(q))).astype(int))
    with np.errstate(invalid="ignore"):
        rows = rows[np.all(np.abs(q[rows]) < PATH.countable, axis=1)] if len(rows) else rows
    if not len(rows):
        return None
    values = definiteness(robot, parameters, q[rows], added)
    if values.min() > 0:
        return None
    where = int(rows[np.argmax(values <= 0)]) if sample is None else sample
    return not_positive_definite(float(values.min()), float(reference.time[where]))


def _limits(robot: Robot, q: FloatArray, reference: Reference) -> Finding:
    reached = np.column_stack([q.min(axis=0), q.max(axis=0)])
    for axis, j in enumerate(robot.coordinates):
        limits = robot.joints[j].limits
        if limits.lower <= reached[axis, 0] and reached[axis, 1] <= limits.upper:
            continue
        sample = int(np.argmax((q[:, axis] < limits.lower) | (q[:, axis] > limits.upper)))
        return Finding(
            Name.OUTSIDE_LIMITS,
            Level.CARE,
            f"Joint {robot.joints[j].name!r} leaves its limits {limits.lower:.4g} … {limits.upper:.4g} "
            f"at {float(reference.time[sample]):.3g} s, where it reaches {q[sample, axis]:.4g}.",
            "Shrink the reference or stiffen the loop.",
        )
    return FINE
