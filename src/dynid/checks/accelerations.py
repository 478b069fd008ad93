"""Are the accelerations those of the motion, or do noise, filter and differences change the inertias?

Least squares takes the observation matrix for exact. Noise on positions, differentiated twice, makes it
noisy, and an inertia comes out as 1/(1 + κ) of itself, κ being the power of noise over that of motion in the
accelerations (P1 §3). Filter and differences that take x off the accelerations make inertias 1/(1 − x) of
theirs. σ tells neither, and no suspect does: a scale of q̈ lies in the span of the inertias themselves.

What the two signs of noise are worth is told in docs/uncertainty.md.
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
from dynid.preparation.derivative import DIFFERENCE_POINTS, difference_gain
from dynid.preparation.preparation import Preparation
from dynid.preparation.spectrum import PositionSpectrum
from dynid.problem.build import build_problem


@dataclass(frozen=True)
class AccelerationLimits:
    """Where inertias are said to be biased, and where a second fit is not worth its time.

    Args:
        noise_share: κ from which on some inertia is off by 8 % and more.
        narrowing: the band compared with is so many times narrower; noise in accelerations falls with its
            fifth power, so that a third leaves 0.4 % of it.
        shrunk: median ratio of the inertias, full over narrow band, below which they are said to shrink.
        residual_share: least median of ``_residual_shares`` for which bands are compared. By theory a tenth
            would do; of 160 simulated fits 34 had attenuation, with 0.18 and more, and a measured one 0.038.
        known_percent: %σ in the full band up to which an inertia counts.
        known_narrow_percent: the same in the narrow band.
        rows_per_parameter: rows that the narrow band must leave.
        most_samples: samples beyond which the second fit would take too long.
        taken_off: share taken off the accelerations from which it asks for care; below, where σ is smaller
            still, a note.
    """

    noise_share: float = 0.15
    narrowing: float = 3.0
    shrunk: float = 0.9
    residual_share: float = 0.02
    known_percent: float = 5.0
    known_narrow_percent: float = 10.0
    rows_per_parameter: int = 5
    most_samples: int = 200_000
    taken_off: float = 0.01


LIMITS = AccelerationLimits()
_INERTIA_UNITS = ("kg m^2", "kg")
_TINY = 1e-300
_REMEDY = "lower the cut-off, decimate more, excite more, or use an instrumental variable."


def acceleration_findings(estimate: Estimate, spectrum: PositionSpectrum | None) -> tuple[Finding, ...]:
    """What noise pulls down, and what filter and differences push up; nothing where nothing speaks for it.

    Args:
        estimate: what was identified; inertias are compared over bands where its problem kept its motions.
        spectrum: of the positions of the fit's longest log; None when it is too short to tell.
    """
    if spectrum is None:
        return _smaller_than_in_narrow_band(estimate)
    pulled = _noisy_accelerations(spectrum, estimate.problem.plan) or _smaller_than_in_narrow_band(estimate)
    return (*pulled, *_taken_off_accelerations(spectrum, estimate))


def noise_share(spectrum: PositionSpectrum, plan: Preparation) -> FloatArray:
    """κ per axis in the band of the regression, (axes,); 0 where no noise is seen.

    Args:
        spectrum: of the positions.
        plan: the preparation that is used.
    """
    share = spectrum.noise_share(plan.band_hz(spectrum.rate_hz))
    # Where no noise is seen, what stands at the top of the spectrum is motion or rounding.
    return np.where(np.isfinite(spectrum.noise_begin()) & spectrum.moving_axes(), share, 0.0)


def _inertias(base: BaseMap) -> NDArray[np.bool_]:
    """Which base parameters are inertias or masses, of links or drives, (base,)."""
    families = [base.robot.table.entries[c].family for c in base.columns]
    pairs = zip(families, base.units, strict=True)
    return np.array([family in ("inertial", "drive") and unit in _INERTIA_UNITS for family, unit in pairs])


def _noisy_accelerations(spectrum: PositionSpectrum, plan: Preparation) -> tuple[Finding, ...]:
    share = noise_share(spectrum, plan)
    loud = [int(j) for j in np.flatnonzero(share > LIMITS.noise_share)]
    if not loud:
        return ()
    of_all = share / (1 + share)
    listed = ", ".join(f"{100 * of_all[j]:.0f} % (axis {j + 1})" for j in loud)
    said = f"Below {plan.band_hz(spectrum.rate_hz):.3g} Hz noise has {listed} of the accelerations' power, "
    said += f"so inertias come out too small by up to as much, whatever σ says (attenuation): {_REMEDY}"
    return (Finding(Name.ATTENUATION, Level.CARE, said, figures={"noise_share": share.tolist()}),)


def _smaller_than_in_narrow_band(estimate: Estimate) -> tuple[Finding, ...]:
    """Inertias beside those of a third of the band: the same motion, with less noise."""
    problem = estimate.problem
    motions = problem.motions or ()
    samples = sum(motion.samples for motion in motions)
    if not 0 < samples <= LIMITS.most_samples:
        return ()
    full = WLS().fit(problem)
    known = _inertias(problem.base) & (_relative_sigma(full) < LIMITS.known_percent)
    rate = min(motion.rate_hz for motion in motions)
    wide = problem.plan.band_hz(rate)
    decimation = max(math.ceil(0.4 * rate * LIMITS.narrowing / wide), 2 * problem.plan.decimation)
    if (
        not np.any(known)
        or np.median(_residual_shares(estimate)[known]) < LIMITS.residual_share
        or samples / decimation < LIMITS.rows_per_parameter * len(problem.base)
    ):
        return ()
    plan = replace(problem.plan, decimation=decimation)
    try:
        narrower = build_problem(problem.robot, motions, plan, problem.base)
        narrow = weighted_fit(narrower, full.weights, full.kept)
    except DynidError:
        return ()
    known &= _relative_sigma(narrow) < LIMITS.known_narrow_percent
    ratio = float(np.median(full.values[known] / narrow.values[known])) if np.any(known) else 1.0
    if ratio >= LIMITS.shrunk:
        return ()
    said = f"Below {wide:.3g} Hz inertias come out at {100 * ratio:.0f} % of what they are below "
    said += (
        f"{plan.band_hz(rate):.3g} Hz: noise in the accelerations pulls them down (attenuation); {_REMEDY}"
    )
    return (Finding(Name.ATTENUATION, Level.CARE, said, figures={"ratio": ratio}),)


def _residual_shares(estimate: Estimate) -> FloatArray:
    """Residual power over that of a parameter's own torque, in the joint where this is least, (base,).

    Noise that pulls an inertia down to 1/(1 + κ) leaves a residual of κ times its torque's power in every
    joint that feels it.
    """
    problem = estimate.problem
    left = problem.residual_norms(estimate.values) ** 2
    shares = np.full(len(problem.base), np.inf)
    for power, factor in zip(left, problem.regression.joints, strict=True):
        own = list(factor.columns)
        torque = np.sum(factor.R[:, :-1] ** 2, axis=0) * estimate.values[own] ** 2
        shares[own] = np.minimum(shares[own], power / np.maximum(torque, _TINY))
    return shares


def _relative_sigma(fit: Fit) -> FloatArray:
    """%σ of each base parameter; infinite where the rows do not tell it."""
    sigma = np.sqrt(np.maximum(np.diag(fit.covariance), 0.0))
    with np.errstate(divide="ignore", invalid="ignore"):
        percent = np.where(fit.values != 0, 100 * sigma / np.abs(fit.values), np.inf)
    return np.where(fit.undetermined, np.inf, percent)


def _taken_off_accelerations(spectrum: PositionSpectrum, estimate: Estimate) -> tuple[Finding, ...]:
    """What filter and differences take off, where it is more than the σ of the inertia known best."""
    plan = estimate.problem.plan
    rate = plan.resample_hz or spectrum.rate_hz
    known = estimate.relative_sigma[_inertias(estimate.problem.base)]
    known = known[np.isfinite(known) & (known > 0)]
    by_filter, by_differences = _acceleration_loss(spectrum, plan, rate)
    taken = by_filter + by_differences
    worst = int(np.argmax(taken))
    x, sigma = float(taken[worst]), float(np.min(known, initial=np.inf))
    if 100 * x <= sigma:
        return ()
    motion_hz = float(np.max(spectrum.motion_end(2)[spectrum.moving_axes()]))
    if by_filter[worst] > by_differences[worst]:
        remedy = f"raise the cut-off ({plan.cutoff_hz:g} Hz), or log faster if noise forbids it"
    elif plan.difference_points < DIFFERENCE_POINTS[-1]:
        remedy = f"take differences over more points (difference_points, now {plan.difference_points})"
    else:
        remedy = "log faster or move slower"
    said = f"For motion up to {motion_hz:.3g} Hz at {rate:.4g} Hz, filter and differences take about "
    said += f"{100 * x:.2g} % off the accelerations (axis {worst + 1}): inertias come out too large by about "
    said += f"as much, more than the {sigma:.2g} % that σ says of the one known best; {remedy}."
    level = Level.CARE if x >= LIMITS.taken_off else Level.NOTE
    return (Finding(Name.LOW_RATE, level, said, figures={"taken_off_percent": 100 * x}),)


def _acceleration_loss(
    spectrum: PositionSpectrum, plan: Preparation, rate_hz: float
) -> tuple[FloatArray, FloatArray]:
    """Shares of the acceleration that the position filter and the differences take off, per axis.

    Frequencies are weighted with the power of the motion's acceleration there; noise and what the decimation
    removes are left out.

    Args:
        spectrum: of the positions.
        plan: cut-off, order and points of the differences.
        rate_hz: rate at which it runs.

    Returns:
        (filter, differences), each (axes,); 0 for axes that do not move.
    """
    f = spectrum.frequency
    top = np.minimum(spectrum.noise_begin(), plan.band_hz(rate_hz))
    seen = (f[:, None] <= top) & (f[:, None] < 0.49 * rate_hz)
    power = spectrum.acceleration * spectrum.width[:, None] * (seen & spectrum.moving_axes())
    total = np.maximum(np.sum(power, axis=0), _TINY)
    inside = np.minimum(f, 0.49 * rate_hz)
    by_filter = 1.0 - _filter_gain(inside, plan, rate_hz)
    by_differences = 1.0 - difference_gain(inside, rate_hz, plan.difference_points) ** 2
    return by_filter @ power / total, by_differences @ power / total


def _filter_gain(frequency_hz: FloatArray, plan: Preparation, rate_hz: float) -> FloatArray:
    """What the zero-phase Butterworth low-pass leaves: 1 / (1 + (w/w_c)^(2·order)), w = tan(πf/f_s)."""
    if plan.cutoff_hz is None:
        return np.ones_like(frequency_hz)
    ratio = np.tan(np.pi * frequency_hz / rate_hz) / np.tan(np.pi * plan.cutoff_hz / rate_hz)
    return np.asarray(1.0 / (1.0 + ratio ** (2 * plan.order)))
