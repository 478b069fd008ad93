"""Output error: exact derivatives of the simulation, and what Gauss–Newton makes of them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from dynid.compile.loop import tangent_loop
from dynid.core.errors import DynidError, ModelError, NotTrustworthyError
from dynid.estimators import DIDIM, IRLS, IV, OLS, OutputError, identify
from dynid.problem import LoopProblem
from dynid.problem.replay import LoopModel, SimulatedRun, run_experiment
from dynid.problem.sensitivity import position_sensitivities
from dynid.simulation import PID, Cascade, Controller, Velocity
from dynid.simulation.setup import Accuracy, prepare_loop
from support.closed_loop import PERIOD, Noise, controller, problem, reference, scara

Array = NDArray[np.float64]
EXACT = Velocity("exact")
PD = PID((300.0, 40.0), (40.0, 2.0))
LOOPS = {
    "plain": controller(),
    "backward": controller("backward"),
    "saturated": replace(controller("backward"), saturation=(6.0, 1.0)),
    "integral": Controller(PID((300.0, 40.0), (40.0, 2.0), (200.0, 50.0)), PERIOD, posture=(0.0, 0.0)),
    "cascade": Controller(Cascade((6.0, 8.0), (40.0, 3.0), (3.0, 3.0)), PERIOD, EXACT, posture=(0.0, 0.0)),
    "delayed": Controller(PD, PERIOD, Velocity("mean"), delay=1, posture=(0.0, 0.0)),
    "filtered": Controller(PD, PERIOD, Velocity("filtered", 40.0), saturation=(9.0, 3.0), posture=(0.0, 0.0)),
}


def short(samples: int = 800) -> LoopProblem:
    """One experiment, friction wide enough for finite differences."""
    given = problem(seeds=(1,), duration=samples * PERIOD)
    return replace(given, accuracy=Accuracy(width=0.05, substeps=4))


def run(values: Array, law: Controller, given: LoopProblem) -> SimulatedRun:
    return run_experiment(given, given.experiments[0], LoopModel(given.robot, given.base, values), law)


def positions(values: Array, law: Controller, given: LoopProblem) -> Array:
    found = run(values, law, given)
    assert found.paths is not None
    return found.paths.q[0]


def differences(law: Controller, i: int, step: float) -> Array:
    given, values = short(), scara()[1]
    unit = np.eye(len(values))[i] * step * max(values[i], 0.05)
    ahead, behind = (positions(values + s * unit, law, given) for s in (1, -1))
    return (ahead - behind) / (2 * unit[i])


@pytest.mark.parametrize("name", LOOPS)
def test_sensitivities_are_those_of_the_simulation(name: str) -> None:
    law = LOOPS[name]
    found = run(scara()[1], law, short())
    assert found.outcome.trustworthy
    assert found.paths is not None
    if law.saturation:
        limited = np.abs(found.paths.tau[0]) >= np.array(law.saturation) * (1 - 1e-12)
        assert limited.any()
        assert not limited.all()
    J = position_sensitivities(found, range(8))
    for i in range(8):
        size = np.abs(J[:, :, i]).max()
        assert size > 0
        # Large steps leave the tangent, small ones drown in rounding: one in between must agree.
        errors = [np.abs(differences(law, i, h) - J[:, :, i]).max() / size for h in (3e-4, 3e-5, 3e-6)]
        assert min(errors) < 1e-6


@pytest.mark.parametrize("name", ["saturated", "integral"])
def test_sensitivities_need_no_compiler(name: str) -> None:
    law = LOOPS[name]
    given = short(150)
    found = run(scara()[1], law, given)
    compiled = position_sensitivities(found, [0, 4, 7, 2, 5])
    plain = position_sensitivities(found, [0, 4, 7, 2, 5], lanes=1, backend="casadi")
    np.testing.assert_allclose(compiled, plain, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(position_sensitivities(found, [7])[:, :, 0], compiled[:, :, 2], rtol=1e-12)


def test_friction_that_sticks_has_no_derivative() -> None:
    stick = replace(problem(), accuracy=Accuracy(friction="stick"))
    with pytest.raises(DynidError, match=r"set-valued friction has not; use smooth friction"):
        identify(stick, OutputError(start="prior"))
    setup = prepare_loop(
        scara()[0].robot, scara()[0].robot.parameters, controller(), reference(1), Accuracy(friction="stick")
    )
    with pytest.raises(ModelError, match="has no derivative along its parameters"):
        tangent_loop(setup.simulator.plan.loop())


def test_all_methods_agree_without_noise() -> None:
    given = problem(starts=True)
    strategies = (DIDIM(), IV(), IV(instruments="reference"), OutputError(), OutputError(open_loop=True))
    for strategy in strategies:
        np.testing.assert_allclose(identify(given, strategy).values, scara()[1], rtol=5e-3)


def scaled(share: float) -> dict[str, float]:
    return {n: share * float(v) for n, v in zip(scara()[0].names, scara()[1], strict=True)}


@pytest.mark.parametrize("start", ["didim", "regular", "prior", scaled(0.6), scaled(2.0)], ids=str)
def test_every_start_leads_to_the_same_minimum(start: str | dict[str, float]) -> None:
    given = problem(Noise(torque=0.02, position=4e-5))
    best = identify(given, OutputError(start="prior"))
    found = identify(given, OutputError(start=start))
    assert found.outcome.name == "fine"
    assert np.all(np.abs(found.values - best.values) < 0.05 * best.sigma)


def test_the_criterion_falls_and_the_steps_shrink_quadratically() -> None:
    found = identify(problem(), OutputError(start=scaled(0.5), value_tolerance=1e-10))
    history = found.facts["history"]
    values = np.array([*(h["values"] for h in history), history[-1]["solved"]])
    errors = np.linalg.norm(values / scara()[1] - 1, axis=1)
    assert len(errors) >= 4
    assert np.all(np.diff([np.linalg.norm(h["position_error"]) for h in history]) < 0)
    gains = np.diff(np.log(errors[:4]))
    assert np.all(gains[1:] < 1.6 * gains[:-1])  # Gauss–Newton without residual is of second order


def test_a_step_too_far_is_damped() -> None:
    """Open loop is far from linear: from parameters twice too large the full step would not do."""
    found = identify(problem(starts=True), OutputError(open_loop=True, start=scaled(2.5), max_iterations=40))
    assert found.outcome.name == "fine"
    history = found.facts["history"]
    assert max(h["damping"] for h in history) > 0
    assert history[-1]["damping"] == 0
    assert np.all(np.diff([h["position_error"][0] for h in history[-4:]]) < 0)
    np.testing.assert_allclose(found.values, scara()[1], rtol=1e-5)


def test_errors_grow_with_the_noise() -> None:
    sizes = np.array([1e-5, 3e-5, 1e-4])
    errors = []
    for size in sizes:
        runs = [identify(problem(Noise(position=size, seed=s)), OutputError(start="prior")) for s in range(4)]
        errors.append(np.sqrt(np.mean([((e.values - scara()[1]) / scara()[1]) ** 2 for e in runs])))
        assert np.allclose(runs[0].facts["position_sigma"], size, rtol=0.1)
        assert np.allclose(runs[0].facts["position_error"], size, rtol=0.1)
    assert 0.85 < np.polyfit(np.log(sizes), np.log(errors), 1)[0] < 1.15


def test_the_truth_is_within_two_sigma_as_often_as_it_should() -> None:
    hits = []
    for seed in range(12):
        found = identify(problem(Noise(position=4e-5, seed=seed), seeds=(1,)), OutputError(start="prior"))
        hits.append(np.abs(found.values - scara()[1]) < 2 * found.sigma)
    assert 0.88 < np.mean(hits) < 1.0


def test_joints_count_by_their_own_noise() -> None:
    """With one encoder twenty times worse, weights by joint beat equal ones."""
    errors = {}
    for name, strategy in (
        ("wls", OutputError(start="prior")),
        ("ols", OutputError(step=OLS(), start="prior")),
    ):
        off = []
        for seed in range(4):
            given = problem(Noise(position=2e-5, seed=seed))
            rng = np.random.default_rng((7, seed))
            worse = []
            for e in given.experiments:
                assert e.position is not None
                noise = 4e-4 * rng.standard_normal(len(e.time))
                worse.append(replace(e, position=e.position + np.outer(noise, [1.0, 0.0])))
            found = identify(replace(given, experiments=tuple(worse)), strategy)
            off.append((found.values - scara()[1]) / scara()[1])
        errors[name] = np.sqrt(np.mean(np.square(off), axis=0))
    distal = [i for i, n in enumerate(scara()[0].names) if n.endswith("2")]
    assert np.exp(np.mean(np.log(errors["wls"][distal] / errors["ols"][distal]))) < 0.75


def test_the_state_at_the_start_matters_in_open_loop_only() -> None:
    given = problem(starts=True)
    shifted = []
    for e in given.experiments:
        assert e.start is not None
        shifted.append(replace(e, start=(e.start[0] + 1e-3, e.start[1])))
    off = replace(given, experiments=tuple(shifted))
    closed, opened = (
        identify(off, OutputError(start="prior", open_loop=o, transient_s=1.0)).values / scara()[1] - 1
        for o in (False, True)
    )
    assert np.abs(closed).max() < 0.1 * np.abs(opened).max()


def test_open_loop_needs_every_torque() -> None:
    given = problem(starts=True)
    thin = [
        replace(e, time=e.time[::2], tau=e.tau[::2], samples=e.samples[::2], position=e.position[::2])
        for e in given.experiments
        if e.position is not None
    ]
    with pytest.raises(DynidError, match="the torque of every sample of the controller"):
        identify(replace(given, experiments=tuple(thin)), OutputError(open_loop=True))
    sparse = identify(replace(given, experiments=tuple(thin)), OutputError(start="prior"))
    np.testing.assert_allclose(sparse.values, scara()[1], rtol=1e-6)


def test_parameters_that_positions_do_not_show_are_named() -> None:
    """A loop at rest: no position depends on anything."""
    given = problem()
    still = []
    for e in given.experiments:
        rest = replace(e.reference, q=0 * e.reference.q, qd=None, qdd=None)
        still.append(replace(e, reference=rest, position=np.zeros_like(e.tau), tau=0 * e.tau))
    found = identify(replace(given, experiments=tuple(still)), OutputError(start="prior"))
    assert found.outcome.name == "rank deficient"
    assert "not seen at all" in found.outcome.sentence


def test_the_report_s_problem_is_that_of_the_torques() -> None:
    found = identify(problem(Noise(torque=0.02, position=4e-5)), OutputError())
    assert 0.5 < found.facts["relative_residual"] < 2.0
    assert found.facts["position_rows"] > found.facts["rows"]
    assert not found.facts["open_loop"]
    assert found.problem.units == scara()[0].units


def test_options_that_cannot_work_get_a_sentence() -> None:
    with pytest.raises(DynidError, match="start of OutputError"):
        OutputError(start="nowhere")
    with pytest.raises(DynidError, match=r"OLS\(\) or WLS\(\), not by IRLS"):
        OutputError(step=IRLS())
    with pytest.raises(DynidError, match="0 iterations"):
        OutputError(max_iterations=0)
    with pytest.raises(DynidError, match="'ZZ9'"):
        identify(problem(), OutputError(start={"ZZ9": 1.0}))
    bare = replace(problem(), robot=problem().robot.with_parameters({}))
    with pytest.raises(DynidError, match="has no a-priori parameters"):
        identify(bare, OutputError(start="prior"))


def test_a_loop_that_cannot_be_simulated_is_refused_at_once() -> None:
    with pytest.raises(NotTrustworthyError, match="positive definite"):
        identify(problem(), OutputError(start=scaled(-1.0)))


def test_a_log_that_starts_mid_run_starts_where_the_robot_was() -> None:
    given = problem(seeds=(1,))
    (whole,) = given.experiments
    assert whole.position is not None
    r, first = whole.reference, 300
    cut = replace(
        whole,
        time=whole.time[first:],
        tau=whole.tau[first:],
        position=whole.position[first:],
        samples=whole.samples[first:] - first,
        reference=replace(
            r, q=r.q[first:], qd=r.qd[first:], qdd=r.qdd[first:], start=r.start + first * r.sample_time
        ),
        start=None,
        motion=None,
    )
    estimate = identify(replace(given, experiments=(cut,)), OutputError())
    assert estimate.outcome.name == "fine"
    np.testing.assert_allclose(estimate.values, scara()[1], rtol=2e-3)
