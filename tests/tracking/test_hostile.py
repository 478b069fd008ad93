"""Whatever bytes come, a reader gives finite samples of the right size or counts a refusal, and goes on."""

from __future__ import annotations

import io
import json
import tracemalloc
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings, strategies as st

from dynid.core.errors import DynidError, FileError, NotTrustworthyError
from dynid.model.load import load_robot
from dynid.tracking import Feed, FeedRules, JsonReader, Sample
from dynid.tracking.sources import Lines
from support.streams import csv_lines, flat_line, json_lines, made_samples

ROBOT = load_robot("double_pendulum")
SAMPLES = made_samples(60)
FUZZ = settings(max_examples=30, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=10**300)
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from([1e308, -1e308, 2**63, 10**400]),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["t", "time", "stamp", "header", "name", "position", "velocity", "effort", "q", "tau", "q1", "q2", "tau1",
     "tau2", "seq", "sec", "nanosec"]
)  # fmt: skip
MESSAGES = st.dictionaries(KEYS | st.text(max_size=4), VALUES, max_size=8)


def assert_sane(samples: list[Sample]) -> None:
    for sample in samples:
        for values in (sample.q, sample.tau, sample.qd, sample.reference):
            assert values is None or (values.shape == (2,) and np.isfinite(values).all())
        assert np.isfinite(sample.time)


def encode(message: Any) -> bytes:
    return json.dumps(message).encode()


@FUZZ
@given(st.lists(MESSAGES, max_size=6))
def test_any_objects_between_good_ones(messages: list[dict[str, Any]]) -> None:
    reader = JsonReader(ROBOT)
    good = json_lines(SAMPLES)
    samples = [sample for line in good[:10] for sample in reader.read(line)]
    assert len(samples) == 10
    for message in messages:
        more = list(reader.read(encode(message)))
        assert_sane(more)
    rest = [sample for line in good[10:] for sample in reader.read(line)]
    assert len(rest) == 50
    assert reader.refusals.total + reader.refusals.accepted == 60 + len(messages)


@FUZZ
@given(st.lists(MESSAGES, min_size=1, max_size=6))
def test_any_objects_at_the_start(messages: list[dict[str, Any]]) -> None:
    reader = JsonReader(ROBOT, patience=1000)
    samples: list[Sample] = []
    for message in messages:
        samples += reader.read(encode(message))
    with suppress(NotTrustworthyError):  # when none was understood
        samples += reader.finish()
    assert_sane(samples)
    assert reader.refusals.total + len(samples) == len(messages)


@FUZZ
@given(st.data())
def test_a_good_message_with_one_part_replaced(data: st.DataObject) -> None:
    """Each value, or one inside a list, becomes anything: another sample, or a refusal."""
    for first, kind in ((json_lines(SAMPLES), "list"), ([flat_line(s) for s in SAMPLES], "flat")):
        reader = JsonReader(ROBOT)
        for line in first[:6]:
            reader.read(line)
        message = json.loads(first[7])
        key = data.draw(st.sampled_from(sorted(message)))
        if kind == "list" and type(message[key]) is list and data.draw(st.booleans()):
            message[key][data.draw(st.integers(0, 1))] = data.draw(VALUES)
        else:
            message[key] = data.draw(VALUES)
        samples = list(reader.read(encode(message)))
        assert_sane(samples)
        assert len(samples) + reader.refusals.total == 1


@FUZZ
@given(st.lists(st.binary(max_size=80), max_size=8), st.integers(0, 59), st.booleans())
def test_any_bytes_among_lines(rubbish: list[bytes], place: int, csv: bool) -> None:
    lines = csv_lines(SAMPLES) if csv else json_lines(SAMPLES)
    place = max(place, 7)  # understood before
    mixed = b"".join([*lines[:place], b"\n".join(rubbish), b"\n", *lines[place:]])
    source = Lines(io.BytesIO(mixed), ROBOT)
    samples = list(source)
    assert_sane(samples)
    wanted = {sample.time for sample in SAMPLES}
    assert wanted <= {sample.time for sample in samples}
    assert len(samples) + source.counts["refused"] <= source.counts["received"]


