"""Torque curves for a page: few enough points to embed, none of the peaks lost."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.preparation.motion import Motion
from dynid.validation.model import Model
from dynid.validation.predict import predictions

FloatArray = NDArray[np.float64]
_MOST_POINTS = 1200
_FEWEST_POINTS = 150
_BUDGET = 600_000
"""Numbers that all curves of a page may take together."""
_STEPS = 20_000
"""Curves are rounded to their largest value over this many steps: finer than a screen shows."""


def motion_curves(
    model: Model, motions: Sequence[Motion], *, seen: bool, points: int | None = None
) -> list[dict[str, Any]]:
    """Measured, predicted and left-over torques of motions, as envelopes.

    Args:
        model: the model that predicts.
        motions: prepared motions.
        seen: whether they are the fit's own.
        points: buckets per curve; chosen from the number of curves when None.
    """
    curves = max(1, len(motions) * model.robot.n_coordinates)
    buckets = points or int(np.clip(_BUDGET // (6 * curves), _FEWEST_POINTS, _MOST_POINTS))
    return [_curves(model, motion, seen, buckets) for motion in motions]


def _curves(model: Model, motion: Motion, seen: bool, points: int) -> dict[str, Any]:
    predicted, _ = predictions(replace(model, covariance=None), motion)  # a curve shows no doubt
    left = motion.tau - predicted
    size = -(-motion.samples // points)  # samples per bucket, rounded up
    joints = [
        {
            "measured": envelope(motion.tau[:, j], size),
            "predicted": envelope(predicted[:, j], size),
            "residual": envelope(left[:, j], size),
        }
        for j in range(motion.tau.shape[1])
    ]
    return {
        "name": motion.name,
        "seen": seen,
        "samples": motion.samples,
        "rate_hz": float(motion.rate_hz),
        "samples_per_point": size,
        "time": _rounded(motion.time[::size]),
        "joints": joints,
    }


def envelope(values: FloatArray, size: int) -> dict[str, list[float]]:
    """A curve with ``size`` samples per point: their least and largest, so that no peak is lost.

    Args:
        values: (samples,).
        size: samples per point; with 1 the curve is given as it is.
    """
    if size <= 1:
        return {"low": _rounded(values)}
    starts = np.arange(0, len(values), size)
    low = np.minimum.reduceat(values, starts)
    high = np.maximum.reduceat(values, starts)
    return {"low": _rounded(low), "high": _rounded(high)}


def _rounded(values: FloatArray) -> list[float]:
    largest = float(np.max(np.abs(values), initial=0.0))
    if largest == 0.0:
        return [0.0] * len(values)
    decimals = int(np.ceil(np.log10(_STEPS / largest)))
    rounded: list[float] = (np.round(values, decimals) + 0.0).tolist()  # + 0.0 turns -0.0 into 0.0
    return rounded
