"""Experiments against each other."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

from dynid.core.errors import DynidError, ShapeError
from dynid.estimators import LOAD, WLS, Separable, identify
from dynid.estimators.linear.augmented import load_torques
from dynid.preparation.motion import Motion
from dynid.problem import build_problem
from dynid.validation.cross import cross_validate, experiment_stability, stability
from dynid.validation.validation import validate
from support.study import PLAN, simulated, study


@pytest.fixture(scope="module")
def problem():
    s = study()
    return build_problem(s.robot, (*s.motions, *s.unseen), PLAN, s.base)


def test_each_experiment_is_predicted_by_the_others(problem) -> None:
    found = cross_validate(problem, WLS())
    assert [fold.left_out for fold in found.folds] == [("exciting_a",), ("exciting_b",), ("pick_and_place",)]
    s = study()
    others = identify(build_problem(s.robot, s.motions, PLAN, s.base), WLS())
    expected = validate(others, s.unseen, PLAN).judged
    np.testing.assert_allclose(found.folds[2].relative_percent, expected.relative_percent, rtol=1e-6)
    assert found.folds[2].overall_percent == pytest.approx(expected.overall_percent, rel=1e-6)
    own = 100 * np.linalg.norm(problem.residual_norms(identify(problem, WLS()).values))
    assert found.overall_percent > own / np.linalg.norm(problem.torque_norms())
    content = found.to_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content


def test_folds_may_hold_several_experiments(problem) -> None:
    found = cross_validate(problem, WLS(), folds=2)
    assert [fold.left_out for fold in found.folds] == [("exciting_a", "exciting_b"), ("pick_and_place",)]


def loaded(motion: Motion, joint: int, amount: float) -> Motion:
    """The motion with friction that grows with the load carried, amount |W_inertial χ| sign(q̇)."""
    s = study()
    load = load_torques(s.base, s.base.matrix @ s.truth, motion)
    tau = motion.tau.copy()
    tau[:, joint] += amount * np.abs(load[:, joint]) * np.sign(motion.qd[:, joint])
    return replace(motion, tau=tau)


def test_nonlinear_friction_is_predicted_too() -> None:
    s = study()
    rng = np.random.default_rng(8)
    motions = [loaded(simulated(s.robot, s.truth, name, rng, noise=0.01), 1, 0.2) for name in ("a", "b")]
    problem = build_problem(s.robot, motions, PLAN, s.base)
    rich = cross_validate(problem, Separable(terms=(replace(LOAD, joints=(1,)),)))
    plain = cross_validate(problem, WLS())
    assert rich.folds[0].relative_percent[1] < 0.8
    assert plain.folds[0].relative_percent[1] > 2 * rich.folds[0].relative_percent[1]


def test_one_experiment_is_refused(problem) -> None:
    with pytest.raises(DynidError, match=r"asked for 1 fold\(s\) of 1 experiment\(s\).*Give several logs"):
        cross_validate(problem.experiment_problem(0), WLS())
    with pytest.raises(DynidError, match=r"asked for 9 fold\(s\) of 3"):
        cross_validate(problem, WLS(), folds=9)


def test_stability_sees_a_parameter_that_moved() -> None:
    s = study()
    changed = s.truth.copy()
    changed[s.robot.table.index("Fv3")] *= 1.5
    rng = np.random.default_rng(6)
    motions = [simulated(s.robot, s.truth, "cold", rng), simulated(s.robot, changed, "warm", rng)]
    found = experiment_stability(build_problem(s.robot, motions, PLAN, s.base), WLS(uncertainty="hac"))
    assert found.experiments == ("cold", "warm")
    assert found.moved_parameters(10.0)[0] == "Fv3"
    content = found.to_dict()
    assert json.loads(json.dumps(content, allow_nan=False)) == content


def test_gaps_by_hand() -> None:
    values = np.array([[1.0, 5.0, 0.0], [2.0, 5.5, 0.0], [1.5, 9.0, 7.0]])
    sigma = np.array([[0.3, 1.0, 0.0], [0.4, 1.0, 0.0], [0.3, 0.0, 1.0]])
    found = stability(("a", "b", "c"), ("1", "2", "3"), values, sigma)
    np.testing.assert_allclose(found.gaps, [2.0, 0.5 / np.sqrt(2), np.nan])
    assert found.moved_parameters(1.0) == ("a",)
    with pytest.raises(ShapeError, match=r"sigma have shape \(3, 2\); expected \(3, 3\)"):
        stability(("a", "b", "c"), ("1", "2", "3"), values, sigma[:, :2])
    with pytest.raises(DynidError, match="give at least two"):
        stability(("a", "b", "c"), ("1",), values[:1], sigma[:1])
