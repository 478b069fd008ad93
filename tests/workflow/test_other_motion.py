"""A model that was identified on one kind of motion, on a log of another kind."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import dynid
from dynid.core.finding import Level, Name
from dynid.logs.convert import to_joint_side
from dynid.preparation import prepare
from dynid.preparation.unseen import prepare_unseen
from dynid.workflow.since import KnownModel
from population.cases import draw_case
from population.other_motion import other_log


@pytest.mark.parametrize("index", [18, 36, 39])
def test_sound_moves_are_predicted_well_by_a_fourier_fit(index: int) -> None:
    """The cut-off of a slow fit would smooth faster moves, and friction at rest is anything up to ± Fc."""
    case = draw_case("setting", index)
    fit = dynid.fit(case.robot, case.logs)
    log, clean = other_log(case)
    found = dynid.validate(fit, log).validation
    assert found.verdict.grade == "good", found.verdict
    true = 100 * clean.errors(np.asarray(fit.as_saved.predict(clean.q, clean.qd, clean.qdd)))[1]
    np.testing.assert_allclose(found.judged.relative_percent, true, atol=1.5)


@pytest.mark.parametrize(("state", "size"), [("friction", 0.4), ("payload", None)])
def test_a_robot_that_has_changed_is_told_with_the_cause_first(state: str, size: float | None) -> None:
    """The change stands before the errors it makes, which keep their level and lose their own guesses."""
    case = draw_case("setting", 18)
    log = other_log(case, state)[0]
    found = dynid.validate(dynid.fit(case.robot, case.logs), log).verdict
    cause, *others = [finding for finding in found.findings if finding.level >= Level.CARE]
    assert cause.figures["suspect"] == f"{state} since"
    assert cause.remedy == "Look what was done to the robot, or fit again with these logs."
    if size is not None:
        assert cause.figures["size"] == pytest.approx(size, rel=0.1)
    assert others
    assert all(not finding.remedy for finding in others)
    assert max(finding.level for finding in others) <= cause.level
    assert (
        dynid.fit(case.robot, case.logs, validate=log).unseen.verdict.findings[0].sentence == cause.sentence
    )


def test_nothing_is_asked_where_the_prediction_is_good(monkeypatch: pytest.MonkeyPatch) -> None:
    case = draw_case("setting", 36)
    fit = dynid.fit(case.robot, case.logs)
    monkeypatch.setattr(KnownModel, "suspects_of", lambda *given: pytest.fail("asked"))
    assert dynid.validate(fit, other_log(case)[0]).verdict.grade == "good"
    with pytest.raises(pytest.fail.Exception, match="asked"):
        dynid.validate(fit, other_log(case, "friction")[0])


def test_errors_that_were_to_be_expected_need_no_other_cause(monkeypatch: pytest.MonkeyPatch) -> None:
    """The doubt that too little excitation leaves in the parameters would pass for changes."""
    monkeypatch.setattr(KnownModel, "suspects_of", lambda *given: pytest.fail("asked"))
    case = draw_case("setting", 36)
    fit = dynid.fit(case.robot, case.logs)
    doubtful = replace(fit.as_saved, covariance=1e4 * fit.estimate.covariance)
    found = dynid.validate(doubtful, other_log(case, "friction")[0]).verdict
    assert found.findings[0].name is Name.EXCITATION


def test_a_model_that_does_not_explain_its_own_fit_is_not_asked() -> None:
    """Without friction in the model, all friction would have changed since."""
    case = draw_case("setting", 18)
    bare = replace(case.robot, terms=("Ia",), parameters={})
    fit = dynid.fit(bare, case.logs)
    assert fit.own.judged.overall_percent > 15
    findings = dynid.validate(fit, other_log(case)[0]).verdict.findings
    assert Name.CHANGE_IN_TIME not in {finding.name for finding in findings}


def test_a_lacking_effect_does_not_lower_a_good_validation() -> None:
    """Torque ripple that the model lacks: 5 % of a joint's torque are missed."""
    case = draw_case("setting", 5)
    found = dynid.validate(dynid.fit(case.robot, case.logs), other_log(case)[0]).verdict
    assert found.grade == "good", found
    assert any(f.name is Name.LACKING_PHYSICS and f.level is Level.NOTE for f in found.findings)


def test_rest_does_not_count_and_fast_motion_is_not_smoothed() -> None:
    case = draw_case("setting", 36)
    plan = dynid.fit(case.robot, case.logs).plan
    log = to_joint_side(other_log(case)[0], case.robot)
    motion, smoothed = prepare_unseen(log, plan), prepare(log, plan)
    assert motion.at_rest is not None
    slow = np.abs(np.asarray(motion.qd)) < np.array(plan.speed_thresholds)
    assert np.all(motion.at_rest >= slow)
    assert 0.05 < np.mean(motion.at_rest) < 0.5
    rms = [np.sqrt(np.mean(np.asarray(m.qdd) ** 2)) for m in (motion, smoothed)]
    assert rms[0] > 1.02 * rms[1]
    part = motion.part(slice(10, 50))
    assert part.at_rest is not None
    np.testing.assert_array_equal(part.at_rest, motion.at_rest[10:50])


def test_logs_of_the_fits_own_kind_keep_its_filter() -> None:
    case = draw_case("setting", 36)
    plan = dynid.fit(case.robot, case.logs).plan
    log = to_joint_side(case.logs[0], case.robot)
    np.testing.assert_array_equal(prepare_unseen(log, plan).qdd, prepare(log, plan).qdd)
