"""All motors and one arm: y_m = θ_m W_m χ with θ_m = 1/g_m and one χ of arm and payload for all rows.

P2 lets every motor have an arm of its own, whose parameters its rows must tell from the payload. The links'
inertias are the same for all motors, so that motions without a load tie the gains to each other already, and
a weighed payload sets their common scale.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dynid.calibration.gauss_newton import gauss_newton, inverse_root, shortest
from dynid.calibration.knowledge import PayloadKnowledge
from dynid.calibration.motor_payload import payload_columns
from dynid.core.arrays import FloatArray
from dynid.estimators.honest import few_blocks_factor
from dynid.estimators.linear.least_squares import FLOOR
from dynid.problem.factor import Factor, merge_factors
from dynid.problem.problem import Problem
from dynid.problem.regression import JointRows

_FEWEST_DEGREES = 10
"""Degrees of freedom from which on the squares beyond those of single arms say something."""
_BLOCKS = 10
"""Blocks of time that are left out one by one, as in ``Honest``."""


@dataclass(frozen=True, eq=False)
class SharedArm:
    """Gains of all motors with one arm and one payload.

    Args:
        theta: 1/g of each motor, (motors,).
        payload: χ_L, (payload,).
        covariance: of θ followed by χ_L, from the errors of the torques and their spread over blocks of time.
        known_covariance: the same from the σ of what is known.
        open: which of these the rows do not determine.
        excess: squares that one arm for all rows leaves beyond arms of their own, over their number: one
            where the rows are of one mind, in the size that blocks of time show.
        degrees: that number.
        inflation: variance between blocks of time over that of white errors, at least one.
    """

    theta: FloatArray
    payload: FloatArray
    covariance: FloatArray
    known_covariance: FloatArray
    open: NDArray[np.bool_]
    excess: float
    degrees: int
    inflation: float


@dataclass(frozen=True, eq=False)
class _Rows:
    """Whitened rows of all motors, and how base parameters follow from x = (θ, χ_L, arm).

    Args:
        factors: per motor (columns, R / σ).
        arm: places of the arm's parameters among the base ones.
        K: base parameters of the payload from χ_L, (base, payload).
    """

    factors: tuple[tuple[list[int], FloatArray], ...]
    arm: list[int]
    K: FloatArray

    def base(self, x: FloatArray) -> FloatArray:
        """Base parameters of arm and payload."""
        m, p = len(self.factors), self.K.shape[1]
        values = self.K @ x[m : m + p]
        values[self.arm] += x[m + p :]
        return np.asarray(values, dtype=float)

    def residual(self, x: FloatArray) -> FloatArray:
        """Whitened y_m − θ_m W_m χ of all motors."""
        values = self.base(x)
        return np.concatenate(
            [R[:, -1] - x[k] * (R[:, :-1] @ values[c]) for k, (c, R) in enumerate(self.factors)]
        )

    def squares(self, x: FloatArray) -> float:
        """Σ of the residual's squares."""
        return float(np.sum(self.residual(x) ** 2))

    def jacobian(self, x: FloatArray) -> FloatArray:
        """Minus the derivatives of the residual."""
        m, p, values = len(self.factors), self.K.shape[1], self.base(x)
        blocks = []
        for k, (c, R) in enumerate(self.factors):
            J = np.zeros((len(R), len(x)))
            J[:, k] = R[:, :-1] @ values[c]
            J[:, m : m + p] = x[k] * (R[:, :-1] @ self.K[c])
            wide = np.zeros((len(R), len(self.K)))
            wide[:, c] = R[:, :-1]
            J[:, m + p :] = x[k] * wide[:, self.arm]
            blocks.append(J)
        return np.vstack(blocks)


