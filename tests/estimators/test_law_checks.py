"""What the log's own positions say about the control law: its errors, its memory, and what cannot be told."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from dynid.base import find_base
from dynid.core.errors import NotTrustworthyError
from dynid.core.finding import Level, Name, worst_level
from dynid.estimators import DIDIM, IV, OutputError, identify
from dynid.estimators.closed_loop.loop_checks import check_law
from dynid.estimators.closed_loop.strategy import LoopStrategy
from dynid.logs.log import Log
from dynid.preparation.preparation import Preparation
from dynid.problem import LoopProblem, build_loop_problem
from dynid.simulation import PID, Controller, Disturbances, Reference, Sensors, Velocity, simulate
from support.closed_loop import PERIOD, PLAN, controller, problem, reference, scara

Array = NDArray[np.float64]
SENSORS = Sensors(position_noise=4e-5, torque_noise_relative=0.03)
OFFSETS = {"off1": 0.4, "off2": -0.1}
INTEGRAL = Controller(PID((300.0, 40.0), (40.0, 2.0), (200.0, 50.0)), PERIOD, posture=(0.0, 0.0))


@cache
def noisy(velocity: str = "backward", delay: int = 0, seed: int = 0) -> Log:
    """The SCARA with noise of encoders inside the loop and of torques, logged late by some samples."""
    robot = scara()[0].robot
    return simulate(
        robot,
        None,
        controller(velocity),
        reference(1, 20.0),
        sensors=replace(SENSORS, torque_delay=delay),
        rng=np.random.default_rng(seed),
    ).log


def posed(log: Log, law: Controller, plan: Preparation = PLAN) -> LoopProblem:
    return build_loop_problem(scara()[0].robot, [log], law, [reference(1, 20.0)], plan, base=scara()[0])


def test_a_right_law_leaves_nothing_that_goes_with_the_motion() -> None:
    for velocity in ("backward", "exact"):
        found = check_law(posed(noisy(velocity), controller(velocity)))
        assert found.outcome is None
        assert found.findings == ()
        assert max(found.facts["law_error_systematic"]) < 0.01


def test_noise_alone_neither_refuses_nor_doubts_a_law() -> None:
    """White errors of positions go through the law's own differences; a fifth of the torque may be noise."""
    log, rng = noisy(), np.random.default_rng(5)
    shaken = log.channel("position") + 3e-4 * rng.standard_normal(log.channel("position").shape)
    torque = log.channel("torque")
    pushed = torque + 0.2 * torque.std(axis=0) * rng.standard_normal(torque.shape)
    for channels in ({"position": shaken}, {"torque": pushed}):
        found = check_law(posed(replace(log, channels={**log.channels, **channels}), controller("backward")))
        assert max(found.facts["law_error"]) > 0.05
        assert found.outcome is None
        assert found.findings == ()


@pytest.mark.parametrize("share", [1.05, 0.95])
def test_a_law_off_by_a_twentieth_is_told_with_its_size(share: float) -> None:
    estimate = identify(posed(noisy(), controller("backward").scaled((share, 1.0))), OutputError())
    assert estimate.outcome.trustworthy
    zz1 = estimate.values[0] / scara()[1][0] - 1
    assert zz1 == pytest.approx(share - 1, abs=0.01)  # the bias that no σ shows
    (told,) = [f.text for f in estimate.findings if "biases inertias" in f.text]
    assert told.startswith("The control law, fed with the logged positions, misses ")
    assert worst_level(estimate.findings) == Level.CARE
    assert "of the torque of joint1 in step" in told
    assert estimate.facts["law_error_systematic"][0] == pytest.approx(abs(share - 1), abs=0.006)
    assert estimate.facts["law_error_systematic"][1] < 0.01


@pytest.mark.parametrize(
    "law",
    [
        controller("backward").scaled((1.1, 1.1)),
        replace(controller("backward"), velocity=Velocity("exact")),
        replace(controller("backward"), velocity=Velocity("mean")),
    ],
    ids=["inertia", "exact", "mean"],
)
def test_a_law_that_is_clearly_wrong_is_refused_by_output_error(law: Controller) -> None:
    estimate = identify(posed(noisy(), law), OutputError())
    assert estimate.outcome.name == "control law mismatch"
    assert not estimate.outcome.trustworthy


def test_a_torque_that_was_logged_late_is_told() -> None:
    found = check_law(posed(noisy(delay=2), controller("backward")))
    assert found.outcome is not None or any("in step with the motion" in f.text for f in found.findings)


@pytest.mark.parametrize("strategy", [DIDIM(), OutputError()])
def test_a_wrong_law_ends_after_one_pass(strategy: LoopStrategy) -> None:
    given = problem()
    law = replace(given.controller, law=replace(given.controller.law, damping=0.5))  # type: ignore[call-arg]
    estimate = identify(replace(given, controller=law), strategy)
    assert estimate.outcome.name == "control law mismatch"
    assert len(estimate.facts["history"]) == 1


def test_the_law_comes_first_where_the_simulation_fails_too() -> None:
    driven_off = replace(problem(), controller=Controller(PID((-3e4, -4e3)), PERIOD))
    with pytest.raises(
        NotTrustworthyError, match=r"^The control law, fed with .*\(The simulation with it"
    ) as told:
        identify(driven_off, IV())
    assert str(told.value).endswith('without any law: --instruments reference (instruments="reference").')
    for strategy in (DIDIM(), OutputError()):
        assert identify(driven_off, strategy).outcome.sentence.startswith("The control law, fed with")


