"""Rows of the parameter table, and how the parameters hang together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.estimators.estimate import Estimate
from dynid.validation.numbers import plain

FloatArray = NDArray[np.float64]
KNOWN_PERCENT = 20.0
"""%σ beyond which a parameter is said to be poorly known (P3, P4)."""
_STRONG = 0.9
_PAIRS = 20


def parameter_rows(estimate: Estimate, prior: Mapping[str, float] | None = None) -> list[dict[str, Any]]:
    """One row per base parameter.

    Args:
        estimate: the estimate.
        prior: values of standard parameters known before, by name, SI; the robot's own when None.
    """
    base = estimate.problem.base
    before = base.robot.parameters if prior is None else prior
    # A base parameter has a prior only where something is known of what it is made of.
    known = base.matrix[:, [base.robot.table.index(name) for name in before]] != 0
    expected = base.regroup(before) if before else np.zeros(len(base))
    deviations, percents, undetermined = estimate.sigma, estimate.relative_sigma, estimate.undetermined
    rows = []
    for i, name in enumerate(base.names):
        value, sigma, percent = float(estimate.values[i]), float(deviations[i]), float(percents[i])
        old = float(expected[i]) if before and bool(np.any(known[i])) else None
        rows.append(
            {
                "name": name,
                "formula": base.formulas[i],
                "unit": base.units[i],
                "value": plain(value),
                "sigma": plain(sigma),
                "percent_sigma": plain(percent) if estimate.kept[i] else None,
                "prior": old,
                "prior_gap": None if old is None or not 0 < sigma < np.inf else (value - old) / sigma,
                "essential": bool(estimate.kept[i]),
                "status": _status(bool(estimate.kept[i]), bool(undetermined[i]), percent),
            }
        )
    return rows + _further_rows(estimate)


def _further_rows(estimate: Estimate) -> list[dict[str, Any]]:
    """Coefficients and constants of friction that is not linear in them."""
    further = estimate.further
    if further is None:
        return []
    rows = []
    told = "; ".join(f"{term.name}: {term.expression}" for term in further.terms)
    for name, unit, value, sigma in zip(
        further.names, further.units, further.values, further.sigma, strict=True
    ):
        percent = 100 * float(sigma) / abs(float(value)) if value else float("inf")
        rows.append(
            {
                "name": name,
                "formula": told,
                "unit": unit,
                "value": plain(float(value)),
                "sigma": plain(float(sigma)),
                "percent_sigma": plain(percent),
                "prior": None,
                "prior_gap": None,
                "essential": True,
                "status": "known" if percent <= KNOWN_PERCENT else "poorly known",
            }
        )
    return rows


def _status(kept: bool, undetermined: bool, percent: float) -> str:
    if not kept:
        return "removed"
    if undetermined:
        return "undetermined"
    return "known" if percent <= KNOWN_PERCENT else "poorly known"


def correlation(estimate: Estimate) -> dict[str, Any]:
    """Correlations of the parameters that were estimated, with the strongest pairs listed."""
    kept = np.flatnonzero(estimate.kept & (estimate.sigma > 0) & np.isfinite(estimate.sigma))
    names = [estimate.names[i] for i in kept]
    sigma = estimate.sigma[kept]
    R: FloatArray = estimate.covariance[np.ix_(kept, kept)] / np.outer(sigma, sigma)
    R = np.clip((R + R.T) / 2, -1.0, 1.0)
    upper = np.triu_indices(len(kept), 1)
    order = np.argsort(-np.abs(R[upper]))[:_PAIRS]
    pairs = [(int(upper[0][k]), int(upper[1][k])) for k in order]
    return {
        "names": names,
        "matrix": plain(np.round(R, 3)),
        "strong": int(np.count_nonzero(np.abs(R[upper]) > _STRONG)),
        "strong_from": _STRONG,
        "pairs": [{"a": names[a], "b": names[b], "r": round(float(R[a, b]), 4)} for a, b in pairs],
    }
