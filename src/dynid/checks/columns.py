"""Columns that may explain the torques of each axis: those of the robot, or plain ones without it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid.checks.light import Light
from dynid.dynamics.operations import NUMERIC
from dynid.dynamics.regressor import regressor
from dynid.model.robot import Robot

FloatArray = NDArray[np.float64]
_DEPENDENT = 1e-8
_SEED = 7
_POSES = 40
_COUPLED = 3
"""Axes up to which products of all axes are tried; with more they would explain anything."""


@dataclass(frozen=True, eq=False)
class AxisColumns:
    """What may explain one axis' torque.

    Args:
        values: (samples, columns).
        friction: which columns are the axis' own friction, odd in its speed.
        inertia: what each column adds, on average, to the inertia that the axis itself feels.
    """

    values: FloatArray
    friction: NDArray[np.bool_]
    inertia: FloatArray

    @cached_property
    def basis(self) -> FloatArray:
        """An orthonormal basis of the columns, (samples, rank)."""
        return orthonormal(self.values)


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


def independent_columns(robot: Robot) -> tuple[int, ...]:
    """The earliest columns of the regressor that do not depend on those before them, at random states."""
    rng = np.random.default_rng(_SEED)
    shape = (2 * len(robot.table) + 20, robot.n_coordinates)
    q, qd, qdd = (rng.uniform(-1.6, 1.6, shape) for _ in range(3))
    W = robot_regressor(robot, q, qd, qdd).reshape(-1, len(robot.table))
    return earliest_independent(W)


def earliest_independent(W: FloatArray) -> tuple[int, ...]:
    """Columns that are left, beside those before them, with more than rounding; zero columns are none."""
    sizes = np.linalg.norm(W, axis=0)
    seen = np.flatnonzero(sizes > 1e-10 * max(float(sizes.max(initial=0.0)), 1e-300))
    basis = np.empty((len(W), 0))
    kept = []
    for k in seen:
        unit = W[:, k] / sizes[k]
        left = unit - basis @ (basis.T @ unit)
        left -= basis @ (basis.T @ left)  # twice is enough
        size = float(np.linalg.norm(left))
        if size > _DEPENDENT:
            basis = np.column_stack([basis, left / size])
            kept.append(int(k))
    return tuple(kept)


def robot_columns(robot: Robot, light: Light) -> tuple[tuple[AxisColumns, ...], FloatArray]:
    """Columns of each coordinate's torque, and the robot's regressor at ``light.rows``.

    Friction is added to the columns where the robot file names none.
    """
    q, qd, qdd = light.q[light.rows], light.qd[light.rows], light.qdd[light.rows]
    few = q[:: max(1, len(q) // _POSES)]
    n, count, poses = robot.n_coordinates, len(q), len(few)
    # All states in one call: the motion, some poses at rest, and these with each axis accelerated alone.
    rest = np.zeros((poses * (n + 1), n))
    units = np.repeat(np.eye(n + 1, n, -1), poses, axis=0)
    states = (
        np.concatenate([q, np.tile(few, (n + 1, 1))]),
        np.concatenate([qd, rest]),
        np.concatenate([qdd, units]),
    )
    everywhere = robot_regressor(robot, *states)
    W, at_poses = everywhere[:, :count], everywhere[:, count:].reshape(n, n + 1, poses, -1)
    entries = robot.table.entries
    made = []
    for j in range(n):
        own = [
            entry.joint == robot.coordinates[j]
            and entry.family != "inertial"
            and entry.symbol in ("Fv", "Fc")
            for entry in entries
        ]
        inertia = np.mean(at_poses[j, j + 1] - at_poses[j, 0], axis=0)
        made.append(_with_friction(W[j], np.array(own), inertia, qd[:, j]))
    return tuple(made), W


def plain_columns(light: Light) -> tuple[AxisColumns, ...]:
    """Columns that most arms have, without knowing the robot: inertia, gravity, friction, offset."""
    q, qd, qdd = light.q[light.rows], light.qd[light.rows], light.qdd[light.rows]
    n = q.shape[1]
    sums = np.cumsum(q, axis=1)  # gravity of a planar chain turns with the sums of its angles
    turns = np.concatenate([np.sin(q), np.cos(q)] + ([np.sin(sums), np.cos(sums)] if n > 1 else []), axis=1)
    shared = np.concatenate([np.ones((len(q), 1)), qdd, turns], axis=1)
    inertias = np.zeros((n, shared.shape[1]))
    inertias[:, 1 : n + 1] = np.eye(n)
    if 1 < n <= _COUPLED:
        # Inertia and centripetal torques change with the angles of the other axes.
        angles = np.concatenate([np.sin(q), np.cos(q)], axis=1)
        for part in (qdd, qd**2):
            shared = np.concatenate([shared, *(part[:, [k]] * angles for k in range(n))], axis=1)
        mean = np.concatenate([np.kron(np.eye(n), angles.mean(axis=0)), np.zeros((n, 2 * n * n))], axis=1)
        inertias = np.concatenate([inertias, mean], axis=1)
    nobody = np.zeros(shared.shape[1], dtype=bool)
    return tuple(_with_friction(shared, nobody, inertias[j], qd[:, j]) for j in range(n))


def _with_friction(
    values: FloatArray, own: NDArray[np.bool_], inertia: FloatArray, speed: FloatArray
) -> AxisColumns:
    if np.any(own):
        return AxisColumns(values, own, inertia)
    added = np.column_stack([values, speed, np.sign(speed)])
    return AxisColumns(added, np.concatenate([own, [True, True]]), np.concatenate([inertia, [0.0, 0.0]]))


def orthonormal(values: FloatArray) -> FloatArray:
    """An orthonormal basis of the columns, those below rounding left out."""
    seen = _visible(values)
    if not seen.shape[1]:
        return seen
    U, s, _ = np.linalg.svd(seen, full_matrices=False)
    basis: FloatArray = U[:, s > _DEPENDENT * s[0]]
    return basis


def left_by(values: FloatArray, y: FloatArray) -> float:
    """Norm of what the columns do not explain of a signal."""
    seen = _visible(values)
    R = np.asarray(np.linalg.qr(np.column_stack([seen, y]), mode="r"))
    Q = orthonormal(R[:, :-1])
    return float(np.linalg.norm(R[:, -1] - Q @ (Q.T @ R[:, -1])))


def _visible(values: FloatArray) -> FloatArray:
    """Columns above rounding, of length one each."""
    sizes = np.linalg.norm(values, axis=0)
    seen = sizes > 1e-10 * max(float(sizes.max(initial=0.0)), 1e-300)
    made: FloatArray = values[:, seen] / sizes[seen]
    return made
