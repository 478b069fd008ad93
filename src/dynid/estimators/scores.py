"""Each row's pull on the parameters, in coordinates where all directions are seen equally well."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.estimators.fit import Fit
from dynid.problem.problem import Problem

FloatArray = NDArray[np.float64]
_LARGEST = 0.97


@dataclass(frozen=True, eq=False)
class WhiteRows:
    """Rows of one joint times T (see ``Fit``): their squares, weighted, sum to the identity over all joints.

    Args:
        X: (rows, rank).
        pull: weight × residual of each row, (rows,); the score is X · pull.
        sample: sample numbers (rows,).
        experiment: experiment numbers (rows,).
    """

    X: FloatArray
    pull: FloatArray
    sample: NDArray[np.int64]
    experiment: NDArray[np.int64]


def white_rows(problem: Problem, fit: Fit, joint: int) -> WhiteRows:
    """Whitened rows of a joint; needs the rows themselves."""
    rows = problem.rows(joint)
    full = np.zeros((len(fit.kept), fit.root.shape[1]))
    count = int(fit.kept.sum())
    full[fit.kept] = fit.root[:count]
    X = rows.W @ full[list(rows.columns)] if fit.instruments is None else fit.instruments[joint] @ full
    if fit.further is None:
        residual = rows.residual(fit.values)
    else:
        X += fit.further.columns[joint] @ fit.root[count:]
        residual = fit.further.residual[joint]
    weight = fit.row_weights[joint] if fit.score_weights is None else fit.score_weights[joint]
    return WhiteRows(X, weight * residual, rows.sample, rows.experiment)


def score_series(problem: Problem, fit: Fit, joints: list[int]) -> list[FloatArray]:
    """Scores over time, summed over some joints: per experiment (samples, rank), zero where masked."""
    series = [np.zeros((e.regression_samples, fit.root.shape[1])) for e in problem.experiments]
    for j in joints:
        rows = white_rows(problem, fit, j)
        scores = rows.X * rows.pull[:, None]
        for number, total in enumerate(series):
            own = rows.experiment == number
            total[rows.sample[own]] += scores[own]
    return series


def first_autocorrelation(series: list[FloatArray]) -> FloatArray:
    """ρ of each direction, s_t ≈ ρ s_(t−1), kept away from ±1; zero where a direction is not seen."""
    product = sum(np.sum(s[1:] * s[:-1], axis=0) for s in series)
    power = np.asarray(sum(np.sum(s[:-1] ** 2, axis=0) for s in series))
    rho = np.divide(product, power, out=np.zeros_like(power), where=power > 0)
    return np.asarray(np.clip(rho, -_LARGEST, _LARGEST), dtype=float)


def automatic_bandwidth(series: list[FloatArray]) -> float:
    """Bandwidth of the Bartlett window from first-order autocorrelations (Andrews 1991, eq 6.4).

    m = 1.1447 (α T)^(1/3), α = Σ 4 ρ² σ⁴ / ((1−ρ)⁶ (1+ρ)²) / Σ σ⁴ / (1−ρ)⁴, over all directions.

    Args:
        series: scores, per experiment (samples, rank).
    """
    steps = sum(max(len(s) - 1, 0) for s in series)
    if steps < 4:
        return 1.0
    rho = first_autocorrelation(series)
    left = sum(np.sum((s[1:] - rho * s[:-1]) ** 2, axis=0) for s in series)
    variance = np.asarray(left) / steps
    top = np.sum(4 * rho**2 * variance**2 / ((1 - rho) ** 6 * (1 + rho) ** 2))
    bottom = np.sum(variance**2 / (1 - rho) ** 4)
    return float(1.1447 * (top / bottom * steps) ** (1 / 3)) if bottom > 0 else 1.0
