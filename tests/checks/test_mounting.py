"""How a robot hangs and which torque is whose: told when clear, not when noise looks like it."""

from __future__ import annotations

import numpy as np
import pytest

from dynid import check as check_log
from dynid.base import find_base
from dynid.core.finding import Finding
from dynid.logs.log import Log
from dynid.model.joint import Joint
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from support.logs import pendulum_log, robot_log
from support.motions import base_truth, fourier_motion, simulated

ROBOT = load_robot("ur10").with_parameters({})
BASE = find_base(ROBOT)
TRUTH = base_truth(BASE, np.random.default_rng(0))
PENDULUM = load_robot("double_pendulum")
RNG = np.random.default_rng(3)
MOTION = simulated(
    BASE, TRUTH, fourier_motion(ROBOT, RNG, seconds=20.0, rate_hz=250.0, name="arm"), RNG, 0.05
)


def log(q: np.ndarray = MOTION.q, tau: np.ndarray = MOTION.tau) -> Log:
    return Log("arm", MOTION.time, {"position": q, "torque": tau})


def gravity_findings(made: Log, robot: Robot = ROBOT) -> list[str]:
    return [f.level.word for f in check_log(made, robot).findings if f.name == "gravity direction"]


@pytest.mark.parametrize(
    "gravity",
    [(0.0, 0.0, 9.81), (4.9, 0.0, -8.5), (0.0, 0.0, 0.0)],
    ids=["ceiling", "tilted", "torques without gravity"],
)
def test_a_wrong_gravity_is_not_usable(gravity: tuple[float, float, float]) -> None:
    check = check_log(log(), ROBOT.with_gravity(*gravity))
    assert gravity_findings(log(), ROBOT.with_gravity(*gravity))[0] == "fail"
    assert check.verdict == "not usable"


def test_noise_is_not_taken_for_a_tilt() -> None:
    """A tilt eases noisy columns a little; that is no reason to doubt the mounting."""
    rng = np.random.default_rng(0)
    for noise in (5e-4, 2e-3):
        assert not gravity_findings(log(q=MOTION.q + noise * rng.normal(size=MOTION.q.shape)))


def test_swapped_torques_ask_for_care() -> None:
    swapped = MOTION.tau[:, [0, 2, 1, 3, 4, 5]]
    findings = [f for f in check_log(log(tau=swapped), ROBOT).findings if f.level.word != "note"]
    assert findings, "torques of two axes are exchanged"


def test_a_single_link_cannot_tell_up_from_down() -> None:
    """Turned upside down, its first moments change their signs and the torques stay: a note says so."""
    joint = Joint("one", -1)
    values = {"ZZ1": 0.3, "MX1": 0.8, "Fv1": 0.2, "Fc1": 0.4}
    robot = Robot("pendulum", (joint,), gravity=(9.81, 0.0, 0.0)).with_parameters(values)
    (finding,) = [f for f in check_log(robot_log(robot), robot).findings if f.name == "gravity direction"]
    assert finding.level.word == "note"
    assert "Gravity along (-9.81, 0.00, 0.00) m/s² explains the torques as well" in finding.sentence


def told(made: Log, robot: Robot, name: str) -> list[Finding]:
    return [finding for finding in check_log(made, robot).findings if finding.name == name]


@pytest.mark.parametrize("gravity", [(-9.81, 0.0, 0.0), (0.0, 9.81, 0.0), (0.0, 0.0, -9.81), (0.0, 0.0, 0.0)])
def test_gravity_that_points_elsewhere(gravity: tuple[float, float, float]) -> None:
    finding = told(pendulum_log(), PENDULUM.with_gravity(*gravity), "gravity direction")[0]
    assert finding.level.word == "fail"
    assert "Gravity is [9.81, 0, 0] m/s², it seems" in finding.sentence
    assert "say gravity = [9.81, 0, 0] in the robot file" in finding.remedy


def test_gravity_that_is_tilted() -> None:
    tilted = PENDULUM.with_gravity(9.81 * np.cos(0.5), 9.81 * np.sin(0.5), 0.0)
    (finding,) = told(robot_log(tilted), PENDULUM, "joint zero")
    assert finding.level.word == "care"
    assert "The zero of joint 1 is off by -28" in finding.sentence
    # Its links move in a plane.
    assert "it would look nearly the same if gravity is tilted by 26" in finding.sentence
