"""How much of the accelerations is noise in the band that the regression really uses."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dynid.core.finding import Finding, Level, Name
from dynid.logs.log import Log
from dynid.logs.resample import grid, interpolate, is_even, steady_rate
from dynid.preparation.outliers import replace_outliers
from dynid.preparation.preparation import Preparation
from dynid.preparation.spectrum import PositionSpectrum, position_spectrum

FloatArray = NDArray[np.float64]
_FEWEST = 256
_MOST = 300_000
"""Samples of a longer log that are looked at, from its beginning."""
_LOUD = 0.05
"""Share of noise at which inertias are 5 % off: more than σ will say."""


Found = tuple[PositionSpectrum, float]
"""A spectrum of positions and the rate [Hz]."""


def noise_share(log: Log, plan: Preparation, found: Found | None = None) -> FloatArray | None:
    """κ per axis: noise over motion in the power of the accelerations, below cut-off and decimation's band.

    An inertia comes out as 1/(1 + κ) of itself (P1 §3).

    Args:
        log: joint side.
        plan: the preparation that is used.
        found: from ``motion_spectrum``, where it is known already.

    Returns:
        (axes,), or None when the log is too short to tell.
    """
    found = motion_spectrum(log, plan) if found is None else found
    if found is None:
        return None
    spectrum, rate = found
    share = spectrum.noise_share(band_hz(plan, rate))
    # Where no noise is seen, what stands at the top of the spectrum is motion or rounding.
    return np.where(np.isfinite(spectrum.noise_begin()) & spectrum.moving(), share, 0.0)


def motion_spectrum(log: Log, plan: Preparation) -> Found | None:
    """Spectrum of a log's positions without outliers, and its rate [Hz]; None when it is too short to tell.

    Args:
        log: joint side.
        plan: its outlier filter is used.
    """
    log = log.part(slice(_MOST))
    if log.samples < _FEWEST:
        return None
    q, rate = log.array("position"), steady_rate(log.time)
    if plan.median_window:
        q = replace_outliers(q, plan.median_window, plan.median_threshold).values
    if not is_even(log.time):
        q = interpolate(log.time, q, grid(float(log.time[0]), float(log.time[-1]), rate))
    return position_spectrum(q, rate), rate


def band_hz(plan: Preparation, rate_hz: float) -> float:
    """Highest frequency that the regression sees [Hz]."""
    limits = [0.4 * rate_hz / plan.decimation]
    limits += [plan.cutoff_hz] if plan.cutoff_hz is not None else []
    return min(limits)


def noise_concerns(logs: Sequence[Log], plan: Preparation, found: Found | None = None) -> tuple[Finding, ...]:
    """A sentence where noise pulls inertias down; empty when it does not.

    Args:
        logs: logs of the fit, joint side, as they were prepared.
        plan: the preparation that was used.
        found: spectrum of the longest log, where it is known already.
    """
    log = max(logs, key=lambda item: item.samples)
    share = noise_share(log, plan, found)
    loud = [] if share is None else [j for j in range(len(share)) if share[j] > _LOUD]
    if share is None or not loud:
        return ()
    of_all = share / (1 + share)
    told = ", ".join(f"{100 * of_all[j]:.0f} % (axis {j + 1})" for j in loud)
    band = band_hz(plan, steady_rate(log.time))
    return (
        Finding(
            Name.ATTENUATION,
            Level.CARE,
            f"Below {band:.3g} Hz noise has {told} of the accelerations' power, so inertias come out too "
            "small by about as much, whatever σ says (attenuation): lower the cut-off, decimate more, excite "
            "more, or use an instrumental variable.",
        ),
    )
