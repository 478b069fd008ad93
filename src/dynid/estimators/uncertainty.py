"""How sure an estimate is: the classical covariance, and one for errors that are correlated in time (HAC)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, unknown_name
from dynid.core.finding import Finding, Level, Name
from dynid.core.kinds import require_field_kinds
from dynid.core.lazy import later
from dynid.estimators.fit import Fit
from dynid.problem.problem import Problem

_LARGEST = 0.97
"""First autocorrelations are kept within ± this: nearer to one, prewhitening divides by nearly zero."""
_ENOUGH = 50
"""Independent samples below which a robust covariance is itself in doubt."""


@dataclass(frozen=True, eq=False)
class Doubt:
    """A covariance and how it was found.

    Args:
        covariance: of the fit's columns.
        facts: figures by name, such as the lag chosen.
        findings: what deserves attention.
        used: name of the way that was taken, where the kind chose one; its own name when empty.
    """

    covariance: FloatArray
    facts: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()
    used: str = ""


@dataclass(frozen=True)
class Uncertainty(ABC):
    """A way to find the covariance of a fit."""

    name: ClassVar[str]

    @abstractmethod
    def doubt(self, problem: Problem, fit: Fit) -> Doubt:
        """Covariance of the fit's columns."""


@dataclass(frozen=True)
class Classical(Uncertainty):
    """σ̂² (WᵀW)⁻¹: right for errors that are white and do not depend on the motion (P1 eq 9–10).

    With disturbances inside the loop, friction that is not modelled or filtered torques it is several times
    too small; "honest" notices.
    """

    name = "classical"

    def doubt(self, problem: Problem, fit: Fit) -> Doubt:
        """The strategy's own covariance."""
        return Doubt(fit.covariance)


@dataclass(frozen=True, eq=False)
class WhiteRows:
    """Rows of one joint times T (see ``Fit``): their squares, weighted, sum to the identity over all joints.

    Args:
        X: (rows, rank).
        residual: y less all that the fit explains [N m or N], (rows,).
        pull: weight × residual of each row, (rows,); the score is X · pull.
        sample: sample numbers (rows,).
        experiment: experiment numbers (rows,).
    """

    X: FloatArray
    residual: FloatArray
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
    return WhiteRows(X, residual, weight * residual, rows.sample, rows.experiment)


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
        require_field_kinds(self)
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


DEFAULT_KIND = "honest"
"""The kind of every strategy that names no other."""
KINDS: dict[str, Callable[[], Uncertainty]] = {
    DEFAULT_KIND: later("dynid.estimators.honest", "Honest"),
    "classical": Classical,
    "hac": HAC,
    "bootstrap": later("dynid.estimators.bootstrap", "Bootstrap"),
}


def uncertainty_of(choice: str | Uncertainty) -> Uncertainty:
    """The kind of a name, or the object given.

    Args:
        choice: "honest", "classical", "hac", "bootstrap", or an object with options.
    """
    if isinstance(choice, Uncertainty):
        return choice
    if choice not in KINDS:
        raise unknown_name("uncertainty", choice, KINDS)
    return KINDS[choice]()
