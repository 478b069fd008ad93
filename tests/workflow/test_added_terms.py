"""Physics that the model lacks is found, added and carried along; nothing is added where nothing lacks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from cli.scara_logs import LOAD_TRUTH, loaded
from dynid import load_result, validate
from dynid.core.errors import DynidError
from dynid.core.finding import Finding, Level, Name
from dynid.estimators import OLS, Essential, NonlinearTerm, Separable
from dynid.logs.log import Log
from dynid.preparation.preparation import Preparation
from dynid.suspects.ledger import open_ledger
from dynid.suspects.physics import physics
from dynid.suspects.position_effects import RippleRules
from dynid.suspects.ranking import suspect_ledger
from dynid.workflow import FitResult, fit
from dynid.workflow.added_terms import is_poorly_shown, term_request, with_trials_told
from dynid.workflow.term_choice import TermRules, choose_terms, contributions
from support.estimation import scara
from support.motions import exact_torques, fourier_motion

BASE, TRUTH = scara()
PLAN = Preparation(cutoff_hz=20, drop_samples=30, decimation=4)


def log_of(
    seed: int,
    *,
    load: float = 0.0,
    quadratic: tuple[float, float] = (0.0, 0.0),
    ripple: float = 0.0,
    faster: float = 1.0,
) -> Log:
    """The SCARA with torques beside its model: a share of the load, factors of v|v|, ripple of joint 1."""
    rng = np.random.default_rng(seed)
    motion = fourier_motion(BASE.robot, rng, seconds=12.0, rate_hz=250.0)
    if faster != 1.0:
        scaled = {"qd": motion.qd * faster, "qdd": motion.qdd * faster**2, "time": motion.time / faster}
        motion = type(motion)(**{**vars(motion), **scaled, "rate_hz": motion.rate_hz * faster})
    tau = exact_torques(BASE, TRUTH, motion)
    tau += load * loaded(motion) + np.array(quadratic) * motion.qd * np.abs(motion.qd)
    tau[:, 0] += ripple * np.sin(9.0 * motion.q[:, 0] + 0.5)
    tau += 0.01 * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
    return Log(f"log{seed}", motion.time, {"position": np.asarray(motion.q), "torque": tau})


def names_of(result: FitResult) -> list[str]:
    further = result.estimate.further
    return [] if further is None else list(further.names)


@pytest.fixture(scope="module")
def lacking() -> Log:
    return log_of(1, load=1.0)


def test_load_friction_is_found_and_added(lacking: Log) -> None:
    plain = fit(BASE.robot, lacking, plan=PLAN, validate=log_of(2, load=1.0))
    auto = fit(BASE.robot, lacking, plan=PLAN, validate=log_of(2, load=1.0), add="auto")
    assert plain.unseen is not None
    assert auto.unseen is not None
    assert names_of(plain) == []
    assert names_of(auto) == ["Fl1", "Fl2"]
    assert auto.estimate.further is not None
    assert auto.estimate.further.values == pytest.approx(list(LOAD_TRUTH.values()), rel=0.1)
    assert auto.unseen.judged.overall_percent < 0.6 * plain.unseen.judged.overall_percent
    (would,) = [finding for finding in plain.concerns if finding.name == "terms lacking"]
    assert "The model lacks friction that grows with load (joints 1, 2): with them, " in would.sentence
    assert 'Fit with --add auto (add="auto") to have them added.' in would.text
    (brought,) = [finding for finding in auto.concerns if finding.name == "terms added"]
    assert "load@1" in brought.sentence
    assert "load@2" in brought.sentence
    # What is told beforehand is what is brought.
    assert would.figures["terms"] == brought.figures["terms"]
    assert brought.figures["terms"][-1]["after_percent"] < 0.6 * brought.figures["terms"][0]["before_percent"]


def test_nothing_is_added_where_nothing_lacks() -> None:
    for seed in range(3, 7):
        found = fit(BASE.robot, log_of(seed), plan=PLAN, add="auto")
        assert names_of(found) == []
        (told,) = [f.sentence for f in found.concerns if f.name in ("terms lacking", "terms added")]
        assert told.startswith("No term was added: none is clearly seen")
    assert not [f for f in fit(BASE.robot, log_of(3), plan=PLAN).concerns if f.name == "terms lacking"]


def test_terms_by_name_are_added_in_any_case_and_told_when_useless(lacking: Log) -> None:
    found = fit(BASE.robot, lacking, plan=PLAN, add="load@2,asymmetry@1,load@1")
    assert names_of(found) == ["Fl1", "Fl2", "Fa1"]
    (told,) = [finding for finding in found.concerns if finding.name == "terms added"]
    steps = {step["name"]: step for step in told.figures["terms"]}
    assert steps["load@2"]["after_percent"] < steps["load@2"]["before_percent"]
    assert steps["asymmetry@1"]["after_percent"] == pytest.approx(
        steps["asymmetry@1"]["before_percent"], rel=0.02
    )


def test_several_logs_are_left_out_whole() -> None:
    logs = [log_of(seed, load=1.0) for seed in (1, 2, 3)]
    assert names_of(fit(BASE.robot, logs, plan=PLAN, add="auto")) == ["Fl1", "Fl2"]
    estimate = fit(BASE.robot, logs, plan=PLAN).estimate
    ledger = open_ledger(estimate.problem, physics(BASE.robot), estimate.kept)
    assert sorted(set(ledger.logs.tolist())) == [0, 1, 2]
    assert ledger.plain.sum(axis=0)[-1, -1] == pytest.approx(
        sum(float(np.sum(estimate.problem.rows(j).residual(ledger.fit.values) ** 2)) for j in range(2))
    )


def test_errors_on_parts_are_those_of_least_squares_without_the_part(lacking: Log) -> None:
    """The Grams give what a fit on the rows of the other parts gives."""
    estimate = fit(BASE.robot, lacking, plan=PLAN).estimate
    problem = estimate.problem
    ledger = open_ledger(problem, physics(BASE.robot), estimate.kept)
    told = contributions(ledger, [0])[0].before
    joints = [problem.rows(j) for j in range(2)]
    blocks = [rows.sample * len(ledger.logs) // problem.experiments[0].regression_samples for rows in joints]
    squares = 0.0
    for part in range(5):
        out = [block * 5 // len(ledger.logs) == part for block in blocks]
        W, y = (
            np.concatenate([w * a[~o] for w, a, o in zip(ledger.fit.weights, arrays, out, strict=True)])
            for arrays in ([rows.wide(len(BASE)) for rows in joints], [rows.y for rows in joints])
        )
        values = np.linalg.lstsq(W, y, rcond=None)[0]
        squares += sum(
            float(np.sum(rows.residual(values)[o] ** 2)) for rows, o in zip(joints, out, strict=True)
        )
    expected = 100 * np.sqrt(squares / np.sum(problem.torque_norms() ** 2))
    assert told == pytest.approx(expected, rel=1e-6)


def test_a_sign_that_cannot_be_is_not_added() -> None:
    log = log_of(1, load=-0.5)
    assert "Fl1" not in names_of(fit(BASE.robot, log, plan=PLAN, add="auto"))
    estimate = fit(BASE.robot, log, plan=PLAN).estimate
    ledger = open_ledger(estimate.problem, physics(BASE.robot), estimate.kept)
    assert all(step.effect.label != "load" for step in choose_terms(ledger, TermRules(errors=0.0)))


def test_saved_results_predict_with_their_terms(lacking: Log, tmp_path: Path) -> None:
    found = fit(BASE.robot, lacking, plan=PLAN, add="auto")
    saved = load_result(found.save(tmp_path / "out"))
    q, qd, qdd = (np.asarray(getattr(found.motions[0], name)[:50]) for name in ("q", "qd", "qdd"))
    assert saved.predict(q, qd, qdd) == pytest.approx(found.predict(q, qd, qdd))
    assert saved.further is not None
    assert saved.further.ranges == found.estimate.further.ranges  # type: ignore[union-attr]
    assert saved.further.terms[0].words == "friction that grows with load"
    proof = validate(saved, log_of(2, load=1.0))
    assert not [f for f in proof.verdict.findings if f.name == "beyond the terms' range"]


def test_new_motion_beyond_the_learnt_range_is_told() -> None:
    slow = fit(BASE.robot, log_of(1, quadratic=(-0.4, -0.1)), plan=PLAN, add="flattening")
    proof = validate(slow, log_of(2, quadratic=(-0.4, -0.1), faster=2.0))
    told = [f.text for f in proof.verdict.findings if f.name == "beyond the terms' range"]
    assert any("The speeds of joint 1 reach from" in text and "Fq1" in text for text in told)


def test_terms_of_ones_own_join_the_catalogue(lacking: Log) -> None:
    mine = NonlinearTerm("Fw", "abs(load) * sign(qd)", joints=(0,), unit="1", words="my friction")
    forced = fit(BASE.robot, lacking, plan=PLAN, add=mine)
    assert names_of(forced) == ["Fw1"]
    tried = fit(BASE.robot, lacking, plan=PLAN, add=("auto", mine))
    assert {"Fl2"} < set(names_of(tried))
    assert len(names_of(tried)) == 2  # the same on joint 1 once, by either name


def test_ripple_is_found_added_and_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    rippled = [log_of(seed, ripple=4.0) for seed in (1, 2)]
    plain, auto, named = (
        fit(BASE.robot, rippled[0], plan=PLAN, validate=rippled[1], add=add)
        for add in ("none", "auto", "ripple@1")
    )
    assert names_of(auto) == names_of(named) == ["Rs1", "Rc1"]
    assert auto.estimate.further is not None
    assert float(np.linalg.norm(auto.estimate.further.values)) == pytest.approx(4.0, rel=0.1)
    errors = [result.unseen.judged.overall_percent for result in (plain, auto) if result.unseen]
    assert errors[1] < 0.5 * errors[0]
    monkeypatch.setattr("dynid.suspects.position_effects.RIPPLE", RippleRules(least=1.0))
    with pytest.raises(DynidError, match="The logs show nothing that ripple@2 could be"):
        fit(BASE.robot, log_of(1), plan=PLAN, add="ripple@2")


def test_what_auto_has_tried_is_not_advised_again(lacking: Log) -> None:
    estimate = fit(BASE.robot, lacking, plan=PLAN).estimate
    found = [
        Finding(Name.LACKING_PHYSICS, Level.NOTE, "lacks", "Advice.", figures={"suspect": key})
        for key in ("spring@1", "inertia coupling@1-2")
    ]
    tried, coupling = with_trials_told(found, suspect_ledger(estimate))
    assert tried.remedy.startswith("It was tried as a term, and motion that was not used is not clearly")
    assert coupling.remedy == "Advice."


def test_nothing_is_chosen_on_a_motion_that_shows_too_little(
    lacking: Log, monkeypatch: pytest.MonkeyPatch
) -> None:
    good = fit(BASE.robot, lacking, plan=PLAN).estimate
    assert not is_poorly_shown(good)
    poor = {**good.facts, "condition_weighted_scaled": 101.0}
    assert is_poorly_shown(replace(good, facts=poor))
    monkeypatch.setattr("dynid.workflow.added_terms.POOR_CONDITION", 1.0)
    assert names_of(fit(BASE.robot, lacking, plan=PLAN, add="auto")) == []


def test_estimators_with_and_without_terms(lacking: Log) -> None:
    assert names_of(fit(BASE.robot, lacking, Essential(OLS()), plan=PLAN, add="load@1")) == ["Fl1"]
    assert names_of(fit(BASE.robot, lacking, Separable(), plan=PLAN)) == ["Fs1", "Fs2", "vs1", "vs2"]
    assert names_of(fit(BASE.robot, lacking, Separable(), plan=PLAN, add="load")) == ["Fl1", "Fl2"]


def test_joints_have_numbers_or_names() -> None:
    by_number, by_name = (
        term_request(add, BASE.robot, OLS()).terms
        for add in ("stribeck@2,load@1,2,asymmetry@1", "stribeck@joint2,load@joint1,joint2,asymmetry@1")
    )
    assert by_name == by_number


WRONG: dict[str, tuple[object, str]] = {
    "name": ("loud", "Unknown term to add 'loud'. Did you mean 'load'?"),
    "joint": ("load@3", "Unknown joint of the term 'load' '3'. Known: 1, 2, joint1, joint2."),
    "both": ("auto,load", "add has 'auto' beside 'load'; give auto, which tries every term by itself"),
    "own twice": ("dry", "Robot 'scara' has dry friction already (Fc1)"),
    "number": (3, "fit takes"),
}


@pytest.mark.parametrize(("add", "part"), WRONG.values(), ids=WRONG)
def test_wrong_terms_get_sentences(lacking: Log, add: object, part: str) -> None:
    with pytest.raises(DynidError) as told:
        fit(BASE.robot, lacking, plan=PLAN, add=add)  # type: ignore[arg-type]
    assert part in str(told.value)
