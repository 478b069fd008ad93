"""Torques that are cut off or reported as zero are found with their level."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.suspects.torque_defects import TorqueDeadband, TorqueSaturation
from support.defect_arms import defect_arm, with_torque

SMALL = (0, 2)
ALL = tuple(pytest.param(seed, marks=() if seed in SMALL else pytest.mark.slow) for seed in range(12))


@pytest.mark.parametrize("kind", [TorqueDeadband, TorqueSaturation])
def test_the_shape_is_the_change_that_the_defect_makes(kind: type) -> None:
    torque = np.linspace(-3.0, 3.0, 61)
    changed = {
        TorqueDeadband: np.where(np.abs(torque) < 1.05, 0.0, torque),
        TorqueSaturation: np.clip(torque, -1.05, 1.05),
    }[kind]
    assert np.allclose(torque + kind.change(torque, 1.05), changed)


@pytest.mark.parametrize("seed", ALL)
def test_torques_that_are_cut_off_are_found_with_their_limit(seed: int) -> None:
    arm = defect_arm(seed)
    (motion,) = arm.motions(seed, harmonics=15)
    joint = seed % arm.robot.n_coordinates
    tau = motion.tau.copy()
    level = float(np.quantile(np.abs(tau[:, joint]), 0.8))
    tau[:, joint] = np.clip(tau[:, joint], -level, level)
    best = arm.suspects([with_torque(motion, tau)], seed).scores[0]
    assert best.suspect.key == f"torque saturation@{joint + 1}"
    assert best.z > 3
    assert best.suspect.amount(best.size) == pytest.approx(level, rel=0.05)
    assert f"cut off at {best.suspect.amount(best.size):.3g}" in best.suspect.words(best.size)


@pytest.mark.parametrize("seed", ALL)
def test_a_deadband_is_found_with_its_width(seed: int) -> None:
    arm = defect_arm(seed)
    (motion,) = arm.motions(seed, harmonics=15)
    spread = np.std(motion.tau, axis=0) / np.sqrt(np.mean(motion.tau**2, axis=0))
    joint = int(np.argmax(spread))  # a joint whose torque passes through zero
    tau = motion.tau.copy()
    level = float(np.quantile(np.abs(tau[:, joint]), 0.25))
    tau[:, joint] = np.where(np.abs(tau[:, joint]) < level, 0.0, tau[:, joint])
    damaged = with_torque(motion, tau)
    found = arm.suspects([damaged], seed).ranked
    if not found:
        assert arm.hidden([damaged])
        return
    (best, *_) = found
    assert best.suspect.key == f"torque deadband@{joint + 1}"
    assert best.suspect.amount(best.alone.size) == pytest.approx(level, rel=0.2)
