"""Two-stage least squares: what instruments explain of the regressor, and the torques by that."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import DynidError, ShapeError
from dynid.estimators.fit import Fit
from dynid.estimators.instrument_tests import Stages, examine
from dynid.estimators.least_squares import OLS, WLS
from dynid.estimators.strategy import Strategy
from dynid.estimators.weights import all_kept, floored, spread, weights_of
from dynid.problem.factor import triangular
from dynid.problem.problem import Problem

FloatArray = NDArray[np.float64]
_AT_REST = 1e-8


def check_weighting(step: Strategy) -> Strategy:
    """The step, when instruments can be used with it.

    Raises:
        DynidError: when it is neither OLS nor WLS.
    """
    if isinstance(step, OLS | WLS):
        return step
    raise DynidError(
        f"Instruments and output error weight joints by OLS() or WLS(), not by {type(step).__name__}."
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class Instrumented(Strategy):
    """χ̂ = (ZᵀSW)⁻¹ ZᵀSY with given instruments; 2SLS where there are more of them than parameters.

    First stage Ŵ = Z (ZᵀSZ)⁻¹ ZᵀSW, then weighted least squares of Y on Ŵ. The covariance is
    σ̂² (ŴᵀSŴ)⁻¹ with σ̂ from the residual Y − W χ̂ (Janot, Vandanjon and Gautier 2014).

    Args:
        step: OLS() for S = 1, WLS() for S = 1/σ̂_j² with σ̂_j from instruments on joint j's own rows.
        sets: instruments: per set and joint (rows, base), row by row those of the problem.
    """

    step: Strategy = field(default_factory=WLS)
    sets: tuple[tuple[FloatArray, ...], ...] = ()

    def fit(self, problem: Problem, kept: NDArray[np.bool_] | None = None) -> Fit:
        """Both stages, weights, and what the instruments are worth."""
        chosen = all_kept(problem, kept)
        check_weighting(self.step)
        data = _Data.of(problem, self.sets, chosen)
        ones = np.ones(len(data.W))
        if isinstance(self.step, OLS):
            return _solved(problem, data, ones, None)
        sigma = data.own_sigma(problem)
        fit = _solved(problem, data, weights_of(sigma), sigma)
        assert isinstance(self.step, WLS)
        for passes in range(2, self.step.iterations + 1):
            sigma, before = fit.joint_sigma, sigma
            fit = replace(_solved(problem, data, weights_of(sigma), None), iterations=passes)
            if np.allclose(sigma, before, rtol=_AT_REST, equal_nan=True):
                break
        return fit


@dataclass(frozen=True, eq=False)
class _Data:
    """Rows per joint: W and Z of the kept columns, y; ``kept`` says which."""

    W: list[FloatArray]
    Z: list[FloatArray]
    y: list[FloatArray]
    kept: NDArray[np.bool_]

    @classmethod
    def of(cls, problem: Problem, sets: tuple[tuple[FloatArray, ...], ...], kept: NDArray[np.bool_]) -> _Data:
        W, Z, y = [], [], []
        for j in range(len(problem.regression.joints)):
            rows = problem.rows(j)
            for given in sets:
                if given[j].shape != (len(rows), len(kept)):
                    raise ShapeError(
                        f"Instruments of joint {j + 1} have shape {given[j].shape}; expected "
                        f"({len(rows)}, {len(kept)}), one row per row of the regression."
                    )
            W.append(rows.wide(len(kept))[:, kept])
            Z.append(np.hstack([given[j][:, kept] for given in sets]))
            y.append(rows.y)
        return cls(W, Z, y, kept)

    def stages(self, weights: FloatArray, joints: list[int] | None = None) -> Stages:
        """The first stage over some joints, in coordinates as short as the columns are many."""
        chosen = list(range(len(self.W))) if joints is None else joints
        stack = [
            weights[j] * np.hstack([self.Z[j], self.W[j], self.y[j][:, None]])
            for j in chosen
            if len(self.y[j])
        ]
        m, k = self.Z[0].shape[1], self.W[0].shape[1]
        R = triangular(np.vstack(stack)) if stack else np.zeros((m + k + 1, m + k + 1))
        return Stages(R[:, :m], R[:, m : m + k], R[:, -1], sum(len(self.y[j]) for j in chosen))

    def own_sigma(self, problem: Problem) -> FloatArray:
        """σ̂_j from two stages on joint j's own rows alone (P2 §II.C with instruments)."""
        sigma = np.full(len(self.W), np.nan)
        for j in range(len(self.W)):
            own = self.stages(np.ones(len(self.W)), [j])
            second = own.second
            degrees = own.rows - second.rank
            if degrees > 0:
                sigma[j] = np.linalg.norm(own.y - own.w @ second.solution) / np.sqrt(degrees)
        return floored(problem, sigma)


def _solved(problem: Problem, data: _Data, weights: FloatArray, sigma: FloatArray | None) -> Fit:
    stages = data.stages(weights)
    second = stages.second
    values = np.zeros(len(data.kept))
    values[data.kept] = second.solution
    degrees = stages.rows - second.rank
    residual = stages.y - stages.w @ second.solution
    variance = float(residual @ residual) / degrees if degrees > 0 else 0.0
    hats = [Z @ stages.coefficients for Z in data.Z]
    found = _joint_sigma(problem, data, weights, values, second.root, hats) if sigma is None else sigma
    names = [name for name, kept in zip(problem.names, data.kept, strict=True) if kept]
    examined = examine(stages, names)
    return Fit(
        values=values,
        kept=data.kept,
        root=second.root,
        covariance=variance * second.root @ second.root.T,
        spectrum=second,
        row_weights=weights**2,
        score_weights=None,
        joint_sigma=found,
        sigma=float(np.sqrt(variance)),
        degrees=degrees,
        weights=weights,
        problem_outcome=examined.outcome,
        findings=examined.findings,
        facts=examined.facts,
        instruments=tuple(_wide(hat, data.kept) for hat in hats),
    )


def _joint_sigma(
    problem: Problem,
    data: _Data,
    weights: FloatArray,
    values: FloatArray,
    root: FloatArray,
    hats: list[FloatArray],
) -> FloatArray:
    """‖y_j − W_j χ‖² / (r_j − h_j), h_j what joint j's rows of Ŵ spend of the parameters."""
    spent = np.array([(w * np.linalg.norm(hat @ root)) ** 2 for w, hat in zip(weights, hats, strict=True)])
    degrees = problem.row_counts - spent
    norms = problem.residual_norms(values)
    sigma = np.where(degrees > 0.5, norms / np.sqrt(np.maximum(degrees, 0.5)), np.nan)
    return floored(problem, sigma)


def _wide(hat: FloatArray, kept: NDArray[np.bool_]) -> FloatArray:
    return np.asarray(spread(hat.T, kept).T, dtype=float)


def instrument_rows(problem: Problem, simulated: Problem) -> tuple[FloatArray, ...]:
    """Rows of another problem that belong to the rows of this one: the same experiments and samples.

    Args:
        problem: with its masks.
        simulated: of motions with the same stamps, decimated alike, without masks.

    Returns:
        Per joint (rows, base).
    """
    counts = [e.regression_samples for e in simulated.experiments]
    first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    found = []
    for j in range(len(problem.regression.joints)):
        rows, theirs = problem.rows(j), simulated.rows(j)
        if len(theirs) != first[-1]:
            raise ShapeError(
                f"The instruments have {len(theirs)} rows for {first[-1]} samples; build them without speed "
                "thresholds."
            )
        found.append(theirs.wide(len(problem.base))[first[rows.experiment] + rows.sample])
    return tuple(found)
