"""Instrumental variables: the estimator of the books, and what its tests say."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from dynid.base import base_of
from dynid.casestudies.scara_runs import loop, sines
from dynid.core.errors import DynidError, NotTrustworthyError, ShapeError, UnknownNameError
from dynid.core.finding import Level
from dynid.estimators import IRLS, IV, OLS, WLS, Strategy, identify
from dynid.estimators.closed_loop.instruments import TwoStage, instrument_rows
from dynid.model.load import load_robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem import LoopProblem, Problem, build_problem, closed_loop
from dynid.simulation import Bandwidth, Sensors, Velocity, simulate
from dynid.workflow.fitting import fit
from support.closed_loop import ACCURACY, MOTION, PERIOD, PLAN, Noise, problem, scara, simulated

Array = NDArray[np.float64]


def linear(given: LoopProblem) -> Problem:
    """The problem of the measured motions, as least squares sees it."""
    motions = [e.motion for e in given.experiments if e.motion is not None]
    return build_problem(ACCURACY.robot(given.robot), motions, given.plan, given.base)


def stacked(rows: list[Array], weights: Array) -> Array:
    return np.vstack([w * part for w, part in zip(weights, rows, strict=True)])


@pytest.mark.parametrize("step", [OLS(), WLS(), WLS(iterations=5)])
def test_with_the_regressor_as_instruments_it_is_least_squares(step: Strategy) -> None:
    given = linear(problem(MOTION))
    own = tuple(given.rows(j).wide(8) for j in range(2))
    ours, theirs = TwoStage(step=step, sets=(own,)).fit(given), step.fit(given)
    np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-10)
    np.testing.assert_allclose(
        ours.covariance, theirs.covariance, rtol=1e-8, atol=1e-12 * theirs.covariance.max()
    )
    np.testing.assert_allclose(ours.joint_sigma, theirs.joint_sigma, rtol=1e-9)
    assert ours.facts["instruments"]["first_stage_f"] > 1e9
    assert ours.facts["durbin_wu_hausman"]["p_value"] == 1.0
    assert ours.findings == ()


@pytest.mark.parametrize("sets", [1, 2])
def test_it_is_the_formula_of_the_books(sets: int) -> None:
    """(ZᵀSW)⁻¹ ZᵀSY; with more instruments (WᵀP W)⁻¹ WᵀP Y, P = Z (ZᵀZ)⁻¹ Zᵀ of weighted rows."""
    given, clean = linear(problem(MOTION)), linear(problem())
    Z = instrument_rows(given, clean)
    other = tuple(np.sin(3 * z) for z in Z)
    made = TwoStage(sets=(Z, other)[:sets]).fit(given)
    w = made.weights
    W = stacked([given.rows(j).wide(8) for j in range(2)], w)
    y = np.concatenate([w[j] * given.rows(j).y for j in range(2)])
    full = np.hstack([stacked(list(z), w) for z in (Z, other)[:sets]])
    hat = full @ np.linalg.lstsq(full, W, rcond=None)[0]
    expected = np.linalg.solve(hat.T @ W, hat.T @ y)
    np.testing.assert_allclose(made.values, expected, rtol=1e-8)
    residual = y - W @ expected
    covariance = residual @ residual / (len(y) - 8) * np.linalg.inv(hat.T @ hat)
    np.testing.assert_allclose(np.diag(made.covariance), np.diag(covariance), rtol=1e-8)


def test_it_is_free_of_the_bias_of_least_squares() -> None:
    """Noise of a fifth in q̈ shrinks inertias by its square, four per cent."""
    given = problem(MOTION, plan=Preparation())
    biased = identify(linear(given), WLS())
    truth, names = scara()[1], scara()[0].names
    for kind in ("model", "reference", "both"):
        estimate = identify(given, IV(instruments=kind))
        inertias = [i for i, n in enumerate(names) if n.startswith("ZZ")]
        assert np.all(biased.values[inertias] / truth[inertias] < 0.985)
        assert np.all(np.abs(estimate.values[inertias] / truth[inertias] - 1) < 0.01)
        test = estimate.facts["durbin_wu_hausman"]
        assert test["p_value"] < 1e-6
        assert test["degrees"][0] <= 8
        assert any("is biased (Durbin–Wu–Hausman F(" in f.text for f in estimate.findings)


def test_where_least_squares_is_right_the_test_says_so() -> None:
    values = []
    for seed in range(10):
        given = problem(Noise(torque=0.02, motion=1e-3, seed=seed), plan=Preparation())
        estimate = identify(given, IV(instruments="reference"))
        values.append(estimate.facts["durbin_wu_hausman"]["p_value"])
        assert any("shows no bias" in f.text for f in estimate.findings) == (values[-1] >= 0.01)
    assert 0.2 < np.median(values) < 0.8
    assert np.sum(np.array(values) < 0.05) <= 2


def test_errors_that_are_seen_but_do_no_harm_are_not_called_bias() -> None:
    """Good instruments see noise of a hundredth in q̈, which moves inertias by a ten-thousandth."""
    estimate = identify(problem(Noise(torque=0.02, motion=0.01), plan=Preparation()), IV())
    test = estimate.facts["durbin_wu_hausman"]
    assert test["p_value"] < 1e-6
    assert test["largest_shift_sigma"] < 2
    assert any("hardly move least squares (most at" in f.text for f in estimate.findings)


def test_instruments_that_agree_pass_and_a_wrong_model_fails() -> None:
    noise = Noise(torque=0.02, motion=0.05)
    agreed = identify(problem(noise), IV(instruments="both")).facts["overidentification"]
    assert agreed["degrees"] == 8
    assert agreed["p_value"] > 0.01
    pushed = problem(noise)
    assert pushed.experiments[0].motion is not None
    motions = [
        replace(e.motion, tau=e.motion.tau + 0.3 * np.sin(3 * e.motion.q))
        for e in pushed.experiments
        if e.motion
    ]
    changed = [replace(e, motion=m) for e, m in zip(pushed.experiments, motions, strict=True)]
    estimate = identify(replace(pushed, experiments=tuple(changed)), IV(instruments="both"))
    assert estimate.facts["overidentification"]["p_value"] < 1e-3
    assert any("do not agree with each other (Sargan" in f.text for f in estimate.findings)
    assert "overidentification" not in identify(pushed, IV()).facts


def strange(given: LoopProblem, strength: float) -> LoopProblem:
    """References that only move as far as ``strength`` with the robot."""
    rng = np.random.default_rng(0)
    changed = []
    for e in given.experiments:
        r = e.reference
        mixed = {
            k: strength * getattr(r, k)
            + (1 - strength) * getattr(r, k).std(axis=0) * rng.standard_normal(r.q.shape)
            for k in ("q", "qd", "qdd")
        }
        changed.append(replace(e, reference=replace(r, **mixed)))
    return replace(given, experiments=tuple(changed))


def test_weak_instruments_are_named() -> None:
    given = problem(MOTION, plan=Preparation())
    strengths = []
    for strength in (1.0, 0.3, 0.0):
        estimate = identify(strange(given, strength), IV(instruments="reference"))
        strengths.append(estimate.facts["instruments"]["first_stage_f"])
    assert strengths[0] > 10 > strengths[2]
    assert strengths[0] > strengths[1] > strengths[2]
    assert estimate.outcome.name == "weak instruments"
    assert not estimate.outcome.trustworthy
    assert "first-stage F" in estimate.outcome.sentence
    assert "essential" in estimate.outcome.remedy
    assert estimate.facts["instruments"]["smallest_correlation"] < 0.1


def test_a_reference_at_rest_is_a_weak_instrument() -> None:
    given = problem(MOTION)
    still = [
        replace(e, reference=replace(e.reference, q=0 * e.reference.q, qd=None, qdd=None))
        for e in given.experiments
    ]
    estimate = identify(replace(given, experiments=tuple(still)), IV(instruments="reference"))
    assert estimate.outcome.name == "weak instruments"
    assert np.all(np.isfinite(estimate.values))


def test_rows_stay_together_through_trimming_decimation_and_masks() -> None:
    """Whatever was cut from the measured motion is cut from the instruments: without noise it stays exact."""
    plan = Preparation(decimation=5, speed_thresholds=(0.2, 0.5))
    given = problem(plan=plan)
    cut = []
    for k, e in enumerate(given.experiments):
        part = slice(101 + 13 * k, -57)
        assert e.motion is not None
        parts = {c: getattr(e.motion, c)[part] for c in ("time", "q", "qd", "qdd", "tau")}
        cut.append(replace(e, motion=replace(e.motion, **parts)))
    estimate = identify(replace(given, experiments=tuple(cut)), IV())
    masked = estimate.facts["rows_per_joint"]
    assert masked[0] != masked[1]
    assert estimate.facts["instruments"]["smallest_correlation"] > 1 - 1e-9
    np.testing.assert_allclose(estimate.values, scara()[1], rtol=1e-7)


def test_errors_grow_with_the_noise() -> None:
    sizes = np.array([0.01, 0.03, 0.1])
    errors = []
    for size in sizes:
        runs = [identify(problem(Noise(torque=size, motion=size, seed=s)), IV()) for s in range(4)]
        errors.append(np.sqrt(np.mean([((e.values - scara()[1]) / scara()[1]) ** 2 for e in runs])))
    slope = np.polyfit(np.log(sizes), np.log(errors), 1)[0]
    assert 0.85 < slope < 1.15


def central(run_seed: int) -> tuple[LoopProblem, Motion]:
    """Unfiltered central differences of the positions."""
    run = simulated(run_seed, 10.0, "exact")
    qd = np.gradient(run.q, PERIOD, axis=0)
    qdd = np.gradient(qd, PERIOD, axis=0)
    motion = replace(run.motion, qd=qd, qdd=qdd)
    inner = {k: getattr(motion, k)[8:-8] for k in ("time", "q", "qd", "qdd", "tau")}
    given = problem(seeds=(run_seed,), plan=PLAN)
    cut = replace(motion, **inner)
    return replace(given, experiments=(replace(given.experiments[0], motion=cut),)), cut


def test_held_torques_are_centred_on_central_differences(monkeypatch: pytest.MonkeyPatch) -> None:
    centred = identify(central(1)[0], IV()).values / scara()[1] - 1
    monkeypatch.setattr(closed_loop, "centred_torques", lambda motion: motion)
    plain = identify(central(1)[0], IV()).values / scara()[1] - 1
    viscous = [i for i, n in enumerate(scara()[0].names) if n.startswith("Fv")]
    assert np.all(np.abs(centred[viscous]) < 0.3 * np.abs(plain[viscous]))


@pytest.mark.parametrize("start", ["least squares", "regular", "prior"])
def test_every_start_leads_to_the_same_values(start: str) -> None:
    estimate = identify(problem(MOTION), IV(start=start))
    best = identify(problem(MOTION), IV(start="prior"))
    assert estimate.outcome.name == "fine"
    assert estimate.facts["start"] == start
    assert np.all(np.abs(estimate.values - best.values) < 0.2 * best.sigma)


def test_where_least_squares_cannot_be_simulated_the_regular_start_steps_in() -> None:
    """Accelerations of the wrong sign give negative inertias."""
    turned = [
        replace(e, motion=replace(e.motion, qdd=-e.motion.qdd)) for e in problem().experiments if e.motion
    ]
    estimate = identify(replace(problem(), experiments=tuple(turned)), IV(max_iterations=2))
    assert estimate.facts["start"] == "regular"


def test_options_that_cannot_work_get_a_sentence() -> None:
    with pytest.raises(UnknownNameError, match=r"'position'.*both, model, reference"):
        IV(instruments="position")
    with pytest.raises(UnknownNameError, match="start of IV"):
        IV(start="nowhere")
    with pytest.raises(DynidError, match=r"OLS\(\) or WLS\(\), not by IRLS"):
        IV(step=IRLS())
    with pytest.raises(DynidError, match="0 iterations"):
        IV(max_iterations=0)
    with pytest.raises(DynidError, match="value_tolerance is 0"):
        IV(value_tolerance=0)
    given = linear(problem())
    with pytest.raises(ShapeError, match="one row per row of the regression"):
        TwoStage(sets=((np.zeros((3, 8)),) * 2,)).fit(given)


def roughly(given: LoopProblem, frequency: float, inertia: float) -> LoopProblem:
    """The problem with a law whose gains are known roughly."""
    law = given.controller.law
    assert isinstance(law, Bandwidth)
    wrong = replace(
        law,
        natural_frequency=tuple(frequency * np.array(law.natural_frequency)),
        inertia=tuple(inertia * np.array(law.inertia)),
    )
    return replace(given, controller=replace(given.controller, law=wrong))


def test_roughly_known_gains_cost_precision_and_are_told() -> None:
    """Instruments need only move with the motion: the law's error is said, with how strong they are."""
    given = problem(MOTION)
    right, rough = (identify(p, IV()) for p in (given, roughly(given, 0.5, 1.6)))
    assert rough.outcome.name == "fine"
    assert np.all(np.abs(rough.values - right.values) < 2 * rough.sigma)
    (told,) = [f for f in rough.findings if f.name == "control law mismatch"]
    assert told.level == Level.CARE
    assert "IV needs a law only to make instruments" in told.sentence
    assert f"first-stage F {rough.facts['instruments']['first_stage_f']:.3g}" in told.sentence
    assert not [f for f in right.findings if f.name == "control law mismatch"]


