"""First values of constants inside friction terms: the misfit has several valleys, so many are tried."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from dynid.estimators.augmented import Augmented

FloatArray = NDArray[np.float64]
_TRIED = np.logspace(-1.5, 1.5, 13)
"""Multiples of a first guess that are tried."""
_SPEEDS = 12
"""Speeds of the motion that are tried for a constant that is a speed."""
_SWEEPS = 2


def _candidates(system: Augmented, start: FloatArray) -> list[FloatArray]:
    """Values that are tried of each constant: around both guesses, and speeds over those of the motion."""
    low, high = system.bounds()
    tried, i = [], 0
    for slot in system.slots:
        speeds = np.concatenate([np.abs(motion.qd[:, slot.joint]) for motion in system.motions])
        for name in slot.term.constants:
            values = [start[i] * _TRIED, slot.term.start[name] * _TRIED]
            if slot.term.constant_units.get(name, "").endswith("/s") and np.any(speeds > 0):
                ends = np.quantile(speeds[speeds > 0], [0.02, 1.0])
                values.append(np.geomspace(ends[0], ends[1], _SPEEDS))
            tried.append(np.unique(np.clip(np.concatenate(values), low[i], high[i])))
            i += 1
    return tried


def scanned(
    system: Augmented, projected: Callable[[FloatArray], FloatArray], start: FloatArray
) -> FloatArray:
    """The best of a scan over each constant in turn, from where a descent ends in the deepest valley.

    Args:
        system: the problem with its terms.
        projected: residual for given constants.
        start: first guesses.
    """
    best, misfit = start, float(np.sum(projected(start) ** 2))
    tried = _candidates(system, start)
    for _ in range(_SWEEPS):
        for i, values in enumerate(tried):
            for value in values:
                trial = best.copy()
                trial[i] = value
                found = float(np.sum(projected(trial) ** 2))
                if found < misfit:
                    best, misfit = trial, found
    return best
