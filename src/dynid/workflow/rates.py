"""Is the rate of a log high enough for its motion, or do filter and differences change the accelerations?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dynid.core.errors import DynidError
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.estimate import Estimate
from dynid.estimators.identify import identify
from dynid.estimators.least_squares import WLS
from dynid.logs.log import Log
from dynid.preparation.bandwidth import fewest_points
from dynid.preparation.derivative import DIFFERENCE_POINTS, speed_and_acceleration
from dynid.preparation.losses import acceleration_loss
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.spectrum import PositionSpectrum
from dynid.problem.build import build_problem
from dynid.workflow.bands import inertias
from dynid.workflow.noise import Found, band_hz, motion_spectrum

_MOST = 200_000
"""Samples beyond which another fit would cost too much."""
_TENTH = 0.1
_CARE = 1e-3
"""Share taken off the accelerations from which it matters beyond σ."""


def rate_concerns(
    logs: Sequence[Log], plan: Preparation, estimate: Estimate, found: Found | None = None
) -> tuple[Finding, ...]:
    """Sentences where filter and differences change parameters by more than σ says; else empty.

    Accelerations that are (1 − x) of the true ones make inertias 1/(1 − x) of theirs; x is compared with the
    relative σ of the inertia known best. Where the differences are too short for the motion, the fit is
    repeated with longer ones.

    Args:
        logs: logs of the fit, joint side, as they were prepared.
        plan: the preparation that was used.
        estimate: what was identified.
        found: spectrum of the longest log, where it is known already.
    """
    if found is None:
        found = motion_spectrum(max(logs, key=lambda item: item.samples), plan)
    if found is None:
        return ()
    spectrum, measured = found
    rate = plan.resample_hz or measured
    moving = spectrum.moving()
    motion = float(np.max(spectrum.motion_end(2)[moving])) if np.any(moving) else 0.0
    needed = fewest_points(motion, rate)
    # Above a tenth of the rate longer differences let more noise pass, and the comparison would tell of that.
    if plan.difference_points < needed and band_hz(plan, rate) <= _TENTH * rate:
        told = _parameters(plan, estimate, needed)
        if told:
            return told
    return _accelerations(spectrum, rate, motion, plan, estimate)


def _accelerations(
    spectrum: PositionSpectrum, rate: float, motion: float, plan: Preparation, estimate: Estimate
) -> tuple[Finding, ...]:
    """What the spectrum says about the accelerations."""
    known = estimate.relative_sigma[inertias(estimate)]
    known = known[np.isfinite(known) & (known > 0)]
    by_filter, by_differences = acceleration_loss(spectrum, plan, rate, band_hz(plan, rate))
    taken = by_filter + by_differences
    worst = int(np.argmax(taken))
    x, sigma = float(taken[worst]), float(np.min(known, initial=np.inf))
    if 100 * x <= sigma:
        return ()
    remedy = _remedy(plan, bool(by_filter[worst] > by_differences[worst]))
    return (
        Finding(
            Name.LOW_RATE,
            Level.CARE if x >= _CARE else Level.NOTE,
            f"For motion up to {motion:.3g} Hz at {rate:.4g} Hz, filter and differences take about "
            f"{100 * x:.2g} % off the accelerations (axis {worst + 1}): inertias come out too large by about "
            f"as much, more than the {sigma:.2g} % that σ says of the one known best; {remedy}.",
        ),
    )


def _parameters(plan: Preparation, estimate: Estimate, needed: int) -> tuple[Finding, ...]:
    """What longer differences of the same positions change, where the spectrum says that they are called for.

    They tell the accelerations and the sign of speeds near a reversal, which decimation spreads over rows
    that no speed mask leaves out.
    """
    problem, most = estimate.problem, DIFFERENCE_POINTS[-1]
    motions = problem.motions
    if not motions or sum(motion.samples for motion in motions) > _MOST or plan.difference_points == most:
        return ()
    try:
        longer = build_problem(problem.robot, [_longer(motion) for motion in motions], plan, problem.base)
        other, own = identify(longer, WLS()), identify(problem, WLS())
    except DynidError:
        return ()
    sure = own.kept & other.kept & (own.sigma > 0)
    moved = np.where(sure, np.abs(other.values - own.values) / np.where(sure, own.sigma, 1.0), 0.0)
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
        ),
    )


def _longer(motion: Motion) -> Motion:
    """The same positions with speeds and accelerations by the longest differences; the ends as they were."""
    points = DIFFERENCE_POINTS[-1]
    qd, qdd = speed_and_acceleration(motion.q, motion.rate_hz, points)
    for made, given in ((qd, motion.qd), (qdd, motion.qdd)):
        made[:points], made[-points:] = given[:points], given[-points:]
    return replace(motion, qd=qd, qdd=qdd)


def _remedy(plan: Preparation, filter_takes_most: bool) -> str:
    if filter_takes_most:
        return f"raise the cut-off ({plan.cutoff_hz:g} Hz), or log faster if noise forbids it"
    if plan.difference_points < DIFFERENCE_POINTS[-1]:
        return f"take differences over more points (difference_points, now {plan.difference_points})"
    return "log faster or move slower"
