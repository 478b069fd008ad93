"""Two-stage least squares with instruments, and what the instruments are worth."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray, svd
from dynid.core.errors import DynidError, ShapeError
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.fit import Fit
from dynid.estimators.linear.least_squares import (
    OLS,
    WLS,
    fit_with_own_weights,
    kept_mask,
    residual_sigma,
    root_over_base,
    with_undriven_sigma,
)
from dynid.estimators.strategy import Strategy
from dynid.problem.factor import Spectrum, spectrum, triangular
from dynid.problem.problem import Problem

STRONG = 10.0
"""First-stage F from which on the bias of instruments is below a tenth of that of least squares."""
SHIFT = 2.0
"""Standard deviations by which least squares must be off to be called biased."""
LEVEL = 0.01
"""Probability below which a test speaks."""


@dataclass(frozen=True, eq=False)
class TwoStageFactor:
    """Weighted rows of [Z W y] turned into their triangular factor: all inner products are those of the rows.

    Args:
        z: instruments, (short, instruments).
        w: regressor, (short, columns).
        y: torques, (short,).
        rows: how many rows they stand for.
    """

    z: FloatArray
    w: FloatArray
    y: FloatArray
    rows: int

    @cached_property
    def of_instruments(self) -> Spectrum:
        """Spectrum of Z."""
        return spectrum(np.column_stack([self.z, self.y]))

    @cached_property
    def coefficients(self) -> FloatArray:
        """Π = (ZᵀSZ)⁺ ZᵀSW, (instruments, columns)."""
        root = self.of_instruments.root
        return np.asarray(root @ (root.T @ (self.z.T @ self.w)), dtype=float)

    @cached_property
    def hat(self) -> FloatArray:
        """Ŵ = Z Π."""
        basis = self.z @ self.of_instruments.root
        return np.asarray(basis @ (basis.T @ self.w), dtype=float)

    @cached_property
    def second(self) -> Spectrum:
        """Least squares of y on Ŵ."""
        return spectrum(np.column_stack([self.hat, self.y]))


@dataclass(frozen=True)
class InstrumentTests:
    """Figures, findings, and an outcome where the instruments are too weak."""

    facts: dict[str, Any]
    findings: tuple[Finding, ...]
    outcome: Finding | None


def instrument_tests(stages: TwoStageFactor, names: list[str]) -> InstrumentTests:
    """Strength, Durbin–Wu–Hausman and, with more instruments than parameters, Sargan's test."""
    strength, outcome = _strength(stages, names)
    hausman, said = _hausman(stages, names)
    facts: dict[str, Any] = {"instruments": strength, "durbin_wu_hausman": hausman}
    findings = [Finding(Name.INSTRUMENTS, Level.NOTE, said)] if said else []
    over = _sargan(stages)
    if over is not None:
        facts["overidentification"] = over
        if over["p_value"] < LEVEL:
            findings.append(
                Finding(
                    Name.INSTRUMENTS,
                    Level.NOTE,
                    f"The instruments do not agree with each other (Sargan, χ²({over['degrees']}) = "
                    f"{over['statistic']:.3g}, p = {over['p_value']:.2g}): the model lacks something, or one "
                    "set is correlated with the errors.",
                )
            )
    return InstrumentTests(facts, tuple(findings), outcome)


