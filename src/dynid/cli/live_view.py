"""A run that is followed, in a terminal: parameters with ±2σ, how they moved, torque errors, counts, events.

Where there is no terminal, a line every few seconds says the same.
"""

from __future__ import annotations

import sys
import textwrap
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Any

from dynid.cli.live_lines import event_line, lost_counts, status_line, three_digits
from dynid.cli.output import STYLES
from dynid.core.lazy import later
from dynid.report.live_history import LiveHistory, LiveRecord

_console = later("rich.console", "Console")
_group = later("rich.console", "Group")
_live = later("rich.live", "Live")
_table = later("rich.table", "Table")
_text = later("rich.text", "Text")
_BARS = "▏▎▍▌▋▊▉█"


@dataclass(frozen=True)
class LiveViewOptions:
    """How often, and how much.

    Args:
        refresh_hz: pictures per second, at most 10: a picture of 40 lines takes some milliseconds.
        line_s: seconds between two lines where there is no terminal.
        events: last events shown.
        silent_s: seconds without a record before the view says so.
        bar_percent: relative torque error that fills its bar, as on the page [%].
    """

    refresh_hz: float = 4.0
    line_s: float = 5.0
    events: int = 3
    silent_s: float = 3.0
    bar_percent: float = 30.0


class LiveView:
    """Shows live records as they come; to be used in a ``with``, which leaves the last picture standing.

    Args:
        stream: where to; standard output when absent.
        options: how often, and how much.
        clock: seconds of a clock that never goes back.
        console: a Rich console, which decides whether there is a terminal; made for the stream when absent.
    """

    def __init__(
        self,
        stream: IO[str] | None = None,
        options: LiveViewOptions | None = None,
        clock: Callable[[], float] = time.monotonic,
        console: Any = None,
    ) -> None:
        """Look whether there is a terminal."""
        self.options = options or LiveViewOptions()
        self.history = LiveHistory()
        self._clock = clock
        self._heard = clock()
        self._said = -float("inf")
        self._lock = threading.Lock()
        stream = stream or sys.stdout
        if console is None and stream.isatty():
            console = _console(file=stream, highlight=False, markup=False, emoji=False)
        self._console: Any = console if console is not None and console.is_terminal else None
        self._stream: IO[str] = stream if console is None else console.file
        self._live: Any = None

    def __enter__(self) -> LiveView:
        """Begin; in a terminal a thread of its own draws, so that the run does not wait for it."""
        if self._console is not None:
            rate = min(10.0, self.options.refresh_hz)
            self._live = _live(
                console=self._console,
                get_renderable=self.picture,
                refresh_per_second=rate,
                redirect_stdout=False,
                redirect_stderr=False,
                vertical_overflow="crop",
            )
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Draw once more and give the terminal back, also after Ctrl-C."""
        if self._live is not None:
            self._live.stop()
            self._live = None

    def write(self, record: LiveRecord) -> bool:
        """Take a record; always true, as a terminal does not leave."""
        self._heard = self._clock()
        with self._lock:  # the picture is made in another thread
            kept = self.history.add(record)
        if self._console is None:
            self._say(kept)
        return True

    def _say(self, record: LiveRecord) -> None:
        """A line where there is no terminal: events at once, records now and then, the end as it was."""
        history, now = self.history, self._clock()
        if record["kind"] == "event":
            start = history.first["t"] if history.first else record["t"]
            self._print(event_line(record, start))
        elif record["kind"] == "record" and now - self._said >= self.options.line_s:
            self._said = now
            self._print(status_line(history))
        elif record["kind"] == "end":
            self._print(status_line(history))
            self._print(record["outcome"])

    def _print(self, text: str) -> None:
        encoding = getattr(self._stream, "encoding", None) or "utf-8"
        self._stream.write(text.encode(encoding, "replace").decode(encoding) + "\n")
        self._stream.flush()

    def picture(self) -> Any:
        """Everything that fits into the terminal as it is now."""
        with self._lock:
            return self._picture()

    def _picture(self) -> Any:
        history, size = self.history, self._console.size
        header, first, last = history.header, history.first, history.last
        if header is None or first is None or last is None:
            return _text("Waiting for the first record …")
        events = list(history.events)[-self.options.events :]
        head = [
            _text(part, style=style)
            for line, style in self._head()
            for part in textwrap.wrap(line, size.width)
        ]
        torques = _torque_table(header, history.torque_errors(), size.width, self.options.bar_percent)
        room = size.height - len(head) - len(header["joints"]) - len(events) - 4
        table, words = _parameter_table(header, first, last, size.width, max(1, room))
        foot = [_text(words, style="dim", no_wrap=True, overflow="ellipsis")] if words else []
        for event in events:
            line = event_line(event, first["t"])
            foot.append(_text(line, style=STYLES.get(event["level"], ""), no_wrap=True, overflow="ellipsis"))
        return _group(*head, torques, table, *foot)

    def _head(self) -> list[tuple[str, str]]:
        history = self.history
        header, first, last = history.header or {}, history.first or {}, history.last or {}
        silence = self._clock() - self._heard
        state = "live"
        if history.end is not None:
            state = f"ended: {history.end['outcome']}"
        elif silence > self.options.silent_s:
            state = f"no record for {silence:.0f} s"
        figures = [
            f"{last['t'] - first['t']:.1f} s",
            f"χ² per row {three_digits(last['innovation'])} (1 expected)",
            f"least inertia {three_digits(last['inertia'])}",
            f"rows used {last['used']}",
        ]
        counts = [f"received {last['counts'].get('received', '–')}", *lost_counts(last["counts"])]
        return [
            (f"{header['robot']}, {header['method']}: {state}", "bold"),
            ("   ".join(figures), ""),
            ("   ".join(counts), "dim"),
        ]


def _torque_table(header: LiveRecord, errors: Sequence[tuple[float, float]], width: int, full: float) -> Any:
    """Torque prediction errors of the last seconds, one line per joint."""
    made = _table(box=None, pad_edge=False, header_style="bold")
    made.add_column("joint", no_wrap=True, overflow="ellipsis", max_width=max(6, width // 3))
    made.add_column("torque error", justify="right", no_wrap=True)
    made.add_column("[%]", justify="right", no_wrap=True)
    if width >= 60:
        made.add_column("", no_wrap=True)
    for name, (error, percent) in zip(header["joints"], errors, strict=False):
        cells = [_text(name), three_digits(error), three_digits(percent)]
        made.add_row(*cells, *([error_bar(percent, full)] if width >= 60 else []))
    return made


def error_bar(percent: float, full: float, cells: int = 20) -> str:
    """A bar of eighths of characters: full at so many percent.

    Args:
        percent: its value; none is drawn as nothing.
        full: the value that fills it.
        cells: characters of the full bar.
    """
    eighths = round(8 * cells * min(1.0, percent / full)) if percent > 0 else 0
    rest = _BARS[eighths % 8 - 1] if eighths % 8 else ""
    return "█" * (eighths // 8) + rest


def _parameter_table(
    header: LiveRecord, first: LiveRecord, last: LiveRecord, width: int, room: int
) -> tuple[Any, str]:
    """As many parameters as there is room for, in their order, and words that say which these are."""
    rows = [
        (row, *numbers)
        for row, *numbers in zip(
            header["parameters"], last["values"], last["sigma"], first["values"], strict=False
        )
    ]
    moved = [movement(value, start, sigma) for _, value, sigma, start in rows]
    shown = sorted(sorted(range(len(rows)), key=lambda k: -abs(moved[k]))[:room])
    made = _table(box=None, pad_edge=False, header_style="bold")
    made.add_column("parameter", no_wrap=True, overflow="ellipsis", max_width=max(6, width // 3))
    columns = ["value", "±2σ", *(["change"] if width >= 60 else []), "moved [σ]"]
    for name in columns:
        made.add_column(name, justify="right", no_wrap=True)
    if width >= 70:
        made.add_column("unit", no_wrap=True)
    for k in shown:
        row, value, sigma, start = rows[k]
        cells = [_text(row["name"]), _four_digits(value), three_digits(None if sigma is None else 2 * sigma)]
        if width >= 60:
            known = value is not None and start is not None
            cells.append(three_digits(value - start if known else None))
        cells.append(f"{_arrow(moved[k])} {abs(moved[k]):.1f}")
        made.add_row(*cells, *([_text(str(row.get("unit") or ""))] if width >= 70 else []))
    words = (
        "" if len(shown) == len(rows) else f"{len(shown)} of {len(rows)} parameters: those that moved most"
    )
    return made, words


def movement(value: float | None, start: float | None, sigma: float | None) -> float:
    """Change since the start over σ of now; zero where one of them is not known."""
    return 0.0 if value is None or start is None or not sigma else (value - start) / sigma


def _arrow(moved: float) -> str:
    """Whether a change is more than its doubt, and where to."""
    return "→" if abs(moved) <= 2 else "↑" if moved > 0 else "↓"


def _four_digits(value: float | None) -> str:
    return three_digits(value) if value is None else f"{value:.4g}".replace("-", "−")
