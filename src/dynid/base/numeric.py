"""Base parameters by QR of the regressor at random states (Gautier 1991): any robot, couplings included."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.base.conditions import own_columns
from dynid.base.forms import REMEDY, Grouping, require_clear
from dynid.base.subspaces import DEPENDENT, triangle
from dynid.core.arrays import FloatArray
from dynid.core.errors import ModelError, NotTrustworthyError
from dynid.dynamics.expansion import expand
from dynid.dynamics.kinematics import motions, placements
from dynid.dynamics.loop_guess import closed_ranges
from dynid.dynamics.operations import NUMERIC
from dynid.dynamics.regressor import regressor
from dynid.model.joint import LENGTHS
from dynid.model.robot import Robot

ROUNDING = 1e-12
"""A column below this share of what its terms could add up to is zero: its terms cancel."""
SMALL = 1e-10
"""Regrouping coefficients below this, between unit columns, are rounding."""


@dataclass(frozen=True)
class RandomStates:
    """Random states: q, q̇, q̈, each (samples, coordinates)."""

    q: FloatArray
    qd: FloatArray
    qdd: FloatArray


def random_states(robot: Robot, rng: np.random.Generator) -> RandomStates:
    """Twice as many states as parameters, so that even one joint's torque alone decides every rank.

    Coordinates that move loops stay where these close.
    """
    shape = (2 * len(robot.table) + 20, robot.n_coordinates)
    q, qd, qdd = rng.uniform(-1.6, 1.6, shape), rng.uniform(-2, 2, shape), rng.uniform(-2, 2, shape)
    for j, (low, high) in closed_ranges(robot).items():
        k = robot.coordinates.index(j)
        q[:, k] = low + (q[:, k] + 1.6) / 3.2 * (high - low)
    # Slow states tell friction laws apart that differ near rest only.
    slow = rng.random(shape[0]) < 0.25
    qd[slow] *= 10.0 ** rng.uniform(-3, 0, (int(slow.sum()), 1))
    return RandomStates(q, qd, qdd)


def regressor_matrix(robot: Robot, states: RandomStates, rows: Sequence[int]) -> FloatArray:
    """W (coordinates wanted × samples, parameters), one block of samples per coordinate.

    With conditions there is one such W per condition, one below the other, in which the columns of parameters
    that do not live there are zero.
    """
    n = len(states.q)
    with np.errstate(all="ignore"):
        columns = regressor(robot, list(states.q.T), list(states.qd.T), list(states.qdd.T), NUMERIC)
    W = np.empty((len(rows), n, len(columns)))
    for k, column in enumerate(columns):
        for i, row in enumerate(rows):
            W[i, :, k] = column[row]
    finite = np.all(np.isfinite(W), axis=(0, 1))
    if not np.all(finite):
        entry = robot.table.entries[int(np.argmin(finite))]
        law = "force law, an [[element]]" if entry.family == "element" else "friction law"
        raise ModelError(
            f"The column of {entry.name} is not finite for positions within ±1.6 and speeds within ±2; "
            f"check its {law}."
        )
    plain = W.reshape(len(rows) * n, len(columns))
    if not robot.conditions:
        return plain
    return np.vstack([plain * np.array(robot.lives_in(condition.name)) for condition in robot.conditions])


def numeric_grouping(
    robot: Robot, rows: Sequence[int], order: Sequence[int], rng: np.random.Generator
) -> Grouping:
    """Base parameters by un-pivoted QR: a column that depends on earlier ones is regrouped into them.

    Zero columns go first, before any scaling: scaled, their rounding would look like rank. K comes from
    R11 K = R12 on unit columns.

    Args:
        robot: the robot.
        rows: coordinates whose torques are used.
        order: links in the order in which their columns are tried.
        rng: source of the random states.

    Raises:
        NotTrustworthyError: when kept and dropped columns are not clearly apart.
    """
    states = random_states(robot, rng)
    W = regressor_matrix(robot, states, rows)
    seen = np.abs(W).max(axis=0) > ROUNDING * _column_scales(robot, states)
    tried = [c for c in column_order(robot, order) if seen[c]]
    norms = np.linalg.norm(W[:, tried], axis=0)
    unit = triangle(W[:, tried] / norms)
    sizes = remainders(unit)
    kept = [k for k in range(len(tried)) if sizes[k] > DEPENDENT]
    dropped = [k for k in range(len(tried)) if sizes[k] <= DEPENDENT]
    gap = _gap(sizes[kept], sizes[dropped])
    _check(robot, unit, len(kept), gap)
    columns = tuple(tried[k] for k in kept)
    K = np.zeros((len(kept), W.shape[1]))
    K[np.arange(len(kept)), list(columns)] = 1.0
    K[:, [tried[k] for k in dropped]] = _coefficients(unit, norms, kept, dropped)
    return Grouping(columns, K, gap)


def column_order(robot: Robot, order: Sequence[int]) -> list[int]:
    """Table indices link by link in the given order, motor terms and elements last."""
    shared = [i for i, entry in enumerate(robot.table) if entry.family in ("motor", "element")]
    return [c for j in order for c in own_columns(robot, j)] + shared


def regrouping_onto(W: FloatArray, kept: Sequence[int], others: Sequence[int]) -> tuple[FloatArray, float]:
    """K of other columns for given kept ones, and the largest relative remainder that these leave."""
    norms = np.linalg.norm(W, axis=0)
    unit = triangle(W[:, [*kept, *others]] / norms[[*kept, *others]])
    first, rest = list(range(len(kept))), list(range(len(kept), unit.shape[1]))
    K = _coefficients(unit, norms[[*kept, *others]], first, rest)
    return K, float(np.abs((W[:, others] - W[:, kept] @ K) / norms[others]).max(initial=0.0))


def _column_scales(robot: Robot, states: RandomStates) -> FloatArray:
    """What the terms of each column could add up to: a zero column is one that is tiny beside this.

    Per unit tensor |ω̇| + |ω|², per unit first moment |v̇| + L (|ω̇| + |ω|²), per unit mass L |v̇|, with L the
    reach of the robot and the largest motion of any link; drives, friction and motors do not cancel.
    """
    expansion = expand(robot, list(states.q.T), NUMERIC)
    moving = motions(expansion, placements(expansion, NUMERIC), list(states.qd.T), list(states.qdd.T))
    spin = max(_size(m.angular_acceleration) + _size(m.angular_velocity) ** 2 for m in moving)
    pull = max(_size(m.acceleration) for m in moving)
    reach = 1.0 + sum(abs(getattr(joint, name)) for joint in robot.joints for name in LENGTHS)
    scales = {"kg m^2": spin, "kg m": pull + reach * spin, "kg": reach * pull}
    return np.array([scales[e.unit] if e.family == "inertial" else 0.0 for e in robot.table])


def _size(vector: Sequence[object]) -> float:
    return max(float(np.abs(np.asarray(x, dtype=float)).max()) for x in vector)


def remainders(unit: FloatArray) -> FloatArray:
    """Norm of each unit column beside the earlier independent ones (|R_kk| of an un-pivoted QR).

    A plain QR turns the rounding left of a dependent column into a direction of its own and spoils all later
    diagonal entries; here a dependent column gives no direction. Projected twice, to stay orthogonal.
    """
    Q = np.zeros_like(unit)
    rank = 0
    sizes = np.empty(unit.shape[1])
    for k in range(unit.shape[1]):
        v = unit[:, k]
        for _ in range(2):
            v = v - Q[:, :rank] @ (Q[:, :rank].T @ v)
        sizes[k] = np.linalg.norm(v)
        if sizes[k] > DEPENDENT:
            Q[:, rank] = v / sizes[k]
            rank += 1
    return sizes


def _coefficients(
    unit: FloatArray, norms: FloatArray, kept: Sequence[int], dropped: Sequence[int]
) -> FloatArray:
    """K of the dropped columns, without_rounding between unit columns where "small" has a meaning."""
    Q, R = np.linalg.qr(unit[:, kept])
    K = np.linalg.solve(R, Q.T @ unit[:, dropped])
    K[np.abs(K) < SMALL] = 0.0
    return np.asarray(K * (norms[dropped] / norms[kept][:, None]), dtype=float)


def _gap(kept: FloatArray, dropped: FloatArray) -> float:
    if not len(dropped) or not len(kept):
        return math.inf
    largest = float(dropped.max())
    return math.inf if largest == 0.0 else float(kept.min()) / largest


def _check(robot: Robot, unit: FloatArray, rank: int, gap: float) -> None:
    """The order must not matter for the count: a pivoted QR has to find the same rank."""
    from scipy.linalg import qr

    diagonal = np.abs(np.diag(qr(unit, mode="r", pivoting=True)[0])) if unit.size else np.zeros(0)
    pivoted = int(np.sum(diagonal > DEPENDENT))
    require_clear(robot, gap)
    if pivoted != rank:
        raise NotTrustworthyError(
            f"The base parameters of robot {robot.name!r} are not clear: {rank} columns are kept in the "
            f"given order but {pivoted} by a pivoted QR; {REMEDY}."
        )
