"""Are inertias pulled towards zero by noise in the regressor?

Least squares takes the observation matrix for exact. Noise on positions, differentiated twice, makes it
noisy, and an inertia comes out as 1/(1 + κ) of itself, κ being the power of noise over that of motion in the
accelerations (P1 §3). Two signs are looked for, the cheaper one first:

- the spectrum of the positions shows the noise, and so κ in the band of the regression;
- the same rows, low-passed and decimated more, hold the same motion with less noise: inertias that are larger
  there were pulled down in the full band.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.base.base_map import BaseMap
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.estimate import Estimate
from dynid.estimators.fit import Fit
from dynid.estimators.linear.least_squares import WLS, weighted_fit
from dynid.preparation.preparation import Preparation
from dynid.preparation.spectrum import PositionSpectrum
from dynid.problem.build import build_problem


@dataclass(frozen=True)
class _AttenuationLimits:
    """Where attenuation is said to be seen, and where the second fit is not worth its time.

    Args:
        noise_share: κ at which inertias are 5 % off: more than their σ will say.
        narrowing: the band compared with is so many times narrower; noise in accelerations falls with its
            fifth power, so that a third leaves 0.4 % of it.
        shrunk: median ratio of the inertias, full over narrow band, below which they are said to shrink.
        residual_share: least median of ``_residual_shares`` for which bands are compared. By theory a tenth
            would do; of 160 simulated fits 34 had attenuation, with 0.18 and more, and a measured one 0.038.
        known_percent: %σ in the full band up to which an inertia counts.
        known_narrow_percent: the same in the narrow band.
        rows_per_parameter: rows that the narrow band must leave.
        most_samples: samples beyond which the second fit would take too long.
    """

    noise_share: float = 0.05
    narrowing: float = 3.0
    shrunk: float = 0.9
    residual_share: float = 0.02
    known_percent: float = 5.0
    known_narrow_percent: float = 10.0
    rows_per_parameter: int = 5
    most_samples: int = 200_000


_LIMITS = _AttenuationLimits()
_INERTIA_UNITS = ("kg m^2", "kg")
_TINY = 1e-300
_REMEDY = "lower the cut-off, decimate more, excite more, or use an instrumental variable."


def attenuation_findings(estimate: Estimate, spectrum: PositionSpectrum | None) -> tuple[Finding, ...]:
    """One finding where noise pulls inertias down; none when nothing speaks for it.

    Args:
        estimate: what was identified; inertias are compared over bands where its problem kept its motions.
        spectrum: of the positions of the fit's longest log; None when it is too short to tell.
    """
    by_spectrum = () if spectrum is None else _seen_in_spectrum(spectrum, estimate.problem.plan)
    return by_spectrum or _seen_over_bands(estimate)


def noise_share(spectrum: PositionSpectrum, plan: Preparation) -> FloatArray:
    """κ per axis in the band of the regression, (axes,); 0 where no noise is seen.

    Args:
        spectrum: of the positions.
        plan: the preparation that is used.
    """
    share = spectrum.noise_share(plan.band_hz(spectrum.rate_hz))
    # Where no noise is seen, what stands at the top of the spectrum is motion or rounding.
    return np.where(np.isfinite(spectrum.noise_begin()) & spectrum.moving_axes(), share, 0.0)


def inertias(base: BaseMap) -> NDArray[np.bool_]:
    """Which base parameters are inertias or masses, of links or drives, (base,)."""
    families = [base.robot.table.entries[c].family for c in base.columns]
    pairs = zip(families, base.units, strict=True)
    return np.array([family in ("inertial", "drive") and unit in _INERTIA_UNITS for family, unit in pairs])


def _seen_in_spectrum(spectrum: PositionSpectrum, plan: Preparation) -> tuple[Finding, ...]:
    share = noise_share(spectrum, plan)
    loud = [int(j) for j in np.flatnonzero(share > _LIMITS.noise_share)]
    if not loud:
        return ()
    of_all = share / (1 + share)
    listed = ", ".join(f"{100 * of_all[j]:.0f} % (axis {j + 1})" for j in loud)
    return (
        Finding(
            Name.ATTENUATION,
            Level.CARE,
            f"Below {plan.band_hz(spectrum.rate_hz):.3g} Hz noise has {listed} of the accelerations' power, "
            f"so inertias come out too small by about as much, whatever σ says (attenuation): {_REMEDY}",
            figures={"noise_share": share.tolist()},
        ),
    )


def _seen_over_bands(estimate: Estimate) -> tuple[Finding, ...]:
    """Compare inertias with those of a third of the band, by weighted least squares in both."""
    problem = estimate.problem
    motions = problem.motions or ()
    samples = sum(motion.samples for motion in motions)
    shares = _residual_shares(estimate)
    if not shares.size or np.median(shares) < _LIMITS.residual_share:
        return ()
    if not 0 < samples <= _LIMITS.most_samples:
        return ()
    rate = min(motion.rate_hz for motion in motions)
    wide = problem.plan.band_hz(rate)
    decimation = max(math.ceil(0.4 * rate * _LIMITS.narrowing / wide), 2 * problem.plan.decimation)
    if samples / decimation < _LIMITS.rows_per_parameter * len(problem.base):
        return ()
    plan = replace(problem.plan, decimation=decimation)
    try:
        full = WLS().fit(problem)
        narrower = build_problem(problem.robot, motions, plan, problem.base)
        narrow = weighted_fit(narrower, full.weights, full.kept)
    except DynidError:
        return ()
    known = _relative_sigma(full) < _LIMITS.known_percent
    counted = inertias(problem.base) & known & (_relative_sigma(narrow) < _LIMITS.known_narrow_percent)
    ratio = float(np.median(full.values[counted] / narrow.values[counted])) if np.any(counted) else 1.0
    if ratio >= _LIMITS.shrunk:
        return ()
    return (
        Finding(
            Name.ATTENUATION,
            Level.CARE,
            f"Below {wide:.3g} Hz inertias come out at {100 * ratio:.0f} % of what they are below "
            f"{plan.band_hz(rate):.3g} Hz: noise in the accelerations pulls them down (attenuation); "
            f"{_REMEDY}",
            figures={"ratio": ratio},
        ),
    )


def _residual_shares(estimate: Estimate) -> FloatArray:
    """Residual power over that of an inertia's own torque, in the joint where this is least, per inertia.

    Noise that pulls an inertia down to 1/(1 + κ) leaves a residual of κ times its torque's power in every
    joint that feels it. Only inertias that are well known count; without any the array is empty.
    """
    problem = estimate.problem
    left = problem.residual_norms(estimate.values) ** 2
    shares = np.full(len(problem.base), np.inf)
    for power, factor in zip(left, problem.regression.joints, strict=True):
        own = list(factor.columns)
        torque = np.sum(factor.R[:, :-1] ** 2, axis=0) * estimate.values[own] ** 2
        shares[own] = np.minimum(shares[own], power / np.maximum(torque, _TINY))
    known = _relative_sigma(WLS().fit(problem)) < _LIMITS.known_percent
    return shares[inertias(problem.base) & known]


def _relative_sigma(fit: Fit) -> FloatArray:
    """%σ of each base parameter; infinite where the rows do not tell it."""
    sigma = np.sqrt(np.maximum(np.diag(fit.covariance), 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        percent = np.where(fit.values != 0, 100 * sigma / np.abs(fit.values), np.inf)
    return np.where(fit.undetermined, np.inf, percent)
