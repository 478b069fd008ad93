"""Joints without torque: their rows are used, with a weight that does not draw the parameters to zero."""

from __future__ import annotations

import re
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from dynid.checks import check_log
from dynid.core.finding import Name
from dynid.estimators import IRLS, OLS, TLS, WLS, Essential, Strategy, identify
from dynid.logs.log import Log
from dynid.logs.mapping import mapping_from_table
from dynid.logs.read import read_log
from dynid.model.joint import BASE, Joint
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.problem import Problem, build_problem
from dynid.simulation import Sensors, load_controller, load_reference, simulate
from dynid.workflow import fit
from support.datasets import dataset
from support.logs import csv_text

PLAN = Preparation(cutoff_hz=12.0, decimation=8, drop_samples=100, speed_thresholds=(0.05, 0.05))


@cache
def simulated_log(name: str) -> Log:
    """A shipped robot with a passive joint, as its controller moves it; noise on positions and torques."""
    robot = load_robot(name)
    controller = load_controller(name, robot)
    reference = load_reference(name, robot, controller.sample_time)
    sensors = Sensors(position_noise=2e-5, torque_noise_relative=0.02)
    rng = np.random.default_rng(1)
    return simulate(robot, robot.parameters, controller, reference, sensors=sensors, rng=rng).log


@cache
def pendubot(passive: bool) -> Problem:
    """The Pendubot, or the same arm with a motor at the elbow that is off."""
    robot = load_robot("pendubot")
    joints = tuple(replace(joint, actuated=joint.actuated or not passive) for joint in robot.joints)
    return build_problem(replace(robot, joints=joints), [prepare(simulated_log("pendubot"), PLAN)], PLAN)


@pytest.mark.parametrize("passive", [True, False], ids=["passive", "motor off"])
@pytest.mark.parametrize("strategy", [OLS(), WLS(), WLS(iterations=5), IRLS(), TLS(), Essential(WLS())])
def test_inertias_and_first_moments(strategy: Strategy, passive: bool) -> None:
    problem = pendubot(passive)
    assert problem.undriven.tolist() == [False, True]
    found = identify(problem, strategy)
    assert found.outcome.trustworthy, found.outcome
    truth = problem.base.regroup(problem.robot.parameters)
    for name, value, true in zip(problem.names, found.values, truth, strict=True):
        if name in ("ZZ1R", "MX1R", "ZZ2", "MX2"):
            assert value == pytest.approx(true, rel=0.02), name
    assert found.joint_sigma[1] > 1e-6


@pytest.mark.parametrize("name", ["pendubot", "cartpole", "elastic_drive"])
@pytest.mark.parametrize("torques", ["all", "driven"])
def test_shipped_robots_from_csv(name: str, torques: str, tmp_path: Path) -> None:
    """Check and fit from a file, with a column of zeros for the passive joint and without any."""
    robot, log = load_robot(name), simulated_log(name)
    path = tmp_path / "log.csv"
    text = csv_text(log)
    if torques == "driven":
        text = "\n".join(line.rpartition(",")[0] for line in text.splitlines()) + "\n"
    path.write_text(text)
    read = read_log(path)
    assert check_log(read, robot).verdict == "good"
    result = fit(robot, read, split=0.7)
    assert result.document["verdict"]["trustworthy"]
    base = result.estimate.problem.base
    truth, found = base.regroup(robot.parameters), result.estimate.values
    for symbol, value, true in zip(base.names, found, truth, strict=True):
        if true and symbol[:2] in ("ZZ", "MX", "M1", "K1"):
            assert value == pytest.approx(true, rel=0.02), symbol
    # A length that follows from them: from the joint to the centre of oscillation.
    values, true_values = (dict(zip(base.names, x, strict=True)) for x in (found, truth))
    if name != "elastic_drive":
        length, true_length = (x["ZZ2"] / x["MX2"] for x in (values, true_values))
        assert length == pytest.approx(true_length, rel=0.02)
    assert result.own.judged.undriven.tolist() == [False, True]
    assert not re.search(r"\bnan\b", repr(result))


def test_a_scale_that_no_torque_fixes_is_said() -> None:
    """Two pendula side by side, one of them free: only ratios of its parameters could be known."""
    joints = (Joint("driven", BASE), Joint("free", BASE, actuated=False))
    robot = Robot("two", joints, gravity=(9.81, 0.0, 0.0), terms=("Fv",))
    t = np.arange(4000) / 200.0
    q = np.stack([np.sin(2 * t) + 0.3 * np.sin(5 * t), np.exp(-0.02 * t) * np.cos(6 * t)], axis=1)
    tau = np.stack([np.gradient(np.gradient(q[:, 0], t), t) + 9.81 * np.sin(q[:, 0]), 0 * t], axis=1)
    motion = prepare(Log("two", t, {"position": q, "torque": tau}), PLAN)
    outcome = identify(build_problem(robot, [motion], PLAN), WLS()).outcome
    assert (outcome.name, outcome.where.axis) == (Name.SCALE_UNKNOWN, 2)
    assert "Joint free has no torque, and no driven joint feels ZZ2, MX2, MY2, Fv2" in outcome.sentence


@pytest.mark.parametrize("column", ["tau_meas", "tau_con"])
@pytest.mark.parametrize(("file", "off"), [("20230629-143704.csv", 1), ("20230629-144003.csv", 2)])
def test_measured_pendulum_with_a_motor_off(file: str, off: int, column: str) -> None:
    columns = {"position": "pos_meas{axis}", "torque": column + "{axis}"}
    table = {channel: {"columns": pattern} for channel, pattern in columns.items()}
    log = read_log(dataset("double_pendulum_c1", file), mapping_from_table(table))
    check = check_log(log, load_robot("double_pendulum"))
    assert check.usable, check.findings
    undriven = (Name.UNDRIVEN_AXIS, Name.STUCK_CHANNEL)  # the second, for care, where the others do not tell
    assert [f.where.axis for f in check.findings if f.name in undriven] == [off] * (column == "tau_con")
    assert Name.REVERSED_SIGN not in {f.name for f in check.findings}
