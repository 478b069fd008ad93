"""Joints that give and gears with play: the column is the first order of the real thing, and it is found."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from dynid.preparation import Preparation
from dynid.preparation.motion import Motion
from dynid.suspects.drive_defects import Backlash, Elasticity, Yielding
from dynid.suspects.scene import scenes_of
from support.defect_arms import DefectArm, defect_arm

Array = NDArray[np.float64]
SMALL = (0, 2)
ENDS = slice(5, -5)
ALL = tuple(pytest.param(seed, marks=() if seed in SMALL else pytest.mark.slow) for seed in range(12))


def link_torques(arm: DefectArm, motion: Motion) -> Array:
    rigid = {e.name: 0.0 for e in arm.robot.table if e.family != "inertial"}
    return arm.torques(motion.q, motion.qd, motion.qdd, **rigid)


def behind_motors(arm: DefectArm, motion: Motion, joint: int, lag: Array) -> Motion:
    """What motors log when the links follow the motion, one of them lagging behind its motor."""
    link = link_torques(arm, motion)
    q, qd, qdd = (np.array(x) for x in motion.states)
    rate = np.gradient(lag, 1 / motion.rate_hz)
    q[:, joint] += lag
    qd[:, joint] += rate
    qdd[:, joint] += np.gradient(rate, 1 / motion.rate_hz)
    bodiless = {e.name: 0.0 for e in arm.robot.table if e.family == "inertial"}
    tau = link + arm.torques(q, qd, qdd, **bodiless)
    return replace(motion, q=q, qd=qd, qdd=qdd, tau=tau).part(ENDS)


@pytest.mark.parametrize("seed", ALL)
@pytest.mark.parametrize("kind", [Elasticity, Backlash])
def test_a_small_lag_changes_the_misfit_as_its_column_says(kind: type[Yielding], seed: int) -> None:
    arm = defect_arm(seed)
    (motion,) = arm.motions(seed)
    joint = seed % arm.robot.n_coordinates
    # Standard parameters stand for their base here, as the scene has them: drives stay apart from links.
    scene = scenes_of(arm.base, arm.base.regroup(arm.values), [motion], Preparation(cutoff_hz=20.0))[0]
    scene = replace(scene, values=arm.robot.table.vector(arm.values))
    suspect = kind(joint)
    (column,) = suspect.columns(scene)
    step = 1e-6 / float(np.max(np.abs(suspect.lag(scene))))
    logged = behind_motors(arm, motion, joint, step * suspect.lag(scene))
    missed = logged.tau[:] - arm.torques(*(np.asarray(x) for x in logged.states))
    off = np.abs(missed / step - column[ENDS])
    assert np.quantile(off, 0.97) < 0.02 * float(np.quantile(np.abs(column[ENDS]), 0.95))


@pytest.mark.parametrize("seed", ALL)
def test_a_joint_that_gives_is_found_with_its_stiffness(seed: int) -> None:
    arm = defect_arm(seed)
    (motion,) = arm.motions(seed, harmonics=25)
    joint = arm.robot.n_coordinates - 1
    pushed = np.zeros(motion.q.shape)
    pushed[:, joint] = 1.0
    still = arm.torques(motion.q, motion.qd, 0 * pushed)
    inertia = float(np.mean(arm.torques(motion.q, motion.qd, pushed) - still, axis=0)[joint])
    compliance = 1 / (inertia * (2 * np.pi * 5.0) ** 2)
    logged = behind_motors(arm, motion, joint, compliance * link_torques(arm, motion)[:, joint])
    found = arm.suspects([logged], seed).ranked
    if not found:  # as where one axis alone moves up and down
        assert arm.hidden([logged])
        return
    (best, *_) = found
    assert best.suspect.key == f"elasticity@{joint + 1}"
    assert best.alone.size[0] == pytest.approx(compliance, rel=0.2)
    assert isinstance(best.suspect, Elasticity)
    assert best.suspect.resonance(best.alone.size) == pytest.approx(5.0, rel=0.15)
    assert "Hz" in best.suspect.words(best.alone.size)
