"""Do positions and torques belong to the same moment? The shift at which the torques are explained best."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.checks.data_check import Checked
from dynid.checks.explained import TorqueColumns, unexplained_squares
from dynid.checks.light_motion import LightMotion
from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name, Where


@dataclass(frozen=True)
class DelayRules:
    """When a shift is a delay. Chosen by hand; the broken and measured logs of ``tests/checks`` hold them.

    Shares are of the RMS torque of an axis, gains of the RMS residual without a shift.

    Args:
        widest_s: largest shift that is tried [s].
        shifts: shifts tried to each side.
        explained: share that may be left at the best shift, else the axis does not count.
        gain: share of the residual that a delay of all axes must take away.
        least_samples: samples below which a delay of all is not told; control that holds its torque looks
            half a sample late.
        care_samples: samples from which it asks for care, with twice the gain; friction adds to it.
        own_gain: share of the residual that the delay of one axis must take away.
        own_visible: share of its torque that the delay of one axis must leave unexplained.
        harm: factor by which the squares left of one axis may grow at the delay of all.
        apart_s: seconds by which the delay of one axis must differ from that of all …
        apart_samples: … and samples.
    """

    widest_s: float = 0.06
    shifts: int = 40
    explained: float = 0.2
    gain: float = 0.03
    least_samples: float = 0.75
    care_samples: float = 2.0
    own_gain: float = 0.2
    own_visible: float = 0.02
    harm: float = 1.2
    apart_s: float = 0.004
    apart_samples: float = 1.5


WITH_ROBOT = DelayRules()
PLAINLY = DelayRules(explained=0.1, own_gain=0.5)
"""Without a robot columns fit by chance more easily, and no other axis backs one alone."""


@dataclass(frozen=True)
class _Delay:
    """A shift of the torques [s], and what it takes away: a share of the residual, and of the torque."""

    seconds: float
    gain: float
    drop: float


def check_delay(
    motion: LightMotion, columns: Sequence[TorqueColumns], rules: DelayRules = WITH_ROBOT
) -> Checked:
    """Find the shift of the torques that the columns explain best, of all axes and of each.

    Args:
        motion: the signals.
        columns: what may explain them.
        rules: with the robot's columns, or with plain ones.
    """
    rows, rate_hz = motion.rows, motion.rate_hz
    room = min(int(rows[0]), len(motion.q) - 1 - int(rows[-1])) if len(rows) else 0
    widest = min(int(rules.widest_s * rate_hz), room)
    # With hardly more samples than columns anything is explained at any shift.
    if widest < 2 or len(rows) < max(50, 3 * max(part.basis.shape[1] for part in columns)):
        return Checked()
    step = max(1, widest // rules.shifts)
    shifts = np.arange(-(widest // step), widest // step + 1) * step
    squares = unexplained_squares(motion, columns, shifts)
    # Axes that no shift explains say nothing; the others count by how well they are explained.
    least = np.min(squares, axis=0)
    counts = np.flatnonzero(least < rules.explained**2)
    if len(counts) == 0:
        return Checked((), {"delay_s": None})
    cost = np.sum(squares[:, counts] / np.maximum(least[counts], 1e-6), axis=1)
    common = _best_delay(cost, shifts, step, rate_hz)
    own = {int(axis): _best_delay(squares[:, axis], shifts, step, rate_hz) for axis in counts}
    facts: dict[str, Any] = {
        "delay_s": None if common is None else common.seconds,
        "delay_s_per_axis": [None if (d := own.get(j)) is None else d.seconds for j in range(len(columns))],
    }
    if common is not None:
        facts["delay_gain"] = common.gain
        now = len(shifts) // 2
        if np.any(squares[int(np.argmin(cost)), counts] > rules.harm * squares[now, counts]):
            common = None  # what helps some axes harms another: they are told one by one
    findings = _of_all_axes(common, rate_hz, rules)
    told = common.seconds if common is not None and findings else 0.0
    for axis, delay in own.items():
        if delay is not None and delay.gain > rules.own_gain and delay.drop > rules.own_visible:
            findings += _of_one_axis(delay, told, axis, rate_hz, rules)
    return Checked(tuple(findings), facts)


def _best_delay(squares: FloatArray, shifts: NDArray[np.intp], step: int, rate_hz: float) -> _Delay | None:
    """The shift at which least is left, and what it gains over none; None when it lies at the edge."""
    cost = np.sqrt(squares)
    best, now = int(np.argmin(cost)), len(shifts) // 2
    if best in (0, len(shifts) - 1):
        return None
    gain = 1.0 - float(cost[best] / cost[now]) if cost[now] > 0 else 0.0
    seconds = float(shifts[best] + step * _vertex(cost[best - 1 : best + 2])) / rate_hz
    return _Delay(seconds, gain, float(cost[now] - cost[best]))


def _vertex(three: FloatArray) -> float:
    """Place of the least value of a parabola through three points at −1, 0, 1."""
    curve = three[0] - 2 * three[1] + three[2]
    return float(np.clip(0.5 * (three[0] - three[2]) / curve, -0.5, 0.5)) if curve > 0 else 0.0


def _of_all_axes(found: _Delay | None, rate_hz: float, rules: DelayRules) -> list[Finding]:
    samples = 0.0 if found is None else abs(found.seconds) * rate_hz
    if found is None or found.gain < rules.gain or samples < rules.least_samples:
        return []
    who = "torques lag positions" if found.seconds > 0 else "positions lag torques"
    sentence = (
        f"The {who} by {1e3 * abs(found.seconds):.2g} ms ({samples:.1f} samples): with that shift "
        f"{100 * found.gain:.0f} % less of the torques is left unexplained."
    )
    remedy = (
        "Look for filters, buffers or message delays between both readings and shift one of them "
        "(delay_s of a channel in a mapping)."
    )
    clear = found.gain > 2 * rules.gain and samples >= rules.care_samples
    level = Level.CARE if clear else Level.NOTE
    return [Finding(Name.DELAY, level, sentence, remedy, Where(channel="torque"))]


def _of_one_axis(found: _Delay, told: float, axis: int, rate_hz: float, rules: DelayRules) -> list[Finding]:
    """A delay of one axis that is not that of all."""
    apart = abs(found.seconds - told)
    if apart * rate_hz < rules.apart_samples or apart < rules.apart_s:
        return []
    who = "torque lags its position" if found.seconds > 0 else "position lags its torque"
    sentence = (
        f"On axis {axis + 1} the {who} by {1e3 * abs(found.seconds):.2g} ms "
        f"({abs(found.seconds) * rate_hz:.1f} samples), unlike on the others: with that shift "
        f"{100 * found.gain:.0f} % less of its torque is left unexplained."
    )
    remedy = (
        "Look at the filters and the bus of this drive, and shift one of both readings (delay_s of a channel "
        "in a mapping, one value per axis)."
    )
    return [Finding(Name.DELAY, Level.CARE, sentence, remedy, Where(channel="torque", axis=axis + 1))]
