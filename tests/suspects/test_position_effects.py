"""Ripple over position, counterbalances and couplings are found with their size."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.base import find_base
from dynid.model.joint import JointKind
from dynid.suspects.position_effects import Ripple
from support.defect_arms import DefectArm, defect_arm, with_torque

SMALL = (0, 2)
ALL = tuple(pytest.param(seed, marks=() if seed in SMALL else pytest.mark.slow) for seed in range(12))


def rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(values**2)))


def is_prismatic(arm: DefectArm, joint: int) -> bool:
    return arm.robot.joints[arm.robot.coordinates[joint]].kind is JointKind.PRISMATIC


@pytest.mark.parametrize("seed", ALL)
def test_a_ripple_is_found_with_its_period_and_amplitude(seed: int) -> None:
    arm = defect_arm(seed)
    (motion,) = arm.motions(seed)
    joint = seed % arm.robot.n_coordinates
    size, waves = 0.1 * rms(motion.tau[:, joint]), 11.0 + seed
    tau = motion.tau.copy()
    tau[:, joint] += size * np.sin(waves * motion.q[:, joint] + 0.7)
    damaged = with_torque(motion, tau)
    found = arm.suspects([damaged], seed).ranked
    if not found:
        assert arm.hidden([damaged])
        return
    (best, *_) = found
    assert isinstance(best.suspect, Ripple)
    assert best.suspect.joint == joint
    assert best.suspect.waves == pytest.approx(waves, rel=0.02)
    assert best.suspect.amount(best.alone.size) == pytest.approx(size, rel=0.1)
    assert "ripples over position" in best.suspect.words(best.alone.size)


@pytest.mark.parametrize("seed", ALL)
def test_a_motor_that_turns_with_two_joints_is_found(seed: int) -> None:
    arm = defect_arm(seed)
    if arm.robot.n_coordinates < 2:
        pytest.skip("This arm has one joint.")
    (motion,) = arm.motions(seed, harmonics=15)
    last = arm.robot.n_coordinates - 1
    size = 0.3 * rms(motion.tau[:, last]) / rms(motion.qdd[:, last - 1])
    tau = motion.tau.copy()
    tau[:, last] += size * motion.qdd[:, last - 1]
    tau[:, last - 1] += size * motion.qdd[:, last]
    damaged = with_torque(motion, tau)
    found = arm.suspects([damaged], seed).ranked
    if not found:
        assert arm.hidden([damaged])
        return
    (best, *_) = found
    assert best.suspect.key == f"inertia coupling@{last}-{last + 1}"
    assert best.alone.size[0] == pytest.approx(size, rel=0.1)


def test_a_counterbalance_is_found_where_gravity_has_no_such_column() -> None:
    arm = defect_arm(2)
    level = DefectArm(find_base(arm.robot.with_gravity(0.0, 0.0, 0.0)), arm.values)
    (motion,) = level.motions(2)
    joint = next(j for j in range(3) if not is_prismatic(level, j))
    tau = motion.tau.copy()
    tau[:, joint] += rms(tau[:, joint]) * np.cos(motion.q[:, joint] - 0.3)
    (best, *_) = level.suspects([with_torque(motion, tau)], 2).ranked
    assert best.suspect.key == f"counterbalance@{joint + 1}"
    assert best.suspect.amount(best.alone.size) == pytest.approx(rms(motion.tau[:, joint]), rel=0.1)
    assert "counterbalance of joint" in best.suspect.words(best.alone.size)
