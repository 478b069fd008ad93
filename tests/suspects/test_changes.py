"""What changes while logs are taken is found with its moment, its log and its size."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.preparation.motion import Motion
from dynid.suspects.changes import Change
from dynid.suspects.ranking import Ranked
from support.defect_arms import DefectArm, defect_arm, with_torque

SMALL = (0, 2)
ALL = tuple(pytest.param(seed, marks=() if seed in SMALL else pytest.mark.slow) for seed in range(12))


def later(motion: Motion, share: float) -> np.ndarray:
    return (np.arange(motion.samples) >= share * motion.samples)[:, None].astype(float)


def first(arm: DefectArm, motions: list[Motion], seed: int) -> tuple[Ranked, Change]:
    (best, *_) = arm.suspects(motions, seed).ranked
    assert isinstance(best.suspect, Change)
    return best, best.suspect


@pytest.mark.parametrize("seed", ALL)
@pytest.mark.parametrize("moment", [0.25, 0.5, 0.75])
def test_a_step_of_a_torque_zero_is_found_at_its_moment(seed: int, moment: float) -> None:
    arm = defect_arm(seed)
    (motion,) = arm.motions(seed)
    joint = seed % arm.robot.n_coordinates
    size = 0.1 * float(np.sqrt(np.mean(motion.tau[:, joint] ** 2)))
    step = later(motion, moment) * size * np.eye(arm.robot.n_coordinates)[joint]
    best, change = first(arm, [with_torque(motion, motion.tau + step)], seed)
    assert change.key == f"torque zero step@{joint + 1}"
    assert change.course.moment == pytest.approx(moment, abs=0.02)
    assert best.together.size[0] == pytest.approx(size, rel=0.1)
    assert f"from {moment * 20.0:.2g}" in change.words(best.together.size) or moment == 0.75


@pytest.mark.parametrize("seed", ALL)
def test_a_payload_that_is_picked_up_is_found_with_its_mass(seed: int) -> None:
    arm = defect_arm(seed)
    (motion,) = arm.motions(seed)
    label = arm.robot.joints[-1].label
    mass = 0.2 * arm.values[f"M{label}"]
    arms = {"MX": 0.05, "MY": -0.03, "MZ": 0.1}
    added = {f"{s}{label}": arm.values[f"{s}{label}"] + mass * a for s, a in {"M": 1.0, **arms}.items()}
    loaded = arm.torques(motion.q, motion.qd, motion.qdd, **added)
    best, change = first(
        arm, [with_torque(motion, motion.tau + later(motion, 0.5) * (loaded - motion.tau))], seed
    )
    assert change.key == "payload step"
    told = dict(zip([part for part, _ in change.parts], best.together.size, strict=True))
    if len(told) == 4:
        assert told["M"] == pytest.approx(mass, rel=0.2)


@pytest.mark.parametrize("seed", ALL)
def test_viscous_friction_that_drifts_is_told_from_dry_friction(seed: int) -> None:
    arm = defect_arm(seed)
    (motion,) = arm.motions(seed)
    joint = arm.robot.n_coordinates - 1
    torque, speed = (float(np.sqrt(np.mean(x[:, joint] ** 2))) for x in (motion.tau, motion.qd))
    size = 0.2 * torque / speed
    tau = motion.tau.copy()
    tau[:, joint] -= size * np.linspace(0.0, 1.0, motion.samples) * motion.qd[:, joint]
    best, change = first(arm, [with_torque(motion, tau)], seed)
    assert change.key == f"friction drift@{joint + 1}"
    assert best.together.size[0] == pytest.approx(-size, rel=0.2)
    assert abs(best.together.size[1]) < 0.1 * torque


@pytest.mark.parametrize("seed", ALL)
def test_the_log_that_differs_from_the_others_is_named(seed: int) -> None:
    arm = defect_arm(seed)
    motions = arm.motions(seed, logs=3, seconds=10.0)
    joint = seed % arm.robot.n_coordinates
    size = 0.1 * float(np.sqrt(np.mean(motions[1].tau[:, joint] ** 2)))
    motions[1] = with_torque(motions[1], motions[1].tau + size * np.eye(arm.robot.n_coordinates)[joint])
    best, change = first(arm, motions, seed)
    assert change.key == f"torque zero log@{joint + 1}"
    assert best.together.size[0] == pytest.approx(size, rel=0.1)
    assert "in log 'log2' alone" in change.words(best.together.size)
    assert "apart" in change.remedy(best.together.size)


@pytest.mark.parametrize("seed", ALL)
@pytest.mark.parametrize("logs", [1, 3])
def test_sound_logs_show_no_change(seed: int, logs: int) -> None:
    arm = defect_arm(seed)
    found = arm.suspects(arm.motions(seed, logs=logs, seconds=20.0 / logs), seed)
    assert not [one.suspect.key for one in found.ranked]
