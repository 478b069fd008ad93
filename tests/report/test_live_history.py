"""What is kept of a long run: bounded, evenly thinned, without losing a peak or the beginning."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

from dynid.report.live_history import HistorySize, LiveHistory
from support.live_records import live_header, live_records

SMALL = HistorySize(recent=20, older=16, events=5)


def filled(count: int, size: HistorySize = SMALL, **more: Any) -> LiveHistory:
    history = LiveHistory(size)
    for record in live_records(count, parameters=4, joints=2, **more):
        history.add(record)
    return history


@pytest.mark.parametrize("count", [1, 20, 21, 36, 100, 1000])
def test_a_long_run_is_thinned_evenly_and_nothing_comes_twice(count: int) -> None:
    kept = filled(count).to_dict()
    points = [*kept["older"], *kept["recent"]]
    assert len(kept["recent"]) == min(count, SMALL.recent)
    assert len(kept["older"]) <= SMALL.older
    times = [point["t"] for point in points]
    assert np.all(np.diff(times) > 0)
    assert times[-1] == pytest.approx(100 + (count - 1) / 10)
    assert kept["first"]["t"] == 100
    gaps = np.round(np.diff([point["t"] for point in kept["older"]]) * 10)
    assert np.all(gaps[:-1] == kept["stride"])
    assert kept["stride"] == 1 or len(kept["older"]) >= SMALL.older // 2


def test_a_peak_of_the_innovation_survives_thinning() -> None:
    records = list(live_records(1000, parameters=4, joints=2))
    peak = max(record["innovation"] for record in records if record["kind"] == "record")
    kept = filled(1000).to_dict()
    assert max(point["innovation"] for point in kept["older"]) == pytest.approx(peak, rel=1e-6)


def test_it_is_json_with_null_for_what_is_not_a_number() -> None:
    history = filled(1)
    text = json.dumps(history.to_dict(), allow_nan=False)
    assert json.loads(text)["recent"][0]["inertia"] is None
    assert history.last is not None
    record = {
        **history.last,
        "t": 1.7e9 + 0.1234,
        "values": [math.inf, np.float64(1 / 3)],
        "sigma": np.ones(2),
    }
    kept = history.add(record)
    assert kept["t"] == 1700000000.1234
    assert kept["values"] == [None, 0.3333333]
    assert kept["sigma"] == [1.0, 1.0]


def test_events_are_numbered_and_the_last_are_kept() -> None:
    history = filled(10)
    for k in range(7):
        history.add(
            {"kind": "event", "t": 110.0 + k, "name": "gap", "level": "note", "text": "gap", "figures": {}}
        )
    assert [event["number"] for event in history.events] == [4, 5, 6, 7, 8]
    assert history.to_dict()["event_count"] == 8


def test_a_new_header_starts_anew_and_unknown_kinds_are_passed_over() -> None:
    history = filled(50)
    history.add({"kind": "weather", "t": 1.0})
    history.add(live_header(4, 2))
    assert history.to_dict() == {**LiveHistory(SMALL).to_dict()}


def test_torque_errors_are_those_of_the_window() -> None:
    history = LiveHistory(HistorySize(window_s=2.0))
    history.add(live_header(1, 2))
    assert history.torque_errors() == []
    rng = np.random.default_rng(1)
    measured, predicted = rng.normal(size=(50, 2)), rng.normal(size=(50, 2))
    predicted[-1, 1] = math.nan
    for k in range(50):
        row = {
            "t": k / 8,
            "values": [1.0],
            "sigma": [1.0],
            "innovation": 1.0,
            "inertia": 1.0,
            "used": k,
            "counts": {},
        }
        history.add({"kind": "record", **row, "measured": measured[k], "predicted": predicted[k]})
    (error, percent), (other, _) = history.torque_errors()
    rms = np.sqrt(np.mean((measured - predicted)[-17:, 0] ** 2))
    assert error == pytest.approx(rms, rel=1e-6)
    assert percent == pytest.approx(100 * rms / np.sqrt(np.mean(measured[-17:, 0] ** 2)), rel=1e-6)
    assert other == pytest.approx(np.sqrt(np.mean((measured - predicted)[-17:-1, 1] ** 2)), rel=1e-6)
