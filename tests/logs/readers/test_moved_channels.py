"""Channels that a mapping moves in time: logged late, or held between measurements."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dynid import check, load_robot
from dynid.core.errors import DynidError
from dynid.logs.log import Log
from dynid.logs.mapping import mapping_from_table
from dynid.logs.read import read_log
from support.logs import csv_text, pendulum_log, with_channel


def at(time: np.ndarray) -> np.ndarray:
    """Torques at any time."""
    return np.column_stack([10 * np.cos(6 * time), 4 * np.sin(5 * time + 1)])


LOG = pendulum_log(seconds=8.0, rate_hz=500, noise=0.0)
LOG = with_channel(LOG, torque=at(LOG.time))
Q, TAU = LOG.channels["position"], LOG.channels["torque"]


def read(folder: Path, log: Log, **content: Any) -> Log:
    path = folder / "log.csv"
    path.write_text(csv_text(log))
    return read_log(path, mapping_from_table(content))


def delayed(*seconds: float) -> Log:
    late = [at(LOG.time - d)[:, j] for j, d in enumerate(seconds)]
    return with_channel(LOG, torque=np.column_stack(late))


@pytest.mark.parametrize("delay", [0.012, 0.0051, -0.0203])
def test_a_late_channel_is_moved_back(tmp_path: Path, delay: float) -> None:
    log = read(tmp_path, delayed(delay, delay), torque={"delay_s": delay})
    kept = np.searchsorted(LOG.time, log.time - 1e-9)
    assert np.array_equal(log.channels["position"], Q[kept])
    assert np.allclose(log.channels["torque"], TAU[kept], atol=1e-6)
    assert LOG.samples - log.samples == int(np.ceil(abs(delay) * 500 - 1e-6))
    (step,) = [step for step in log.history if step.name == "moved in time"]
    assert step.note == f"torque was moved earlier by {1e3 * delay:g} ms, as delay_s of the mapping says."


def test_each_axis_may_have_its_own_delay(tmp_path: Path) -> None:
    log = read(tmp_path, delayed(0.01, 0.0), torque={"delay_s": [0.01, 0]})
    kept = np.searchsorted(LOG.time, log.time - 1e-9)
    assert np.allclose(log.channels["torque"], TAU[kept], atol=1e-6)
    with pytest.raises(DynidError, match="delay_s of torque has 3 values for 2 axes"):
        read(tmp_path, LOG, torque={"delay_s": [1, 2, 3]})


def test_the_check_that_tells_a_delay_names_the_key_and_is_content_after(tmp_path: Path) -> None:
    whole = pendulum_log(seconds=8.0, rate_hz=500)
    late = with_channel(whole.part(slice(10, None)), torque=whole.channels["torque"][:-10])
    robot = load_robot("double_pendulum")
    (finding,) = [f for f in check(late, robot).findings if f.name == "delay"]
    assert finding.sentence.startswith("The torques come 20")
    added = re.search(r"Add (\S+) to delay_s of the torque in the mapping", finding.remedy)
    assert added
    log = read(tmp_path, late, torque={"delay_s": float(added[1])})
    assert check(log, robot).findings == ()


def test_a_delay_counts_by_rate_too(tmp_path: Path) -> None:
    by_rate = {"position": {"columns": "q{axis}"}, "torque": {"columns": "tau{axis}", "delay_s": 0.01}}
    log = read(tmp_path, delayed(0.01, 0.01), rate_hz=500, **by_rate)
    assert np.allclose(log.channels["torque"], at(log.time), atol=1e-6)


@pytest.mark.parametrize("drift", [0, 1])
def test_a_held_channel_is_read_between_its_measurements(tmp_path: Path, drift: int) -> None:
    fresh = np.cumsum(np.where(np.arange(1000) % 7 == 6, 10 - drift, 10))
    fresh = fresh[fresh < LOG.samples]
    row = np.searchsorted(fresh, np.arange(LOG.samples), side="right") - 1
    held = with_channel(LOG, torque=TAU[np.where(row < 0, 0, fresh[row])])
    log = read(tmp_path, held, torque={"thin": 10})
    kept = np.searchsorted(LOG.time, log.time - 1e-9)
    error = np.std(log.channels["torque"] - TAU[kept], axis=0)
    before = np.std(held.channels["torque"] - TAU, axis=0)
    assert np.all(error < 0.02 * before)
    assert log.samples > LOG.samples - 25
    (step,) = [step for step in log.history if step.name == "thinned"]
    assert step.note == "torque is held for 10 samples; only those at which it changes were used."


def test_an_axis_that_rests_keeps_its_value(tmp_path: Path) -> None:
    values = TAU[np.arange(LOG.samples) // 10 * 10].copy()
    values[1000:3000, 1] = values[1000, 1]
    log = read(tmp_path, with_channel(LOG, torque=values), torque={"thin": 10})
    rest = (log.time > LOG.time[1100]) & (log.time < LOG.time[2900])  # splines swing in at its ends
    assert np.sum(rest) > 1700
    assert np.allclose(log.channels["torque"][rest, 1], values[1000, 1], atol=1e-5)


def test_mappings_that_cannot_be_are_told(tmp_path: Path) -> None:
    for content, sentence in (
        ({"torque": {"thin": 0}}, "[torque]: thin is 0; it must be a whole number from 1 to 10000."),
        ({"torque": {"thin": 2.5}}, "[torque]: thin is 2.5; it must be a whole number"),
        ({"torque": {"delay_s": 1e4}}, "[torque]: delay_s is 10000.0; it must be a number from -60 to 60 s."),
        ({"torque": {"thin": 10}}, "thin of [torque] is 10, but axis 1 changes every 1 sample; give"),
        ({"torque": {"delay_s": 30}}, "no time in common"),
    ):
        with pytest.raises(DynidError) as caught:
            read(tmp_path, LOG, **content)
        assert sentence in str(caught.value)
