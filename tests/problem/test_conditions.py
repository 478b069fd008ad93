"""Problems over several conditions: columns that live in some experiments only, and rows of motors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from dynid.base.find import find_base
from dynid.compile.kernels import kernels
from dynid.core.errors import DynidError
from dynid.estimators.identification import identify
from dynid.estimators.linear.least_squares import OLS
from dynid.model.condition import Condition
from dynid.model.friction import FrictionTerm
from dynid.model.inertia import LinkInertia
from dynid.model.load import load_robot
from dynid.model.loaders.mdh import robot_from_table, robot_to_table
from dynid.model.payload import free_and_loaded
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem.build import build_problem
from dynid.problem.row_source import motor_mixing
from dynid.validation.model import as_model, predictions

Array = NDArray[np.float64]
PLAIN = Preparation(decimation=1)
PAYLOAD = LinkInertia.from_com(3.0, (0.02, -0.01, 0.12), np.diag([0.02, 0.03, 0.01]).tolist(), "payload")


@pytest.fixture(scope="module")
def arm() -> Robot:
    """An RX-90, with a payload in its loaded condition."""
    return free_and_loaded(load_robot("rx90"), PAYLOAD)


def motion_in(robot: Robot, condition: str, seed: int, samples: int = 300) -> Motion:
    """Random states with the torques of the parameters that live in the condition."""
    rng = np.random.default_rng(seed)
    q, qd, qdd = rng.uniform(-1.5, 1.5, (3, samples, robot.n_coordinates))
    values = robot.table.vector(robot.parameters) * np.array(robot.lives_in(condition))
    tau = kernels(robot).inverse(values, q, qd, qdd)
    name = condition or "plain"
    return Motion(name, np.arange(samples) / 100.0, q, qd, qdd, tau, 100.0, condition=condition)


def test_the_payload_is_told_apart_from_the_arm(arm: Robot) -> None:
    """Free and loaded logs together: all ten parameters of the payload, the arm's as without it."""
    free = find_base(load_robot("rx90"))
    both = find_base(arm)
    assert both.names[: len(free)] == free.names
    assert both.names[len(free) :] == tuple(
        f"{symbol}L" for symbol in ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
    )
    # Without conditions the payload hides in link 6.
    assert find_base(arm.with_conditions()).columns == free.columns


def test_least_squares_returns_arm_and_payload(arm: Robot) -> None:
    """τ = W χ over both conditions holds for the true parameters, and only for them."""
    problem = build_problem(arm, [motion_in(arm, "free", 1), motion_in(arm, "loaded", 2)], PLAIN)
    estimate = identify(problem, OLS())
    truth = problem.base.regroup(arm.table.vector(arm.parameters))
    np.testing.assert_allclose(estimate.values, truth, rtol=1e-7, atol=1e-8)


def test_predictions_know_the_condition(arm: Robot) -> None:
    """The model of both conditions predicts each log in its own."""
    motions = [motion_in(arm, "free", 1), motion_in(arm, "loaded", 2)]
    model = as_model(identify(build_problem(arm, motions, PLAIN), OLS()))
    for condition in ("free", "loaded"):
        motion = motion_in(arm, condition, 5)
        np.testing.assert_allclose(predictions(model, motion)[0], motion.tau, atol=1e-6)
    swapped = replace(motion_in(arm, "loaded", 5), condition="free")
    assert np.abs(predictions(model, swapped)[0] - swapped.tau).max() > 10.0


def test_rows_of_motors_hold_one_gain_each(arm: Robot) -> None:
    """R⁻ᵀ W χ = diag(gain) u: with a signal read at other gains each motor's row scales by its own."""
    assert arm.drives is not None
    gains = np.array([1.1, 0.9, 1.2, 0.8, 1.3, 0.7])
    motions = []
    for condition, seed in (("free", 1), ("loaded", 2)):
        true = motion_in(arm, condition, seed)
        signal = np.asarray(true.tau[:]) @ motor_mixing(arm).T / gains
        motions.append(replace(true, tau=signal @ arm.drives.matrix))
    problem = build_problem(arm, motions, PLAIN, motor_rows=True)
    truth = problem.base.regroup(arm.table.vector(arm.parameters))
    for gain, factor in zip(gains, problem.regression.joints, strict=True):
        assert np.linalg.norm(factor.residual(truth / gain)) < 1e-7 * factor.torque_norm
        assert np.linalg.norm(factor.residual(truth)) > 0.05 * factor.torque_norm


