"""Is the rate of a log high enough for its motion, or do filter and differences change the accelerations?

Accelerations that are (1 − x) of the true ones make inertias 1/(1 − x) of theirs: a bias that σ does not
tell.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dynid.checks.attenuation import inertias
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.estimate import Estimate
from dynid.estimators.linear.least_squares import WLS
from dynid.preparation.derivative import DIFFERENCE_POINTS, difference_gain, speed_and_acceleration
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.spectrum import PositionSpectrum, fewest_points
from dynid.problem.build import build_problem


@dataclass(frozen=True)
class LowRateLimits:
    """When a low rate is told, and when the second fit is not worth its time. Chosen by hand.

    Args:
        most_samples: samples beyond which the second fit would take too long.
        noisy_band: band over rate above which longer differences let more noise pass, and a comparison
            would tell of that.
        care_share: share taken off the accelerations from which it asks for care; below, where σ is
            smaller still, a note.
    """

    most_samples: int = 200_000
    noisy_band: float = 0.1
    care_share: float = 1e-3


LIMITS = LowRateLimits()
_TINY = 1e-300


def low_rate_findings(estimate: Estimate, spectrum: PositionSpectrum | None) -> tuple[Finding, ...]:
    """One finding where filter and differences change parameters by more than σ says; else none.

    The share taken off the accelerations is compared with the relative σ of the inertia known best. Where the
    differences are too short for the motion, the fit is repeated with longer ones.

    Args:
        estimate: what was identified.
        spectrum: of the positions of the fit's longest log; None when it is too short to tell.
    """
    if spectrum is None:
        return ()
    plan = estimate.problem.plan
    rate = plan.resample_hz or spectrum.rate_hz
    moving = spectrum.moving_axes()
    motion_hz = float(np.max(spectrum.motion_end(2)[moving])) if np.any(moving) else 0.0
    needed = fewest_points(motion_hz, rate)
    short = plan.difference_points < needed and plan.band_hz(rate) <= LIMITS.noisy_band * rate
    short = short and not plan.logged_derivatives
    moved = _moved_by_longer_differences(estimate, needed) if short else ()
    return moved or _taken_off_accelerations(spectrum, rate, motion_hz, estimate)


def acceleration_loss(
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


def _taken_off_accelerations(
    spectrum: PositionSpectrum, rate: float, motion_hz: float, estimate: Estimate
) -> tuple[Finding, ...]:
    plan = estimate.problem.plan
    known = estimate.relative_sigma[inertias(estimate.problem.base)]
    known = known[np.isfinite(known) & (known > 0)]
    by_filter, by_differences = acceleration_loss(spectrum, plan, rate)
    taken = by_filter + by_differences
    worst = int(np.argmax(taken))
    x, sigma = float(taken[worst]), float(np.min(known, initial=np.inf))
    if 100 * x <= sigma:
        return ()
    remedy = _remedy(plan, bool(by_filter[worst] > by_differences[worst]))
    return (
        Finding(
            Name.LOW_RATE,
            Level.CARE if x >= LIMITS.care_share else Level.NOTE,
            f"For motion up to {motion_hz:.3g} Hz at {rate:.4g} Hz, filter and differences take about "
            f"{100 * x:.2g} % off the accelerations (axis {worst + 1}): inertias come out too large by about "
            f"as much, more than the {sigma:.2g} % that σ says of the one known best; {remedy}.",
            figures={"taken_off_percent": 100 * x},
        ),
    )


def _remedy(plan: Preparation, filter_takes_most: bool) -> str:
    if filter_takes_most:
        return f"raise the cut-off ({plan.cutoff_hz:g} Hz), or log faster if noise forbids it"
    if plan.difference_points < DIFFERENCE_POINTS[-1]:
        return f"take differences over more points (difference_points, now {plan.difference_points})"
    return "log faster or move slower"


def _moved_by_longer_differences(estimate: Estimate, needed: int) -> tuple[Finding, ...]:
    """What longer differences of the same positions change, where the spectrum says that they are called for.

    They tell the accelerations and the sign of speeds near a reversal, which decimation spreads over rows
    that no speed mask leaves out.
    """
    problem, most = estimate.problem, DIFFERENCE_POINTS[-1]
    plan, motions = problem.plan, problem.motions or ()
    samples = sum(motion.samples for motion in motions)
    if not 0 < samples <= LIMITS.most_samples or plan.difference_points == most:
        return ()
    try:
        longer = [_with_longest_differences(motion) for motion in motions]
        other = WLS().fit(build_problem(problem.robot, longer, plan, problem.base))
        own = WLS().fit(problem)
    except DynidError:
        return ()
    sigma = np.sqrt(np.maximum(np.diag(own.covariance), 0.0))
    sure = (sigma > 0) & ~own.undetermined
    moved = np.where(sure, np.abs(other.values - own.values) / np.where(sure, sigma, 1.0), 0.0)
    if np.max(moved) <= 1.0:
        return ()
    worst = int(np.argmax(moved))
    rate = min(motion.rate_hz for motion in motions)
    return (
        Finding(
            Name.LOW_RATE,
            Level.CARE,
            f"The rate, {rate:.4g} Hz, is low for this motion: differences over {most} points instead of "
            f"{plan.difference_points} move {np.count_nonzero(moved > 1)} parameters by more than σ, "
            f"{problem.base.names[worst]} by {moved[worst]:.2g} σ, for they change the accelerations and the "
            f"sign of speeds near a reversal: set difference_points to {needed}, or log faster.",
            figures={"largest_move_sigma": float(moved[worst])},
        ),
    )


def _with_longest_differences(motion: Motion) -> Motion:
    """The same positions with speeds and accelerations by the longest differences; the ends as they were."""
    points = DIFFERENCE_POINTS[-1]
    qd, qdd = speed_and_acceleration(np.asarray(motion.q), motion.rate_hz, points)
    for made, given in ((qd, motion.qd), (qdd, motion.qdd)):
        made[:points], made[-points:] = given[:points], given[-points:]
    return replace(motion, qd=qd, qdd=qdd)
