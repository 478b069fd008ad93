"""Saturation: a signal that stays flat at an extreme."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.checks.finding import defect
from dynid.checks.frozen import Levels
from dynid.checks.runs import run_ends
from dynid.checks.survey import AxisSurvey
from dynid.checks.windows import Window
from dynid.core.finding import Finding

FloatArray = NDArray[np.float64]
_TOUCHES, _SHARE = 10, 0.0005
"""Samples, and share of the log, that must lie at an extreme."""
_CLIPPED = 0.02
_FEWEST = 50
_FLAT = 3
"""Samples of the shortest flat stretch."""
_BEFORE, _AFTER = 3, 2
"""Samples beside a flat stretch that tell how fast the signal came to it."""


class Saturation:
    """Flat tops of one axis: far more samples exactly at an extreme than just below it, in runs.

    "Just below" is at least three levels of a quantised signal: the top of a smooth wave has as many samples
    on its last level as on the three below it, and 2.4 times as many as on the next one alone.

    Args:
        channel: position or torque.
        axis: from 0.
        levels: its extremes and quantisation.
        usual: what is usual on the axis.
    """

    def __init__(self, channel: str, axis: int, levels: Levels, usual: AxisSurvey) -> None:
        """Begin before the first sample."""
        self._channel, self._axis, self._span = channel, axis, levels.span
        step = levels.step or 0.0
        few = levels.step is not None and levels.span < 12 * step
        band = max(_CLIPPED * levels.span, (1.5 if few else 3.5) * step)
        self._ratio = 4.8 if few else 2.0
        # A position at rest comes slowly to its extreme, one at a limit at speed.
        speed = 0.3 * usual.usual_change if channel == "position" else None
        self._ends = {
            "largest": _End(levels.high, 1.0, levels.span, band, speed),
            "smallest": _End(levels.low, -1.0, levels.span, band, speed),
        }
        self._window = Window(_BEFORE, _AFTER)
        self._count = 0

    def take(self, x: FloatArray, last: bool) -> None:
        """The next measurements of the axis."""
        self._count += len(x)
        if self._span == 0:
            return
        whole, core, _ = self._window.take(x, last)
        for end in self._ends.values():
            end.take(whole, core, last)

    def finish(self) -> list[Finding]:
        """What was found."""
        if self._count < _FEWEST or self._span == 0:
            return []
        fewest = max(_TOUCHES, _SHARE * self._count)
        found = []
        for name, end in self._ends.items():
            if end.flat_samples < fewest or end.flat_samples < self._ratio * (end.near - end.touches):
                continue
            share = end.flat_samples / self._count
            sentence = (
                f"{self._channel} of axis {self._axis + 1} stays at its {name} value {end.value:.4g} in "
                f"{end.flats} flat stretches ({100 * share:.2g} % of the log): it is saturated."
            )
            remedy = (
                "Leave these stretches out, or record with a smaller motion; a limit hides the true value."
            )
            severity, where = "error" if share > 0.2 else "warning", f"at {end.value:.4g}"
            found.append(
                defect("saturation", severity, sentence, remedy, self._channel, self._axis + 1, where)
            )
        return found


class _End:
    """One extreme of an axis: samples at it, near it, and in flat stretches at it.

    Args:
        value: the extreme.
        side: 1 for the largest value, −1 for the least.
        span: width of the values.
        band: what counts as near.
        speed: change per sample with which a flat stretch must begin or end; None when it may be any.
    """

    def __init__(self, value: float, side: float, span: float, band: float, speed: float | None) -> None:
        self.value = value
        self.near = self.touches = self.flats = self.flat_samples = 0
        self._side = side
        self._at = value - side * 1e-9 * max(span, abs(value))
        self._by = value - side * band
        self._speed = speed
        self._open: tuple[int, float] | None = None
        """Samples of the stretch that goes on, and the change per sample with which it began."""

    def take(self, whole: FloatArray, core: slice, last: bool) -> None:
        x = whole[core]
        if not len(x):
            return
        top = self._side > 0
        near = int(np.count_nonzero(x > self._by if top else x < self._by))
        self.near += near
        if near == 0 and self._open is None:
            return
        at_end = x >= self._at if top else x <= self._at
        self.touches += int(np.count_nonzero(at_end))
        carried, self._open = self._open, None
        if carried is not None and not at_end[0]:
            self._close(*carried, _after(whole, core.start))
            carried = None
        starts, stops = run_ends(at_end)
        long = (stops - starts >= _FLAT) | (starts == 0) | (stops == len(x))
        starts, stops = starts[long], stops[long]
        for start, stop in zip(starts.tolist(), stops.tolist(), strict=True):
            if start == 0 and carried is not None:
                length, before = carried[0] + stop, carried[1]
            else:
                length, before = stop - start, _before(whole, core.start + start)
            if stop == len(x) and not last:
                self._open = length, before
            else:
                self._close(length, before, _after(whole, core.start + stop))

    def _close(self, length: int, before: float, after: float) -> None:
        if length < _FLAT or (self._speed is not None and not max(before, after) > self._speed > 0):
            return
        self.flats += 1
        self.flat_samples += length


def _before(x: FloatArray, start: int) -> float:
    """Change per sample before a stretch."""
    return abs(float(x[start] - x[start - 3])) / 3 if start >= 3 else 0.0


def _after(x: FloatArray, stop: int) -> float:
    """Change per sample after a stretch."""
    return abs(float(x[stop + 1] - x[stop - 1])) / 2 if stop + 1 < len(x) else 0.0
