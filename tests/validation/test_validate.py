"""Validation: the figures are those of the regression, and the verdict follows from them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dynid.core.errors import DynidError
from dynid.core.finding import Finding, Level, Name
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem import build_problem
from dynid.validation.figures import ErrorFigures
from dynid.validation.model import IdentifiedModel, as_model
from dynid.validation.residual_tests import ResidualTests, residual_tests
from dynid.validation.validation import validate
from dynid.validation.verdict import Thresholds, grade_of, judge
from support.study import PLAN, study, weighted_fit

JOINTS = ("shoulder", "elbow")


@pytest.mark.parametrize(
    "plan",
    [
        PLAN,
        Preparation(decimation=10, convention="matlab"),
        Preparation(decimation=8, speed_thresholds=(0.05, 0.1, 0.05, 0.2, 0.1, 0.3)),
        Preparation(speed_thresholds=(0.05, 0.1, 0.05, 0.2, 0.1, 0.3)),
        Preparation(),
    ],
    ids=["decimated", "matlab", "decimated and masked", "masked", "full rate"],
)
def test_errors_on_the_fit_s_motion_are_the_regression_s_residual(plan: Preparation) -> None:
    s = study()
    problem = build_problem(s.robot, s.motions, plan, s.base)
    values = weighted_fit(problem).values
    found = validate(IdentifiedModel(s.robot, s.base, values), s.motions, plan, seen=True)
    expected = 100 * problem.residual_norms(values) / problem.torque_norms()
    np.testing.assert_allclose(found.judged.relative_percent, expected, rtol=1e-6)
    assert found.judged.samples.tolist() == problem.row_counts.tolist()
    assert (found.decimated is None) == (plan == Preparation())


def test_the_study_is_trusted_and_says_so() -> None:
    s = study()
    found = s.validation
    assert found.trustworthy
    assert found.verdict.grade == "good"
    assert "on unseen motion it misses" in found.verdict.sentence
    assert "worst joint (joint" in found.verdict.sentence
    assert 1.0 < found.judged.overall_percent < 3.0
    # at full rate the noise of 4 % is all there, in the decimated rows most of it is gone
    np.testing.assert_allclose(found.full.relative_percent, 4.3, atol=0.5)
    assert np.all(found.judged.relative_percent < found.full.relative_percent)
    notes = [finding.sentence for finding in found.verdict.findings if finding.level is Level.NOTE]
    assert any("not white on joint1" in note for note in notes)
    assert np.all(found.doubt_rms < found.full.rms)


def test_every_way_to_ask_gives_the_same() -> None:
    s = study()
    a = validate(s.estimate, s.unseen, PLAN).to_dict()
    known = IdentifiedModel(s.robot, s.base, s.estimate.values, s.estimate.covariance)
    assert validate(known, s.unseen, PLAN).to_dict() == a
    assert json.loads(json.dumps(a, allow_nan=False)) == a
    assert validate(replace(known, covariance=None), s.unseen, PLAN).doubt_rms is None


def test_it_is_shown_in_a_few_lines() -> None:
    shown = repr(study().validation)
    assert shown.startswith("Validation(joint1 ")
    assert "good: The model predicts torques well" in shown
    assert len(shown.splitlines()) <= 15


def test_several_motions_are_told_apart_and_together() -> None:
    s = study()
    found = validate(s.estimate, s.motions, PLAN)
    assert [motion.name for motion in found.motions] == ["exciting_a", "exciting_b"]
    low, high = sorted(motion.judged.overall_percent for motion in found.motions)
    assert low < found.judged.overall_percent < high


def test_wrong_gravity_is_not_trusted() -> None:
    s = study()
    wrong = s.estimate.values.copy()
    wrong[s.base.names.index("MX2R")] *= -1
    found = validate(IdentifiedModel(s.robot, s.base, wrong), s.unseen, PLAN, fit=s.fit)
    assert not found.trustworthy
    assert "does not predict the torques well enough" in found.verdict.sentence
    grave = [finding.text for finding in found.verdict.findings if finding.level is Level.FAIL]
    assert any("joint2" in text and "Look at its residual" in text for text in grave)
    assert found.verdict.findings[0].level is Level.FAIL


def test_an_offset_that_moved_is_noted() -> None:
    s = study()
    motion = s.unseen[0]
    shift = np.array([0.0, 0.0, 0.5, 0.0, 0.0, 0.0])
    moved = Motion("moved", motion.time, motion.q, motion.qd, motion.qdd, motion.tau + shift, motion.rate_hz)
    findings = validate(s.estimate, [moved], PLAN).verdict.findings
    assert any("constant part on joint3 (+0.5" in finding.text for finding in findings)


def test_no_motion_is_refused() -> None:
    with pytest.raises(DynidError, match="was given no motion; give at least one"):
        validate(study().estimate, [], PLAN)


def figures(
    shoulder: float, elbow: float, overall: float, rms: tuple[float, float] = (1.0, 1.0)
) -> ErrorFigures:
    errors, sizes = np.array([shoulder, elbow]), np.array(rms)
    return ErrorFigures(np.array([100, 100]), errors, sizes, sizes, 0 * sizes, sizes, overall)


QUIET = tuple(residual_tests([np.random.default_rng(k).normal(size=200)]) for k in (1, 2))


@pytest.mark.parametrize(
    ("errors", "grade", "said"),
    [
        ((5.0, 6.0, 5.5), "good", "Every joint stays within 15 %"),
        ((5.0, 20.0, 5.5), "care", "The error is large on elbow (20 %)"),
        ((5.0, 40.0, 5.5), "fail", "beyond 30 %"),
        ((16.0, 16.0, 16.0), "fail", "at most 15 % is accepted"),
        ((5.0, np.nan, 5.5, (1.0, np.nan)), "fail", "elbow (an undefined share)"),
        ((5.0, np.inf, 5.5, (1.0, 0.02)), "good", "There is no torque on elbow (0.02 rms): the model misses"),
        ((5.0, 6.0, np.nan), "fail", "is an undefined share of the torque"),
    ],
)
def test_grades_follow_the_thresholds(errors: tuple[Any, ...], grade: str, said: str) -> None:
    verdict = judge(figures(*errors), QUIET, JOINTS)
    assert verdict.grade == grade
    assert verdict.trustworthy == (grade != "fail")
    assert any(said in finding.text for finding in verdict.findings)


def test_the_fit_s_own_error_is_compared() -> None:
    fit = figures(5.0, 1.0, 4.0, rms=(0.4, 0.1))
    bad = judge(figures(12.0, 4.0, 10.0), QUIET, JOINTS, fit=fit)
    assert bad.grade == "care"  # the elbow is four times worse, but 4 % is below what is asked about
    assert any("shoulder (2.4 ×)." in finding.text for finding in bad.findings)
    assert not any("elbow" in finding.text for finding in bad.findings)
    fine = judge(figures(12.0, 4.0, 10.0), QUIET, JOINTS, fit=figures(7.0, 1.0, 4.0, rms=(0.4, 0.1)))
    assert fine.grade == "good"


def test_friction_that_the_model_lacks_is_named_where_something_speaks_for_it() -> None:
    fit, worse = figures(5.0, 1.0, 4.0, rms=(0.4, 0.1)), figures(12.0, 4.0, 10.0)
    excite, friction = "excite it more", "Friction that the model lacks, or another effect"
    rng = np.random.default_rng(3)
    spiky = residual_tests([rng.standard_t(2, size=2000)])

    def said(tests: tuple[ResidualTests, ...], lacking: bool = False) -> str:
        findings = judge(worse, tests, JOINTS, fit=fit, lacking=lacking).findings
        return next(f.remedy for f in findings if f.name is Name.WORSE_THAN_FIT)

    assert excite in said(QUIET)
    assert friction in said(QUIET, lacking=True)
    assert friction in said((spiky, QUIET[1]))
    assert excite in said((QUIET[0], spiky))  # of a joint that is not worse
    assert excite not in said(QUIET, lacking=True)


def test_a_model_without_dry_friction_lacks_it() -> None:
    model = as_model(study().estimate)
    assert model.dry_friction
    for terms, known in ((("Fv", "off"), False), ((), False), (("Fc",), True)):
        assert replace(model, robot=model.robot.with_terms(*terms)).dry_friction is known


def test_a_joint_that_is_hardly_loaded_is_not_blamed_but_not_proven() -> None:
    unseen = figures(5.0, 50.0, 6.0)
    same = judge(unseen, QUIET, JOINTS, fit=figures(5.0, 9.0, 5.0))
    assert same.grade == "care"
    assert any("elbow (50 %; 1 rms against 1 in the fit)" in finding.text for finding in same.findings)
    assert any("Every other joint stays within" in finding.text for finding in same.findings)
    assert judge(unseen, QUIET, JOINTS, fit=figures(5.0, 9.0, 5.0, rms=(1.0, 0.3))).grade == "fail"
    assert judge(unseen, QUIET, JOINTS, fit=figures(5.0, 40.0, 5.0)).grade == "fail"  # never was any good
    assert judge(unseen, QUIET, JOINTS).grade == "fail"


def test_rows_at_rest_are_mentioned() -> None:
    verdict = judge(figures(5.0, 6.0, 5.5), QUIET, JOINTS, left_out=0.3)
    assert verdict.grade == "good"
    assert "30 % of the samples do not count" in verdict.findings[0].sentence
    assert judge(figures(5.0, 6.0, 5.5), QUIET, JOINTS, left_out=0.6).grade == "care"
    s = study()
    plan = replace(PLAN, speed_thresholds=(0.3,) * 6)
    assert any(f.name is Name.NEARLY_AT_REST for f in validate(s.estimate, s.unseen, plan).verdict.findings)


def test_thresholds_can_be_changed() -> None:
    strict = replace(Thresholds(), joint_percent=3.0)
    assert judge(figures(5.0, 2.0, 4.0), QUIET, JOINTS, thresholds=strict).grade == "care"
    with pytest.raises(DynidError, match="threshold joint_percent is -1; it must be positive"):
        Thresholds(joint_percent=-1)


def test_notes_do_not_lower_the_grade() -> None:
    good, note, care = (Finding(Name.TORQUE_ERROR, level) for level in (Level.GOOD, Level.NOTE, Level.CARE))
    assert grade_of([good, note]) == "good"
    assert grade_of([note, care, good]) == "care"
    assert grade_of([]) == "good"
