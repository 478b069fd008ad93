"""Signals without a motion in them: noise, shuffled rows, rates far too low."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.signals.log import Log
from dynid.signals.quality.finding import Checked, Finding

FloatArray = NDArray[np.float64]
_WHITE = 0.91
"""Median of squared changes over the variance, for white noise; far less for anything smooth."""
ROUGH = 0.5
"""The same as a share of that of white noise, beyond which a signal is not smooth."""
_HUGE = 1e10
_LOOKED_AT = 10_000
_STILL = 0.01
"""Axes that travel less than this share of the widest say nothing."""


def roughness(x: FloatArray) -> float:
    """1 for white noise, (2πf/f_s)² or so for a motion of frequency f.

    Args:
        x: one axis, (samples,).
    """
    thin = max(1, len(x) // _LOOKED_AT)
    some, next_ones = x[: len(x) - 1 : thin], x[1::thin]
    sane = (np.abs(some) < _HUGE) & (np.abs(next_ones) < _HUGE)  # NaN is not
    spread = float(np.var(some[sane])) if np.any(sane) else 0.0
    return float(np.median((next_ones - some)[sane] ** 2)) / (_WHITE * spread) if spread > 0 else 0.0


def check_smoothness(log: Log) -> Checked:
    """Whether positions change little between samples, as those of a body do.

    Args:
        log: with positions.
    """
    q = log.channels["position"]
    with np.errstate(all="ignore"):
        travel = np.nan_to_num(np.nanquantile(q[:: max(1, len(q) // 5000)], [0.01, 0.99], axis=0))
    wide = travel[1] - travel[0]
    rough = [
        axis + 1
        for axis in range(log.axes)
        if wide[axis] > _STILL * float(wide.max()) and roughness(q[:, axis]) > ROUGH
    ]
    if not rough:
        return Checked()
    axes = f"ax{'e' if len(rough) > 1 else 'i'}s {', '.join(str(axis) for axis in rough)}"
    sentence = (
        f"position of {axes} changes as much from sample to sample as over the whole log: there is no smooth "
        "motion in it."
    )
    remedy = "Check columns and order of the rows; else the rate is far too low for the motion."
    return Checked((Finding("no smooth motion", "error", sentence, remedy, "position", rough[0]),))
