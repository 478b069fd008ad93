"""What instruments are worth: their strength, whether they were needed, and whether they agree."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.finding import Finding, Level, Name
from dynid.problem.spectrum import Spectrum, spectrum

FloatArray = NDArray[np.float64]
STRONG = 10.0
"""First-stage F from which on the bias of instruments is below a tenth of that of least squares."""
SHIFT = 2.0
"""Standard deviations by which least squares must be off to be called biased."""
LEVEL = 0.01
"""Probability below which a test speaks."""


@dataclass(frozen=True, eq=False)
class Stages:
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
class Examined:
    """Figures, findings, and an outcome where the instruments are too weak."""

    facts: dict[str, Any]
    findings: tuple[Finding, ...]
    outcome: Finding | None


def examine(stages: Stages, names: list[str]) -> Examined:
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
    return Examined(facts, tuple(findings), outcome)


def _strength(stages: Stages, names: list[str]) -> tuple[dict[str, Any], Finding | None]:
    """Smallest canonical correlation of Z and W and its F (Cragg and Donald 1993; Stock and Yogo 2005).

    F = (r − m)/m · ρ²/(1 − ρ²) with r rows and m instruments.
    """
    whole = spectrum(np.column_stack([stages.w, stages.y]))
    basis = stages.z @ stages.of_instruments.root
    inner = basis.T @ (stages.w @ whole.root)
    _, s, Vt = np.linalg.svd(inner, full_matrices=True)
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


def _hausman(stages: Stages, names: list[str]) -> tuple[dict[str, Any], str]:
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


def _sargan(stages: Stages) -> dict[str, Any] | None:
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