def _strength(stages: TwoStageFactor, names: list[str]) -> tuple[dict[str, Any], Finding | None]:
    """Smallest canonical correlation of Z and W and its F (Cragg and Donald 1993; Stock and Yogo 2005).

    F = (r − m)/m · ρ²/(1 − ρ²) with r rows and m instruments.
    """
    whole = spectrum(np.column_stack([stages.w, stages.y]))
    basis = stages.z @ stages.of_instruments.root
    inner = basis.T @ (stages.w @ whole.root)
    _, s, Vt = svd(inner, full_matrices=True)
    rho = np.zeros(whole.rank)
    rho[: len(s)] = np.minimum(s[: whole.rank], 1.0)
    least = float(rho.min(initial=1.0))
    m = stages.of_instruments.rank
    left = 1.0 - least**2
    # Rounding hides errors below 1e-12 of the regressor: such instruments are the regressor itself.
    F = (stages.rows - m) / max(m, 1) * least**2 / left if left > 1e-12 else float("inf")
    weakest: list[str] = []
    if whole.rank:
        share = np.abs(whole.scale * (whole.root @ Vt[whole.rank - 1]))
        weakest = [names[i] for i in np.argsort(-share) if share[i] > 0.3 * share.max()]
    facts = {
        "count": stages.z.shape[1],
        "smallest_correlation": least,
        "first_stage_f": F,
        "weakest": weakest,
    }
    if F >= STRONG or not whole.rank:
        return facts, None
    return facts, Finding(
        Name.WEAK_INSTRUMENTS,
        Level.FAIL,
        f"The instruments hardly move with the regressor in the direction of {', '.join(weakest[:6])} "
        f"(smallest canonical correlation {least:.2g}, first-stage F {F:.2g}; {STRONG:.0f} is wanted): the "
        "values are then as biased as least squares and their deviations mean little.",
        "Filter or decimate the measured motion, check the reference and the control law, record a more "
        "exciting motion, or keep only essential parameters.",
    )


def _hausman(stages: TwoStageFactor, names: list[str]) -> tuple[dict[str, Any], str]:
    """F-test of the first-stage residuals beside W (Durbin 1954, Wu 1973, Hausman 1978)."""
    from scipy.special import fdtrc

    plain = spectrum(np.column_stack([stages.w, stages.y]))
    beside = spectrum(np.column_stack([stages.w, stages.w - stages.hat, stages.y]))
    if np.linalg.norm(stages.w - stages.hat) <= 1e-9 * np.linalg.norm(stages.w):
        beside = plain
    degrees, left = beside.rank - plain.rank, stages.rows - beside.rank
    before, after = plain.residual_norm**2, beside.residual_norm**2
    facts: dict[str, Any] = {"statistic": 0.0, "degrees": [degrees, left], "p_value": 1.0}
    tiny = 1e-18 * float(stages.y @ stages.y)
    if degrees < 1 or left < 1 or before <= tiny:
        return facts, ""
    statistic = max(before - after, 0.0) / degrees / (max(after, tiny) / left)
    p = float(fdtrc(degrees, left, statistic))
    facts |= {"statistic": statistic, "p_value": p}
    ours, theirs = stages.second.solution, plain.solution
    residual = stages.y - stages.w @ ours
    sigma = np.linalg.norm(residual) / np.sqrt(left) * np.linalg.norm(stages.second.root, axis=1)
    off = np.abs(theirs - ours) / np.maximum(sigma, 1e-300)
    worst = int(np.argmax(off))
    facts |= {"largest_shift_sigma": float(off[worst]), "most_shifted": names[worst]}
    test = f"Durbin–Wu–Hausman F({degrees}, {left}) = {statistic:.3g}, p = {p:.2g}"
    if p >= LEVEL:
        return facts, f"Least squares on this motion shows no bias ({test})."
    where = f"most at {names[worst]}: {theirs[worst]:.4g} against {ours[worst]:.4g}"
    if off[worst] < SHIFT:
        return facts, (
            f"Errors in the measured motion show ({test}), but hardly move least squares ({where}, "
            f"{off[worst]:.1f} standard deviations)."
        )
    return facts, f"Least squares on this motion is biased ({test}), {where}."


