"""Samples in order: every kind of disorder is made, put right where it can be, and counted."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.core.finding import Level, Name
from dynid.tracking import Arrival, Feed, FeedRules, Sample
from support.streams import made_samples


def run(samples: list[Sample], **rules: float) -> tuple[Feed, list[Arrival]]:
    feed = Feed(FeedRules(**rules))  # type: ignore[arg-type]
    return feed, list(feed.in_order(samples))


def stamps(arrivals: list[Arrival]) -> list[float]:
    return [arrival.sample.time for arrival in arrivals]


@pytest.mark.parametrize("rate_hz", [None, 1000.0])
def test_an_even_stream_passes_untouched(rate_hz: float | None) -> None:
    samples = made_samples(5000)
    feed = Feed(FeedRules(rate_hz=rate_hz))
    out = list(feed.in_order(samples))
    assert [arrival.sample for arrival in out] == samples
    assert [k for k, arrival in enumerate(out) if arrival.anew] == [0]
    assert feed.counts["stretches"] == 1
    assert feed.counts["received"] == 5000
    assert sum(feed.counts.values()) == 5001
    assert feed.period_s == pytest.approx(1e-3, rel=1e-6)
    assert feed.findings() == ()


def test_a_given_rate_lets_the_first_sample_through_at_once() -> None:
    first = made_samples(1)[0]
    assert len(Feed(FeedRules(rate_hz=1000.0)).put(first)) == 1
    assert Feed().put(first) == []


def test_one_missing_sample_is_interpolated_and_more_begin_a_stretch() -> None:
    samples = made_samples(1000)
    kept = [sample for k, sample in enumerate(samples) if k != 300 and not 600 <= k < 605]
    feed, out = run(kept)
    assert feed.counts["missing"] == 6
    assert feed.counts["bridged"] == 1
    assert [arrival.sample.time for arrival in out if arrival.anew] == [0.0, 0.605]
    made = next(arrival for arrival in out if arrival.made_up)
    assert made.sample.time == pytest.approx(0.3)
    np.testing.assert_allclose(made.sample.q, (samples[299].q + samples[301].q) / 2)
    assert made.sample.qd is not None
    assert made.sample.reference is None
    finding = next(f for f in feed.findings() if f.name == Name.LOST_SAMPLES)
    assert finding.level == Level.NOTE
    assert finding.figures["count"] == 6


def test_nothing_is_bridged_when_not_wanted() -> None:
    samples = made_samples(200)
    del samples[100]
    _, out = run(samples, bridge=0)
    assert not any(arrival.made_up for arrival in out)
    assert [arrival.sample.time for arrival in out if arrival.anew] == [0.0, 0.101]


@pytest.mark.parametrize(("reorder", "late", "displaced"), [(0, 1, 0), (2, 0, 1)])
def test_a_displaced_sample_is_put_back_within_the_window(reorder: int, late: int, displaced: int) -> None:
    samples = made_samples(200)
    moved = [*samples[:100], *samples[101:103], samples[100], *samples[103:]]
    feed, out = run(moved, reorder=reorder)
    assert (feed.counts["late"], feed.counts["out_of_order"]) == (late, displaced)
    assert feed.counts["missing"] == late
    assert stamps(out) == pytest.approx([k / 1000 for k in range(200)])
    assert sum(arrival.made_up for arrival in out) == late


def test_a_window_does_not_delay_what_is_next() -> None:
    feed = Feed(FeedRules(rate_hz=1000.0, reorder=50))
    for sample in made_samples(100):
        assert [arrival.sample for arrival in feed.put(sample)] == [sample]


def test_the_first_of_equal_stamps_is_kept() -> None:
    samples = made_samples(200)
    twice = [*samples[:151], replace(samples[150], q=samples[150].q + 1), *samples[151:]]
    twice = [twice[0], *twice]
    feed, out = run(twice)
    assert feed.counts["repeated"] == 2
    assert [arrival.sample for arrival in out] == samples


def test_jitter_is_followed_and_told() -> None:
    """Stamps up to 24 % of a period off, a clock 0.3 % slow after its first samples: nothing is lost."""
    rng = np.random.default_rng(4)
    time = np.cumsum(1e-3 * (1 + 3e-3 * (np.arange(20_000) > 100)))
    time += 2.4e-4 * rng.uniform(-1, 1, 20_000)
    samples = [replace(sample, time=t) for sample, t in zip(made_samples(20_000), time.tolist(), strict=True)]
    feed, out = run(samples)
    assert len(out) == 20_000
    assert feed.counts["missing"] == feed.counts["late"] == 0
    assert feed.counts["stretches"] == 1
    assert feed.jitter == pytest.approx(0.24 / np.sqrt(3), abs=0.02)
    assert feed.period_s == pytest.approx(1.003e-3, rel=1e-3)
    assert Name.JITTER in [finding.name for finding in feed.findings()]


def test_missing_samples_are_counted_exactly_under_jitter() -> None:
    rng = np.random.default_rng(5)
    samples = made_samples(20_000)
    gone = set(rng.choice(np.arange(40, 19_999), 400, replace=False).tolist())
    kept = [
        replace(sample, time=sample.time + 5e-5 * rng.uniform(-1, 1))
        for k, sample in enumerate(samples)
        if k not in gone
    ]
    feed, out = run(kept)
    assert feed.counts["missing"] == 400
    assert len(out) == 20_000 - 400 + feed.counts["bridged"]
    finding = next(f for f in feed.findings() if f.name == Name.LOST_SAMPLES)
    assert finding.level == Level.CARE
    assert "400 of 20000 (2 %)" in finding.sentence


def test_a_clock_that_starts_again_begins_a_stretch() -> None:
    samples = [*made_samples(2000, start=50.0), *made_samples(1000, start=0.0, seed=2)]
    feed, out = run(samples)
    assert [arrival.sample for arrival in out] == samples
    assert [arrival.sample.time for arrival in out if arrival.anew] == [50.0, 0.0]
    assert feed.counts["clock_set"] == 1
    assert feed.counts["late"] == feed.counts["missing"] == feed.counts["refused"] == 0


def test_a_long_silence_begins_a_stretch_and_is_a_gap() -> None:
    samples = [*made_samples(500), *made_samples(500, start=3600.0)]
    feed, out = run(samples)
    assert [arrival.sample for arrival in out] == samples
    assert feed.counts["clock_set"] == 0
    assert feed.counts["missing"] == 3_599_500
    assert feed.counts["stretches"] == 2


@pytest.mark.parametrize(("offset", "count"), [(1e6, "refused"), (-0.2, "late"), (-1e6, "late")])
def test_single_stamps_of_garbage_do_not_move_the_clock(offset: float, count: str) -> None:
    samples = made_samples(1000)
    garbage = [replace(samples[k], time=samples[k].time + offset) for k in range(300, 900, 50)]
    mixed = [one for k, s in enumerate(samples) for one in [s, *(g for g in garbage if g.q is s.q)]]
    feed, out = run(mixed)
    assert [arrival.sample for arrival in out] == samples
    assert feed.counts[count] == len(garbage) == 12
    assert feed.counts["stretches"] == 1


def test_garbage_in_the_first_stamps_costs_nothing_else() -> None:
    samples = made_samples(500)
    feed, out = run([replace(samples[0], time=9e9), *samples[1:]])
    assert feed.counts["stretches"] == 2
    assert [arrival.sample for arrival in out][1:] == samples[1:]


def test_a_frozen_clock_is_given_up_with_a_sentence() -> None:
    samples = [replace(sample, time=3.0) for sample in made_samples(200)]
    with pytest.raises(NotTrustworthyError, match="have the stamp of the one before, the last one 3 s"):
        run(samples)


def test_a_short_stream_comes_out_at_its_end() -> None:
    samples = made_samples(5)
    _, out = run(samples)
    assert [arrival.sample for arrival in out] == samples
    assert run([])[1] == []
    assert len(run(samples[:1])[1]) == 1


def test_a_wrong_rate_is_told() -> None:
    feed, _ = run(made_samples(300, rate_hz=500.0), rate_hz=1000.0)
    finding = next(f for f in feed.findings() if f.name == Name.RATE_AGAINST_STAMPS)
    assert finding.sentence == "The stamps say 500 Hz, but the rate given is 1000 Hz."


def test_slow_streams_are_not_taken_for_gaps() -> None:
    feed, out = run(made_samples(100, rate_hz=0.2))
    assert len(out) == 100
    assert feed.counts["stretches"] == 1


@pytest.mark.parametrize(
    ("rules", "words"),
    [
        ({"rate_hz": -1.0}, "rate_hz is -1.0; give samples per second above 0"),
        ({"reorder": -1}, "reorder is -1; give 0 to 10000 samples"),
        ({"bridge": 99}, "bridge is 99; give 0 to 10 samples"),
    ],
)
def test_impossible_rules_are_refused(rules: dict[str, float], words: str) -> None:
    with pytest.raises(DynidError, match=words):
        FeedRules(**rules)  # type: ignore[arg-type]


def test_all_samples_are_accounted_for_in_any_disorder() -> None:
    """Whatever comes: received = given + late + repeated + refused, in order within each stretch."""
    rng = np.random.default_rng(8)
    for trial in range(40):
        moves = rng.choice([0, 1e-4, 5e-3, 2.0, -3.0, 1e9], 400, p=[0.5, 0.3, 0.1, 0.04, 0.04, 0.02])
        time = np.arange(400) / 1000 + moves
        time[rng.random(400) < 0.1] = 0.2
        samples = [replace(s, time=t) for s, t in zip(made_samples(400), time.tolist(), strict=True)]
        feed, out = run(samples, reorder=int(rng.integers(0, 20)))
        counts = feed.counts
        given = sum(not arrival.made_up for arrival in out)
        assert given + counts["late"] + counts["repeated"] + counts["refused"] == 400, trial
        assert sum(arrival.anew for arrival in out) == counts["stretches"]
        for before, after in pairwise(out):
            assert after.anew or after.sample.time > before.sample.time