def test_a_log_slower_than_the_claimed_controller_is_told() -> None:
    """Backward differences over the claimed 1 ms are not those over the true 5 ms."""
    claimed = replace(controller("backward"), sample_time=1e-3)
    estimate = identify(posed(noisy(), claimed), OutputError())
    assert "law_error" not in estimate.facts
    (unchecked,) = [f.text for f in estimate.findings if f.name == Name.LAW_UNCHECKED]
    assert unchecked.startswith("The control law could not be checked")
    assert "one of 5 samples of the controller only (200 Hz against 1000 Hz)" in unchecked
    (late,) = [f.text for f in estimate.findings if "run beside the measured ones in time" in f.text]
    assert "half a sample of the controller is 0.5 ms" in late
    right = identify(posed(noisy(), controller("backward")), OutputError())
    assert not [f for f in right.findings if f.name in (Name.TORQUE_LAG, Name.LAW_UNCHECKED)]


def test_a_log_without_positions_cannot_bear_out_the_law() -> None:
    log = noisy()
    bare = Log(log.name, log.time, {k: v for k, v in log.channels.items() if k != "position"})
    (finding,) = check_law(posed(bare, controller("backward"))).findings
    assert "it has no positions" in finding.text


def with_offsets(rest_s: float = 0.0, law: Controller = INTEGRAL, seed: int = 0) -> LoopProblem:
    """The SCARA with offsets, after some rest."""
    robot = scara()[0].robot.with_terms(*scara()[0].robot.terms, "off")
    robot = robot.with_parameters({**scara()[0].robot.parameters, **OFFSETS})
    q = reference(1, 20.0).q
    soft = np.minimum(np.arange(len(q)) * PERIOD, 1.0)[:, None]
    q = np.vstack([np.repeat(q[:1], round(rest_s / PERIOD), axis=0), q[0] + soft * (q - q[0])])
    run = simulate(robot, None, law, Reference(PERIOD, q), sensors=SENSORS, rng=np.random.default_rng(seed))
    return build_loop_problem(robot, [run.log], law, plan=PLAN)


def cut(given: LoopProblem, first: int) -> LoopProblem:
    """The log from a sample on, as if its beginning had been thrown away."""
    (e,) = given.experiments
    assert e.position is not None
    names = {"torque": e.tau, "position": e.position, "reference": e.reference.q}
    log = Log(e.name, e.time[first:] - e.time[first], {k: v[first:] for k, v in names.items()})
    return build_loop_problem(given.robot, [log], given.controller, plan=given.plan, base=given.base)


@pytest.mark.parametrize("strategy", [OutputError(), DIDIM()])
def test_a_log_cut_mid_run_starts_with_the_law_s_integrals(strategy: LoopStrategy) -> None:
    whole = with_offsets()
    (e,) = whole.experiments
    assert e.position is not None
    first = 1200
    estimate = identify(cut(whole, first), strategy)
    assert estimate.outcome.trustworthy
    truth = find_base(whole.robot).regroup(whole.robot.parameters)
    z = (estimate.values - truth) / estimate.sigma
    assert np.all(np.abs(z) < 5), dict(zip(estimate.names, z.round(1), strict=True))
    integral = np.sum((e.reference.q - e.position)[:first], axis=0) * PERIOD
    np.testing.assert_allclose(estimate.facts["law_memory"][0], integral, rtol=0.02, atol=2e-4)


def test_integrals_that_cannot_be_found_are_told() -> None:
    given = cut(with_offsets(), 1200)
    (e,) = given.experiments
    blind = replace(given, experiments=(replace(e, position=None),))
    findings = identify(blind, DIDIM()).findings
    assert any("could not be found from its torques and is taken as zero" in f.text for f in findings)


def test_rest_and_an_offset_of_the_torque_sensor_do_not_refuse_a_right_law() -> None:
    law = Controller(PID((300.0, 40.0), (40.0, 2.0)), PERIOD, posture=(0.0, 0.0))
    given = with_offsets(30.0, law)
    (e,) = given.experiments
    shifted = replace(given, experiments=(replace(e, tau=e.tau + np.array([1.0, 0.2])),))
    found = check_law(shifted)
    assert found.outcome is None
    assert found.findings == ()
    assert identify(shifted, DIDIM()).outcome.trustworthy
    wrong = replace(law, law=PID((300.0, 40.0), (24.0, 1.2)))
    assert check_law(replace(shifted, controller=wrong)).outcome is not None


def test_disturbances_inside_the_loop_widen_the_uncertainty() -> None:
    """White errors beneath which the robot is pushed about: classical σ is several times too small."""
    robot, law = scara()[0].robot, controller("backward")
    hits: dict[str, list[NDArray[np.bool_]]] = {"chosen": [], "plain": []}
    for seed in range(6):
        log = simulate(
            robot,
            None,
            law,
            reference(1, 20.0),
            sensors=SENSORS,
            disturbances=Disturbances(noise_relative=0.1),
            rng=np.random.default_rng(seed),
        ).log
        for name, kind in (("chosen", "honest"), ("plain", "classical")):
            found = identify(posed(log, law), OutputError(start="prior", uncertainty=kind))
            hits[name].append(np.abs(found.values - scara()[1]) < 2 * found.sigma)
            assert found.uncertainty == ("blocks" if name == "chosen" else "classical")
            if name == "chosen":
                assert found.facts["variance_inflation"] > 2
    assert np.mean(hits["plain"]) < 0.75
    assert np.mean(hits["chosen"]) > 0.85
