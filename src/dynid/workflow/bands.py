"""Do inertias depend on the band they are seen in? Noise in the regressor makes them shrink as it widens.

The same rows, low-passed and decimated more, hold the same motion with less noise. Values that are larger
there were pulled down in the full band; a model whose inertias do not depend on the band is not attenuated.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import DynidError
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.estimate import Estimate
from dynid.estimators.identify import identify
from dynid.estimators.least_squares import WLS
from dynid.problem.build import build_problem
from dynid.workflow.noise import band_hz

_NARROWER = 3.0
"""The band compared with is so many times narrower."""
_MOST = 200_000
"""Samples beyond which the comparison would cost too much."""
_LEAST_ROWS = 5
"""Rows per parameter that the narrow band must leave."""
_INERTIAS = ("kg m^2", "kg")
_KNOWN, _KNOWN_NARROW = 5.0, 10.0
"""%σ in both bands up to which an inertia counts."""
_SHRUNK = 0.9
"""Median ratio below which inertias are said to shrink."""


def band_concerns(estimate: Estimate) -> tuple[Finding, ...]:
    """A sentence where inertias are much smaller in the band used than in a third of it; else empty.

    Args:
        estimate: what was identified; its problem must have kept its motions.
    """
    problem = estimate.problem
    motions = problem.motions
    if not motions or sum(motion.samples for motion in motions) > _MOST:
        return ()
    rate = min(motion.rate_hz for motion in motions)
    wide = band_hz(problem.plan, rate)
    decimation = max(math.ceil(0.4 * rate * _NARROWER / wide), 2 * problem.plan.decimation)
    if sum(motion.samples for motion in motions) / decimation < _LEAST_ROWS * len(problem.base):
        return ()
    plan = replace(problem.plan, decimation=decimation)
    try:
        narrow = identify(build_problem(problem.robot, motions, plan, problem.base), WLS())
        full = identify(problem, WLS())
    except DynidError:
        return ()
    counted = inertias(estimate) & (full.relative_sigma < _KNOWN) & (narrow.relative_sigma < _KNOWN_NARROW)
    if not np.any(counted):
        return ()
    ratio = float(np.median(full.values[counted] / narrow.values[counted]))
    if ratio >= _SHRUNK:
        return ()
    return (
        Finding(
            Name.ATTENUATION,
            Level.CARE,
            f"Below {wide:.3g} Hz inertias come out at {100 * ratio:.0f} % of what they are below "
            f"{0.4 * rate / decimation:.3g} Hz: noise in the accelerations pulls them down (attenuation); "
            "lower the cut-off, decimate more, excite more, or use an instrumental variable.",
        ),
    )


def inertias(estimate: Estimate) -> NDArray[np.bool_]:
    """Which base parameters are inertias or masses, of links or drives, (base,)."""
    base = estimate.problem.base
    families = [base.robot.table.entries[c].family for c in base.columns]
    return np.array(
        [f in ("inertial", "drive") and u in _INERTIAS for f, u in zip(families, base.units, strict=True)]
    )
