"""Does the motion explain the torques? Each axis fitted by itself, with the robot's columns or plain ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid.checks.data_check import Checked
from dynid.checks.light_motion import LightMotion
from dynid.checks.steps import is_rough
from dynid.core.arrays import BoolArray, FloatArray, svd
from dynid.core.finding import Finding, Level, Name, Where
from dynid.dynamics.operations import NUMERIC
from dynid.dynamics.regressor import regressor
from dynid.logs.log import Log
from dynid.model.robot import Robot


@dataclass(frozen=True)
class ColumnRules:
    """How columns are looked at. Shares above rounding, below anything that a motor does.

    Args:
        rank: singular value of unit columns, over the largest, below which a direction is rounding.
        visible: norm of a column over the largest, below which it is rounding.
        stuck: spread of a torque over its size, below which it is constant but for rounding.
        poses: poses at which the inertia that an axis feels is averaged.
        coupled: axes up to which plain columns hold products of all axes; with more they would explain
            anything.
    """

    rank: float = 1e-8
    visible: float = 1e-10
    stuck: float = 1e-9
    poses: int = 40
    coupled: int = 3


COLUMNS = ColumnRules()


@dataclass(frozen=True)
class ExplainedLimits:
    """Share of the torques left by a plain fit (RMS), as a median over the moving axes.

    Chosen by hand: a wrong order of axes leaves about half, noise all.

    Args:
        care: worth a word.
        fail: no fit can be trusted.
    """

    care: float = 0.5
    fail: float = 0.9


EXPLAINED = ExplainedLimits()


@dataclass(frozen=True, eq=False)
class TorqueColumns:
    """What may explain one axis' torque.

    Args:
        values: (samples, columns).
        friction: which columns are the axis' own friction, odd in its speed.
        inertia: what each column adds, on average, to the inertia that the axis itself feels.
    """

    values: FloatArray
    friction: BoolArray
    inertia: FloatArray

    @cached_property
    def sizes(self) -> FloatArray:
        """Norms of the columns; zero for those below rounding."""
        return visible_sizes(self.values)

    @cached_property
    def svd(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """U, s, Vᵀ of the visible columns, each scaled to unit length."""
        seen = self.sizes > 0
        U, s, Vt = svd(self.values[:, seen] / self.sizes[seen], full_matrices=False)
        return U, s, Vt

    @cached_property
    def basis(self) -> FloatArray:
        """An orthonormal basis of the columns, (samples, rank)."""
        U, s, _ = self.svd
        made: FloatArray = U[:, s > COLUMNS.rank * s.max(initial=0.0)]
        return made


def visible_sizes(columns: FloatArray) -> FloatArray:
    """Norms of columns, (samples, columns); zero for those below rounding."""
    sizes: FloatArray = np.linalg.norm(columns, axis=0)
    return np.where(sizes > COLUMNS.visible * sizes.max(initial=0.0), sizes, 0.0)


def unexplained_squares(
    motion: LightMotion, columns: Sequence[TorqueColumns], shifts: NDArray[np.intp]
) -> FloatArray:
    """Squared share of each axis' torque (about its mean) that its columns do not explain, (shifts, axes).

    Args:
        motion: the signals.
        columns: what may explain them.
        shifts: samples by which torques are read later than positions.

    Returns:
        NaN for a torque that does not change.
    """
    squares = np.full((len(shifts), len(columns)), np.nan)
    for j, part in enumerate(columns):
        tau, Q = motion.tau[motion.rows[:, None] + shifts, j], part.basis
        size = np.sum((tau - tau.mean(axis=0)) ** 2, axis=0)
        left = np.sum((tau - Q @ (Q.T @ tau)) ** 2, axis=0)
        np.divide(left, size, out=squares[:, j], where=size > COLUMNS.stuck**2 * np.sum(tau**2, axis=0))
    return squares


def check_explained(
    log: Log, motion: LightMotion, columns: Sequence[TorqueColumns], robot: Robot | None
) -> Checked:
    """Torques that no parameters of this robot would give, or that are noise as far as the motion tells.

    Args:
        log: what the motion was made of.
        motion: the signals.
        columns: what may explain them.
        robot: whose columns they are; None for plain ones.
    """
    shares = np.sqrt(unexplained_squares(motion, columns, np.zeros(1, dtype=np.intp))[0]).tolist()
    still = motion.still_axes
    facts = {"unexplained_per_axis": shares, "still_axes": [axis + 1 for axis in still]}
    moving = [axis for axis in range(log.axes) if axis not in still and np.isfinite(shares[axis])]
    if robot is not None:  # nothing but noise is what an undriven motor reads
        rough = {axis for axis in moving if is_rough(log.column("torque", axis))}
        moving = [axis for axis in moving if robot.driven[axis] and axis not in rough] or moving
    if not moving:
        return Checked((), facts)
    shown = ", ".join(f"{100 * share:.0f}" if np.isfinite(share) else "–" for share in shares)
    if robot is None:
        if min(shares[axis] for axis in moving) < EXPLAINED.fail:
            return Checked((), facts)
        level = Level.FAIL if all(is_rough(log.column("torque", axis)) for axis in moving) else Level.CARE
        sentence = (
            f"The torques have nothing to do with the motion: {shown} % per axis are left by a plain fit."
        )
        remedy = (
            "Check the columns of the torques and the order of the rows; give the robot for a sharper look."
        )
    else:
        middle = float(np.median([shares[axis] for axis in moving]))
        if middle < EXPLAINED.care:
            return Checked((), facts)
        level = Level.FAIL if middle > EXPLAINED.fail else Level.CARE
        sentence = f"No parameters of robot {robot.name!r} explain the torques: {shown} % per axis are left."
        remedy = "Check the robot, the order and zeros of the axes, and whether all axes were driven."
    place = Where(channel="torque")
    return Checked((Finding(Name.HARDLY_EXPLAINED, level, sentence, remedy, place),), facts)


def robot_regressor(
    robot: Robot,
    q: FloatArray,
    qd: FloatArray | None,
    qdd: FloatArray | None,
    wanted: Sequence[int] | None = None,
) -> FloatArray:
    """W over all or some standard parameters, (coordinates, samples, parameters), without compiling.

    Args:
        robot: the robot.
        q: positions.
        qd: speeds; None at rest, where most of the work falls away.
        qdd: accelerations; likewise.
        wanted: standard parameters; all when None.
    """
    rest = [0.0] * q.shape[1]
    speeds, accelerations = (rest if x is None else list(x.T) for x in (qd, qdd))
    with np.errstate(all="ignore"):
        columns = regressor(robot, list(q.T), speeds, accelerations, NUMERIC, wanted)
    W = np.empty((robot.n_coordinates, len(q), len(columns)))
    for k, column in enumerate(columns):
        for j in range(robot.n_coordinates):
            W[j, :, k] = column[j]
    return np.nan_to_num(W, copy=False, nan=0.0, posinf=0.0, neginf=0.0)


def robot_columns(robot: Robot, motion: LightMotion) -> tuple[tuple[TorqueColumns, ...], FloatArray]:
    """Columns of each coordinate's torque, and the robot's regressor at ``motion.rows``.

    Friction is added to the columns where the robot file names none.

    Args:
        robot: what was moved.
        motion: the signals.
    """
    q, qd, qdd = motion.q[motion.rows], motion.qd[motion.rows], motion.qdd[motion.rows]
    few = q[:: max(1, len(q) // COLUMNS.poses)]
    n, count, poses = robot.n_coordinates, len(q), len(few)
    # All states in one call: the motion, some poses at rest, and these with each axis accelerated alone.
    rest = np.zeros((poses * (n + 1), n))
    accelerated = np.repeat(np.eye(n + 1, n, -1), poses, axis=0)
    everywhere = robot_regressor(
        robot,
        np.concatenate([q, np.tile(few, (n + 1, 1))]),
        np.concatenate([qd, rest]),
        np.concatenate([qdd, accelerated]),
    )
    W, at_poses = everywhere[:, :count], everywhere[:, count:].reshape(n, n + 1, poses, -1)
    made = []
    for j in range(n):
        own = [
            entry.joint == robot.coordinates[j]
            and entry.family != "inertial"
            and entry.symbol in ("Fv", "Fc")
            for entry in robot.table.entries
        ]
        inertia = np.mean(at_poses[j, j + 1] - at_poses[j, 0], axis=0)
        made.append(_with_friction(W[j], np.array(own), inertia, qd[:, j]))
    return tuple(made), W


def plain_columns(motion: LightMotion) -> tuple[TorqueColumns, ...]:
    """Columns that most arms have, without knowing the robot: inertia, gravity, friction, offset.

    Args:
        motion: the signals.
    """
    q, qd, qdd = motion.q[motion.rows], motion.qd[motion.rows], motion.qdd[motion.rows]
    n = q.shape[1]
    sums = np.cumsum(q, axis=1)  # gravity of a planar chain turns with the sums of its angles
    turns = np.concatenate([np.sin(q), np.cos(q)] + ([np.sin(sums), np.cos(sums)] if n > 1 else []), axis=1)
    shared = np.concatenate([np.ones((len(q), 1)), qdd, turns], axis=1)
    inertias = np.zeros((n, shared.shape[1]))
    inertias[:, 1 : n + 1] = np.eye(n)
    if 1 < n <= COLUMNS.coupled:
        # Inertia and centripetal torques change with the angles of the other axes.
        angles = np.concatenate([np.sin(q), np.cos(q)], axis=1)
        for part in (qdd, qd**2):
            shared = np.concatenate([shared, *(part[:, [k]] * angles for k in range(n))], axis=1)
        mean = np.concatenate([np.kron(np.eye(n), angles.mean(axis=0)), np.zeros((n, 2 * n * n))], axis=1)
        inertias = np.concatenate([inertias, mean], axis=1)
    nobody = np.zeros(shared.shape[1], dtype=bool)
    return tuple(_with_friction(shared, nobody, inertias[j], qd[:, j]) for j in range(n))


def _with_friction(
    values: FloatArray, own: BoolArray, inertia: FloatArray, speed: FloatArray
) -> TorqueColumns:
    if np.any(own):
        return TorqueColumns(values, own, inertia)
    added = np.column_stack([values, speed, np.sign(speed)])
    return TorqueColumns(added, np.concatenate([own, [True, True]]), np.concatenate([inertia, [0.0, 0.0]]))
