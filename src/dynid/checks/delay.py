"""Delay between positions and torques: the shift at which the torques are explained best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.checks.columns import AxisColumns
from dynid.checks.finding import Checked, defect
from dynid.checks.light import Light
from dynid.core.finding import Finding

FloatArray = NDArray[np.float64]
_WIDEST_S = 0.06
_SHIFTS = 40
"""Shifts tried to each side."""
EXPLAINED, EXPLAINED_PLAINLY = 0.2, 0.1
"""Share of an axis' torque that may be left unexplained at the best shift, else the axis does not count: with
the robot's columns, and with plain ones."""
_WORTH = 0.03
"""Share by which the residual must fall before a delay of all axes is told."""
_SAMPLES = 2.0
"""Samples of delay from which it asks for care."""
_WORTH_ALONE, _WORTH_ALONE_PLAINLY = 0.2, 0.5
"""The same for one axis alone: with the robot's columns, and with plain ones, which no other axis backs."""
_VISIBLE = 0.02
"""Share of its torque that an axis' own delay must leave unexplained before it is told."""
_WORSE = 1.2
"""Factor by which the squares left of one axis may grow at the delay of all."""
_APART_S = 0.004
"""Seconds by which the delay of one axis must differ from that of all."""


@dataclass(frozen=True)
class _Delay:
    """A shift of the torques [s], and what it takes away: a share of the residual, and of the torque."""

    delay: float
    gain: float
    drop: float


def unexplained(light: Light, columns: Sequence[AxisColumns], shift: int = 0) -> FloatArray:
    """Share of each axis' torque (RMS about its mean) that its columns do not explain, torques read later.

    Args:
        light: the signals.
        columns: what may explain them.
        shift: samples by which torques are taken later than positions.
    """
    return np.asarray(np.sqrt(_squares(light, [part.basis for part in columns], np.array([shift]))[0]))


def _squares(light: Light, bases: Sequence[FloatArray], shifts: NDArray[np.intp]) -> FloatArray:
    """Squares of these shares, (shifts, axes); NaN for a torque that does not change."""
    squares = np.full((len(shifts), len(bases)), np.nan)
    for j, Q in enumerate(bases):
        tau = light.tau[light.rows[:, None] + shifts, j]
        size = np.sum((tau - tau.mean(axis=0)) ** 2, axis=0)
        left = np.sum((tau - Q @ (Q.T @ tau)) ** 2, axis=0)
        np.divide(left, size, out=squares[:, j], where=size > 0)
    return squares


def check_delay(light: Light, columns: Sequence[AxisColumns], explained: float = EXPLAINED) -> Checked:
    """Find the shift of the torques that the columns explain best, of all axes and of each.

    Args:
        light: the signals.
        columns: what may explain them.
        explained: share of an axis' torque that may be left, for the axis to count.
    """
    room = min(int(light.rows[0]), len(light.q) - 1 - int(light.rows[-1])) if len(light.rows) else 0
    widest = min(int(_WIDEST_S * light.rate_hz), room)
    bases = [part.basis for part in columns]
    # With hardly more samples than columns anything is explained at any shift.
    if widest < 2 or len(light.rows) < max(50, 3 * max(Q.shape[1] for Q in bases)):
        return Checked()
    step = max(1, widest // _SHIFTS)
    shifts = np.arange(-(widest // step), widest // step + 1) * step
    squares = _squares(light, bases, shifts)
    # Axes that no shift explains say nothing; the others count by how well they are explained.
    least = np.min(squares, axis=0)
    counts = np.flatnonzero(least < explained**2)
    if len(counts) == 0:
        return Checked((), {"delay_s": None})
    cost = np.sum(squares[:, counts] / np.maximum(least[counts], 1e-6), axis=1)
    common = _best(cost, shifts, step, light.rate_hz)
    own = {int(axis): _best(squares[:, axis], shifts, step, light.rate_hz) for axis in counts}
    facts: dict[str, Any] = {
        "delay_s": None if common is None else common.delay,
        "delay_s_per_axis": [None if (d := own.get(j)) is None else d.delay for j in range(len(bases))],
    }
    if common is not None:
        facts["delay_gain"] = common.gain
        now = len(shifts) // 2
        if np.any(squares[int(np.argmin(cost)), counts] > _WORSE * squares[now, counts]):
            common = None  # what helps some axes harms another: they are told one by one
    findings = _common(common, light.rate_hz)
    told = common.delay if common is not None and findings else 0.0
    worth = _WORTH_ALONE if explained > EXPLAINED_PLAINLY else _WORTH_ALONE_PLAINLY
    for axis, delay in own.items():
        if delay is not None and delay.gain > worth and delay.drop > _VISIBLE:
            findings += _own(delay, told, axis, light.rate_hz)
    return Checked(tuple(findings), facts)


def _best(squares: FloatArray, shifts: NDArray[np.intp], step: int, rate_hz: float) -> _Delay | None:
    """The shift at which least is left, and what it gains over none; None when it lies at the edge."""
    cost = np.sqrt(squares)
    best, now = int(np.argmin(cost)), int(np.flatnonzero(shifts == 0)[0])
    if best in (0, len(shifts) - 1):
        return None
    gain = 1.0 - float(cost[best] / cost[now]) if cost[now] > 0 else 0.0
    return _Delay(
        float(shifts[best] + step * _vertex(cost[best - 1 : best + 2])) / rate_hz,
        gain,
        float(cost[now] - cost[best]),
    )


def _common(found: _Delay | None, rate_hz: float) -> list[Finding]:
    if found is None or found.gain < _WORTH or abs(found.delay) * rate_hz < 0.75:
        return []
    who = "torques lag positions" if found.delay > 0 else "positions lag torques"
    sentence = (
        f"The {who} by {1e3 * abs(found.delay):.2g} ms ({abs(found.delay) * rate_hz:.1f} samples): with that "
        f"shift {100 * found.gain:.0f} % less of the torques is left unexplained."
    )
    remedy = (
        "Look for filters, buffers or message delays between both readings and shift one of them "
        "(delay_s of a channel in a mapping)."
    )
    # A controller that holds its torque looks half a sample late, and friction adds to it.
    clear = found.gain > 2 * _WORTH and abs(found.delay) * rate_hz >= _SAMPLES
    return [defect("delay", "warning" if clear else "note", sentence, remedy, "torque")]


def _own(found: _Delay, told: float, axis: int, rate_hz: float) -> list[Finding]:
    """A delay of one axis that is not that of all."""
    apart = abs(found.delay - told)
    if apart * rate_hz < 1.5 or apart < _APART_S:
        return []
    who = "torque lags its position" if found.delay > 0 else "position lags its torque"
    sentence = (
        f"On axis {axis + 1} the {who} by {1e3 * abs(found.delay):.2g} ms "
        f"({abs(found.delay) * rate_hz:.1f} samples), unlike on the others: with that shift "
        f"{100 * found.gain:.0f} % less of its torque is left unexplained."
    )
    remedy = (
        "Look at the filters and the bus of this drive, and shift one of both readings (delay_s of a channel "
        "in a mapping, one value per axis)."
    )
    return [defect("delay", "warning", sentence, remedy, "torque", axis + 1)]


def _vertex(three: FloatArray) -> float:
    """Place of the least value of a parabola through three points at −1, 0, 1."""
    curve = three[0] - 2 * three[1] + three[2]
    return float(np.clip(0.5 * (three[0] - three[2]) / curve, -0.5, 0.5)) if curve > 0 else 0.0
