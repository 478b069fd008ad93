"""Rows of the parameter table, and how the parameters hang together."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.core.arrays import FloatArray
from dynid.core.plain import plain
from dynid.estimators.estimate import Estimate
from dynid.estimators.linear.terms import slots_of

KNOWN_PERCENT = 20.0
"""%σ beyond which a parameter is said to be poorly known (P3, P4)."""
_STRONG = 0.9
_ROUNDING = 1e-9
"""Share of the largest coefficient of a sum below which a part is rounding."""
_PAIRS = 20


def parameter_rows(estimate: Estimate, prior: Mapping[str, float] | None = None) -> list[dict[str, Any]]:
    """One row per base parameter.

    Args:
        estimate: the estimate.
        prior: values of standard parameters known before, by name, SI; when None those that the estimator was
            given, else the robot's own.
    """
    base = estimate.problem.base
    expected, lacks = _expected(estimate, prior)
    deviations, percents, undetermined = estimate.sigma, estimate.relative_sigma, estimate.undetermined
    rows = []
    for i, name in enumerate(base.names):
        value, sigma, percent = float(estimate.values[i]), float(deviations[i]), float(percents[i])
        old, kept = expected.get(name), bool(estimate.kept[i])
        row = _row(name, base.formulas[i], base.units[i], value, sigma, percent)
        row |= {} if kept else {"percent_sigma": None, "essential": False, "status": "removed"}
        row |= {"status": "undetermined"} if kept and undetermined[i] else {}
        gap = None if old is None or not 0 < sigma < np.inf else (value - old) / sigma
        rows.append(row | {"prior": old, "prior_lacks": list(lacks.get(name) or ()), "prior_gap": gap})
    return rows + _further_rows(estimate)


def _row(name: str, formula: str, unit: str, value: float, sigma: float, percent: float) -> dict[str, Any]:
    """A parameter that was estimated, without anything known before."""
    return {
        "name": name,
        "formula": formula,
        "unit": unit,
        "value": plain(value),
        "sigma": plain(sigma),
        "percent_sigma": plain(percent),
        "prior": None,
        "prior_lacks": [],
        "prior_gap": None,
        "essential": True,
        "status": "known" if percent <= KNOWN_PERCENT else "poorly known",
    }


def _expected(
    estimate: Estimate, prior: Mapping[str, float] | None
) -> tuple[dict[str, float], dict[str, tuple[str, ...] | None]]:
    """Base parameters as they were known before, by name, and what of the others is not known."""
    base, strategy = estimate.problem.base, estimate.strategy
    own = (strategy.get("strategy") or strategy).get("prior")
    if prior is None and own is not None:
        return {name: float(own.get(name, 0.0)) for name in base.names}, {}
    before = base.robot.parameters if prior is None else prior
    if not before:
        return {}, {}
    values, lacks = base.regroup(before).tolist(), unknown_parts(base, before)
    return {name: value for name, value in zip(base.names, values, strict=True) if lacks[name] == ()}, lacks


def unknown_parts(base: BaseMap, before: Mapping[str, float]) -> dict[str, tuple[str, ...] | None]:
    """Per base parameter the parts without an a-priori value: () when it is known, None when no part is.

    A value of the leading parameter alone is that of the sum, as papers publish base parameters; where all
    of its link is given, as in a URDF, it is its own.

    Args:
        base: base parameters.
        before: values of standard parameters known before, by name.
    """
    entries = base.robot.table.entries
    whole = {
        entry.joint
        for entry in entries
        if all(e.name in before for e in entries if e.joint == entry.joint and e.family == "inertial")
    }
    found: dict[str, tuple[str, ...] | None] = {}
    for i, name in enumerate(base.names):
        row, lead = np.abs(base.matrix[i]), entries[base.columns[i]]
        parts = [entries[k].name for k in np.flatnonzero(row > _ROUNDING * row.max())]
        given = [part for part in parts if part in before]
        published = given == [lead.name] and not (lead.family == "inertial" and lead.joint in whole)
        missing = tuple(part for part in parts if part not in before)
        found[name] = None if not given else () if published else missing
    return found


def _further_rows(estimate: Estimate) -> list[dict[str, Any]]:
    """Coefficients and constants of added terms."""
    further = estimate.further
    if further is None:
        return []
    formulas = {
        name: f"{slot.coefficient} × {slot.term.expression}"
        for slot in slots_of(estimate.problem.base.robot, further.terms)
        for name in (slot.coefficient, *slot.constants)
    }
    found = zip(further.names, further.units, further.values.tolist(), further.sigma.tolist(), strict=True)
    return [
        _row(name, formulas[name], unit, value, sigma, 100 * sigma / abs(value) if value else np.inf)
        for name, unit, value, sigma in found
    ]


def correlation(estimate: Estimate) -> dict[str, Any]:
    """Correlations of the parameters that were estimated, with the strongest pairs listed."""
    labels, deviations, covariance = estimate.names, estimate.sigma, estimate.covariance
    if estimate.further is not None:
        labels += estimate.further.names
        deviations = np.concatenate([deviations, estimate.further.sigma])
        covariance = estimate.further.covariance
    kept = np.flatnonzero((deviations > 0) & np.isfinite(deviations))  # those removed have no deviation
    names = [labels[i] for i in kept]
    sigma = deviations[kept]
    R: FloatArray = covariance[np.ix_(kept, kept)] / np.outer(sigma, sigma)
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
