"""What the SCARA case accepts of estimates over several seeds, as rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from dynid.casestudies.case import SHOWN, Row, over_runs
from dynid.casestudies.scara_published import TABLE_2, Printed
from dynid.casestudies.scara_setup import NAMES, paper_units, truth
from dynid.estimators.estimate import Estimate

FloatArray = NDArray[np.float64]
Limits = Mapping[str, float]
NEAR: Limits = {"ZZ1R": 0.005, "Fc1": 0.02, "ZZ2R": 0.01, "LMX2": 0.01, "LMY2": 0.10, "Fc2": 0.015}
"""Largest deviations from the truth, in shares of it."""
INVERSE: Limits = {**NEAR, "ZZ2R": 0.02}
SLOWLY: Limits = {"ZZ1R": 0.015, "ZZ2R": 0.04, "LMX2": 0.04}
VISCOUS = {name: sigma for name, sigma in zip(NAMES, TABLE_2.double_sigma, strict=True) if "Fv" in name}
"""Viscous friction is hardly seen: it is held to the 2σ that table 2 prints for it, SI."""


def parameter_rows(
    label: str,
    printed: Sequence[float] | None,
    values: Sequence[FloatArray],
    limits: Limits,
    absolute: Limits = VISCOUS,
) -> list[Row]:
    """One row per parameter: the median of the seeds, and the seed farthest from the truth.

    Args:
        label: what follows the parameter's name.
        printed: published values.
        values: estimates of all seeds in the paper's units, (8,) each.
        limits: largest deviations in shares of the truth.
        absolute: largest deviations, SI, where the truth is too small for shares.
    """
    return [
        _parameter_row(
            f"{name}{label}",
            None if printed is None else printed[i],
            [float(v[i]) for v in values],
            float(truth()[i]),
            limits.get(name),
            absolute.get(name),
        )
        for i, name in enumerate(NAMES)
    ]


def _parameter_row(
    quantity: str,
    published: float | None,
    values: Sequence[float],
    true: float,
    share: float | None,
    absolute: float | None,
) -> Row:
    allowed, accept = np.inf, SHOWN
    if share is not None:
        allowed, accept = share * abs(true), f"within {100 * share:g} % of the truth"
    elif absolute is not None:
        allowed, accept = absolute, f"within {absolute:g} of the truth"
    if not np.isfinite(allowed):
        return over_runs(quantity, published, values, accept, lambda v: -1.0 / (1.0 + abs(v - true)))
    return over_runs(quantity, published, values, accept, lambda v: abs(v - true) - allowed)


def estimate_rows(
    label: str,
    printed: Printed | None,
    estimates: Sequence[Estimate],
    limits: Limits,
    absolute: Limits = VISCOUS,
    sigma_factor: float | None = None,
) -> list[Row]:
    """Values and twice their standard deviations.

    Args:
        label: what follows the parameters' names.
        printed: as published.
        estimates: of all seeds.
        limits: of the values.
        absolute: of the values.
        sigma_factor: how many times the published 2σ is accepted; None accepts any.
    """
    values = [paper_units(e.values) for e in estimates]
    rows = parameter_rows(label, None if printed is None else printed.values, values, limits, absolute)
    for i, name in enumerate(NAMES):
        sigmas = [2 * float(paper_units(e.sigma)[i]) for e in estimates]
        published = None if printed is None else printed.double_sigma[i]
        top = np.inf if sigma_factor is None or published is None else sigma_factor * published
        accept = SHOWN if np.isinf(top) else f"at most {top:.3g}"
        rows.append(most(f"2σ of {name}{label}", published, sigmas, float(top), accept))
    return rows


def most(
    quantity: str, published: float | None, values: Sequence[float], bound: float, accept: str = ""
) -> Row:
    """Not above a bound on any seed; an infinite bound only shows."""
    words = accept or (SHOWN if np.isinf(bound) else f"at most {bound:g}")
    if np.isinf(bound):
        return over_runs(quantity, published, values, words, lambda v: -1.0 / (1.0 + abs(v)))
    return over_runs(quantity, published, values, words, lambda v: v - bound)


def least(quantity: str, published: float | None, values: Sequence[float], bound: float) -> Row:
    """Not below a bound on any seed."""
    return over_runs(quantity, published, values, f"at least {bound:g}", lambda v: bound - v)


def off_by(name: str, estimates: Sequence[Estimate]) -> list[float]:
    """|deviation from the truth| of a parameter, in shares."""
    i = NAMES.index(name)
    return [abs(float(paper_units(e.values)[i] / truth()[i]) - 1.0) for e in estimates]
