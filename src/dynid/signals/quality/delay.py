"""Delay between positions and torques: the shift at which the torques are explained best."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dynid.signals.quality.columns import AxisColumns, orthonormal
from dynid.signals.quality.finding import Checked, Finding
from dynid.signals.quality.light import Light

FloatArray = NDArray[np.float64]
_WIDEST_S = 0.06
_SHIFTS = 40
"""Shifts tried to each side."""
EXPLAINED, EXPLAINED_PLAINLY = 0.2, 0.1
"""Share of an axis' torque that may be left unexplained at the best shift, else the axis does not count: with
the robot's columns, and with plain ones."""
_WORTH = 0.03
"""Share by which the residual must fall before a delay is told."""


def unexplained(light: Light, columns: Sequence[AxisColumns], shift: int = 0) -> FloatArray:
    """Share of each axis' torque (RMS about its mean) that its columns do not explain, torques read later.

    Args:
        light: the signals.
        columns: what may explain them.
        shift: samples by which torques are taken later than positions.
    """
    bases = [orthonormal(part.values) for part in columns]
    return _shares(light, bases, shift)


def _shares(light: Light, bases: Sequence[FloatArray], shift: int) -> FloatArray:
    tau = light.tau[light.rows + shift]
    shares = np.full(tau.shape[1], np.nan)
    for j, Q in enumerate(bases):
        y = tau[:, j] - tau[:, j].mean()
        size = float(y @ y)
        left = tau[:, j] - Q @ (Q.T @ tau[:, j])
        shares[j] = np.sqrt(float(left @ left) / size) if size > 0 else np.nan
    return shares


def check_delay(light: Light, columns: Sequence[AxisColumns], explained: float = EXPLAINED) -> Checked:
    """Find the shift of the torques that the columns explain best.

    Args:
        light: the signals.
        columns: what may explain them.
        explained: share of an axis' torque that may be left, for the axis to count.
    """
    room = min(int(light.rows[0]), len(light.q) - 1 - int(light.rows[-1])) if len(light.rows) else 0
    widest = min(int(_WIDEST_S * light.rate_hz), room)
    if widest < 2 or len(light.rows) < 50:
        return Checked()
    step = max(1, widest // _SHIFTS)
    shifts = np.arange(-(widest // step), widest // step + 1) * step
    bases = [orthonormal(part.values) for part in columns]
    squares = np.array([_shares(light, bases, int(shift)) ** 2 for shift in shifts])
    # Axes that no shift explains say nothing; the others count by how well they are explained.
    least = np.min(squares, axis=0)
    counts = least < explained**2
    squares, least = squares[:, counts], least[counts]
    if len(least) == 0:
        return Checked((), {"delay_s": None})
    cost = np.sqrt(np.sum(squares / np.maximum(least, 1e-6), axis=1))
    best, now = int(np.argmin(cost)), int(np.flatnonzero(shifts == 0)[0])
    gain = 1.0 - float(cost[best] / cost[now]) if cost[now] > 0 else 0.0
    if best in (0, len(shifts) - 1):
        return Checked((), {"delay_s": None})
    delay = (shifts[best] + step * _vertex(cost[best - 1 : best + 2])) / light.rate_hz
    facts = {"delay_s": float(delay), "delay_gain": gain}
    if gain < _WORTH or abs(delay) * light.rate_hz < 0.75:
        return Checked((), facts)
    who = "torques lag positions" if delay > 0 else "positions lag torques"
    sentence = (
        f"The {who} by {1e3 * abs(delay):.2g} ms ({abs(delay) * light.rate_hz:.1f} samples): with that shift "
        f"{100 * gain:.0f} % less of the torques is left unexplained."
    )
    remedy = "Look for filters, buffers or message delays between both readings and shift one of them."
    severity = "warning" if gain > 2 * _WORTH else "note"
    return Checked((Finding("delay", severity, sentence, remedy, "torque"),), facts)


def _vertex(three: FloatArray) -> float:
    """Place of the least value of a parabola through three points at −1, 0, 1."""
    curve = three[0] - 2 * three[1] + three[2]
    return float(np.clip(0.5 * (three[0] - three[2]) / curve, -0.5, 0.5)) if curve > 0 else 0.0
