"""Signals without a motion in them: noise, shuffled rows, rates far too low."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.checks.finding import Checked, defect
from dynid.checks.survey import Survey
from dynid.checks.thin import thinned

FloatArray = NDArray[np.float64]
_WHITE = 0.91
"""Median of squared changes over the variance, for white noise; far less for anything smooth."""
ROUGH = 0.5
"""The same as a share of that of white noise, beyond which a signal is not smooth."""
_HUGE = 1e10
_LOOKED_AT = 5_000
_STILL = 0.01
"""Axes that travel less than this share of the widest say nothing."""


def roughness(x: FloatArray) -> float:
    """1 for white noise, (2πf/f_s)² or so for a motion of frequency f.

    Args:
        x: one axis, (samples,).
    """
    return _roughness(thinned(x, _LOOKED_AT, 2))


def _roughness(pairs: FloatArray) -> float:
    some, next_ones = pairs[:, 0], pairs[:, 1]
    sane = (np.abs(some) < _HUGE) & (np.abs(next_ones) < _HUGE)  # NaN is not
    spread = float(np.var(some[sane])) if np.any(sane) else 0.0
    return float(np.median((next_ones - some)[sane] ** 2)) / (_WHITE * spread) if spread > 0 else 0.0


def check_smoothness(survey: Survey) -> Checked:
    """Whether positions change little between samples, as those of a body do.

    Args:
        survey: what is usual in a log with positions.
    """
    axes = survey.channels["position"]
    widest = max((axis.travel for axis in axes), default=0.0)
    rough = [
        number + 1
        for number, axis in enumerate(axes)
        if axis.travel > _STILL * widest and _roughness(axis.threes) > ROUGH
    ]
    if not rough:
        return Checked()
    which = f"ax{'e' if len(rough) > 1 else 'i'}s {', '.join(str(number) for number in rough)}"
    sentence = (
        f"position of {which} changes as much from sample to sample as over the whole log: there is no "
        "smooth motion in it."
    )
    remedy = "Check columns and order of the rows; else the rate is far too low for the motion."
    return Checked((defect("no smooth motion", "error", sentence, remedy, "position", rough[0]),))
