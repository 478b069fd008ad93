"""The data check chunk by chunk: the findings of the whole log, wherever it is cut, in bounded memory."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from dynid.checks.check import check_chunks, check_log
from dynid.checks.clock_stream import ClockStream
from dynid.checks.runs import RunTally, runs
from dynid.checks.survey import survey_log
from dynid.checks.surveyor import Surveyor
from dynid.checks.thin import Thinner, thinned
from dynid.core.errors import DynidError
from dynid.logs.log import Log
from dynid.logs.read import read_log
from dynid.model.load import load_robot
from support.logs import csv_text, pendulum_log, with_channel, with_rows

LOG = pendulum_log(seconds=6.0)
ROBOT = load_robot("double_pendulum")
BORDER = 500
"""Where the chunks of most tests are cut."""


def pieces(log: Log, *edges: int) -> Callable[[], Iterator[Log]]:
    cuts = [0, *edges, log.samples]
    return lambda: (log.part(slice(a, b)) for a, b in pairwise(cuts))


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
    "long gap": (stamped(lambda t: shifted(t, BORDER, 2.0)), "long gaps", "1 long gap, the longest 2 s"),
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
    "frozen": (STUCK, "frozen channel", "stays at 0.3 for 299 samples"),
    "saturated": (
        valued("torque", slice(BORDER - 15, BORDER + 15), 1.3 * float(LOG.channels["torque"][:, 1].max())),
        "saturation",
        "in 1 flat stretches (2 % of the log)",
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
def test_a_defect_at_a_border_is_found_once(kind: str) -> None:
    log, name, words = AT_THE_BORDER[kind]
    whole = check_log(log)
    assert [f for f in whole.findings if f.name == name and words in f.sentence], whole.findings
    for edges in ([BORDER], [BORDER - 1, BORDER + 1], [BORDER - 3, BORDER, BORDER + 2], range(7, 1500, 61)):
        found = check_chunks(pieces(log, *edges))
        assert found.check.findings == whole.findings
        assert found.check.verdict == whole.verdict
        assert (found.samples, found.rows.samples) == (log.samples, log.samples)


def test_with_a_robot_the_same_is_said_of_the_motion() -> None:
    whole, chunked = check_log(LOG, ROBOT), check_chunks(pieces(LOG, 333, 1000), ROBOT).check
    assert whole.findings == chunked.findings
    assert set(whole.facts) == set(chunked.facts)
    for name in ("rate_hz", "duration_s", "condition", "delay_s", "unexplained_per_axis"):
        np.testing.assert_allclose(chunked.facts[name], whole.facts[name], rtol=1e-9)


def test_a_clock_that_is_set_back_too_often_is_just_bad() -> None:
    """What counts then are the stamps without any break believed, from the first sample on."""
    time = LOG.time.copy()
    for place in range(100, 1400, 60):
        time[place:] -= 0.1
    log = replace(LOG, time=time)
    whole, chunked = check_log(log), check_chunks(pieces(log, *range(90, 1500, 90))).check
    assert whole.findings == chunked.findings
    assert not [f for f in whole.findings if f.name == "clock set back"]
    assert any(f.name in ("backward stamps", "clock") for f in whole.findings)


def test_a_clock_that_stays_behind_is_not_waited_for_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dynid.checks.clock_stream._MOST_HELD", 300)
    time = LOG.time.copy()
    time[400:] -= 100.0
    stream, none = ClockStream(0.004, 0.01, np.empty(0)), np.empty((100, 0))
    for start in range(0, 1500, 100):
        stream.take(time[start : start + 100], none, start == 1400)
        assert len(stream._time) <= 420
    found = stream.finish()
    assert [place.place.index for place in found.breaks] == [400]
    assert (found.good, found.backward) == (1500, 0)


@pytest.mark.parametrize("chunk", [100, 101, 499, 5000])
def test_damaged_and_cut_off_lines_of_a_long_file(
    tmp_path: Path, chunk: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = csv_text(LOG).splitlines()
    for line in (100, 101, 102, 750):
        lines[line] = "damaged"
    path = tmp_path / "log.csv"
    path.write_text("\n".join(lines)[:-40])
    whole = check_log(read_log(path))
    monkeypatch.setattr("dynid.logs.spool.LONG", 100)
    monkeypatch.setattr("dynid.checks.check._PIECE", chunk)
    log = read_log(path)
    assert log.on_disk
    assert {f.name for f in whole.findings} >= {"damaged lines", "truncated row"}
    assert check_log(log).findings == whole.findings


def test_an_empty_log_is_refused() -> None:
    with pytest.raises(DynidError, match="The log holds no samples"):
        check_chunks(lambda: iter(()))


def test_memory_does_not_grow_with_the_log() -> None:
    peaks = []
    for repeats in (1, 4):
        chunk = pendulum_log(seconds=100.0)

        def chunks(repeats: int = repeats, chunk: Log = chunk) -> Iterator[Log]:
            for k in range(13 * repeats):
                yield replace(chunk, time=chunk.time + 100.0 * k)

        tracemalloc.start()
        found = check_chunks(chunks)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert found.samples == 325_000 * repeats
    assert peaks[1] < 1.1 * peaks[0]


@given(st.integers(1, 400), st.integers(1, 30), st.integers(1, 3), st.lists(st.integers(0, 400), max_size=6))
def test_samples_spread_over_a_log_do_not_depend_on_the_chunks(
    samples: int, fewest: int, width: int, cuts: list[int]
) -> None:
    x = np.arange(samples, dtype=float)
    thinner = Thinner(fewest, width)
    edges = [0, *sorted(min(cut, samples) for cut in cuts), samples]
    for start, stop in pairwise(edges):
        thinner.take(x[start:stop])
    expected = thinned(x, fewest, width)
    assert np.array_equal(thinner.sample, expected)
    assert len(expected) <= 2 * fewest


@given(st.lists(st.booleans(), max_size=60), st.lists(st.integers(0, 60), max_size=5))
def test_runs_do_not_depend_on_the_chunks(values: list[bool], cuts: list[int]) -> None:
    bad = np.array(values, dtype=bool)
    tally = RunTally()
    edges = [0, *sorted(min(cut, len(bad)) for cut in cuts), len(bad)]
    for start, stop in pairwise(edges):
        part = bad[start:stop]
        tally.take(part if part.any() else None, len(part))
    found = runs(bad)
    longest = max(found, key=lambda run: run[1], default=(-1, 0))
    assert tally.count == bad.sum()
    assert (tally.first, tally.at, tally.longest) == (found[0][0] if found else -1, *longest)


def test_what_is_usual_does_not_depend_on_the_chunks() -> None:
    log = valued("torque", slice(30, 34), 1e300)
    surveyor = Surveyor()
    for part in pieces(log, 200, 777)():
        surveyor.take(part)
    found, whole = surveyor.finish(), survey_log(log)
    assert (found.samples, found.step, found.longest_step) == (whole.samples, whole.step, whole.longest_step)
    for name, axes in whole.channels.items():
        for own, other in zip(found.channels[name], axes, strict=True):
            assert (own.low, own.high, own.least, own.most) == (
                other.low,
                other.high,
                other.least,
                other.most,
            )
            assert np.array_equal(own.threes, other.threes)
