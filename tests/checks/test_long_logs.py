"""The data check of long logs: the findings of a log in memory for one on disk, in bounded memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dynid.checks import check_log, repair_log
from dynid.checks.check import LookedAt
from dynid.logs.log import Log
from dynid.logs.read import read_log
from dynid.logs.spool import Spool, SpoolWriter
from dynid.model.load import load_robot
from dynid.preparation.clock import read_clock
from dynid.preparation.column import SampleCounts, neighbours, run_ends
from support.logs import csv_text, pendulum_log, with_channel, with_rows

LOG = pendulum_log(seconds=6.0)
ROBOT = load_robot("double_pendulum")
BORDER = 500
"""A row where a tile of the file, and a block of the steps, ends."""
AROUND = np.arange(LOG.samples) - BORDER
TAU = LOG.array("torque")


def on_disk(log: Log) -> Log:
    """The log with its channels on disk."""
    writers = {name: SpoolWriter(log.axes) for name in log.channels}
    for name, writer in writers.items():
        writer.append(log.array(name))
    return replace(log, channels={name: writer.finish() for name, writer in writers.items()})


@pytest.fixture(autouse=True)
def small_tiles(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dynid.logs.spool.TILE", 100)


def stamped(change: Callable[[np.ndarray], object]) -> Log:
    time = LOG.time.copy()
    change(time)
    return replace(LOG, time=time)


def valued(channel: str, rows: slice | int, value: float, axis: int = 1) -> Log:
    values = LOG.channels[channel].copy()
    values[rows, axis] = value
    return with_channel(LOG, **{channel: values})


def shifted(time: np.ndarray, start: int, by: float, stop: int | None = None) -> None:
    time[start:stop] += by


STUCK = valued("torque", slice(BORDER - 150, BORDER + 150), 0.3)
AT_THE_BORDER: dict[str, tuple[Log, str, str]] = {
    "short gap": (
        with_rows(LOG, np.delete(np.arange(LOG.samples), range(BORDER, BORDER + 4))),
        "short gaps",
        "1 short gap: 4 samples are missing",
    ),
    "long gap": (
        with_rows(LOG, np.delete(np.arange(LOG.samples), range(BORDER, BORDER + 250))),
        "long gaps",
        "1 long gap, the longest 1 s (250 samples)",
    ),
    "set forward": (
        stamped(lambda t: shifted(t, BORDER, 2.0)),
        "clock set forward",
        "set forward once, most by 2 s",
    ),
    "repeated": (stamped(lambda t: shifted(t, BORDER, -0.004, BORDER + 1)), "repeated stamps", "1 of 1500"),
    "backward": (stamped(lambda t: shifted(t, BORDER, -0.05, BORDER + 1)), "backward stamps", "1 of 1500"),
    "leap": (stamped(lambda t: shifted(t, BORDER - 1, 9.0, BORDER)), "backward stamps", "1 of 1500"),
    "set back": (stamped(lambda t: shifted(t, BORDER, -1.0)), "clock set back", "set back once, most by 1 s"),
    "lost stamps": (
        stamped(lambda t: t.put(range(BORDER - 2, BORDER + 3), np.nan)),
        "lost stamps",
        "5 of 1500 stamps are not finite",
    ),
    "NaN": (valued("position", slice(BORDER - 5, BORDER + 7), np.nan), "missing values", "12 of 1500 values"),
    "garbage": (valued("torque", slice(BORDER - 1, BORDER + 1), 1e300), "garbage values", "2 of 1500 values"),
    "frozen": (STUCK, "frozen channel", "stays at 0.3 for 300 samples"),
    "saturated": (
        with_channel(
            LOG, torque=np.minimum(TAU + np.maximum(50 - np.abs(AROUND), 0)[:, None], 1.3 * TAU.max())
        ),
        "saturation",
        "in 1 flat stretches (6.1 % of the log)",
    ),
    "wrap": (
        with_channel(
            LOG, position=LOG.channels["position"] - 2 * np.pi * (np.arange(LOG.samples) >= BORDER)[:, None]
        ),
        "wrapped position",
        "axis 1 wraps around: it leaps by a full turn once",
    ),
    "spike": (
        valued("position", slice(BORDER - 1, BORDER + 1), 9.0),
        "spikes",
        "(2 of 1500, such as 9)",
    ),
    "jump": (
        with_channel(
            LOG, position=LOG.channels["position"] + 0.9 * (np.arange(LOG.samples) >= BORDER)[:, None]
        ),
        "position jump",
        "axis 1 jumps between two samples once",
    ),
}


@pytest.mark.parametrize("kind", AT_THE_BORDER)
def test_a_defect_at_a_border_is_found_once(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dynid.preparation.leaps._BLOCK", BORDER)
    log, name, words = AT_THE_BORDER[kind]
    whole, found = check_log(log), check_log(on_disk(log))
    assert [f for f in whole.findings if f.name == name and words in f.sentence], whole.findings
    assert found.findings == whole.findings
    assert found.to_dict() == whole.to_dict()


def test_with_a_robot_the_same_is_said_of_the_motion() -> None:
    whole, found = check_log(LOG, ROBOT), check_log(on_disk(LOG), ROBOT)
    assert whole.to_dict() == found.to_dict()
    assert {"rate_hz", "duration_s", "condition", "unexplained_per_axis"} <= set(whole.facts)


@pytest.mark.parametrize("kind", ["NaN", "garbage", "spike", "wrap", "set back", "set forward", "short gap"])
def test_a_log_on_disk_is_repaired_there(kind: str) -> None:
    log = AT_THE_BORDER[kind][0]
    whole, found = repair_log(log), repair_log(on_disk(log))
    assert all(isinstance(values, Spool) for values in found.channels.values())
    assert found.history == whole.history
    assert len(found.history) > 0
    assert np.array_equal(found.time, whole.time)
    for name in log.channels:
        assert np.array_equal(found.array(name), whole.array(name))


def test_limits_hold_for_the_extremes_of_a_long_log(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows spread over a long log may miss a short excursion; its extremes are looked at too."""
    monkeypatch.setattr("dynid.checks.check.LOOKED_AT", LookedAt(samples=700, told_from=1000))
    monkeypatch.setattr("dynid.checks.check.SAMPLED", SampleCounts(values=20))
    q = LOG.array("position").copy()
    q[233:263, 0] += 20 * np.hanning(30)
    found = check_log(on_disk(with_channel(LOG, position=q)))
    assert [f.where.axis for f in found.findings if f.name == "position unit"] == [1]


