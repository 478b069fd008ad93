"""Lengths of the robot file that the torques do not bear out, and the way gravity points."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.compile.kernels import kernels
from dynid.core.finding import Level, Name
from dynid.estimators import WLS, identify
from dynid.preparation import Preparation
from dynid.preparation.motion import Motion
from dynid.problem import build_problem
from dynid.suspects.geometry import LinkLength, link_lengths, with_length
from dynid.suspects.gravity import follow_gravity
from dynid.suspects.judgement import SuspectJudgement, judge_suspects
from dynid.suspects.sampling import sampling_of
from dynid.suspects.scene import scenes_of
from support.defect_arms import DefectArm, defect_arm

ARM = defect_arm(3)
PLAN = Preparation(cutoff_hz=20.0, decimation=5)


def judged(arm: DefectArm, motion: Motion, noise: float = 0.01) -> SuspectJudgement:
    rng = np.random.default_rng(5)
    size = np.sqrt(np.mean(motion.tau**2, axis=0))
    noisy = replace(motion, tau=motion.tau + noise * size * rng.normal(size=motion.tau.shape))
    found = judge_suspects(identify(build_problem(arm.robot, [noisy], PLAN, arm.base), WLS()))
    assert found is not None
    return found


@pytest.mark.parametrize("number", range(len(link_lengths(ARM.robot))))
def test_the_column_of_a_length_is_what_a_longer_robot_adds(number: int) -> None:
    """s ℓ is the torque of the robot with that length, compiled, less that of the file's, to second order."""
    (motion,) = ARM.motions(3, seconds=2.0)
    suspect = link_lengths(ARM.robot)[number]
    assert isinstance(suspect, LinkLength)
    values = np.array([ARM.values.get(name, 0.0) for name in ARM.robot.table.names])
    scene = replace(
        scenes_of(ARM.base, ARM.base.regroup(ARM.values), [motion], Preparation())[0], values=values
    )
    state = (motion.q, motion.qd, motion.qdd)
    ahead, behind = (
        kernels(with_length(ARM.robot, suspect.joint, suspect.length, h)).inverse(ARM.values, *state)
        for h in (0.01, -0.01)
    )
    (column,) = suspect.columns(scene)
    np.testing.assert_allclose(0.02 * column, ahead - behind, atol=1e-9 * np.abs(motion.tau).max())


def test_a_wrong_length_is_named_with_what_fits() -> None:
    """A robot whose third joint sits 6 cm farther out than its file says."""
    arm = defect_arm(5)
    (motion,) = arm.motions(5, harmonics=10)
    longer = kernels(with_length(arm.robot, 2, "d", 0.06))
    found = judged(arm, replace(motion, tau=longer.inverse(arm.values, motion.q, motion.qd, motion.qdd)))
    told = found.findings[0]
    assert told.name is Name.LINK_LENGTH
    assert told.level is Level.CARE
    assert told.figures["suspect"] == "length d@3"
    assert told.figures["size"] == pytest.approx(0.06, rel=0.1)
    given = arm.robot.joints[arm.robot.coordinates[2]].d
    assert f"is {given:.3g} m in the robot file" in told.sentence
    assert "correct the robot file" in told.remedy


def test_sound_logs_are_not_asked_for_lengths() -> None:
    found = judged(ARM, ARM.motions(3)[0])
    assert not [s for s in found.table.ledger.suspects if isinstance(s, LinkLength)]
    assert not [finding for finding in found.findings if finding.level >= Level.CARE]


@pytest.mark.parametrize("degrees", [3.0, 10.0, 15.0])
def test_a_tilt_is_followed_to_its_angle(degrees: float) -> None:
    arm = defect_arm(4)
    (motion,) = arm.motions(4, harmonics=10)
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    true = np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]]) @ arm.robot.gravity
    tilted = kernels(arm.robot.with_gravity(*true))
    motion = replace(motion, tau=tilted.inverse(arm.values, motion.q, motion.qd, motion.qdd))
    told = judged(arm, motion).findings[0]
    assert told.name is Name.GRAVITY_DIRECTION
    assert told.level is Level.CARE
    size = np.linalg.norm(told.figures["size"])
    assert np.degrees(np.arctan2(size, np.linalg.norm(true))) == pytest.approx(degrees, rel=0.05)
    sampling = sampling_of(build_problem(arm.robot, [motion], PLAN, arm.base))
    followed = follow_gravity(sampling, sampling.weights[0], np.array(arm.robot.gravity))
    np.testing.assert_allclose(followed, true, atol=0.05)
