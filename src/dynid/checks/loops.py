"""Do the loops of the robot close at the positions of a log, and how near are these to a singularity?"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.checks.data_check import Checked
from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name, Where
from dynid.dynamics.expansion import expand
from dynid.dynamics.loop_guess import closed_ranges
from dynid.dynamics.operations import NUMERIC
from dynid.logs.log import Log
from dynid.model.continuation import singular_values
from dynid.model.robot import Robot
from dynid.preparation.column import stride

_NEAR = 0.05
"""Share of the singular value at the start below which a loop is near a singularity: lengths and encoders
that are a little wrong move the following joints wrong twenty times as much as at the start."""
_LOOKED_AT = 4000
"""Positions whose singular values are computed, spread over the log."""


def check_loops(log: Log, robot: Robot | None) -> Checked:
    """Positions at which loops are open (fail) or near a singularity (care).

    Args:
        log: some rows of the log, with its extremes, on the joint side where a robot is known.
        robot: whose loops; nothing is said of one without.
    """
    if robot is None or robot.closure is None or "position" not in log.channels:
        return Checked()
    q = np.column_stack([np.asarray(log.column("position", axis), dtype=float) for axis in range(log.axes)])
    known = np.flatnonzero(np.isfinite(q).all(axis=1))
    q, time = q[known], np.asarray(log.time)[known]
    joints = _movable_positions(robot, q)
    opened = np.flatnonzero(np.isnan(joints).any(axis=1))
    if len(opened):
        return Checked((_open_finding(robot, q, time, opened),))
    few = slice(None, None, stride(len(q), _LOOKED_AT))
    start = np.array([robot.closure.start])
    usual = float(singular_values(robot.joints, robot.closure, start)[0])
    shares = singular_values(robot.joints, robot.closure, joints[few]) / usual
    facts = {"loop_singularity": float(shares.min(initial=np.inf))} if len(shares) else {}
    if not len(shares) or shares.min() >= _NEAR:
        return Checked((), facts)
    return Checked((_singular_finding(robot, q[few], time[few], shares),), facts)


def _movable_positions(robot: Robot, q: FloatArray) -> FloatArray:
    """All movable joints (samples, movable); NaN where loops do not close."""
    found = expand(robot, list(q.T), NUMERIC).positions
    return np.column_stack(
        [np.broadcast_to(np.asarray(found[j], dtype=float), len(q)) for j in robot.movable]
    )


def _open_finding(robot: Robot, q: FloatArray, time: FloatArray, opened: NDArray[np.intp]) -> Finding:
    first, share, axis = int(opened[0]), len(opened) / len(q), None
    why = ""
    for j, (low, high) in closed_ranges(robot).items():
        k = robot.coordinates.index(j)
        if not low <= q[first, k] <= high:
            axis, why = k, f": {robot.joints[j].name} is at {q[first, k]:.4g}, outside {low:.4g} … {high:.4g}"
    names = " and ".join(repr(cut.name) for cut in robot.closure.cuts) if robot.closure else ""
    return Finding(
        Name.LOOP_NOT_CLOSED,
        Level.FAIL,
        f"The loop {names} cannot be closed at {100 * share:.2g} % of the positions, first at "
        f"{time[first]:.6g} s{why}.",
        "Check offset, sign, unit and order of the axes, the lengths of the loop, and its start in the robot "
        "file; else widen the limits of the coordinates.",
        Where(channel="position", axis=None if axis is None else axis + 1, moment=f"{time[first]:.6g} s"),
        {"share": share},
    )


def _singular_finding(robot: Robot, q: FloatArray, time: FloatArray, shares: FloatArray) -> Finding:
    worst = int(np.argmin(shares))
    at = ", ".join(
        f"{robot.joints[j].name} = {x:.4g}" for j, x in zip(robot.coordinates, q[worst], strict=True)
    )
    return Finding(
        Name.LOOP_SINGULAR,
        Level.CARE,
        f"At {time[worst]:.6g} s ({at}) a loop is near a singularity: the joints that follow are held "
        f"{1 / max(float(shares[worst]), 1e-9):.3g} times less firmly than at the start, so small errors of "
        "lengths and positions become large there.",
        "Keep the motion away from this position, or cut it out of the log.",
        Where(channel="position", moment=f"{time[worst]:.6g} s"),
        {"share_of_start": float(shares[worst])},
    )
