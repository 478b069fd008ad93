"""What is kept of a run that may last for hours: beginning, a thinned course, the last seconds, events.

The records of a run are dictionaries with a ``kind``: one ``header``, then ``record`` and ``event`` in the
order of time, at last one ``end``. Viewers who come late, and the page that stays, get this much of them.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from dynid.core.plain import plain

LiveRecord = Mapping[str, Any]


@dataclass(frozen=True)
class HistorySize:
    """How much of a run is kept: the memory of a viewer against what it can look back at.

    Args:
        recent: last records, whole. At 10 records per second 400 are the 30 s that torques are drawn for, and
            a quarter more for a source that is faster than said.
        older: points of the course before them, one per pixel of a wide plot; when there are so many, every
            two become one.
        events: last events. The plots mark as many, and people read fewer.
        window_s: span over which torques are drawn and their errors taken [s]: some cycles of a slow motion.
        digits: significant digits of numbers on the page: a plot shows three, a change of 1e-4 needs seven.
    """

    recent: int = 400
    older: int = 600
    events: int = 300
    window_s: float = 30.0
    digits: int = 7


class LiveHistory:
    """A bounded history of live records; a new header starts it anew.

    Args:
        size: how much is kept.
    """

    def __init__(self, size: HistorySize | None = None) -> None:
        """Start empty."""
        self.size = size or HistorySize()
        self._start(None)

    def _start(self, header: dict[str, Any] | None) -> None:
        self.header = header
        self.first: dict[str, Any] | None = None
        self.last: dict[str, Any] | None = None
        self.end: dict[str, Any] | None = None
        self.events: deque[dict[str, Any]] = deque(maxlen=self.size.events)
        self.event_count = 0
        self._recent: deque[dict[str, Any]] = deque()
        self._older: list[dict[str, Any]] = []
        self._stride = 1
        self._group: list[dict[str, Any]] = []

    def add(self, record: LiveRecord) -> dict[str, Any]:
        """Keep one record; returns it as kept, ready for JSON: numbers rounded, None where there are none."""
        kept: dict[str, Any] = self._few_digits(plain(record))
        kind = kept["kind"]
        if kind == "header":
            self._start(kept)
        elif kind == "record":
            self.first = self.first or kept
            self.last = kept
            self._recent.append(kept)
            if len(self._recent) > self.size.recent:
                self._retire(self._recent.popleft())
        elif kind == "event":
            self.event_count += 1
            kept["number"] = self.event_count
            self.events.append(kept)
        elif kind == "end":
            self.end = kept
        return kept

    def _retire(self, record: dict[str, Any]) -> None:
        """Let a record join the course: one point per ``stride`` records, with their largest innovation."""
        self._group.append(_point(record))
        if len(self._group) < self._stride:
            return
        self._older.append(_mean_of(self._group))
        self._group = []
        if len(self._older) >= self.size.older:
            self._older = [_mean_of(self._older[k : k + 2]) for k in range(0, len(self._older), 2)]
            self._stride *= 2

    def to_dict(self) -> dict[str, Any]:
        """Everything that is kept, as one record of kind "history" for a page."""
        return {
            "kind": "history",
            "first": self.first and _point(self.first),
            "older": [*self._older, *([_mean_of(self._group)] if self._group else [])],
            "stride": self._stride,
            "recent": list(self._recent),
            "events": list(self.events),
            "event_count": self.event_count,
            "end": self.end,
        }

    def torque_errors(self) -> list[tuple[float, float]]:
        """Per joint the rms of measured − predicted torque in the last ``window_s`` [N m or N], and percent.

        The percentage is of the rms of the measured torque; NaN where there is nothing to compare.
        """
        if self.last is None:
            return []
        after = self.last["t"] - self.size.window_s
        rows = [record for record in self._recent if record["t"] >= after]
        found = []
        for j in range(len(self.last["measured"])):
            pairs = [(row["measured"][j], row["predicted"][j]) for row in rows]
            known = [(m, p) for m, p in pairs if m is not None and p is not None]
            error = _rms(m - p for m, p in known)
            scale = _rms(m for m, _ in known)
            found.append((error, 100 * error / scale if scale > 0 else math.nan))
        return found

    def _few_digits(self, value: Any) -> Any:
        """Floats with as many digits as a page needs; stamps, which may count from 1970, to 0.1 ms."""
        if isinstance(value, dict):
            return {key: round(v, 4) if key == "t" and v else self._few_digits(v) for key, v in value.items()}
        if isinstance(value, list):
            return [self._few_digits(item) for item in value]
        return float(f"{value:.{self.size.digits}g}") if isinstance(value, float) else value


def _point(record: dict[str, Any]) -> dict[str, Any]:
    """What the course keeps of a record: no torques, whose wave a thinned course cannot show."""
    return {key: record.get(key) for key in ("kind", "t", "values", "sigma", "innovation")}


def _mean_of(group: list[dict[str, Any]]) -> dict[str, Any]:
    """The last of some points, with the largest innovation of all, so that no peak is lost."""
    peaks = [point["innovation"] for point in group if point["innovation"] is not None]
    return {**group[-1], "innovation": max(peaks, default=None)}


def _rms(values: Iterable[float]) -> float:
    squares = [value * value for value in values]
    return math.sqrt(sum(squares) / len(squares)) if squares else math.nan
