"""What the rows of one motor say of the payload: φ_m = K_m χ_L / g_m with its covariance (P2 eq 25–26)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.base.numeric import RandomStates, random_states, regressor_matrix, remainders
from dynid.base.subspaces import DEPENDENT, null_space, triangle
from dynid.core.arrays import FloatArray
from dynid.core.errors import ModelError
from dynid.estimators.fit import Fit
from dynid.estimators.identification import doubt_of
from dynid.estimators.linear.least_squares import FLOOR
from dynid.estimators.strategy import Strategy
from dynid.estimators.uncertainty import uncertainty_of
from dynid.model.payload import LOADED, UNLOADED
from dynid.model.robot import Robot
from dynid.problem.factor import Factor, spectrum, triangular
from dynid.problem.problem import Problem
from dynid.problem.regression import Cell, JointRows, Regression
from dynid.problem.row_source import motor_mixing

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
        covariance: of the values; from blocks of time it may have fewer directions than values.
        weighting: the classical covariance, brought to the size of the other on average: of full rank, and
            so what the values are weighted by.
        uncertainty: how ``covariance`` was found, as ``Estimate.uncertainty``.
        change: by which share the torque of the arm itself is larger in loaded motions than in free ones;
            zero within its σ for a gain that stays.
        change_sigma: its σ.
    """

    motor: int
    names: tuple[str, ...]
    matrix: FloatArray
    values: FloatArray
    covariance: FloatArray
    weighting: FloatArray
    uncertainty: str = "classical"
    change: float = 0.0
    change_sigma: float = np.inf

    @cached_property
    def whitener(self) -> FloatArray:
        """T with T C Tᵀ = 1 for the covariance C of the weights."""
        return whitening_matrix(self.weighting)

    @cached_property
    def root(self) -> FloatArray:
        """B with B Bᵀ the covariance, (functions, functions)."""
        values, vectors = np.linalg.eigh(self.covariance)
        return np.asarray(vectors * np.sqrt(np.maximum(values, 0.0)), dtype=float)

    @property
    def felt(self) -> tuple[str, ...]:
        """Parameters that move this motor's torque."""
        return tuple(n for n, column in zip(self.names, self.matrix.T, strict=True) if np.any(column))


def whitening_matrix(covariance: FloatArray) -> FloatArray:
    """T with T C Tᵀ = 1; directions that are exact to rounding count as known to 1e-6 of their σ."""
    sigma = np.sqrt(np.diag(covariance))
    scale = np.where(sigma > 0, sigma, 1.0)
    values, vectors = np.linalg.eigh(covariance / np.outer(scale, scale))
    return np.asarray((vectors / np.sqrt(np.maximum(values, 1e-12))).T / scale, dtype=float)


def motor_regressor(robot: Robot, states: RandomStates) -> FloatArray:
    """R⁻ᵀ W at given states, (motors, samples, standard): the joints' rows where the robot has no drives."""
    n = robot.n_coordinates
    W = regressor_matrix(robot.with_conditions(), states, range(n)).reshape(n, len(states.q), -1)
    return W if robot.drives is None else np.einsum("mj,jsp->msp", motor_mixing(robot), W)


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
        kept_arm, _ = _independent_columns(own, [c for c in arm if seen[c]])
        kept, K = _independent_columns(own, [c for c in payload if seen[c]])
        full = np.zeros((len(kept), len(payload)))
        full[:, [i for i, c in enumerate(payload) if seen[c]]] = K
        maps.append(RowMap(tuple(kept_arm), tuple(kept), full))
    return tuple(maps)


def _independent_columns(W: FloatArray, columns: Sequence[int]) -> tuple[list[int], FloatArray]:
    """The earliest independent columns, and K with W[:, columns] = W[:, kept] K."""
    if not columns:
        return [], np.zeros((0, 0))
    norms = np.linalg.norm(W[:, columns], axis=0)
    unit = triangle(W[:, columns] / norms)
    kept = np.flatnonzero(remainders(unit) > DEPENDENT)
    Q, R = np.linalg.qr(unit[:, kept])
    K = np.linalg.solve(R, Q.T @ unit)
    K[np.abs(K) < DEPENDENT] = 0.0
    return [columns[int(k)] for k in kept], np.asarray(K * (norms / norms[kept][:, None]), dtype=float)


def payload_columns(robot: Robot) -> list[int]:
    """Parameters that live in loaded logs and not in free ones, as indices into the table.

    Raises:
        ModelError: when there are none, or when they are not those of a body.
    """
    found: list[int] = []
    if {UNLOADED, LOADED} <= {condition.name for condition in robot.conditions}:
        both = zip(robot.lives_in(UNLOADED), robot.lives_in(LOADED), strict=True)
        found = [k for k, (free, loaded) in enumerate(both) if loaded and not free]
    if not found or any(robot.table.entries[k].family != "inertial" for k in found):
        raise ModelError(
            f"Robot {robot.name!r} has no payload that lives in the condition {LOADED!r} and not in "
            f"{UNLOADED!r}; attach one with dynid.model.free_and_loaded."
        )
    return found


