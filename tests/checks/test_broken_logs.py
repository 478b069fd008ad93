"""Broken logs, one kind at a time: the right verdict, the right finding, the right sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dynid import check
from dynid.checks import DataCheck, check_log
from dynid.core.errors import ModelError, ShapeError
from dynid.core.finding import Finding
from dynid.logs.log import Log, Step
from dynid.logs.read import read_log
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from support.logs import csv_text, pendulum_log, robot_log, with_channel, with_rows

LOG = pendulum_log()
ROBOT = load_robot("double_pendulum")
Q, TAU = LOG.channels["position"], LOG.channels["torque"]


def changed(channel: str, rows: slice | int, axis: int, value: float) -> Log:
    values = LOG.channels[channel].copy()
    values[rows, axis] = value
    return with_channel(LOG, **{channel: values})


def without(*channels: str) -> Log:
    return replace(LOG, channels={name: v for name, v in LOG.channels.items() if name not in channels})


def stamps(change: Callable[[np.ndarray], None]) -> Log:
    time = LOG.time.copy()
    change(time)
    return replace(LOG, time=time)


def repeat(time: np.ndarray) -> None:
    time[[100, 101, 700]] = time[[99, 99, 699]]


def go_back(time: np.ndarray) -> None:
    time[[400, 800]] -= 0.05


def leap(time: np.ndarray) -> None:
    time[500] += 1000.0


def lose(time: np.ndarray) -> None:
    time[200:203] = np.nan


def wander(time: np.ndarray) -> None:
    time += np.random.default_rng(0).uniform(-0.0012, 0.0012, len(time))


def stand_still(time: np.ndarray) -> None:
    time[:] = 3.0


def saturated(limit: float) -> Log:
    return with_channel(LOG, torque=np.clip(TAU, -limit, limit))


def delayed(samples: int) -> Log:
    rows = np.arange(samples, LOG.samples)
    log = with_rows(LOG, rows)
    return with_channel(log, torque=TAU[rows - samples])


def scaled(channel: str, factors: list[float]) -> Log:
    return with_channel(LOG, **{channel: LOG.channels[channel] * factors})


GOOD, REPAIR, BAD = "good", "usable with repairs", "not usable"
# The log, whether the robot is needed to see it, verdict, finding, level, part of the sentence.
KINDS: dict[str, tuple[Log, bool, str, str, str, str]] = {
    "repeated stamps": (
        stamps(repeat),
        False,
        REPAIR,
        "repeated stamps",
        "care",
        "3 of 2500 stamps are equal",
    ),
    "backward stamps": (
        stamps(go_back),
        False,
        REPAIR,
        "backward stamps",
        "care",
        "2 of 2500 stamps are earlier",
    ),
    "leaping stamp": (stamps(leap), False, REPAIR, "backward stamps", "care", "1 of 2500 stamps"),
    "lost stamps": (stamps(lose), False, REPAIR, "lost stamps", "care", "3 of 2500 stamps are not finite"),
    "jitter": (stamps(wander), False, GOOD, "jitter", "note", "Steps between stamps vary by"),
    "no clock": (stamps(stand_still), False, BAD, "clock", "fail", "the clock is not usable"),
    "short gap": (
        with_rows(LOG, np.delete(np.arange(2500), range(300, 305))),
        False,
        REPAIR,
        "short gaps",
        "care",
        "1 short gap: 5 samples are missing",
    ),
    "long gap": (
        with_rows(LOG, np.delete(np.arange(2500), range(300, 700))),
        False,
        REPAIR,
        "long gaps",
        "care",
        "the longest stretch without one holds 86 % of the log",
    ),
    "many long gaps": (
        with_rows(LOG, np.flatnonzero(np.arange(2500) % 500 < 300)),
        False,
        BAD,
        "long gaps",
        "fail",
        "4 long gaps",
    ),
    "NaN": (
        changed("position", slice(50, 55), 1, np.nan),
        False,
        REPAIR,
        "missing values",
        "care",
        "5 of 2500 values of position on axis 2 are NaN",
    ),
    "infinite": (changed("torque", 9, 0, np.inf), False, REPAIR, "missing values", "care", "on axis 1"),
    "long run of NaN": (
        changed("torque", slice(50, 300), 0, np.nan),
        False,
        REPAIR,
        "missing values",
        "care",
        "250 of 2500",
    ),
    "many NaN": (
        changed("torque", slice(500, 2000), 0, np.nan),
        False,
        BAD,
        "missing values",
        "fail",
        "1500 of 2500",
    ),
    "empty channel": (
        changed("torque", slice(None), 0, np.nan),
        False,
        BAD,
        "missing values",
        "fail",
        "2500 of",
    ),
    "garbage": (
        changed("torque", 77, 1, 1e300),
        False,
        REPAIR,
        "garbage values",
        "care",
        "such as 1e+300",
    ),
    "garbage spike": (
        changed("position", 77, 0, 1e6),
        False,
        REPAIR,
        "garbage values",
        "care",
        "such as 1e+06",
    ),
    "saturation": (saturated(2.0), False, GOOD, "saturation", "care", "it is saturated"),
    "hard saturation": (saturated(0.7), False, BAD, "saturation", "fail", "it is saturated"),
    "stuck torque": (
        changed("torque", slice(None), 0, 0.25),
        True,
        BAD,
        "stuck channel",
        "fail",
        "torque of axis 1 is 0.25 in every sample, but the axis does not move as it would by itself",
    ),
    "stuck torque, no robot": (
        changed("torque", slice(None), 0, 0.25),
        False,
        GOOD,
        "stuck channel",
        "care",
        "torque of axis 1 is 0.25 in every sample: its motor was off, or the channel is stuck",
    ),
    "frozen torque": (
        changed("torque", slice(1000, 1600), 1, 0.123),
        True,
        BAD,
        "frozen channel",
        "fail",
        "torque of axis 2 stays at 0.123 for",
    ),
    "frozen position": (
        changed("position", slice(1000, 1600), 1, float(Q[1000, 1])),
        False,
        BAD,
        "frozen channel",
        "fail",
        "for 600 samples, which it enters or leaves as no body can",
    ),
    "no motion": (
        with_channel(LOG, position=np.full_like(Q, 0.3)),
        False,
        BAD,
        "no motion",
        "fail",
        "No axis moves",
    ),
    "too short": (with_rows(LOG, np.arange(10)), False, BAD, "too short", "fail", "The log has 10 samples"),
    "no torque": (without("torque"), False, BAD, "missing channel", "fail", "The log has no torque."),
    "coarse": (
        with_channel(LOG, position=np.round(Q / 0.1) * 0.1),
        False,
        GOOD,
        "coarse quantisation",
        "note",
        "steps of 0.1",
    ),
    "delay": (
        delayed(6),
        True,
        GOOD,
        "delay",
        "care",
        "The torques come 24.1 ms late",
    ),
    "torque sign": (
        scaled("torque", [1, -1]),
        True,
        BAD,
        "reversed sign",
        "fail",
        "oint 2 has its torque reversed",
    ),
    "torque sign of the first axis": (
        scaled("torque", [-1, 1]),
        True,
        BAD,
        "reversed sign",
        "fail",
        "oint 1 has its torque reversed",
    ),
    "speed sign": (
        scaled("velocity", [1, -1]),
        False,
        BAD,
        "speed and position",
        "fail",
        "the opposite sign",
    ),
    "speed in degrees": (
        scaled("velocity", [57.2958, 57.2958]),
        False,
        BAD,
        "speed and position",
        "fail",
        "the speeds are in degrees per second",
    ),
    "position in degrees": (
        scaled("position", [57.2958, 57.2958]),
        False,
        BAD,
        "position unit",
        "fail",
        "goes beyond two turns",
    ),
    "milliseconds": (
        replace(LOG, time=LOG.time * 1e3),
        False,
        BAD,
        "speed and position",
        "fail",
        "milliseconds",
    ),
    "mN m": (scaled("torque", [1e3, 1e3]), True, GOOD, "torque unit", "care", "they may be in mN m"),
    "current": (
        LOG.with_step(Step("drive signal", {"channel": "torque", "unit": "A"})),
        False,
        GOOD,
        "drive signal",
        "care",
        "The torque channel holds A, not N m.",
    ),
}


def found(check: DataCheck, name: str) -> list[Finding]:
    return [finding for finding in check.findings if finding.name == name]


@pytest.mark.parametrize("kind", KINDS)
def test_verdict_and_sentence(kind: str) -> None:
    log, with_robot, verdict, name, level, sentence = KINDS[kind]
    made = check(log, ROBOT if with_robot else None)
    told = found(made, name)
    assert told, [f.sentence for f in made.findings]
    assert made.verdict == verdict, [f.sentence for f in made.findings]
    assert any(f.level.word == level and sentence in f.sentence for f in told), [f.sentence for f in told]
    assert all(f.sentence.endswith((".", "?")) and f.remedy for f in told)


@pytest.mark.parametrize("robot", [None, ROBOT], ids=["alone", "robot"])
def test_a_good_log_is_good(robot: Robot | None) -> None:
    made = check(LOG, robot)
    assert (made.verdict, made.findings) == ("good", ())
    assert made.summary == "Nothing was found that would harm a fit."
    assert made.facts["rate_hz"] == pytest.approx(250.0)
    assert all(share < 0.1 for share in made.facts["unexplained_per_axis"])


def test_what_a_fit_suspects_is_a_fact_of_the_check() -> None:
    """All suspects with their figures, also where none of them is a finding."""
    table = check(LOG, ROBOT).facts["suspects"]
    assert table["ranked"] == []
    (delay,) = [score for score in table["scores"] if score["suspect"] == "delay"]
    assert abs(delay["size"][0]) < 0.5 / 250


def test_a_cut_off_row_is_told(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text(csv_text(LOG)[:-50])
    (finding,) = found(check_log(read_log(path)), "truncated row")
    assert finding.level.word == "care"
    assert "The last line (2501) is cut off" in finding.sentence


def test_axes_that_do_not_move_leave_parameters_dark() -> None:
    q = Q.copy()
    q[:, 1] = 0.2
    check = check_log(with_channel(without("velocity"), position=q), ROBOT)
    assert {f.where.channel for f in found(check, "held axis")} == {"position"}
    (finding,) = found(check, "not excited")
    assert "Fv2" in finding.sentence
    assert {"Fv2", "Fc2"} <= set(check.facts["not_excited"])
    assert check.facts["still_axes"] == [2]


def test_axes_moved_in_the_same_way_are_not_told_apart() -> None:
    robot = load_robot("scara")
    log = robot_log(robot.with_parameters({"ZZ1": 3.0, "ZZ2": 1.0, "Fv1": 5.0, "Fv2": 5.0, "MX2": 1.0}))
    t = log.time[:, None]
    q = 0.02 * np.sin(2 * np.pi * 0.5 * t) * np.ones((1, log.axes))
    check = check_log(Log("same", log.time, {"position": q, "torque": log.channels["torque"]}), robot)
    assert check.facts["condition"] > 3000
    (finding,) = found(check, "excitation")
    assert "tells the parameters badly apart" in finding.sentence


def test_a_wrong_order_of_axes_is_hardly_explained() -> None:
    swapped = Log("swapped", LOG.time, {"position": Q[:, ::-1], "torque": TAU})
    check = check_log(swapped, ROBOT)
    assert max(check.facts["unexplained_per_axis"]) > 0.2
    noise = np.random.default_rng(0).normal(size=TAU.shape)
    lost = check_log(Log("noise", LOG.time, {"position": Q, "torque": noise}), ROBOT)
    (finding,) = found(lost, "hardly explained")
    assert "No parameters of robot 'double_pendulum' explain the torques" in finding.sentence


def test_a_robot_that_does_not_fit_is_bad_input() -> None:
    with pytest.raises(ShapeError, match=r"has 2 axes, but robot 'tx40' has 6 coordinates; choose"):
        check_log(LOG, load_robot("tx40"))
    with pytest.raises(ModelError, match=r"is on the motor side, but robot 'double_pendulum' has no drives"):
        check_log(replace(LOG, side="motor"), ROBOT)


def test_limits_of_the_robot() -> None:
    robot = load_robot("iiwa14")
    log = robot_log(robot, seconds=4.0)
    shifted = with_channel(log, position=log.channels["position"] + [0, 2.5, 0, 0, 0, 0, 0])
    (finding,) = found(check_log(shifted, robot), "limits")
    assert (finding.where.axis, finding.level.word) == (2, "note")


def test_the_document_is_json_ready() -> None:
    import json

    check = check_log(KINDS["garbage"][0], ROBOT)
    document = check.to_dict()
    assert json.loads(json.dumps(document))["verdict"] == "usable with repairs"
    assert set(document) == {"log", "verdict", "summary", "findings", "facts"}
    assert set(document["findings"][0]) == {
        "name", "level", "sentence", "remedy", "where", "figures", "repairable", "mapping",
    }  # fmt: skip
