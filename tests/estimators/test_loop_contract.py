"""What every strategy that simulates the closed loop promises, whatever it does inside."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dynid.core.errors import DynidError, NotTrustworthyError, ShapeError
from dynid.estimators import OLS, WLS, Essential, OutputError, identify
from dynid.problem import LoopProblem, build_loop_problem, build_problem
from dynid.simulation import PID, Bandwidth, Controller, Velocity
from support.closed_loop import CASES, PERIOD, PLAN, controller, problem, reference, scara, simulated

every = pytest.mark.parametrize("name", CASES)
simulating = pytest.mark.parametrize("name", [n for n in CASES if n != "iv-reference"])
closed = pytest.mark.parametrize("name", [n for n in CASES if n not in ("iv-reference", "oe-open")])


@every
def test_without_noise_the_truth_comes_back(name: str) -> None:
    case = CASES[name]
    estimate = identify(case.problem(), case.strategy)
    assert estimate.outcome.name == "fine"
    np.testing.assert_allclose(estimate.values, scara()[1], rtol=case.exact)


@every
def test_with_noise_the_truth_is_within_the_doubt(name: str) -> None:
    case = CASES[name]
    estimate = identify(case.problem(noisy=True), case.strategy)
    assert estimate.outcome.name == "fine"
    assert estimate.kept.all()
    assert np.all(np.abs(estimate.values - scara()[1]) < 4 * estimate.sigma)
    assert np.any(np.abs(estimate.values - scara()[1]) > 0.1 * estimate.sigma)  # σ is no excuse for anything


@every
def test_the_result_is_complete(name: str) -> None:
    case = CASES[name]
    estimate = identify(case.problem(noisy=True), case.strategy)
    assert estimate.names == scara()[0].names
    assert np.all(np.isfinite(estimate.values))
    assert np.array_equal(estimate.covariance, estimate.covariance.T)
    assert np.linalg.eigvalsh(estimate.correlation).min() > -1e-12
    assert np.all(estimate.joint_sigma > 0)
    assert estimate.strategy["name"] == type(case.strategy).__name__
    assert estimate.iterations >= 1
    rms = np.sqrt([np.mean(estimate.problem.rows(j).y ** 2) for j in range(2)])
    assert np.all(estimate.joint_sigma < 0.3 * rms)  # in N m, whatever was compared
    written = json.loads(json.dumps(estimate.to_dict(), allow_nan=False))
    assert written["strategy"]["name"] == estimate.strategy["name"]
    assert (written["n_kept"], written["n_base"]) == (int(estimate.kept.sum()), len(estimate.names))


@every
def test_the_same_call_gives_the_same_answer(name: str) -> None:
    case = CASES[name]
    first, second = (identify(case.problem(noisy=True), case.strategy) for _ in range(2))
    assert np.array_equal(first.values, second.values)
    assert np.array_equal(first.covariance, second.covariance)


@every
def test_the_order_of_experiments_does_not_matter(name: str) -> None:
    case = CASES[name]
    forward, backward = (
        identify(case.problem(noisy=True, seeds=seeds), case.strategy) for seeds in ((1, 2), (2, 1))
    )
    scale = np.maximum(np.abs(forward.values), forward.sigma)
    assert np.max(np.abs(forward.values - backward.values) / scale) < 1e-6
    np.testing.assert_allclose(forward.sigma, backward.sigma, rtol=1e-5)


@every
def test_the_time_of_day_does_not_matter(name: str) -> None:
    case = CASES[name]
    plain = case.problem(noisy=True)
    later = []
    for e in plain.experiments:
        assert e.motion is not None
        motion = replace(e.motion, time=e.motion.time + 1000)
        moved = replace(e.reference, start=e.reference.start + 1000)
        later.append(replace(e, time=e.time + 1000, reference=moved, motion=motion))
    ours, theirs = (identify(p, case.strategy) for p in (plain, replace(plain, experiments=tuple(later))))
    np.testing.assert_allclose(ours.values, theirs.values, rtol=1e-6, atol=1e-9)


@every
def test_only_kept_parameters_are_estimated(name: str) -> None:
    """Without noise, leaving out viscous friction costs the others little and itself everything."""
    case = CASES[name]
    kept = np.array([not n.startswith("Fv") for n in scara()[0].names])
    solved = case.strategy.solve(case.problem(), kept)
    assert np.array_equal(solved.fit.kept, kept)
    assert np.all(solved.fit.values[~kept] == 0)
    assert solved.fit.covariance.shape == (6, 6)
    assert np.all(np.abs(solved.fit.values / scara()[1] - 1)[kept] < 0.2)
    full = case.strategy.solve(case.problem())
    assert np.all(
        full.problem.residual_norms(full.fit.values) < solved.problem.residual_norms(solved.fit.values)
    )


@every
def test_essential_parameters_are_found_by_the_strategy_s_own_doubt(name: str) -> None:
    case = replace(CASES[name], noise=replace(CASES[name].noise, position=1e-4 if name == "oe" else 4e-5))
    full = identify(case.problem(noisy=True), case.strategy)
    estimate = identify(case.problem(noisy=True), Essential(case.strategy))
    assert estimate.outcome.name == "fine"
    removed = estimate.facts["removed"]
    assert estimate.facts["essential"]["largest_kept_relative_sigma"] <= 20
    assert list(np.array(estimate.names)[~estimate.kept]) == sorted(removed, key=estimate.names.index)
    if full.relative_sigma.max() > 20:
        assert removed[0] == full.names[int(np.argmax(full.relative_sigma))]
    else:
        assert removed == []
        np.testing.assert_array_equal(estimate.values, full.values)


def test_output_error_can_prune_too() -> None:
    case = CASES["oe"]
    noisy = problem(replace(case.noise, position=1e-4))
    assert identify(noisy, Essential(case.strategy)).facts["removed"] == ["Fv1"]


@pytest.mark.parametrize("name", [n for n in CASES if not n.endswith("ols")])  # equal weights are wrong here
@pytest.mark.parametrize("kind", ["hac", "bootstrap"])
def test_white_errors_have_the_same_doubt_by_any_rule(name: str, kind: str) -> None:
    case = CASES[name]
    noisy = case.problem(noisy=True)
    plain = identify(noisy, case.strategy)
    robust = identify(noisy, replace(case.strategy, uncertainty=kind))
    assert robust.uncertainty == kind
    np.testing.assert_array_equal(robust.values, plain.values)
    ratio = robust.sigma / plain.sigma
    assert 0.7 < np.median(ratio) < 1.5
    assert np.all((ratio > 0.5) & (ratio < 2.0))


@simulating
def test_too_few_iterations_are_named(name: str) -> None:
    case = CASES[name]
    few = replace(case.strategy, max_iterations=1)
    if isinstance(few, OutputError):
        off = {n: float(v) for n, v in zip(scara()[0].names, 1.1 * scara()[1], strict=True)}
        few = replace(few, start=off, value_tolerance=1e-8)
    estimate = identify(case.problem(), few)
    assert estimate.outcome.name == "not converged"
    assert not estimate.outcome.trustworthy
    assert "1 " in estimate.outcome.sentence
    assert "iterations" in estimate.outcome.remedy
    assert np.all(np.isfinite(estimate.values))


def negative() -> dict[str, float]:
    values = dict(zip(scara()[0].names, scara()[1].tolist(), strict=True))
    return values | {"ZZ2": -1.0}


@simulating
def test_a_start_without_inertia_is_mended_or_refused(name: str) -> None:
    case = CASES[name]
    astray = replace(case.strategy, start=negative())
    if name.startswith("didim"):  # it lends the model inertia until it stands by itself
        estimate = identify(case.problem(), astray)
        np.testing.assert_allclose(estimate.values, scara()[1], rtol=2e-2)
        return
    with pytest.raises(NotTrustworthyError, match=r"positive definite.*[Ss]tart"):
        identify(case.problem(), astray)


@closed
def test_gains_that_do_not_stabilise_are_named(name: str) -> None:
    """A law as stiff as no loop sampled at 200 Hz can be."""
    case = CASES[name]
    wild = Controller(PID((4e5, 1e5), (1.0, 0.1)), PERIOD, Velocity("exact"), posture=(0.0, 0.0))
    with pytest.raises(NotTrustworthyError, match=r"diverges at .* gains"):
        identify(replace(case.problem(), controller=wild), case.strategy)


@every
def test_a_linear_problem_is_not_enough(name: str) -> None:
    strategy = CASES[name].strategy
    linear = build_problem(scara()[0].robot, [simulated(1).motion], PLAN, scara()[0])
    for given in (strategy, Essential(strategy)):
        with pytest.raises(DynidError, match="build_loop_problem") as error:
            identify(linear, given)
        assert strategy.needs in str(error.value)


@pytest.mark.parametrize("strategy", [OLS(), WLS(), Essential(OLS())])
def test_strategies_on_motions_refuse_a_loop(strategy: WLS) -> None:
    with pytest.raises(DynidError, match="works on measured motions"):
        strategy.solution(problem())


def without(**nothing: None) -> LoopProblem:
    full = problem()
    return replace(full, experiments=tuple(replace(e, **nothing) for e in full.experiments))


@every
def test_what_is_missing_is_named(name: str) -> None:
    case = CASES[name]
    if name.startswith("iv"):
        with pytest.raises(DynidError, match="IV needs the measured motion of experiment 'experiment 1'"):
            identify(without(motion=None), case.strategy)
    elif name.startswith("oe"):
        with pytest.raises(DynidError, match="of experiment 'experiment 1'; DIDIM does not"):
            identify(without(position=None), case.strategy)
    else:  # torques, reference and law are enough
        assert identify(without(position=None, motion=None), case.strategy).outcome.name == "fine"
    if name == "oe-open":
        with pytest.raises(DynidError, match="needs q and q̇ at the start of experiment 'experiment 1'"):
            identify(without(start=None), case.strategy)


def test_logs_that_cannot_make_a_problem_get_a_sentence() -> None:
    log, robot = simulated(1).log, scara()[0].robot
    for channel in ("torque", "reference"):
        rest = {k: v for k, v in log.channels.items() if k != channel}
        with pytest.raises(DynidError, match=f"has no {channel} channel"):
            build_loop_problem(robot, [replace(log, channels=rest)], controller())
    single = Controller(Bandwidth(6.0), PERIOD)
    with pytest.raises(DynidError, match="The controller has 1 axes, but robot"):
        build_loop_problem(robot, [log], single, [reference(1)])
    with pytest.raises(DynidError, match="2 starts were given for 1 logs"):
        build_loop_problem(robot, [log], controller(), [reference(1)], starts=[None, None])
    with pytest.raises(DynidError, match=r"A start has shapes \(1,\)"):
        build_loop_problem(robot, [log], controller(), [reference(1)], starts=[([0.0], [0.0])])


def test_motions_that_do_not_belong_get_a_sentence() -> None:
    case, full = CASES["iv-model"], problem()
    first = full.experiments[0]
    motion = first.motion
    assert motion is not None

    def solve(**changes: object) -> None:
        changed = replace(first, motion=replace(motion, **changes))  # type: ignore[arg-type]
        identify(replace(full, experiments=(changed, *full.experiments[1:])), case.strategy)

    with pytest.raises(DynidError, match=r"lie up to 0\.40 of a sample beside"):
        solve(time=motion.time + 0.4 * PERIOD)
    with pytest.raises(DynidError, match="but its reference only from 0 to"):
        solve(time=motion.time + 5)
    with pytest.raises(ShapeError, match="has 1 axes, but robot 'scara' has 2"):
        solve(**{k: getattr(motion, k)[:, :1] for k in ("q", "qd", "qdd", "tau")})


PAGE = (Path(__file__).parents[2] / "docs" / "closed-loop.md").read_text(encoding="utf-8")


def test_the_code_of_the_page_runs(capsys: pytest.CaptureFixture[str]) -> None:
    (block,) = re.findall(r"^```python\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    exec(compile(block, "closed-loop.md", "exec"), {})  # as it stands there, nothing given
    assert capsys.readouterr().out.startswith("fine ")


@every
def test_the_page_describes_every_fact(name: str) -> None:
    case = CASES[name]
    facts = set(identify(case.problem(noisy=True), case.strategy).facts)
    usual = set(
        identify(build_problem(scara()[0].robot, [simulated(1).motion], PLAN, scara()[0]), OLS()).facts
    )
    own = facts - usual - {"torque_lag_share"}  # beside the lag itself
    assert own
    assert [key for key in sorted(own) if f"`{key}`" not in PAGE] == []
    assert f"`{type(case.strategy).__name__}(" in PAGE