def motor_payloads(problem: Problem, strategy: Strategy) -> tuple[MotorPayload, ...]:
    """What each motor says of the payload, by least squares on its own rows alone (P2 eq 27).

    Unknown are χ_arm/g and χ_L/g, as far as the model lets this row tell them apart.

    Args:
        problem: free and loaded motions, in rows of motors where the robot has drives.
        strategy: OLS() or TLS(), with the uncertainty to use.
    """
    robot, base = problem.robot, problem.base
    payload = payload_columns(robot)
    arm = [c for c in base.columns if c not in payload]
    names = tuple(robot.table.names[c] for c in payload)
    found = []
    for m, own in enumerate(row_maps(robot, arm, payload)):
        alone = _one_motor(problem, m, (*own.arm, *own.payload))
        fit = strategy.fit(alone)
        doubt = doubt_of(uncertainty_of(strategy.uncertainty), alone, fit)
        shown = np.pad(_shown_functions(fit, len(own.payload)), ((0, 0), (len(own.arm), 0)))
        honest, classical = (
            _above_rounding(alone, fit, m) * shown @ covariance @ shown.T
            for covariance in (doubt.covariance, fit.covariance)
        )
        variance = np.diag(classical)
        size = (
            float(np.mean(np.diag(honest)[variance > 0] / variance[variance > 0])) if variance.any() else 1.0
        )
        used = doubt.used or uncertainty_of(strategy.uncertainty).name
        matrix = shown[:, len(own.arm) :] @ own.matrix
        change, sigma = _change_of_arm(alone, fit, m, len(own.arm))
        found.append(
            MotorPayload(
                m,
                names,
                matrix,
                shown @ fit.values,
                honest,
                size * classical,
                used,
                change,
                float(np.sqrt(size)) * sigma,
            )
        )
    return tuple(found)


def _shown_functions(fit: Fit, count: int) -> FloatArray:
    """Functions of the last parameters that the rows determine, (functions, count): as a rule each."""
    lost = fit.spectrum.V[:, fit.spectrum.rank :] / fit.spectrum.scale[:, None]
    if not np.any(fit.undetermined[len(fit.values) - count :]):
        return np.eye(count)
    return null_space(lost[len(fit.values) - count :].T)[0]


def _change_of_arm(problem: Problem, fit: Fit, motor: int, arm: int) -> tuple[float, float]:
    """δ of y = (1 + δ) W_arm χ_arm + W_L χ_L in loaded motions, and its classical σ.

    One more column, W_arm χ̂_arm in loaded motions and zero in free ones, beside all others.
    """
    stack = []
    for factors in problem.regression.experiments:
        R = factors[motor].R
        loaded = bool(np.any(R[:, arm:-1]))
        stack.append(np.column_stack([R[:, :-1], loaded * (R[:, :arm] @ fit.values[:arm]), R[:, -1]]))
    solved = spectrum(np.vstack(stack))
    degrees = int(problem.row_counts[motor]) - solved.rank
    if solved.rank < len(solved.s) or degrees < 1:
        return 0.0, np.inf
    floor = FLOOR * float(problem.torque_norms()[motor])
    error = max(solved.residual_norm, floor) / np.sqrt(degrees)
    return float(solved.solution[-1]), float(error * np.linalg.norm(solved.root[-1]))


def _above_rounding(problem: Problem, fit: Fit, motor: int) -> float:
    """Factor that brings a residual which is rounding up to what rounding may be."""
    left, whole = fit.residual_norms(problem)[motor], problem.torque_norms()[motor]
    return float(max(1.0, FLOOR * whole / left) ** 2) if left > 0 else 1.0


def _one_motor(problem: Problem, motor: int, columns: Sequence[int]) -> Problem:
    """The problem of one motor's rows alone, with some of the regressor's columns."""
    place = {c: i for i, c in enumerate(problem.base.columns)}
    chosen = [place[c] for c in columns]
    base = problem.base
    own = BaseMap(
        base.robot,
        base.method,
        tuple(columns),
        base.matrix[chosen].copy(),
        base.rank_gap,
        base.rows,
        base.order,
    )

    def factors(given: Sequence[Factor]) -> tuple[Factor, ...]:
        return tuple(_chosen(f, chosen) if m == motor else Factor.empty(()) for m, f in enumerate(given))

    def rows(given: Sequence[JointRows]) -> tuple[JointRows, ...]:
        return tuple(_chosen_rows(r, chosen) if m == motor else _no_rows(r) for m, r in enumerate(given))

    regression = problem.regression
    return replace(
        problem,
        base=own,
        regression=Regression(
            tuple(factors(experiment) for experiment in regression.experiments),
            tuple(Cell(cell.experiment, factors(cell.factors)) for cell in regression.cells),
            None if regression.pieces is None else tuple(rows(piece) for piece in regression.pieces),
        ),
    )


def _chosen(factor: Factor, chosen: Sequence[int]) -> Factor:
    """The factor of some columns, in the order given; columns it does not have are zero."""
    wide = np.zeros((len(factor.R), len(chosen) + 1))
    for new, old in enumerate(chosen):
        if old in factor.columns:
            wide[:, new] = factor.R[:, factor.columns.index(old)]
    wide[:, -1] = factor.R[:, -1]
    return Factor(tuple(range(len(chosen))), triangular(wide), factor.rows)


def _chosen_rows(rows: JointRows, chosen: Sequence[int]) -> JointRows:
    W = np.zeros((len(rows), len(chosen)), order="F")
    for new, old in enumerate(chosen):
        if old in rows.columns:
            W[:, new] = rows.W[:, rows.columns.index(old)]
    return replace(rows, columns=tuple(range(len(chosen))), W=W)


def _no_rows(rows: JointRows) -> JointRows:
    return JointRows((), np.zeros((0, 0)), rows.y[:0], rows.sample[:0], rows.experiment[:0])
