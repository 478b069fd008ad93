"""Joints that share parameters must agree on them: gains, zeros and gears that are wrong set them apart."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.base import find_base
from dynid.checks.agreement import agreement, disagreements
from dynid.core.finding import Level
from dynid.estimators import WLS
from dynid.logs.log import Log
from dynid.model.load import load_robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem import Problem, build_problem
from dynid.workflow.fitting import fit
from dynid.workflow.result import document_of
from support.motions import base_truth, fourier_motion, simulated

ROBOT = load_robot("ur10").with_parameters({})
BASE = find_base(ROBOT)
TRUTH = base_truth(BASE, np.random.default_rng(0))
PLAN = Preparation(decimation=10)


def motion(seed: int) -> Motion:
    rng = np.random.default_rng(seed)
    made = fourier_motion(ROBOT, rng, seconds=20.0, rate_hz=200.0, name=f"run{seed}")
    spread = 0.02 * simulated(BASE, TRUTH, made, rng, 0.0).tau.std(axis=0)
    clean = simulated(BASE, TRUTH, made, rng, 0.0)
    return replace(clean, tau=clean.tau + spread * rng.normal(size=clean.tau.shape))


def problem(made: Motion) -> Problem:
    return build_problem(ROBOT, [made], PLAN)


@pytest.mark.parametrize("seed", range(4))
def test_sound_logs_agree(seed: int) -> None:
    found = agreement(problem(motion(seed)))
    assert found is not None
    assert 0.5 < found.F < 2.0
    assert np.all(np.abs(found.ratio - 1) < 0.15)
    assert not disagreements(problem(motion(seed)))


def test_a_wrong_torque_constant_is_told_at_its_joint() -> None:
    made = motion(1)
    tau = made.tau.copy()
    tau[:, 1] *= 1.1
    (told,) = disagreements(problem(replace(made, tau=tau)))
    assert told.level is Level.CARE
    assert "do not agree on the parameters they share" in told.sentence
    assert f"{ROBOT.joints[1].name} by itself leaves 0.5" in told.sentence
    assert "wrong torque constant, gear ratio, zero or order" in told.sentence


def test_the_disagreement_grows_with_the_square_of_the_mistake() -> None:
    made = motion(2)

    def F(gain: float) -> float:
        tau = made.tau.copy()
        tau[:, 2] *= gain
        found = agreement(problem(replace(made, tau=tau)))
        assert found is not None
        return found.F - 1.0

    assert np.log2(F(1.4) / F(1.2)) == pytest.approx(2.0, abs=0.5)


def test_a_wrong_zero_is_told() -> None:
    made = motion(3)
    q = made.q.copy()
    q[:, 2] += 0.3
    assert disagreements(problem(replace(made, q=q)))


def test_it_lowers_the_verdict_of_a_fit() -> None:
    robot = load_robot("scara")
    base = find_base(robot)
    truth = base_truth(base, np.random.default_rng(0))
    rng = np.random.default_rng(1)
    path = fourier_motion(robot, rng, seconds=20.0, rate_hz=500.0, name="a")
    made = simulated(base, truth, path, rng, 0.01)
    grades = {}
    for gain in (1.0, 1.3):
        log = Log("a", made.time, {"position": made.q, "torque": made.tau * np.array([gain, 1.0])})
        result = fit(robot, [log], WLS())
        grades[gain] = document_of(result, {})["verdict"]["grade"]
        assert any("do not agree" in reason.sentence for reason in result.concerns) is (gain > 1)
    assert grades[1.3] != "good"


def test_nothing_is_said_where_nothing_is_shared_or_rows_are_few() -> None:
    single = load_robot("emps")
    base = find_base(single)
    rng = np.random.default_rng(0)
    path = fourier_motion(single, rng, seconds=5.0, rate_hz=200.0, name="x")
    made = simulated(base, base_truth(base, rng), path, rng, 0.01)
    assert agreement(build_problem(single, [made], PLAN)) is None
    short = motion(0)
    part = replace(short, **{name: getattr(short, name)[:250] for name in ("time", "q", "qd", "qdd", "tau")})
    assert agreement(problem(part)) is None