@pytest.mark.slow
def test_wrong_gains_leave_two_sigma_intervals_honest() -> None:
    """Gains off by factors between 1/3 and 3, encoder noise inside the loop: 93 % lie within 2 σ."""
    robot = load_robot("scara")
    truth, hits = base_of(robot).regroup(robot.parameters), []
    for seed in range(30):
        rng = np.random.default_rng((11, seed))
        followed, law = sines(rng, 30.0), loop(robot, (4 * np.pi, 20 * np.pi), 5e-3)
        law = replace(law, velocity=Velocity("backward"))
        noise = Sensors(position_noise=4e-5, torque_noise_relative=0.03)
        log = simulate(robot, None, law, followed, sensors=noise, rng=rng).log
        f, own = np.exp(rng.uniform(-1.1, 1.1, 4)), law.law
        assert isinstance(own, Bandwidth)
        believed = Bandwidth(
            tuple(np.array(own.natural_frequency) * f[:2]), own.damping, tuple(np.array(own.inertia) * f[2:])
        )
        with suppress(NotTrustworthyError):  # some such loops are not stable
            found = fit(robot, [log], IV(), controller=replace(law, law=believed), references=[followed])
            if found.estimate.outcome.trustworthy:
                hits.append(np.abs(found.estimate.values - truth) < 2 * found.estimate.sigma)
    assert len(hits) >= 20
    assert 0.9 <= np.mean(hits) <= 0.98