def fit_shared_arm(
    problem: Problem,
    knowledge: PayloadKnowledge,
    names: Sequence[str],
    theta: FloatArray,
    doubtful: Sequence[int] = (),
) -> SharedArm:
    """min over θ, arm and payload of Σ_m ‖y_m − θ_m W_m χ‖² / σ_m², with what is known of the payload held.

    σ_m is what the rows of motor m leave with an arm of their own. The σ of what is known is carried over by
    the delta method, D = −J⁺ J_known, so that a mass which alone sets the scale needs no weight of its own.

    Args:
        problem: free and loaded motions, in rows of motors.
        knowledge: what is known of the payload.
        names: of the payload's parameters.
        theta: where to start, (motors,).
        doubtful: motors whose sign nobody knows: both are tried, one motor after the other.
    """
    sigma, separate, ranks = _own_errors(problem)
    payload = payload_columns(problem.robot)
    arm = [i for i, c in enumerate(problem.base.columns) if c not in payload]
    K = np.array(problem.base.matrix[:, payload])
    K[arm] = 0.0
    blocks = _blocks(problem)

    def rows_of(parts: Sequence[Sequence[Factor]]) -> _Rows:
        joints = [merge_factors(list(own)) for own in zip(*parts, strict=True)]
        scaled = tuple((list(f.columns), f.R / s) for f, s in zip(joints, sigma, strict=True))
        return _Rows(scaled, arm, K)

    known, count = knowledge.mask(names), len(theta)
    free = np.concatenate([np.ones(count), ~known, np.ones(len(arm))]).astype(bool)
    whole = rows_of(blocks)
    start = np.concatenate([theta, knowledge.vector(names), np.zeros(len(arm))])
    x = _solve(whole, _at_gains(whole, start, free), free)
    for k in doubtful:  # a step does not carry θ past zero, where the motor says nothing of the arm
        turned = np.concatenate([x[:count], start[count:]])
        turned[k] = -theta[k]
        x = min(x, _solve(whole, _at_gains(whole, turned, free), free), key=whole.squares)
    J = whole.jacobian(x)
    root, lost = inverse_root(J[:, free])
    white = np.zeros((len(x), len(x)))
    white[np.ix_(free, free)] = root @ root.T
    away = [_solve(rows_of([b for b in blocks if b is not block]), x, free) - x for block in blocks]
    inflation = _inflation(np.array(away)[:, :count], np.diag(white)[:count])
    degrees = int(ranks) - int(root.shape[1])
    excess = 1.0
    if degrees >= _FEWEST_DEGREES:
        excess = (whole.squares(x) - separate) / degrees / inflation
    opened, end = np.zeros(len(x), dtype=bool), count + len(known)
    opened[free] = lost
    weighed = _moved_by_known(white, J, free) * knowledge.deviations(names)[known]
    return SharedArm(
        x[:count],
        x[count:end],
        inflation * white[:end, :end],
        (weighed @ weighed.T)[:end, :end],
        opened[:end],
        excess,
        degrees,
        inflation,
    )


def _moved_by_known(white: FloatArray, J: FloatArray, free: NDArray[np.bool_]) -> FloatArray:
    """D = −J⁺ J_known: how x moves with each value that is held, (entries, held)."""
    held = ~free
    D = -white @ J.T @ J[:, held]
    D[held] = np.eye(int(held.sum()))
    return np.asarray(D, dtype=float)


def _own_errors(problem: Problem) -> tuple[FloatArray, float, int]:
    """σ of each motor's rows with an arm of its own, their squares in units of it, and all ranks."""
    sigma, squares, ranks = [], 0.0, 0
    for factor, own in zip(problem.regression.joints, problem.joint_spectra, strict=True):
        degrees = max(factor.rows - own.rank, 1)
        floor = FLOOR * factor.torque_norm
        sigma.append(max(own.residual_norm, floor) / np.sqrt(degrees) or 1.0)
        squares += (own.residual_norm / sigma[-1]) ** 2
        ranks += own.rank
    return np.array(sigma), squares, ranks


def _blocks(problem: Problem) -> list[tuple[Factor, ...]]:
    """About ten blocks of time over all experiments: factors of each motor's rows."""
    pieces = problem.regression.pieces
    if pieces is None:  # the log is long, and its stretches are many
        cells = problem.regression.cells
        edges = np.linspace(0, len(cells), min(_BLOCKS, len(cells)) + 1).astype(int).tolist()
        parts = [cells[a:b] for a, b in pairwise(edges)]
        return [tuple(map(merge_factors, zip(*(c.factors for c in part), strict=True))) for part in parts]
    each = max(2, round(_BLOCKS / len(pieces)))
    return [tuple(_part(rows, part, each) for rows in piece) for piece in pieces for part in range(each)]


def _part(rows: JointRows, number: int, count: int) -> Factor:
    """The factor of one of some equal parts of the rows of a motor."""
    edges = np.linspace(0, len(rows), count + 1).astype(int)
    own = slice(edges[number], edges[number + 1])
    return Factor.empty(rows.columns).fold(np.ascontiguousarray(rows.W[own].T), rows.y[own])


def _at_gains(rows: _Rows, x: FloatArray, free: NDArray[np.bool_]) -> FloatArray:
    """x with the arm and the payload that are best for its gains: a linear problem."""
    linear = free & (np.arange(len(free)) >= len(rows.factors))
    found = x.copy()
    found[linear] += shortest(rows.jacobian(x)[:, linear], rows.residual(x))
    return found


def _solve(rows: _Rows, x: FloatArray, free: NDArray[np.bool_]) -> FloatArray:
    return gauss_newton(rows.residual, rows.jacobian, x, free)


def _inflation(away: FloatArray, white: FloatArray) -> float:
    """Delete-one-block variance of the gains over the white one; one where chance explains it.

    The gains move together, so that their ratios are as good as one: χ² with a degree less than blocks.
    """
    count = len(away)
    seen = white > 0
    if count < 4 or not np.any(seen):
        return 1.0
    spread = (count - 1) / count * np.sum(away[:, seen] ** 2, axis=0)
    ratio = float(np.mean(spread / white[seen]))
    by_chance = 1.0 + 2.0 * np.sqrt(2.0 / (count - 1))
    return 1.0 if ratio < by_chance else ratio * few_blocks_factor(count - 1) ** 2
