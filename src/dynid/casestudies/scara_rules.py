"""Published figures of the SCARA (P0, tables 2 to 9) and what the case accepts of estimates over seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dynid.casestudies.case import SHOWN, Row, over_runs, runs_below
from dynid.casestudies.scara_runs import NAMES, paper_units, truth
from dynid.core.arrays import FloatArray
from dynid.core.finding import Name
from dynid.estimators.estimate import Estimate


@dataclass(frozen=True)
class Printed:
    """A printed estimate: values and twice their standard deviations, SI."""

    values: tuple[float, ...]
    double_sigma: tuple[float, ...]


TABLE_2 = Printed(
    (3.45, 0.02, 0.85, 0.061, 0.124, 0.007, 0.01, 0.132),
    (0.014, 0.012, 0.016, 0.0001, 0.0002, 0.0003, 0.003, 0.0008),
)
TABLE_3 = ((0.42, 0.036, 0.02, 0.018), (3.20, 0.110, 0.02, 0.022))
"""‖Y − W χ^k‖ / ‖Y‖ of joints 1 and 2, k = 0 … 3."""
TABLE_4 = (
    (3.46, 0.04, 0.86, 0.06, 0.122, 0.05, 0.005, 0.130),
    (3.45, 0.02, 0.85, 0.061, 0.124, 0.07, 0.01, 0.132),
    (3.45, 0.02, 0.85, 0.061, 0.124, 0.07, 0.01, 0.132),
)
"""χ¹, χ², χ³."""
TABLE_5_IDIM = Printed(
    (3.10, 0.9, 1.0, 0.025, 0.075, -0.02, 0.35, 0.19),
    (0.03, 1.8, 0.1, 0.003, 0.008, 0.01, 5.6, 0.087),
)
TABLE_5_DIDIM = Printed(
    (3.45, 0.04, 0.81, 0.061, 0.124, 0.008, 0.01, 0.13),
    (0.04, 0.02, 0.05, 0.0006, 0.001, 0.0006, 0.005, 0.008),
)
TABLE_5_RESIDUALS = (0.5, 0.04)
TABLE_6 = ((0.39, 0.80), (0.73, 0.81))
"""Relative errors of speed, then of acceleration, joints 1 and 2."""
TABLE_7_IDIM = Printed(
    (1.50, 0.095, 0.55, 0.14, 0.63, 0.1, 0.001, 0.19),
    (0.05, 0.15, 0.26, 0.018, 0.035, 0.023, 0.143, 0.244),
)
TABLE_7_DIDIM = Printed(
    (3.45, 0.05, 0.81, 0.061, 0.124, 0.008, 0.023, 0.13),
    (0.007, 0.023, 0.004, 0.0004, 0.0015, 0.0009, 0.0022, 0.0038),
)
TABLE_7_RESIDUALS = (0.8, 0.08)
TABLE_8 = Printed(
    (3.44, 0.02, 0.86, 0.060, 0.124, 0.007, 0.01, 0.13),
    (0.014, 0.012, 0.016, 0.0001, 0.0002, 0.0003, 0.003, 0.0008),
)
TABLE_9 = (
    (0.6, 0.05, 0.06, 0.04, 0.025, 0.02, 0.02),
    (3.0, 0.11, 0.05, 0.02, 0.025, 0.02, 0.02),
)
TRACKING = ((0.005, 0.05, 0.10), (0.015, 0.15, 0.30))
"""Errors of position, speed, acceleration that §VI.B reads from Fig. 11: to the robot, to the reference."""

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
        rows.append(runs_below(f"2σ of {name}{label}", published, sigmas, float(top), accept))
    return rows


def off_by(name: str, estimates: Sequence[Estimate]) -> list[float]:
    """|deviation from the truth| of a parameter, in shares."""
    i = NAMES.index(name)
    return [abs(float(paper_units(e.values)[i] / truth()[i]) - 1.0) for e in estimates]


def is_told(estimate: Estimate) -> bool:
    """Whether an estimate is refused as one of a wrong control law."""
    return estimate.outcome.name == Name.CONTROL_LAW_MISMATCH and not estimate.outcome.trustworthy
