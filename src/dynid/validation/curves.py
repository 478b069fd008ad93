"""Torque curves to draw: every sample where a page can hold them, else envelopes that lose no peak.

They are kept as text, 16-bit integers in base64, so that a result holds them in a few bytes per sample.
"""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.preparation.motion import Motion
from dynid.validation.model import IdentifiedModel, predictions

BUDGET = 1_000_000
"""Numbers that all curves of a page may take together: 2.7 MB, still small enough to mail."""
_LARGEST = 32767
"""Values are whole multiples of their largest over this: finer than a screen shows."""


def motion_curves(
    model: IdentifiedModel, motions: Sequence[Motion], unseen: Sequence[Motion] = (), budget: int = BUDGET
) -> list[dict[str, Any]]:
    """Measured, predicted and left-over torques of motions.

    Args:
        model: the model that predicts.
        motions: prepared motions of the fit.
        unseen: prepared motions kept for validation.
        budget: numbers they may take together, in equal shares.
    """
    each = budget // max(1, len(motions) + len(unseen))
    return [_curves(model, m, True, each) for m in motions] + [_curves(model, m, False, each) for m in unseen]


def _curves(model: IdentifiedModel, motion: Motion, seen: bool, budget: int) -> dict[str, Any]:
    predicted, _ = predictions(replace(model, covariance=None), motion)  # a curve shows no doubt
    count = motion.samples * motion.tau.shape[1]
    size = 1 if 2 * count <= budget else -(-6 * count // max(budget, 1))  # samples per point
    joints = []
    for j in range(motion.tau.shape[1]):
        measured = motion.tau[:, j]
        curves = {
            "measured": pack_curve(measured, size),
            "residual": pack_curve(measured - predicted[:, j], size),
        }
        if size > 1:  # else predicted = measured − residual
            curves["predicted"] = pack_curve(predicted[:, j], size)
        joints.append(curves)
    duration = float(motion.time[-1] - motion.time[0])
    return {
        "name": motion.name,
        "seen": seen,
        "samples": motion.samples,
        "rate_hz": float(motion.rate_hz),
        "samples_per_point": size,
        "start_s": float(motion.time[0]),
        "step_s": size * duration / max(1, motion.samples - 1),
        "joints": joints,
    }


def pack_curve(values: FloatArray, size: int) -> dict[str, Any]:
    """A curve as text: values = scale × 16-bit integers, in base64 (little-endian).

    Args:
        values: (samples,).
        size: samples per point; beyond 1, ``low`` and ``high`` are their least and largest.

    Returns:
        scale, low, and with several samples per point high.
    """
    scale = float(np.max(np.abs(values), initial=0.0)) / _LARGEST or 1.0

    def text(array: FloatArray) -> str:
        return base64.b64encode(np.round(array / scale).astype("<i2").tobytes()).decode()

    if size <= 1:
        return {"scale": scale, "low": text(values)}
    starts = np.arange(0, len(values), size)
    low, high = np.minimum.reduceat(values, starts), np.maximum.reduceat(values, starts)
    return {"scale": scale, "low": text(low), "high": text(high)}


def unpack_curve(curve: Mapping[str, Any]) -> tuple[FloatArray, FloatArray]:
    """Least and largest value of each point of a curve; the same where a point is one sample.

    Args:
        curve: what ``pack_curve`` gave, or lists of numbers as version 0.1 kept them.
    """
    low, high = (_numbers(curve.get(key, curve["low"]), curve.get("scale", 1.0)) for key in ("low", "high"))
    return low, high


def _numbers(values: str | Sequence[float], scale: float) -> FloatArray:
    if isinstance(values, str):
        return np.frombuffer(base64.b64decode(values), "<i2") * scale
    return np.asarray(values, dtype=float)


def drawn_motion(motion: Mapping[str, Any]) -> tuple[FloatArray, list[dict[str, FloatArray]]]:
    """Time of each point of a motion's curves, and per joint the middle of each curve by name.

    Args:
        motion: one of ``motion_curves``.
    """
    joints = []
    for kept in motion["joints"]:
        curves = {name: np.mean(unpack_curve(curve), axis=0) for name, curve in kept.items()}
        joints.append({"predicted": curves["measured"] - curves["residual"], **curves})
    count = len(joints[0]["measured"]) if joints else 0
    if "time" in motion:
        return np.asarray(motion["time"], dtype=float), joints
    return motion["start_s"] + motion["step_s"] * np.arange(count), joints
