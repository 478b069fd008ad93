"""Covariance that stays honest when errors are correlated in time: Newey–West."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import DynidError
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.fit import Fit
from dynid.estimators.scores import automatic_bandwidth, first_autocorrelation, score_series
from dynid.estimators.uncertainty import Doubt, Uncertainty
from dynid.problem.problem import Problem

FloatArray = NDArray[np.float64]
_ENOUGH = 50
"""Independent samples below which a robust covariance is itself in doubt."""


@dataclass(frozen=True)
class HAC(Uncertainty):
    """B⁻¹ Ω B⁻¹ with Ω = Γ₀ + Σ_k (1 − k/(L+1)) (Γ_k + Γ_kᵀ) of the scores W_tᵀ ρ_t (Newey and West 1987).

    The scores are prewhitened by a first-order recursion per direction and Ω is coloured back (Andrews and
    Monahan 1992), and σ is widened for the doubt in Ω itself (Kiefer and Vogelsang 2005): without both, σ of
    strongly correlated errors is a quarter too small on short logs.

    Args:
        lags: L, in samples of the regression; chosen from the autocorrelation when None (Andrews 1991).
        cross_joint: whether errors of different joints may be correlated too, as disturbances and model
            errors are; otherwise each joint's series is taken by itself.
        prewhiten: whether to prewhiten.
    """

    lags: int | None = None
    cross_joint: bool = True
    prewhiten: bool = True
    name = "hac"

    def __post_init__(self) -> None:
        """Refuse a negative lag."""
        if self.lags is not None and self.lags < 0:
            raise DynidError(f"HAC was given {self.lags} lags; give 0 or more.")

    def doubt(self, problem: Problem, fit: Fit) -> Doubt:
        """Sandwich covariance of the fit's columns."""
        joints = list(range(len(problem.regression.joints)))
        rank = fit.root.shape[1]
        meat, white, used = np.zeros((rank, rank)), np.zeros(rank), 0
        for group in [joints] if self.cross_joint else [[j] for j in joints]:
            series = score_series(problem, fit, group)
            part, lags = self._meat(series)
            meat += part
            white += sum(np.sum(s**2, axis=0) for s in series)
            used = max(used, lags)
        inflation = float(np.trace(meat) / white.sum()) if white.sum() > 0 else 1.0
        meat *= int(problem.row_counts.sum()) / max(fit.degrees, 1)
        facts = {"hac_lags": used, "cross_joint": self.cross_joint, "variance_inflation": inflation}
        return Doubt(fit.root @ meat @ fit.root.T, facts, _findings(problem, inflation))

    def _meat(self, series: list[FloatArray]) -> tuple[FloatArray, int]:
        """Ω of one group of joints, summed over the experiments, and the lags used."""
        longest = max(len(s) for s in series)
        window = automatic_bandwidth(series)
        rho = (
            first_autocorrelation(series) if self.prewhiten and longest > 2 else np.zeros(series[0].shape[1])
        )
        if np.any(rho):
            series = [s[1:] - rho * s[:-1] for s in series if len(s) > 1]
            # A slow error beside a fast one shows only in one of the two: the wider window sees both.
            window = max(window, automatic_bandwidth(series))
        lags = min(int(np.ceil(window)) if self.lags is None else self.lags, longest - 1)
        total = sum((bartlett(s, lags) for s in series), np.zeros((len(rho), len(rho))))
        widened = fixed_share_factor((lags + 1) / sum(len(s) for s in series)) ** 2
        return widened * total / np.outer(1 - rho, 1 - rho), lags


def fixed_share_factor(share: float) -> float:
    """How much wider an interval must be when the window is a share of the series (Kiefer–Vogelsang 2005).

    Their 97.5 % quantile for the Bartlett window, 1.96 + 2.9694 b + 0.416 b² − 0.5324 b³, over 1.96.
    """
    return (1.96 + 2.9694 * share + 0.416 * share**2 - 0.5324 * share**3) / 1.96


def _findings(problem: Problem, inflation: float) -> tuple[Finding, ...]:
    samples = sum(e.regression_samples for e in problem.experiments)
    if samples >= _ENOUGH * inflation:
        return ()
    return (
        Finding(
            Name.FEW_INDEPENDENT_SAMPLES,
            Level.NOTE,
            f"Errors are so correlated that {samples} samples are worth {samples / inflation:.0f}; even the "
            "robust uncertainty rests on little.",
            "Record longer.",
            figures={"samples": samples, "variance_inflation": inflation},
        ),
    )


def bartlett(scores: FloatArray, lags: int) -> FloatArray:
    """Γ₀ + Σ_{k ≤ L} (1 − k/(L+1)) (Γ_k + Γ_kᵀ) of a series (samples, directions).

    It equals the mean square of sums over all windows of L + 1 samples, which is quick and never indefinite.
    """
    width = lags + 1
    padded = np.vstack([scores, np.zeros((lags, scores.shape[1]))])
    running = np.cumsum(padded, axis=0)
    running[width:] -= running[:-width].copy()
    return np.asarray(running.T @ running / width, dtype=float)