def test_rows_of_motors_without_coupling_are_those_of_the_joints(arm: Robot) -> None:
    """Gears of one joint each only scale the rows."""
    assert arm.drives is not None
    plain = arm.with_drives(
        replace(arm.drives, ratio=tuple(map(tuple, np.diag([2.0, 3.0, 4.0, 5.0, 6.0, 7.0]).tolist())))
    )
    motion = motion_in(plain, "loaded", 3)
    joints = build_problem(plain, [motion], PLAIN).regression.joints
    motors = build_problem(plain, [motion], PLAIN, motor_rows=True).regression.joints
    for joint, motor, ratio in zip(joints, motors, range(2, 8), strict=True):
        assert joint.columns == motor.columns
        np.testing.assert_allclose(np.abs(motor.R) * ratio, np.abs(joint.R), rtol=1e-9, atol=1e-9)


def test_a_motor_row_goes_where_any_of_its_joints_is_slow(arm: Robot) -> None:
    """Motor 6 turns with joints 5 and 6."""
    motion = motion_in(arm, "loaded", 3)
    thresholds = (0.0, 0.0, 0.0, 0.0, 0.6, 0.6)
    plan = Preparation(decimation=1, speed_thresholds=thresholds)
    rows = build_problem(arm, [motion], plan, motor_rows=True).row_counts
    slow = np.abs(np.asarray(motion.qd)) < 0.6
    mixed = motor_mixing(arm) != 0
    expected = [300 - int(np.any(slow[:, [j for j in (4, 5) if mixed[m, j]]], axis=1).sum()) for m in (4, 5)]
    assert rows[4:].tolist() == expected


@pytest.mark.parametrize("convention", ["scipy", "matlab"])
def test_decimated_columns_are_zero_where_they_do_not_live(arm: Robot, convention: str) -> None:
    """Both conventions leave the payload out of free logs."""
    plan = Preparation(decimation=4, convention=convention)
    problem = build_problem(arm, [motion_in(arm, "free", 1)], plan)
    payload = [k for k, name in enumerate(problem.names) if name.endswith("L")]
    R = problem.stacked_factor()
    assert len(payload) == 10
    assert not np.any(R[:, payload])


def test_a_term_of_ones_own_lives_in_one_condition() -> None:
    """A brake that drags: a friction law that only logs with the brake have."""
    robot = load_robot("scara")
    drag = FrictionTerm("Fb", "sign(qd)", "N m")
    braked = replace(robot, friction=(drag,), terms=(*robot.terms, "Fb"))
    braked = replace(braked, parameters={**braked.parameters, "Fb1": 4.0, "Fb2": 3.0})
    braked = braked.with_conditions(Condition("free"), Condition("braked", ("Fb1", "Fb2")))
    motions = [motion_in(braked, "free", 1), motion_in(braked, "braked", 2)]
    estimate = identify(build_problem(braked, motions, PLAIN), OLS())
    found = dict(zip(estimate.names, estimate.values, strict=True))
    assert found["Fb1"] == pytest.approx(4.0, rel=1e-6)
    assert found["Fb2"] == pytest.approx(3.0, rel=1e-6)


def test_robot_files_hold_conditions(arm: Robot) -> None:
    """Written and read back."""
    assert robot_from_table(robot_to_table(arm)) == arm


def test_bad_conditions_are_refused(arm: Robot) -> None:
    """With sentences."""
    with pytest.raises(DynidError, match=r"Unknown condition 'heavy'.*free.*loaded"):
        build_problem(arm, [replace(motion_in(arm, "free", 1), condition="heavy")], PLAIN)
    with pytest.raises(DynidError, match=r"The condition 'free' is defined twice; keep one"):
        arm.with_conditions(Condition("free"), Condition("free"))
    with pytest.raises(DynidError, match="Unknown parameter or joint of condition 'x' 'Q9'"):
        arm.with_conditions(Condition("x", ("Q9",)))
    with pytest.raises(DynidError, match="has no name; give one that logs can name"):
        Condition("")
    with pytest.raises(DynidError, match="has no drives, so it has no rows of motors"):
        build_problem(arm.with_drives(None), [motion_in(arm, "free", 1)], PLAIN, motor_rows=True)
