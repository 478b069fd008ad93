"""Suspects of a model with added terms are those of that model; terms are added, or refused."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid import DynidError, fit, load_robot
from dynid.core.finding import Finding, Level, Name
from dynid.estimators import IRLS, WLS, Essential, NonlinearTerm, Separable
from dynid.logs.log import Log
from dynid.suspects.ledger import scenes_of_fit
from dynid.suspects.refinement import fit_again
from dynid.workflow import FitResult
from dynid.workflow.added_terms import with_trials_told
from support.motions import Array
from support.plain_logs import plain_log

ARM = load_robot("double_pendulum")


def flattening(q: Array, qd: Array, tau: Array) -> Array:
    return tau + np.array([0.6, 0.4]) * np.tanh(qd / 1.5)


def under_load(q: Array, qd: Array, tau: Array) -> Array:
    return tau + 0.25 * np.abs(tau) * np.sign(qd)


def named(result: FitResult, name: str) -> list[Finding]:
    return [finding for finding in result.concerns if finding.name == name]


def names_of(result: FitResult) -> tuple[str, ...]:
    return () if result.estimate.further is None else result.estimate.further.names


@pytest.fixture(scope="module")
def flat() -> Log:
    return plain_log(ARM, change=flattening)


@pytest.fixture(scope="module")
def loaded() -> Log:
    return plain_log(ARM, change=under_load)


@pytest.mark.parametrize("guess", [0.05, 1.5])
def test_the_table_is_about_the_model_with_its_terms(flat: Log, guess: float) -> None:
    """A first guess far from the truth: the fit is at noise, and so is what the table is made of."""
    term = NonlinearTerm("Ft", "tanh(qd / vt)", start={"vt": guess})
    found = fit(ARM, flat, add=term)
    assert found.suspects is not None
    assert found.suspects.findings == ()
    assert found.suspects.table.noise_share > 0.8
    left = found.suspects.table.ledger
    assert left.left == pytest.approx(
        left.fit.weights**2 * np.array(left.fit.residual_norms(found.estimate.problem)) ** 2
    )
    (told,) = named(found, "terms added")
    steps = told.figures["terms"]
    assert [step["name"] for step in steps] == ["Ft@1", "Ft@2"]
    assert steps[-1]["after_percent"] < 0.1 * steps[0]["before_percent"]


def test_the_fit_behind_the_table_is_the_estimate(flat: Log) -> None:
    found = fit(ARM, flat, add=NonlinearTerm("Ft", "tanh(qd / vt)", start={"vt": 0.05}))
    assert found.suspects is not None
    own = found.suspects.table.ledger.fit
    assert own.values == pytest.approx(found.estimate.values, rel=1e-3, abs=1e-4)
    assert own.further is not None
    problem = found.estimate.problem
    assert fit_again(problem, own).values == pytest.approx(own.values, abs=1e-9)
    assert found.estimate.further is not None
    solved = Separable(terms=found.estimate.further.terms).fit(problem).further
    assert solved is not None
    for ours, theirs in zip(own.further.residual, solved.residual, strict=True):
        assert ours == pytest.approx(theirs, abs=0.02 * float(np.std(theirs)))


def test_a_defect_beside_added_terms_is_mended_with_them(flat: Log) -> None:
    log = plain_log(ARM, change=lambda q, qd, tau: flattening(q, qd, tau) * [1.0, 1.1])
    found = fit(ARM, log, add=NonlinearTerm("Ft", "tanh(qd / vt)", start={"vt": 1.0}))
    assert found.suspects is not None
    (first, *_) = found.suspects.findings
    assert (first.figures["suspect"], first.level) == ("torque gain@2", Level.CARE)
    assert first.figures["size"] == pytest.approx(0.1, rel=0.1)


def test_fits_with_terms_of_their_own_have_suspects_too(loaded: Log) -> None:
    found = fit(ARM, loaded, Separable())
    assert found.suspects is not None
    keys = {suspect.key for suspect in found.suspects.table.ledger.suspects}
    assert not keys & {"stribeck@1", "stribeck@2"}
    assert found.suspects.table.ranked[0].suspect.key.startswith("load@")


def test_named_terms_are_added_to_a_fit_that_cannot_be_trusted() -> None:
    short = plain_log(ARM, seconds=0.3)
    assert names_of(fit(ARM, short, add="ripple@1")) == ("Rs1", "Rc1")
    found = fit(ARM, short, add="counterbalance@2")
    assert names_of(found) == ("Bs2", "Bc2")
    assert not found.estimate.outcome.trustworthy
    tried = fit(ARM, short, add="auto")
    (told,) = named(tried, "terms added")
    assert told.sentence == "No term was added, and none was tried: the fit without any cannot be trusted."


def test_what_auto_has_not_tried_is_said(loaded: Log) -> None:
    poor = plain_log(ARM, seconds=1.5, size=0.3, change=under_load)
    found = fit(ARM, poor, add="auto")
    (told,) = named(found, "terms added")
    assert "none was tried: above a condition number of 100" in told.sentence
    assert told.level is Level.NOTE
    figures = {"suspect": "load@1"}
    lacking = Finding(Name.LACKING_PHYSICS, Level.NOTE, "lacks", "Advice.", figures=figures)
    assert found.suspects is not None
    (told,) = with_trials_told([lacking], found.suspects.table.ledger, "why")
    assert told.remedy == "It was not tried as a term: why."


def test_several_terms_of_ones_own_stay_beside_those_of_the_catalogue(loaded: Log) -> None:
    own = [
        NonlinearTerm("A", "abs(load) * sign(qd)", joints=(0,)),
        NonlinearTerm("A", "qd * abs(qd)", joints=(1,)),
    ]
    found = fit(ARM, loaded, add=[*own, "counterbalance@2"])
    assert names_of(found) == ("A1", "A2", "Bs2", "Bc2")
    (told,) = named(found, "terms added")
    assert [step["name"] for step in told.figures["terms"]] == ["A@1", "A@2", "counterbalance@2"]
    alike = fit(ARM, loaded, add=NonlinearTerm("Fs", "qd * qd * sign(qd)"))
    (told,) = named(alike, "terms added")
    assert [step["name"] for step in told.figures["terms"]] == ["Fs@1", "Fs@2"]


OWN = NonlinearTerm("A", "q * q")
WRONG = {
    "not finite alone": (NonlinearTerm("C", "sqrt(q)"), r"'C' \(sqrt\(q\)\) is not finite"),
    "not finite": (("auto", NonlinearTerm("C", "sqrt(q)")), r"'C' \(sqrt\(q\)\) is not finite"),
    "named as a term": (NonlinearTerm("load", "q * q"), "your own is called 'load', and so is another one"),
    "named as a coefficient": (("auto", NonlinearTerm("Fs", "q * q")), "your own is called 'Fs'"),
    "twice": (("auto", OWN, NonlinearTerm("A", "q", joints=(1,))), "Two parameters would be called 'A2'"),
}


@pytest.mark.parametrize(("add", "said"), WRONG.values(), ids=WRONG)
def test_terms_that_cannot_be_tried_are_refused(loaded: Log, add: object, said: str) -> None:
    with pytest.raises(DynidError, match=said):
        fit(ARM, loaded, add=add)  # type: ignore[arg-type]


def test_auto_is_refused_where_the_estimator_has_terms_of_its_own(loaded: Log) -> None:
    for strategy in (Separable(), Essential(Separable())):
        with pytest.raises(DynidError, match="auto finds terms beside a model without any"):
            fit(ARM, loaded, strategy, add="auto")


def test_advice_names_estimators_that_take_it(loaded: Log) -> None:
    for finding in named(fit(ARM, loaded, IRLS()), "lacking physics"):
        assert finding.remedy.startswith("A fit by wls or ols with --add auto")


def test_parameters_that_are_not_essential_are_no_physics_that_is_lacking(loaded: Log) -> None:
    plain = fit(ARM, loaded, Essential(WLS()))
    assert not plain.estimate.kept.all()
    assert not [f for f in named(plain, "lacking physics") if "motor inertia" in f.sentence]
    assert names_of(fit(ARM, loaded, Essential(WLS()), add="auto")) == ("Fl1", "Fl2")


def test_what_is_accepted_is_a_note_in_the_table_too() -> None:
    def late(q: Array, qd: Array, tau: Array) -> Array:
        t = np.arange(len(tau)) * 0.005
        return np.column_stack([np.interp(t - 0.02, t, column) for column in tau.T])

    log = plain_log(ARM, change=late)
    plain, accepted = (
        fit(ARM, log, accept=names).document["suspects"] for names in ((), ["delay", "lacking physics"])
    )
    assert plain["ranked"][0]["level"] == "care"
    assert {row["level"] for row in accepted["ranked"]} == {"note"}
    assert "asks for care" in accepted["sentence"]


def test_terms_at_their_constants_are_partialled_out_of_an_orthogonal_residual(loaded: Log) -> None:
    """QᵀQ = 1 and Qᵀρ = 0 over [W φ ∂φ/∂θ·c], and the torques of the scenes are those of the model."""
    found = fit(ARM, loaded, add="load,stribeck@1")
    assert found.suspects is not None
    ledger = found.suspects.table.ledger
    assert ledger.rank == len(found.estimate.values) + 4  # Fl1, Fl2, Fs1, vs1
    whole = ledger.grams.sum(axis=0)
    assert whole[: ledger.rank, : ledger.rank] == pytest.approx(np.eye(ledger.rank), abs=1e-8)
    assert whole[: ledger.rank, -1] == pytest.approx(0.0, abs=1e-6 * float(np.sqrt(whole[-1, -1])))
    (scene,) = scenes_of_fit(found.estimate.problem, ledger.fit)
    size = float(np.std(scene.torque))
    assert scene.torque == pytest.approx(found.predict(scene.q, scene.qd, scene.qdd), abs=0.01 * size)
    assert found.estimate.further is not None
    share = float(found.estimate.further.values[1])  # Fl2
    plain = replace(scene, further=None, _made={})
    rubs = share * np.abs(scene.load[:, 1]) * np.sign(scene.qd[:, 1])
    assert scene.friction(1) - plain.friction(1) == pytest.approx(rubs, abs=1e-9)
