"""Signs, units, swapped columns and gravity: undone one by one until the joints agree again."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.compile.kernels import kernels
from dynid.estimators import WLS, identify
from dynid.logs.convert import to_joint_side
from dynid.model.joint import JointKind
from dynid.preparation import Preparation, prepare, suggest
from dynid.preparation.motion import Motion
from dynid.problem import Problem, build_problem
from dynid.suspects.discrete import discrete_suspects
from population.cases import Case, draw_case
from population.defects import damage
from support.defect_arms import DefectArm, defect_arm

SMALL = (0, 2)
SEVERAL = tuple(
    pytest.param(seed, marks=() if seed in SMALL else pytest.mark.slow) for seed in range(12) if seed % 6 != 1
)


def problem(arm: DefectArm, motion: Motion) -> Problem:
    rng = np.random.default_rng(7)
    tau = motion.tau[:] * (1 + 0.02 * rng.standard_normal(motion.q.shape))
    plan = Preparation(cutoff_hz=20.0, decimation=5)
    return build_problem(arm.robot, [replace(motion, tau=tau)], plan, arm.base)


def keys(arm: DefectArm, motion: Motion) -> list[str]:
    return [candidate.key for candidate in discrete_suspects(problem(arm, motion))]


@pytest.mark.parametrize("seed", SEVERAL)
def test_a_sound_log_has_no_candidates(seed: int) -> None:
    arm = defect_arm(seed)
    assert keys(arm, arm.motions(seed)[0]) == []


@pytest.mark.parametrize("seed", SEVERAL)
def test_a_reversed_torque_is_named_where_joints_share_parameters(seed: int) -> None:
    arm = defect_arm(seed)
    (motion,) = arm.motions(seed, harmonics=15)
    joint = min(1, arm.robot.n_coordinates - 1)
    sign = np.where(np.arange(arm.robot.n_coordinates) == joint, -1.0, 1.0)
    found = keys(arm, replace(motion, tau=motion.tau * sign))
    # Where no parameter is shared, as between two slides at right angles, nothing contradicts the sign.
    assert not found or found[0] == f"reversed torque@{joint + 1}"
    assert found or seed in (0, 6)


def test_swapped_torques_and_degrees_are_named() -> None:
    arm = defect_arm(2)
    (motion,) = arm.motions(2, harmonics=15)
    assert keys(arm, replace(motion, tau=motion.tau[:, [0, 2, 1]]))[0] == "swapped torques@2-3"
    turning = [arm.robot.joints[c].kind is JointKind.REVOLUTE for c in arm.robot.coordinates]
    by = np.where(turning, np.degrees(1.0), 1.0)
    degrees = replace(motion, q=motion.q * by, qd=motion.qd * by, qdd=motion.qdd * by)
    (first, *_) = discrete_suspects(problem(arm, degrees))
    assert first.key == "degrees"
    assert "deg" in first.remedy
    assert first.misfit < first.before


def test_gravity_along_another_axis_is_named_and_mended_by_its_remedy() -> None:
    arm = defect_arm(3)
    (motion,) = arm.motions(3, harmonics=15)
    upright = arm.robot.with_gravity(0.0, 0.0, -9.81)
    truth = replace(motion, tau=kernels(upright).inverse(arm.values, motion.q, motion.qd, motion.qdd))
    wrong = arm.robot.with_gravity(0.0, -9.81, 0.0)
    plan = Preparation(cutoff_hz=20.0, decimation=5)
    (first, *_) = discrete_suspects(build_problem(wrong, [truth], plan))
    assert first.key == "gravity [0, 0, -9.81]"
    assert "gravity = [0, 0, -9.81]" in first.remedy
    right = identify(build_problem(upright, [truth], plan), WLS())
    assert np.all(right.problem.residual_norms(right.values) < 1e-6 * right.problem.torque_norms())


@pytest.mark.slow
def test_rates_on_the_half_of_the_population_that_set_nothing() -> None:
    """Printed for docs/suspects.md."""
    wanted = {
        "reversed torque": (1, "reversed torque@"),
        "reversed position": (1, "reversed position@"),
        "swapped columns": (1, "swapped torques@"),
        "gravity direction": (90, "gravity"),
        "degrees": (1, "degrees"),
    }
    cases = [draw_case("showing", index) for index in range(24)]
    assert not [case.index for case in cases if discrete_suspects(plain_problem(case))]
    for name, (grade, key) in wanted.items():
        damaged = [made for case in cases if (made := damage(case, name, grade)) is not None]
        found = [(case, discrete_suspects(plain_problem(case))) for case in damaged]
        told = [(case, candidates[0]) for case, candidates in found if candidates]
        first = [c for case, c in told if c.key.startswith(key) and case.joint in (None, *c.joints)]
        print(f"{name}: first {len(first)} of {len(told)} told (of {len(damaged)})")
        assert len(first) >= 0.8 * len(told)
        assert len(told) >= 0.4 * len(damaged)


def plain_problem(case: Case) -> Problem:
    sides = [to_joint_side(log, case.robot) for log in case.logs]
    plan = suggest(max(sides, key=lambda log: log.duration)).plan
    return build_problem(case.robot, [prepare(log, plan) for log in sides], plan)
