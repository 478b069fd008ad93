"""Joints may rest, be held, undriven or passive; channels that are stuck or frozen are told from them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynid
from dynid import check as check_with_robot
from dynid.checks import accept_findings, check_log, repair_log
from dynid.core.errors import UnknownNameError
from dynid.core.finding import Finding, Level
from dynid.logs.log import Log
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from support.logs import pendulum_log, with_channel
from support.state_logs import BROKEN, SOUND, broken_case, sound_case

LOG, ROBOT = pendulum_log(), load_robot("double_pendulum")
CASES, FRESH = 40, 1000
"""Logs of each kind, and their first seed, that rates are shown on; limits were set on seeds below 100."""


def found(log: Log, name: str, robot: Robot | None = None) -> list[Finding]:
    return [finding for finding in check_with_robot(log, robot).findings if finding.name == name]


def with_elbow(actuated: bool) -> Robot:
    shoulder, elbow = ROBOT.joints
    return replace(ROBOT, joints=(shoulder, replace(elbow, actuated=actuated)))


@pytest.mark.parametrize("kind", SOUND)
@pytest.mark.parametrize("with_robot", [True, False], ids=["robot", "alone"])
def test_sound_states_are_not_refused(kind: str, with_robot: bool) -> None:
    case = sound_case(kind, 1)
    check = check_log(case.log, case.robot if with_robot else None)
    assert check.usable, check.findings


@pytest.mark.parametrize("kind", BROKEN)
def test_broken_channels_are_told(kind: str) -> None:
    case, name = broken_case(kind, 1), BROKEN[kind][1]
    assert any(f.level > Level.NOTE for f in found(case.log, name, case.robot))


def test_a_motor_that_is_off_is_no_stuck_channel() -> None:
    case = next(c for c in (sound_case("motor off", k) for k in range(1, 40, 2)) if _is_zero(c.log, c.axis))
    (finding,) = found(case.log, "undriven axis", case.robot)
    assert (finding.level, finding.where.axis) == (Level.NOTE, case.axis + 1)
    assert "moves as it would by itself" in finding.sentence
    assert "its motor is taken to be off" in finding.sentence
    assert not found(case.log, "reversed sign", case.robot)
    (alone,) = found(case.log, "stuck channel")
    assert alone.level is Level.CARE
    assert "Give the robot to tell which" in alone.remedy


def _is_zero(log: Log, axis: int) -> bool:
    return not np.any(log.column("torque", axis))


def test_a_passive_joint_needs_no_torque() -> None:
    silent = with_channel(LOG, torque=LOG.channels["torque"] * [1.0, 0.0])
    assert check_log(silent, ROBOT).verdict == "not usable"
    (stuck,) = found(silent, "stuck channel", ROBOT)
    assert "does not move as it would by itself" in stuck.sentence
    assert "actuated = false" in stuck.remedy
    assert '--accept "stuck channel"' in stuck.remedy
    check = check_log(silent, with_elbow(actuated=False))
    assert check.usable
    assert [f.sentence for f in check.findings if f.name == "undriven axis"] == [
        "axis 2 has no motor in the robot file: its torque is zero."
    ]
    empty = with_channel(LOG, torque=LOG.channels["torque"] * [1.0, np.nan])
    assert check_log(empty, with_elbow(actuated=False)).usable
    assert not check_log(empty, ROBOT).usable


def test_without_any_torque_nothing_can_be_fitted() -> None:
    silent = with_channel(LOG, torque=0 * LOG.channels["torque"])
    check = check_log(silent, ROBOT)
    assert not check.usable
    assert any("gives ratios of parameters only" in f.sentence for f in check.findings)


def test_what_the_user_knows_better_is_accepted_and_said() -> None:
    silent = with_channel(LOG, torque=LOG.channels["torque"] * [1.0, 0.0])
    taken = accept_findings(silent, ["stuck-channel"])
    assert taken.history[-1].options == {"findings": ["stuck channel"]}
    check = check_log(taken, ROBOT)
    (finding,) = (f for f in check.findings if f.name == "stuck channel")
    assert check.usable
    assert finding.level is Level.NOTE
    assert finding.sentence.startswith("Accepted by the user: torque of axis 2 is 0 in every sample")
    assert finding.figures["accepted"] == "fail"
    with pytest.raises(UnknownNameError, match="finding to accept 'stuck chanel'"):
        accept_findings(LOG, ["stuck chanel"])
    with pytest.raises(UnknownNameError, match="finding to accept 'no motion'"):
        accept_findings(LOG, ["no motion"])


@pytest.mark.parametrize("rows", [slice(1000, 1700), slice(1800, 2500)])
def test_a_recorder_that_repeats_its_row_is_no_rest(rows: slice) -> None:
    frozen = {name: values.copy() for name, values in LOG.channels.items()}
    for values in frozen.values():
        values[rows] = values[rows.start]
    log = replace(LOG, channels=frozen)
    (finding,) = found(log, "frozen rows")
    count = rows.stop - rows.start - 1
    assert finding.sentence.startswith(f"{count} of 2500 rows are frozen: the recorder repeats a row")
    assert finding.where.moment.startswith(f"first row {rows.start + 2}, longest run {count}")
    assert check_log(log).verdict == "usable with repairs"
    mended = repair_log(log, ["frozen rows"])
    assert mended.samples == 2500 - count
    assert not found(mended, "frozen rows")


def test_rows_of_an_accepted_stuck_torque_are_left_out() -> None:
    """They would be explained exactly, by parameters that are zero, with a σ of 1e-14."""
    stuck = with_channel(LOG, torque=np.column_stack([np.full(LOG.samples, 0.25), LOG.array("torque")[:, 1]]))
    plain = dynid.fit(ROBOT, LOG).estimate
    fit = dynid.fit(ROBOT, accept_findings(stuck, ["stuck channel"])).estimate
    assert fit.outcome.sentence.startswith(
        "The torque of joint1 never changes, so that its rows were left out"
    )
    known = np.isfinite(fit.sigma)
    assert [name for name, seen in zip(fit.names, known, strict=True) if not seen] == [
        "ZZ1R", "MX1R", "MY1", "Fv1", "Fc1", "off1",
    ]  # fmt: skip
    assert np.abs((fit.values - plain.values) / fit.sigma)[known].max() < 1.0
    assert (fit.sigma > 0.5 * plain.sigma).all()


def test_limits_of_a_robot_file_are_notes() -> None:
    limits = replace(ROBOT.joints[0].limits, lower=-0.1, upper=0.1, velocity=0.5, effort=1.0)
    check = check_log(LOG, replace(ROBOT, joints=tuple(replace(j, limits=limits) for j in ROBOT.joints)))
    told = {f.name: f for f in check.findings}
    assert {"limits", "overspeed", "torque unit"} <= set(told)
    assert {f.level for f in told.values()} == {Level.NOTE}
    assert all("robot file" in f.sentence + f.remedy for f in told.values())


@pytest.mark.parametrize(
    ("efforts", "level"), [((1e6, 2e6), "note"), ((1e4, 1e4), "note"), ((2e4, 1e4), "care")]
)
def test_effort_limits_that_are_placeholders_are_a_note(efforts: tuple[float, float], level: str) -> None:
    """Far beyond any torque, or all alike; limits that differ may tell of torques in kN m."""
    joints = tuple(
        replace(joint, limits=replace(joint.limits, effort=effort))
        for joint, effort in zip(ROBOT.joints, efforts, strict=True)
    )
    (finding,) = found(LOG, "torque unit", replace(ROBOT, joints=joints))
    assert finding.level.word == level
    assert "or the limits are placeholders" in finding.sentence


def test_torques_of_no_size_are_no_torques() -> None:
    check = check_log(with_channel(LOG, torque=1e-200 * LOG.array("torque")), ROBOT)
    assert check.verdict == "not usable"
    assert "No torque changes in the whole log" in check.summary


@pytest.mark.slow
def test_rates_on_logs_that_nothing_was_set_on(capsys: pytest.CaptureFixture[str]) -> None:
    """The table of docs/data-check.md."""
    rows, refused = [], 0
    for kind in SOUND:
        cases = [sound_case(kind, FRESH + k) for k in range(CASES)]
        counts = [sum(not check_log(c.log, r).usable for c in cases for r in [robot(c)]) for robot in WITH]
        refused += sum(counts)
        rows.append(f"| {kind} | refused {counts[0]} | refused {counts[1]} |")
    seen = {}
    for kind, (_, name) in BROKEN.items():
        cases = [broken_case(kind, FRESH + k) for k in range(CASES)]
        seen[kind] = [
            sum(any(f.level > Level.NOTE for f in found(c.log, name, robot(c))) for c in cases)
            for robot in WITH
        ]
        rows.append(f"| {kind} | seen {seen[kind][0]} | seen {seen[kind][1]} |")
    with capsys.disabled():
        print("", *rows, sep="\n")
    assert refused <= 0.01 * 2 * CASES * len(SOUND)
    assert all(counts[0] >= 0.8 * CASES for counts in seen.values()), seen


WITH = (lambda case: case.robot, lambda case: None)
