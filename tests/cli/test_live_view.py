"""The terminal view of a followed run: what it shows in how much room, without a terminal, after Ctrl-C."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from rich.console import Console

from dynid.cli.live_view import LiveView, LiveViewOptions, error_bar, movement
from support.live_records import live_records

RECORDS = list(live_records(60, parameters=12, joints=3))


class Clock:
    """A clock that is set."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


class Ascii(io.StringIO):
    encoding = "ascii"  # type: ignore[assignment]


def console(width: int = 100, height: int = 40) -> Console:
    return Console(file=io.StringIO(), width=width, height=height, force_terminal=True, color_system=None)


def shown(view: LiveView, screen: Console) -> list[str]:
    """The picture as lines."""
    with screen.capture() as capture:
        screen.print(view.picture())
    return [re.sub(r"\x1b\[[0-9;]*m", "", line).rstrip() for line in capture.get().splitlines()]


def picture(
    records: list[dict[str, Any]], width: int = 100, height: int = 40, silent: float = 0.0
) -> list[str]:
    screen, clock = console(width, height), Clock()
    view = LiveView(console=screen, clock=clock)
    for record in records:
        view.write(record)
    clock.now = silent
    return shown(view, screen)


def test_parameters_torques_counts_and_events_are_shown() -> None:
    lines = picture(RECORDS[:-1])
    last, first = RECORDS[-2], RECORDS[1]
    assert lines[0] == "two <arms> & a half, RLS: live"
    assert lines[1].startswith(
        f"5.9 s   χ² per row {last['innovation']:.3g} (1 expected)   least inertia 0.4"
    )
    assert lines[2] == "received 6000   late 8   missing 3   out of order 1"
    row = next(line for line in lines if line.startswith("FC1")).replace("−", "-").split()
    value, sigma, start = last["values"][2], last["sigma"][2], first["values"][2]
    assert [float(cell) for cell in row[1:4]] == pytest.approx([value, 2 * sigma, value - start], rel=6e-3)
    assert row[4] == ("↑" if value > start else "↓" if (start - value) > 2 * sigma else "→")
    assert float(row[5]) == pytest.approx(abs(value - start) / sigma, abs=0.06)
    assert sum(line.startswith("joint ") for line in lines) == 4  # the head and three joints
    assert lines[-1] == "care: event 1 at 3.0 s, payload: The robot carries 2.0 kg more than before <b>."


def test_the_end_and_silence_are_said() -> None:
    assert picture(RECORDS)[0] == "two <arms> & a half, RLS: ended: The source has ended."
    assert picture(RECORDS[:-1], silent=7.2)[0] == "two <arms> & a half, RLS: no record for 7 s"
    assert picture([]) == ["Waiting for the first record …"]
    assert picture(RECORDS[:1]) == ["Waiting for the first record …"]


@pytest.mark.parametrize("width", [30, 40, 59, 60, 80, 200])
@pytest.mark.parametrize("height", [8, 24, 60])
def test_it_fits_the_terminal(width: int, height: int) -> None:
    records = list(live_records(60, parameters=12, joints=3))
    lines = picture(records, width, height)
    assert max(len(line) for line in lines) <= width
    if height >= 24:
        assert len(lines) < height
        assert any(line.startswith("ZZ1R") for line in lines)


def test_of_many_parameters_those_are_shown_that_moved_most() -> None:
    records = list(live_records(60, parameters=100, joints=3))
    lines = picture(records, height=24)
    assert len(lines) < 24
    head = next(k for k, line in enumerate(lines) if line.startswith("parameter"))
    foot = next(k for k, line in enumerate(lines) if "of 100 parameters" in line)
    names = [row["name"] for row in records[0]["parameters"]]
    seen = [names.index(line.split()[0]) for line in lines[head + 1 : foot]]
    moved = np.abs((records[-2]["values"] - records[1]["values"]) / records[-2]["sigma"])
    assert seen == sorted(np.argsort(-moved)[: len(seen)])
    assert lines[foot] == f"{len(seen)} of 100 parameters: those that moved most"


def test_names_are_not_markup() -> None:
    records = list(live_records(3, parameters=2, joints=1))
    records[0]["joints"][0] = "[bold]j[/bold]"
    records[0]["parameters"][0]["name"] = "[red]ZZ"
    text = "\n".join(picture(records))
    assert "[bold]j[/bold]" in text
    assert "[red]ZZ" in text


def test_numbers_that_are_not_known_are_dashes() -> None:
    records = list(live_records(3, parameters=2, joints=1))
    for record in records[1:2]:
        record["values"][0], record["sigma"][0], record["innovation"] = np.nan, np.inf, np.nan
        record["measured"] = np.array([np.nan])
    row = next(line for line in picture(records[:2]) if line.startswith("ZZ1R")).split()
    assert row[1:6] == ["–", "–", "–", "→", "0.0"]


def follow(view: LiveView, source: Iterator[dict[str, Any]]) -> None:
    with view:
        for record in source:
            assert view.write(record)


def test_a_terminal_is_drawn_in_and_given_back_after_ctrl_c() -> None:
    screen = console()
    view = LiveView(console=screen)

    def source() -> Iterator[dict[str, Any]]:
        yield from RECORDS[:30]
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        follow(view, source())
    text = screen.file.getvalue()  # type: ignore[attr-defined]
    assert "\x1b[?25l" in text
    assert text.rindex("\x1b[?25h") > text.rindex("\x1b[?25l")  # the cursor is back
    assert "ZZ1R" in text
    assert text.endswith("\n") or text.endswith("\x1b[?25h")


def test_without_a_terminal_there_is_a_line_now_and_then() -> None:
    stream, clock = io.StringIO(), Clock()
    with LiveView(stream, LiveViewOptions(line_s=2.0), clock) as view:
        for record in RECORDS:
            view.write(record)
            clock.now += 0.125
    lines = stream.getvalue().splitlines()
    assert "\x1b" not in stream.getvalue()
    assert [line.split(" s,")[0] for line in lines[:2]] == ["0.0", "1.6"]
    assert lines[2].startswith("care: event 1 at 3.0 s, payload: ")
    assert [line.split(" s,")[0] for line in lines[3:6]] == ["3.1", "4.7", "5.9"]
    assert lines[6:] == ["The source has ended."]


def test_a_stream_without_these_letters_gets_question_marks() -> None:
    stream = Ascii()
    view = LiveView(stream)
    for record in RECORDS[:3]:
        view.write(record)
    assert "rows used 100, ?? 0" in stream.getvalue() or "rows used 100, ?? 1" in stream.getvalue()


@pytest.mark.parametrize(
    ("percent", "bar"),
    [(0.0, ""), (15.0, "█" * 10), (30.0, "█" * 20), (90.0, "█" * 20), (0.1875, "▏"), (float("nan"), "")],
)
def test_bars(percent: float, bar: str) -> None:
    assert error_bar(percent, 30.0) == bar


def test_movement_is_counted_in_sigma() -> None:
    assert movement(3.0, 1.0, 0.5) == 4.0
    assert movement(None, 1.0, 0.5) == movement(1.0, None, 0.5) == movement(2.0, 1.0, None) == 0.0
