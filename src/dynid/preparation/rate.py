"""The rate that a plan asks for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import DynidError
from dynid.logs.resample import SAME_RATE, is_even, steady_rate
from dynid.preparation.preparation import Preparation

FloatArray = NDArray[np.float64]
_SLOWEST = 0.8
"""Share of the log's rate below which interpolation would fold high frequencies into low ones."""


def target_rate(time: FloatArray, plan: Preparation) -> tuple[float, bool]:
    """The rate a plan asks for, and whether the samples must be interpolated to get there.

    Args:
        time: stamps [s], increasing.
        plan: its ``stamps`` and ``resample_hz`` count.
    """
    own = steady_rate(time)
    if plan.resample_hz is not None and plan.resample_hz < _SLOWEST * own:
        raise DynidError(
            f"resample_hz is {plan.resample_hz:g} Hz and the log has {own:g} Hz; interpolation may not lower "
            "the rate by more than a fifth. Use the decimation to lower it: it filters first."
        )
    rate = own if plan.resample_hz is None else plan.resample_hz
    if plan.stamps == "even":
        return own, False
    changed = abs(rate / own - 1.0) > SAME_RATE
    return rate, changed or plan.stamps == "measured" or not is_even(time)