def test_a_clock_that_is_set_back_too_often_is_just_bad() -> None:
    """What counts then are the stamps without any break believed, from the first sample on."""
    time = LOG.time.copy()
    for place in range(100, 1400, 60):
        time[place:] -= 0.1
    names = {f.name for f in check_log(replace(LOG, time=time)).findings}
    assert "clock set back" not in names
    assert {"backward stamps", "clock"} & names


def test_a_clock_that_stays_behind_was_set_back_once() -> None:
    time = LOG.time.copy()
    time[400:] -= 100.0
    clock = read_clock(time)
    assert [place.index for place in clock.breaks] == [400]
    assert (int(clock.good.sum()), clock.backward) == (1500, 0)


def test_damaged_and_cut_off_lines_of_a_long_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lines = csv_text(LOG).splitlines()
    for line in (100, 101, 102, 750):
        lines[line] = "damaged"
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines)[:-40])
    whole = read_log(path)
    monkeypatch.setattr("dynid.logs.spool.LONG", 100)
    long = read_log(path)
    assert long.on_disk
    found = check_log(whole)
    assert {f.name for f in found.findings} >= {"damaged lines", "truncated row"}
    assert check_log(long).findings == found.findings
    assert long.history == whole.history


def test_memory_is_that_of_a_few_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """Checks of a log on disk hold a few columns at a time, however many it has."""
    monkeypatch.setattr("dynid.logs.spool.TILE", 65_536)
    monkeypatch.setattr("dynid.checks.check.LOOKED_AT", LookedAt(samples=2_000, told_from=3_000))
    chunk, writers = pendulum_log(seconds=100.0), {name: SpoolWriter(12) for name in ("position", "torque")}
    for name, writer in writers.items():
        for _ in range(20):
            writer.append(np.tile(chunk.array(name), 6))
    samples = 20 * chunk.samples
    channels = {name: writer.finish() for name, writer in writers.items()}
    log = Log("wide", np.arange(samples) / 250.0, channels)
    tracemalloc.start()
    check_log(log)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 10 * 8 * samples, f"{peak / (8 * samples):.1f} columns of 24"


@given(st.integers(0, 400), st.integers(1, 30), st.integers(1, 3))
def test_groups_spread_over_a_column_are_neighbours(samples: int, wanted: int, width: int) -> None:
    groups = neighbours(np.arange(samples, dtype=float), wanted, width)
    assert np.array_equal(groups, groups[:, :1] + np.arange(width))
    count = max(samples - width + 1, 0)
    assert min(count, wanted) <= len(groups) <= min(count, 2 * wanted)


@given(st.lists(st.booleans(), max_size=60))
def test_runs_are_where_the_mask_is_true(values: list[bool]) -> None:
    mask, rebuilt = np.array(values, dtype=bool), np.zeros(len(values), dtype=bool)
    starts, stops = run_ends(mask)
    for start, stop in zip(starts, stops, strict=True):
        rebuilt[start:stop] = True
    assert np.array_equal(rebuilt, mask)
    assert np.all(stops > starts)
    assert np.all(starts[1:] > stops[:-1])