def _sargan(stages: TwoStageFactor) -> dict[str, Any] | None:
    """r · R² of the residual on Z, χ² with as many degrees as there are instruments to spare."""
    from scipy.special import chdtrc

    degrees = stages.of_instruments.rank - stages.second.rank
    if degrees < 1:
        return None
    residual = stages.y - stages.w @ stages.second.solution
    whole = float(residual @ residual)
    if whole <= 1e-18 * float(stages.y @ stages.y):
        return {"statistic": 0.0, "degrees": degrees, "p_value": 1.0}
    basis = stages.z @ stages.of_instruments.root
    explained = float(np.sum((basis.T @ residual) ** 2))
    statistic = stages.rows * explained / whole
    return {"statistic": statistic, "degrees": degrees, "p_value": float(chdtrc(degrees, statistic))}


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
class TwoStage(Strategy):
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
        chosen = kept_mask(problem, kept)
        check_weighting(self.step)
        data = _InstrumentData.of(problem, self.sets, chosen)
        if isinstance(self.step, OLS):
            return _two_stage_fit(problem, data, np.ones(len(data.W)), None)
        assert isinstance(self.step, WLS)
        return fit_with_own_weights(
            lambda weights, sigma: _two_stage_fit(problem, data, weights, sigma),
            data.own_sigma(problem),
            self.step.iterations,
            problem.undriven,
        )


@dataclass(frozen=True, eq=False)
class _InstrumentData:
    """Rows per joint: W and Z of the kept columns, y; ``kept`` says which."""

    W: list[FloatArray]
    Z: list[FloatArray]
    y: list[FloatArray]
    kept: NDArray[np.bool_]

    @classmethod
    def of(
        cls, problem: Problem, sets: tuple[tuple[FloatArray, ...], ...], kept: NDArray[np.bool_]
    ) -> _InstrumentData:
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

    def stages(self, weights: FloatArray, joints: list[int] | None = None) -> TwoStageFactor:
        """The first stage over some joints, in coordinates as short as the columns are many."""
        chosen = list(range(len(self.W))) if joints is None else joints
        stack = [
            weights[j] * np.hstack([self.Z[j], self.W[j], self.y[j][:, None]])
            for j in chosen
            if len(self.y[j])
        ]
        m, k = self.Z[0].shape[1], self.W[0].shape[1]
        R = triangular(np.vstack(stack)) if stack else np.zeros((m + k + 1, m + k + 1))
        return TwoStageFactor(R[:, :m], R[:, m : m + k], R[:, -1], sum(len(self.y[j]) for j in chosen))

    def own_sigma(self, problem: Problem) -> FloatArray:
        """σ̂_j from two stages on joint j's own rows alone (P2 §II.C with instruments)."""
        norms, degrees = np.zeros((2, len(self.W)))
        for j in range(len(self.W)):
            own = self.stages(np.ones(len(self.W)), [j])
            norms[j] = np.linalg.norm(own.y - own.w @ own.second.solution)
            degrees[j] = own.rows - own.second.rank
        return with_undriven_sigma(problem, residual_sigma(problem, norms, degrees))


def _two_stage_fit(
    problem: Problem, data: _InstrumentData, weights: FloatArray, sigma: FloatArray | None
) -> Fit:
    stages = data.stages(weights)
    second = stages.second
    values = np.zeros(len(data.kept))
    values[data.kept] = second.solution
    degrees = stages.rows - second.rank
    residual = stages.y - stages.w @ second.solution
    hats = [Z @ stages.coefficients for Z in data.Z]
    if sigma is None:
        spent = (weights * np.array([np.linalg.norm(hat @ second.root) for hat in hats])) ** 2
        sigma = residual_sigma(problem, problem.residual_norms(values), problem.row_counts - spent)
    names = [name for name, kept in zip(problem.names, data.kept, strict=True) if kept]
    tests = instrument_tests(stages, names)
    return Fit.weighted(
        values,
        data.kept,
        second,
        weights,
        sigma,
        float(residual @ residual),
        degrees,
        problem_outcome=tests.outcome,
        findings=tests.findings,
        facts=tests.facts,
        instruments=tuple(_wide(hat, data.kept) for hat in hats),
    )


def _wide(hat: FloatArray, kept: NDArray[np.bool_]) -> FloatArray:
    return np.asarray(root_over_base(hat.T, kept).T, dtype=float)


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
