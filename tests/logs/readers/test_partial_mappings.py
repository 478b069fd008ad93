"""Mappings that say little: what is not said is guessed, and what time is counted by is told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dynid.checks import check_log
from dynid.core.errors import DynidError
from dynid.core.finding import Finding
from dynid.logs.log import Log
from dynid.logs.mapping import mapping_from_table
from dynid.logs.read import read_log
from support.logs import pendulum_log

LOG = pendulum_log(seconds=4.0)
Q, TAU = LOG.channels["position"], LOG.channels["torque"]


def written(folder: Path, columns: dict[str, np.ndarray]) -> Path:
    path = folder / "log.csv"
    table = np.column_stack(list(columns.values()))
    np.savetxt(path, table, delimiter=",", header=",".join(columns), comments="", fmt="%.17g")
    return path


def plain(time: np.ndarray = LOG.time, **more: np.ndarray) -> dict[str, np.ndarray]:
    return {"time": time, "q1": Q[:, 0], "q2": Q[:, 1], "tau1": TAU[:, 0], "tau2": TAU[:, 1], **more}


def read(path: Path, **content: Any) -> Log:
    return read_log(path, mapping_from_table(content))


def notes(log: Log) -> str:
    return " ".join(step.note for step in log.history)


def found(log: Log, name: str) -> list[Finding]:
    return [finding for finding in check_log(log).findings if finding.name == name]


def test_a_unit_alone_keeps_the_guessing(tmp_path: Path) -> None:
    degrees = plain() | {"q1": np.degrees(Q[:, 0]), "q2": np.degrees(Q[:, 1])}
    log = read(written(tmp_path, degrees), position={"unit": "deg"})
    assert np.allclose(log.channels["position"], Q)
    assert np.array_equal(log.channels["torque"], TAU)
    assert np.array_equal(log.time, LOG.time)
    assert (
        "What the mapping leaves open was guessed: position from q1, q2 [deg]; torque from tau1, tau2."
        in notes(log)
    )
    assert "Stamps from column 'time' in s, by their rate or name." in notes(log)


def test_one_channel_alone_keeps_the_guessing(tmp_path: Path) -> None:
    columns = plain(current1=TAU[:, 0] / 5, current2=TAU[:, 1] / 5)
    torque = {"columns": "current{axis}", "unit": "A", "gain": 5}
    log = read(written(tmp_path, columns), torque=torque)
    assert np.allclose(log.channels["torque"], TAU)
    assert np.array_equal(log.channels["position"], Q)
    assert "drive signal" not in {finding.name for finding in check_log(log).findings}


def test_both_channels_said_keep_the_stamps_guessed(tmp_path: Path) -> None:
    log = read(written(tmp_path, plain()), position={"columns": "2-3"}, torque={"columns": [4, 5]})
    assert np.array_equal(log.time, LOG.time)


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (
            {"velocity": {"unit": "rad/s"}},
            "gives a channel without columns, and none was recognised in log.csv",
        ),
        ({"position": {"unit": "deg", "file": "x.csv"}}, "names the file 'x.csv' but no columns; give both"),
        ({"time": {"ignore": True}}, "[time] says ignore; give rate_hz"),
        ({"time": {"column": 1.5}}, "[time]: column is 1.5; it must be a name, or a number"),
        ({"time": {"ignore": 3}, "rate_hz": 5}, "ignore is 3; it must be true or false"),
    ],
)
def test_what_cannot_be_completed_is_told(tmp_path: Path, content: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DynidError) as caught:
        read(written(tmp_path, plain()), **content)
    assert sentence in str(caught.value)


def test_a_rate_that_the_stamps_deny_is_an_error(tmp_path: Path) -> None:
    path = written(tmp_path, plain())
    log = read(path, rate_hz=100)
    assert log.rate_hz == pytest.approx(100)
    assert "stamps from time" not in notes(log)
    (finding,) = found(log, "rate against stamps")
    assert finding.level.word == "fail"
    assert (
        finding.sentence == "The rate is 100 Hz, as the mapping says; the stamps in column 'time' of log.csv "
        "say 250 Hz and are not used."
    )
    assert "Leave rate_hz out of the mapping" in finding.remedy
    assert check_log(log).verdict == "not usable"


def test_a_rate_that_the_stamps_confirm_or_that_stands_alone_is_fine(tmp_path: Path) -> None:
    path = written(tmp_path, plain())
    for content in (
        {"rate_hz": 250},
        {"rate_hz": 251.0, "position": {"columns": "q{axis}"}, "torque": {"columns": "tau{axis}"}},
        {"rate_hz": 100, "time": {"ignore": True}},
    ):
        log = read(path, **content)
        assert "as the mapping says" in notes(log)
        assert not found(log, "rate against stamps")
    still = written(tmp_path, plain(np.zeros(LOG.samples)))
    assert not found(read(still, rate_hz=100), "rate against stamps")


def test_a_wrong_unit_of_the_stamps_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, plain())
    log = read(path, time={"column": "time", "unit": "ms"})
    assert "Stamps from column 'time' in ms, as the mapping says." in notes(log)
    assert "[s]" not in notes(log)
    (finding,) = found(log, "time unit")
    assert finding.level.word == "fail"
    assert "The stamps give 2.5e+05 Hz and 0.004 s in all" in finding.sentence
    assert "unit of the stamps in [time]" in finding.remedy
    alone = read(path, time={"unit": "ms"})
    assert found(alone, "time unit")


def test_other_columns_of_the_same_meaning_are_told(tmp_path: Path) -> None:
    log = read_log(written(tmp_path, plain(pos1=1.1 * Q[:, 0], pos2=1.1 * Q[:, 1])))
    assert np.array_equal(log.channels["position"], Q)
    (finding,) = found(log, "columns not taken")
    assert finding.level.word == "note"
    assert (
        "position is read from q1, q2; pos1, pos2 may be meant as well and were not taken" in finding.sentence
    )
    assert "say columns in [position] of a mapping" in finding.sentence