@FUZZ
@given(st.binary(max_size=400))
def test_any_bytes_alone(data: bytes) -> None:
    source = Lines(io.BytesIO(data), ROBOT, limit=100, patience=20)
    with suppress(NotTrustworthyError, FileError):  # none was understood, or no row of numbers came
        assert_sane(list(source))
    assert source.counts["refused"] <= source.counts["received"]


@FUZZ
@given(st.lists(st.floats(-1e11, 1e11) | st.floats(0, 1).map(lambda x: round(x, 3)), max_size=150))
def test_any_stamps_through_a_feed(stamps: list[float]) -> None:
    feed = Feed(FeedRules(patience=1000))
    zero = np.zeros(1)
    out = list(feed.in_order(Sample(time, zero, zero) for time in stamps))
    counts = feed.counts
    given_away = sum(not arrival.made_up for arrival in out)
    assert given_away + counts["late"] + counts["repeated"] + counts["refused"] == len(stamps)
    assert feed.findings() is not None


@pytest.mark.parametrize(
    "line", [b"[" * 60_000, b'{"a":' * 10_000, b"1" * 65_000, b'{"t": ' + b"1" * 60_000 + b"}"]
)
def test_deep_and_long_json_is_refused(line: bytes) -> None:
    reader = JsonReader(ROBOT)
    for good in json_lines(SAMPLES):
        reader.read(good)
    assert reader.read(line) == ()
    assert reader.refusals.total == 1


def test_memory_stays_bounded_in_a_flood() -> None:
    """Endless lines of 60 kB, many orders of joints, ever new keys: nothing of them is kept."""

    class Endless(io.RawIOBase):
        left = 40_000_000

        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            count = min(len(buffer), self.left)
            buffer[:count] = b"x" * count
            self.left -= count
            return count

    head = b"".join(json_lines([replace(sample, qd=None) for sample in SAMPLES], ["a", "b"]))
    orders = [
        json.dumps({"t": 1, "name": ["a", "b", f"c{k}"], f"k{k}": 1, "position": [1] * 3, "effort": [1] * 3})
        for k in range(3000)
    ]
    list(Lines(io.BytesIO(head), ROBOT))
    tracemalloc.start()
    source = Lines(io.BytesIO(head + "\n".join(orders).encode()), ROBOT)
    assert sum(1 for _ in source) == 3060
    before = tracemalloc.get_traced_memory()[1]
    tracemalloc.reset_peak()
    with pytest.raises(DynidError, match=r"None of the first 1 messages|no end"):
        list(Lines(io.BufferedReader(Endless()), ROBOT))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert before < 5e6
    assert peak < 5e6


def damaged(message: bytes, rng: np.random.Generator) -> bytes:
    """A message with some bytes changed, cut out, doubled, or cut off."""
    data = bytearray(message)
    for _ in range(int(rng.integers(1, 4))):
        a, b = sorted(rng.integers(0, len(data) + 1, 2).tolist())
        b = min(b, a + 8)
        kind = int(rng.integers(0, 5))
        if kind == 0:
            data[a:b] = rng.bytes(b - a)
        elif kind == 1:
            del data[a:b]
        elif kind == 2:
            data[a:a] = data[a:b]
        elif kind == 3:
            data[a:b] = rng.choice(
                [b"9" * 400, b"-", b"e9", b"[", b"{", b'"', b"true", b"null", b"NaN", b","]
            )
        else:
            del data[a + 1 :]
    return bytes(data)


@pytest.mark.parametrize("csv", [False, True])
def test_ten_thousand_damaged_messages(csv: bool) -> None:
    rng = np.random.default_rng(7)
    good = csv_lines(SAMPLES) if csv else json_lines(SAMPLES)
    source = Lines(io.BytesIO(b""), ROBOT)
    reader = source._reader_for(good[0])
    understood = [sample for line in good for sample in reader.read(line)]
    assert len(understood) == 60
    taken = 0
    for _ in range(10_000):
        samples = list(reader.read(damaged(good[int(rng.integers(1, 60))], rng)))
        assert_sane(samples)
        taken += len(samples)
    assert taken == reader.refusals.accepted - 60
    assert 9_000 < reader.refusals.total + taken <= 10_000  # what is left are empty lines and comments
    assert [len(list(reader.read(line))) for line in good[1:]] == [1] * len(good[1:])
