"""DIDIM: torques alone, and how the iteration behaves."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.ndimage import gaussian_filter1d

from dynid.core.errors import DynidError
from dynid.estimators import DIDIM, OLS, OutputError, identify
from dynid.estimators.closed_loop.strategy import LoopStrategy
from dynid.preparation.preparation import Preparation
from dynid.problem import build_loop_problem
from dynid.simulation import PID, Accuracy, Bandwidth, Controller, Reference, simulate
from support.closed_loop import PERIOD, Noise, controller, problem, scara


def test_each_pass_is_a_small_share_of_the_one_before() -> None:
    """A contraction: successive steps shrink by one factor, far below one."""
    given, once = problem(), DIDIM(max_iterations=1)
    solved = [1.3 * scara()[1]]
    for _ in range(6):
        solved.append(once.solve(given, None, solved[-1]).fit.values)
    steps = np.linalg.norm(np.diff(solved, axis=0) / scara()[1], axis=1)
    assert np.all(steps[2:] < 0.1 * steps[1:-1])
    slope, _ = np.polyfit(np.arange(5), np.log10(steps[1:]), 1)
    assert -2.2 < slope < -1.3  # each pass gains the same number of digits
    np.testing.assert_allclose(np.diff(np.log10(steps[1:])), slope, atol=0.3)


def test_it_settles_in_few_passes_from_the_regular_start() -> None:
    for noise in (0.0, 0.02):
        estimate = identify(problem(Noise(torque=noise)), DIDIM())
        assert estimate.outcome.name == "fine"
        assert estimate.iterations <= 5


def test_a_smaller_residual_tolerance_asks_for_more_passes() -> None:
    """Residuals are compared joint by joint in N m; a norm without unit once let every tolerance pass."""
    given = problem(Noise(torque=0.02))
    passes = [identify(given, DIDIM(residual_tolerance=t)).iterations for t in (1e-2, 1e-5, 1e-8)]
    assert passes[0] < passes[1] < passes[2]
    assert identify(given, DIDIM(residual_tolerance=1e-15)).outcome.name == "not converged"
    # Without noise the residual is the simulation's own: there is nothing to wait for.
    assert identify(problem(), DIDIM(residual_tolerance=1e-15)).outcome.name == "fine"


def test_set_valued_friction_is_regressed_as_it_was_simulated() -> None:
    """At rest friction is what holds the joint, not Fc sign(0): without noise the truth is a fixed point."""
    base, truth = scara()
    time = PERIOD * np.arange(4000)
    waves = np.column_stack([1.5 * np.sin(2 * np.pi * 0.2 * time), 1.2 * np.sin(2 * np.pi * 0.33 * time + 1)])
    held = Reference(PERIOD, gaussian_filter1d(np.clip(waves, [-1.0, -0.8], [1.0, 0.8]), 20, axis=0))
    stick = Accuracy(friction="stick")
    run = simulate(base.robot, None, controller(), held, accuracy=stick)
    assert np.all(np.mean(run.qd == 0, axis=0) > 0.05)
    for decimation in (1, 4, 20):
        given = build_loop_problem(
            base.robot, [run.log], controller(), [held], Preparation(decimation=decimation), accuracy=stick
        )
        once = DIDIM(max_iterations=1, transient_s=0.0).solve(given, None, truth).fit
        np.testing.assert_allclose(once.values, truth, rtol=1e-3)
        found = identify(given, DIDIM(transient_s=0.0))
        assert found.outcome.name == "fine"
        assert found.facts["relative_residual"] < 0.02  # per cent; 2 with sign(0) = 0
        inertial = [base.names.index(name) for name in ("ZZ1R", "ZZ2", "MX2", "MY2")]
        np.testing.assert_allclose(found.values[inertial], truth[inertial], rtol=1e-3)


def test_torques_that_are_zero_leak_no_warning() -> None:
    given = problem(seeds=(1,))
    silent = tuple(replace(e, tau=0.0 * e.tau, position=None) for e in given.experiments)
    assert not identify(replace(given, experiments=silent), DIDIM()).outcome.trustworthy


def test_errors_grow_with_the_noise() -> None:
    sizes = np.array([0.01, 0.03, 0.1])
    errors = []
    for size in sizes:
        runs = [identify(problem(Noise(torque=size, seed=s)), DIDIM()) for s in range(4)]
        errors.append(np.sqrt(np.mean([((e.values - scara()[1]) / scara()[1]) ** 2 for e in runs])))
    assert 0.8 < np.polyfit(np.log(sizes), np.log(errors), 1)[0] < 1.2


def test_the_truth_is_within_two_sigma_as_often_as_it_should() -> None:
    hits = []
    for seed in range(24):
        given = problem(Noise(torque=0.05, seed=seed), seeds=(1,), plan=Preparation(decimation=2))
        estimate = identify(given, DIDIM())
        hits.append(np.abs(estimate.values - scara()[1]) < 2 * estimate.sigma)
    assert 0.8 <= np.mean(hits) < 1.0


def test_values_never_depend_on_positions() -> None:
    given = problem(Noise(torque=0.02))
    spoilt = [replace(e, position=np.full_like(e.tau, np.nan), motion=None) for e in given.experiments]
    ours, theirs = (identify(p, DIDIM()) for p in (given, replace(given, experiments=tuple(spoilt))))
    np.testing.assert_array_equal(ours.values, theirs.values)


@pytest.mark.parametrize("share", [0.5, 2.0])
def test_a_given_start_leads_to_the_same_fixed_point(share: float) -> None:
    given = problem(Noise(torque=0.02))
    near = {n: share * float(v) for n, v in zip(scara()[0].names, scara()[1], strict=True)}
    best = identify(given, DIDIM())
    found = identify(given, DIDIM(start=near))
    assert np.all(np.abs(found.values - best.values) < 0.5 * best.sigma)


def test_weights_by_joint_beat_equal_ones_on_the_last_joint() -> None:
    distal = [i for i, n in enumerate(scara()[0].names) if n.endswith("2")]
    off = {}
    for step in (DIDIM(), DIDIM(step=OLS())):
        runs = [identify(problem(Noise(torque=0.05, seed=s)), step) for s in range(4)]
        spread = np.sqrt(np.mean([((e.values - scara()[1]) / scara()[1]) ** 2 for e in runs], axis=0))
        off[type(step.step).__name__] = spread[distal]
    assert np.all(off["WLS"] < off["OLS"])


def test_gains_that_cannot_follow_are_refused() -> None:
    fixed = Controller(PID((300.0, 40.0), (40.0, 2.0)), 5e-3)
    with pytest.raises(DynidError, match="cannot follow the inertia"):
        identify(replace(problem(), controller=fixed), DIDIM(follow_inertia="always"))


@pytest.mark.parametrize("strategy", [DIDIM(), OutputError(max_iterations=1)])
def test_a_law_that_the_positions_disprove_is_refused(strategy: LoopStrategy) -> None:
    given = problem(Noise(torque=0.05))
    right = identify(given, strategy)
    assert right.outcome.name != "control law mismatch"
    assert max(right.facts["law_error"]) < 0.05
    law = given.controller.law
    assert isinstance(law, Bandwidth)
    softer = replace(given, controller=replace(given.controller, law=replace(law, damping=0.8)))
    wrong = identify(softer, strategy)
    assert wrong.outcome.name == "control law mismatch"
    assert not wrong.outcome.trustworthy
    assert "fed with the logged positions" in wrong.outcome.sentence
    assert "joint1, joint2" in wrong.outcome.sentence


def test_torques_of_one_joint_in_other_units_are_refused_by_name() -> None:
    given = problem()
    scaled = [replace(e, tau=e.tau * [1.0, 1.5]) for e in given.experiments]
    found = identify(replace(given, experiments=tuple(scaled)), DIDIM())
    assert "torques of joint2 by 33" in found.outcome.sentence
