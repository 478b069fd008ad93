"""What the row of one motor says of the payload: φ_m = K_m χ_L / g_m with its covariance (P2 eq 25–26)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.base.numeric import RandomStates, random_states, regressor_matrix, remainders
from dynid.base.subspaces import DEPENDENT, triangle
from dynid.core.arrays import FloatArray
from dynid.model.robot import Robot

_SEED = 20262
"""The random states are always the same, so that results are."""
_ZERO = 1e-10
"""Share of a column's largest entry over all motors below which it is zero in the row of one motor."""


@dataclass(frozen=True, eq=False)
class MotorPayload:
    """Functions K_m χ of the payload that one motor's rows show, each divided by the motor's gain.

    Args:
        motor: number of the motor, from 0.
        names: parameters of the payload, χ, such as XXL … ML.
        matrix: K_m, of full row rank, (functions, payload).
        values: φ̂_m = K_m χ / g_m, g_m relative to the a-priori gain, (functions,).
        covariance: of the values.
        uncertainty: how it was found, as ``Estimate.uncertainty``.
    """

    motor: int
    names: tuple[str, ...]
    matrix: FloatArray
    values: FloatArray
    covariance: FloatArray
    uncertainty: str = "classical"

    @property
    def felt(self) -> tuple[str, ...]:
        """Parameters that move this motor's torque."""
        return tuple(n for n, column in zip(self.names, self.matrix.T, strict=True) if np.any(column))


def motor_regressor(robot: Robot, states: RandomStates) -> FloatArray:
    """R⁻ᵀ W at given states, (motors, samples, standard): the joints' rows where the robot has no drives."""
    n = robot.n_coordinates
    W = regressor_matrix(robot, states, range(n)).reshape(n, len(states.q), -1)
    if robot.drives is None:
        return W
    return np.asarray(np.einsum("jm,jsp->msp", np.linalg.inv(robot.drives.matrix), W), dtype=float)


@dataclass(frozen=True, eq=False)
class RowMap:
    """The joint-wise base set of one motor, from the model alone (P2 §III.A).

    Args:
        arm: columns among those given that this row tells apart.
        payload: columns of the payload that it tells apart.
        matrix: K_m, the others regrouped into these, (payload columns kept, payload columns).
    """

    arm: tuple[int, ...]
    payload: tuple[int, ...]
    matrix: FloatArray


def row_maps(robot: Robot, arm: Sequence[int], payload: Sequence[int]) -> tuple[RowMap, ...]:
    """What each motor's row can tell apart, of the arm's columns and of the payload's.

    The arm's columns are seen in free and loaded motions alike and the payload's in loaded ones only, so that
    a combination of both vanishes only where each part does: they are grouped by themselves.

    Args:
        robot: the loaded robot.
        arm: columns of the regressor that belong to the arm.
        payload: columns that belong to the payload, the mass last, so that it is kept only where it can be
            told from all others.
    """
    W = motor_regressor(robot, random_states(robot, np.random.default_rng(_SEED)))
    largest = np.abs(W).max(axis=(0, 1))
    maps = []
    for own in W:
        seen = np.abs(own).max(axis=0) > _ZERO * largest
        kept_arm, _ = _grouping(own, [c for c in arm if seen[c]])
        kept, K = _grouping(own, [c for c in payload if seen[c]])
        full = np.zeros((len(kept), len(payload)))
        full[:, [i for i, c in enumerate(payload) if seen[c]]] = K
        maps.append(RowMap(tuple(kept_arm), tuple(kept), full))
    return tuple(maps)


def _grouping(W: FloatArray, columns: Sequence[int]) -> tuple[list[int], FloatArray]:
    """The earliest independent columns, and K with W[:, columns] = W[:, kept] K."""
    if not columns:
        return [], np.zeros((0, 0))
    norms = np.linalg.norm(W[:, columns], axis=0)
    unit = triangle(W[:, columns] / norms)
    kept = np.flatnonzero(remainders(unit) > DEPENDENT)
    Q, R = np.linalg.qr(unit[:, kept])
    K = np.linalg.solve(R, Q.T @ unit)
    K[np.abs(K) < DEPENDENT] = 0.0
    return [columns[k] for k in kept], np.asarray(K * (norms / norms[kept][:, None]), dtype=float)
