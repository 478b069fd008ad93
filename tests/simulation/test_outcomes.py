"""How simulations end: every named outcome happens, and its sentence says what, where and what to do."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.model.joint import Limits
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.simulation import PID, Accuracy, Controller, OpenLoop, Reference, Sensors, UserLaw, simulate
from dynid.simulation.inertia import definiteness, friction_rate, smallest_eigenvalue
from support.loops import scara, scara_controller, scara_reference, slider


@pytest.mark.parametrize("friction", ["smooth", "stick"])
def test_unstable_gains_diverge(friction: str) -> None:
    own = Controller(PID((150.0, 20.0), (30.0, 400.0)), 5e-3)
    found = simulate(scara(), None, own, scara_reference(), accuracy=Accuracy(friction))
    assert (found.outcome.name, found.outcome.trustworthy) == ("diverged", False)
    assert "The simulated loop diverges at" in found.outcome.sentence
    assert "first at joint" in found.outcome.sentence
    assert "gains do not stabilise the robot" in found.outcome.sentence
    assert found.outcome.remedy.startswith("Check the gains, the sample time and the delay")


@pytest.mark.parametrize("sample_time", [5e-3, None])
def test_a_start_far_away_is_told_from_gains(sample_time: float | None) -> None:
    own = Controller(PID((150.0, 20.0), (30.0, 2.0)), sample_time)
    found = simulate(scara(), None, own, scara_reference(), start=((0.0, 180.0), (0.0, 0.0)))
    assert (found.outcome.name, found.outcome.trustworthy) == ("diverged", False)
    assert "The start of joint 'joint2' lies far from its reference: 180 instead of" in found.outcome.sentence
    assert "gains" not in found.outcome.sentence
    assert "angles are in radians" in found.outcome.remedy


@pytest.mark.parametrize("sample_time", [5e-3, None])
def test_a_law_that_gives_nan_is_told_from_gains(sample_time: float | None) -> None:
    """√(0.0525 − t) as a torque, where the reference of the first joint is the time."""
    reference = Reference(5e-3, np.tile(5e-3 * np.arange(40)[:, None], (1, 2)))
    law = UserLaw(lambda s, m, g, ops: ([ops.functions["sqrt"](0.0525 - s.reference[0]), 0.0], []), 2)
    found = simulate(scara(), None, Controller(law, sample_time), reference)
    assert (found.outcome.name, found.outcome.trustworthy) == ("law gave NaN", False)
    assert "gives NaN as torque of joint" in found.outcome.sentence
    assert "at 0.055 s, where positions and speeds are still finite" in found.outcome.sentence


def test_an_open_loop_may_go_anywhere() -> None:
    """A mass pushed along: far from its reference, but nothing is unstable."""
    reference = Reference(0.01, np.zeros((400, 1)))
    found = simulate(slider(), None, Controller(OpenLoop(1), 0.01), reference, torque=np.full((400, 1), 40.0))
    assert found.outcome.name == "fine"
    assert found.q[-1, 0] == pytest.approx(0.5 * 20.0 * 3.99**2, rel=1e-12)


def test_an_inertia_matrix_that_is_not_positive_definite_at_the_start() -> None:
    robot = scara()
    values = {**robot.parameters, "ZZ2": -1.0}
    found = simulate(robot, values, scara_controller(), scara_reference())
    assert (found.outcome.name, found.outcome.trustworthy) == ("inertia not positive definite", False)
    assert "loses its positive definiteness at 0 s" in found.outcome.sentence
    assert "Start from physical parameters" in found.outcome.remedy
    assert np.all(np.isnan(found.q))
    assert np.all(np.isnan(found.log.channel("torque")))
    assert found.log.samples == scara_reference().samples


def one_sided() -> tuple[Robot, dict[str, float]]:
    """A SCARA with det M = ZZ1R ZZ2R − (L MX2)² cos² q2 + … that is positive for bent arms only."""
    robot = scara()
    grid = np.column_stack([np.zeros(2), [0.6, 0.9]])
    for taken in np.linspace(0.0, 4.0, 80):
        values = {**robot.parameters, "ZZ1": robot.parameters["ZZ1"] - taken}
        straight, bent = definiteness(robot, robot.table.vector(values), grid)
        if straight < 0 < bent:
            return robot, values
    raise AssertionError("no such robot")


def test_an_inertia_matrix_that_is_lost_on_the_way() -> None:
    robot, values = one_sided()
    rows = np.zeros((400, 2))
    rows[:, 1] = np.linspace(1.2, 0.4, 400)
    own = Controller(PID((50.0, 20.0), (20.0, 2.0)), 5e-3)
    found = simulate(robot, values, own, Reference(5e-3, rows))
    assert found.outcome.name == "inertia not positive definite"
    lost = float(found.outcome.sentence.split("at ")[1].split(" s")[0])
    assert 0.75 <= lost <= 1.5, "between q2 = 0.9 and 0.6"
    # The reference stays inside, but the robot is pushed beyond: seen on the path that was simulated.
    still = Reference(5e-3, np.tile([0.0, 1.2], (400, 1)))
    push = np.tile([0.0, -30.0], (400, 1))
    driven = simulate(robot, values, own, still, torque=push)
    assert driven.outcome.name == "inertia not positive definite"
    assert not driven.outcome.trustworthy
    assert "loses its positive definiteness at 0 s" not in driven.outcome.sentence


def test_friction_that_is_too_stiff() -> None:
    accuracy = Accuracy(width=1e-9)
    found = simulate(scara(), None, scara_controller(), scara_reference(), accuracy=accuracy)
    assert (found.outcome.name, found.outcome.trustworthy) == ("friction too stiff", False)
    assert "too stiff for 256 integration steps per sample" in found.outcome.sentence
    assert "Widen the smooth sign (width), use set-valued friction (stick)" in found.outcome.remedy
    assert np.all(np.isnan(found.q))


def test_the_rate_of_friction_is_that_of_the_slope_at_rest() -> None:
    robot = slider("Fv", "Fc", Fv1=3.0, Fc1=4.0).with_sign_width(1e-2)
    p = robot.table.vector(robot.parameters)
    assert friction_rate(robot, p, np.zeros((1, 1))) == pytest.approx(
        (3.0 + 1.5 * 4.0 / 1e-2) / 2.0, rel=1e-3
    )


def test_a_joint_that_leaves_its_limits_is_named_and_kept() -> None:
    robot = scara()
    joints = tuple(replace(j, limits=Limits(-0.8, 0.8)) for j in robot.joints)
    tight = replace(robot, joints=joints)
    reference = Reference(5e-3, np.full((300, 2), 0.75))
    own = Controller(PID((150.0, 20.0), (3.0, 0.2)), 5e-3)
    rng = np.random.default_rng(0)
    found = simulate(
        tight,
        None,
        own,
        reference,
        start=(np.zeros(2), np.zeros(2)),
        sensors=Sensors(torque_noise=0.1),
        rng=rng,
    )
    assert (found.outcome.name, found.outcome.trustworthy) == ("outside the limits", True)
    assert "leaves its limits -0.8 … 0.8 at" in found.outcome.sentence
    assert "where it reaches" in found.outcome.sentence
    assert found.outcome.remedy == "Shrink the reference or stiffen the loop."
    assert np.all(np.isfinite(found.q))
    assert np.std(found.log.channel("torque") - found.tau) == pytest.approx(0.1, rel=0.1)


def test_the_smallest_eigenvalue_and_its_sample() -> None:
    robot = load_robot("double_pendulum")
    p = robot.table.vector(robot.parameters)
    q = np.column_stack([np.zeros(7), np.linspace(0, 3, 7)])
    values = [smallest_eigenvalue(robot, p, row[None])[0] for row in q]
    assert smallest_eigenvalue(robot, p, q) == (min(values), int(np.argmin(values)))
