"""The report as data: complete, plain, and honest about what is missing."""

from __future__ import annotations

import json
from dataclasses import replace
from html import unescape

import numpy as np
import pytest

from dynid.base import find_base
from dynid.checks import DataCheck
from dynid.core.errors import DynidError
from dynid.core.finding import Finding, Level, Name
from dynid.estimators import STRIBECK, Further
from dynid.logs.log import Step
from dynid.model.load import load_robot
from dynid.model.loaders.urdf import from_urdf_text
from dynid.preparation.preparation import Preparation
from dynid.report.checks import UsedLog, findings_of, used_logs
from dynid.report.document import build_document
from dynid.report.page import render_report
from dynid.report.parameters import parameter_rows, unknown_parts
from dynid.validation.curves import drawn_motion, motion_curves, pack_curve, unpack_curve
from dynid.validation.model import as_model
from dynid.validation.validation import validate
from support.study import PLAN, checks, document, study
from support.urdf_text import joint, link, robot as urdf


def test_the_document_is_json_and_back() -> None:
    content = document()
    assert json.loads(json.dumps(content, allow_nan=False)) == content


def test_parameters_carry_what_the_estimate_found() -> None:
    s = study()
    rows = document()["parameters"]
    assert [row["name"] for row in rows] == list(s.base.names)
    np.testing.assert_array_equal([row["value"] for row in rows], s.estimate.values)
    np.testing.assert_array_equal([row["sigma"] for row in rows], s.estimate.sigma)
    by_name = {row["name"]: row for row in rows}
    assert by_name["Fv1"]["prior"] == pytest.approx(8.07)
    assert by_name["Fv1"]["prior_gap"] == pytest.approx(
        (by_name["Fv1"]["value"] - 8.07) / by_name["Fv1"]["sigma"]
    )
    assert by_name["XY3"]["prior"] is None  # nothing is known of it
    assert by_name["ZZ1R"]["formula"].startswith("ZZ1R = ")
    assert {row["status"] for row in rows} == {"known", "poorly known"}


def test_removed_and_undetermined_parameters_are_told() -> None:
    s = study(essential=True)
    content = document(s)
    removed = [row["name"] for row in content["parameters"] if row["status"] == "removed"]
    assert removed == content["estimate"]["removed"]
    assert content["estimate"]["n_kept"] + len(removed) == len(s.base)
    assert content["correlation"]["names"] == [
        row["name"] for row in content["parameters"] if row["essential"]
    ]
    lost = replace(s.estimate, facts={"undetermined": ["Fv1"]})
    rows = build_document(lost, s.motions, PLAN, s.fit)["parameters"]
    assert next(row for row in rows if row["name"] == "Fv1")["status"] == "undetermined"


def test_correlations_are_the_covariance_s() -> None:
    s = study()
    found = document()["correlation"]
    R = s.estimate.covariance / np.outer(s.estimate.sigma, s.estimate.sigma)
    np.testing.assert_allclose(found["matrix"], R, atol=6e-4)
    first = found["pairs"][0]
    i, j = (s.base.names.index(first[key]) for key in ("a", "b"))
    off = np.abs(R - np.eye(len(R)))
    assert abs(first["r"]) == pytest.approx(off.max(), abs=1e-3)
    assert first["r"] == pytest.approx(R[i, j], abs=1e-3)


def test_nonlinear_friction_has_rows_of_its_own() -> None:
    s = study()
    count = len(s.base)
    names = tuple(f"{symbol}{k}" for symbol in ("Fs", "vs") for k in range(1, 7))
    values = np.concatenate([np.full(6, 0.3), np.full(6, 0.1)])
    further = Further(names, ("N m",) * 6 + ("rad/s",) * 6, values, np.eye(count + 12) * 1e-4, (STRIBECK,))
    rows = build_document(replace(s.estimate, further=further), s.motions, PLAN, s.fit)["parameters"]
    assert rows[count]["name"] == "Fs1"
    assert rows[count]["percent_sigma"] == pytest.approx(100 * 0.01 / 0.3)
    assert "exp" in rows[-1]["formula"]


def test_the_verdict_joins_data_estimate_and_proof() -> None:
    s = study()
    assert document()["verdict"]["grade"] == "good"
    alone = document(validation=None, validation_motions=())
    assert alone["verdict"]["grade"] == "care"
    assert "No unseen motion was given" in alone["verdict"]["sentence"]
    assert alone["verdict"]["figures"][0]["label"] == "Torque error on the fit's own motion"
    backwards = Finding(Name.BACKWARD_STAMPS, Level.FAIL, "The clock runs backwards.")
    broken = replace(checks()[0], verdict="not usable", findings=(backwards,))
    bad = document(checks=[broken])
    assert bad["verdict"]["grade"] == "fail"
    assert "The clock runs backwards." in bad["verdict"]["sentence"]
    outcome = Finding(
        Name.RANK_DEFICIENT, Level.FAIL, "Fv6 cannot be told from Fc6.", "Move joint 6 at several speeds."
    )
    lost = build_document(
        replace(s.estimate, outcome=outcome), s.motions, PLAN, s.fit, validation=s.validation
    )
    assert lost["verdict"]["words"] == "Do not trust this model."
    first = lost["verdict"]["findings"][0]
    assert (first["name"], first["level"]) == ("rank deficient", "fail")
    assert first["sentence"] == "Fv6 cannot be told from Fc6."
    assert first["remedy"] == "Move joint 6 at several speeds."


def test_the_three_figures() -> None:
    s = study()
    figures = {figure["key"]: figure for figure in document()["verdict"]["figures"]}
    judged = s.validation.judged
    assert figures["torque_error_percent"]["value"] == judged.overall_percent
    assert figures["torque_error_percent"]["full_rate"] == s.validation.full.overall_percent
    assert figures["worst_joint_percent"]["value"] == judged.relative_percent.max()
    known = np.count_nonzero(s.estimate.relative_sigma <= 20)
    assert figures["known_parameters"]["value"] == known
    assert figures["known_parameters"]["unit"] == "of 58"


def test_the_headline_says_which_rate_its_figure_has() -> None:
    s = study()
    verdict = document()["verdict"]
    after, full = s.validation.judged.overall_percent, s.validation.full.overall_percent
    both = f"by {after:.3g} % over all joints after filtering ({full:.3g} % at full rate"
    assert both in verdict["sentence"]
    assert f"after filtering, {full:.3g} % at full rate" in verdict["figures"][0]["note"]
    plan = Preparation()
    raw = validate(s.estimate, s.unseen, plan, fit=validate(s.estimate, s.motions, plan, seen=True))
    assert raw.decimated is None
    told = document(validation=raw)["verdict"]
    assert f"by {full:.3g} % over all joints at full rate" in told["sentence"]


def test_findings_come_gravest_first_and_all_of_them() -> None:
    late = tuple(replace(LATE, sentence=f"Late by {k} ms.") for k in range(1, 5))
    made = document(checks=[DataCheck("a", "good", late)])["verdict"]
    levels = [Level[finding["level"].upper()] for finding in made["findings"]]
    assert levels == sorted(levels, reverse=True)
    assert "(and 3 more below): Log a (with warnings): Late by 1 ms." in made["sentence"]
    assert [finding["sentence"][-5:] for finding in made["findings"][:4]] == [f"{k} ms." for k in range(1, 5)]
    assert {"name", "level", "sentence", "remedy", "where", "figures"} <= set(made["findings"][0])


def test_frames_are_told_as_the_robot_has_them() -> None:
    frames = document()["robot"]["frames"]
    assert [frame["antecedent"] for frame in frames[:3]] == ["base", "joint1", "joint2"]
    assert [round(frame["alpha_deg"]) for frame in frames] == [0, 90, 0, -90, 90, -90]
    assert (frames[2]["d"], frames[2]["symbols"]) == (0.225, {"d": "D3"})


def test_reproducibility_keeps_inputs_steps_and_versions() -> None:
    run = document()["reproducibility"]
    assert run["command"].startswith("dynid fit tx40")
    assert [item["path"] for item in run["inputs"]] == [
        "logs/exciting_a.csv",
        "logs/exciting_b.csv",
        "logs/pick_and_place.csv",
    ]
    assert run["preparation"]["decimation"] == 10
    assert run["steps"][0]["steps"][2]["options"] == {"cutoff_hz": 40.0, "order": 4}
    assert {"dynid", "python", "numpy"} <= set(run["versions"])


@pytest.mark.parametrize("size", [1, 7, 100])
def test_curves_lose_no_peak(size: int) -> None:
    values = np.random.default_rng(0).normal(size=1003)
    values[501] = 40.0
    found = pack_curve(values, size)
    low, high = unpack_curve(found)
    if size == 1:
        assert "high" not in found
        np.testing.assert_allclose(low, values, atol=40 / 32767)
        return
    assert len(low) == len(high) == -(-1003 // size)
    for k, (least, largest) in enumerate(zip(low, high, strict=True)):
        piece = values[k * size : (k + 1) * size]
        assert least == pytest.approx(piece.min(), abs=0.002)
        assert largest == pytest.approx(piece.max(), abs=0.002)
    assert high.max() == pytest.approx(40.0)


def test_a_short_log_is_drawn_sample_by_sample() -> None:
    s = study()
    curve = motion_curves(as_model(s.estimate), s.motions[:1])[0]
    assert curve["samples_per_point"] == 1
    assert set(curve["joints"][2]) == {"measured", "residual"}  # predicted is their difference
    step = curve["joints"][2]["measured"]["scale"]
    time, joints = drawn_motion(curve)
    np.testing.assert_allclose(joints[2]["measured"], s.motions[0].tau[:, 2], rtol=0, atol=step)
    own = joints[2]["predicted"] + joints[2]["residual"]
    np.testing.assert_allclose(own, joints[2]["measured"])
    np.testing.assert_allclose(time, s.motions[0].time)
    pair = {"low": [1.0, 2.0], "high": [3.0, 4.0]}  # as version 0.1 kept them
    old = {"time": [0.0, 0.1], "joints": [dict.fromkeys(("measured", "predicted", "residual"), pair)]}
    assert drawn_motion(old)[1][0]["predicted"].tolist() == [2.0, 3.0]
    assert curve["start_s"] + 5999 * curve["step_s"] == pytest.approx(s.motions[0].time[-1])


def test_a_long_log_stays_small() -> None:
    s = study()
    long = replace(
        s.motions[0],
        **{name: np.tile(getattr(s.motions[0], name), (20, 1)) for name in ("q", "qd", "qdd", "tau")},
        time=np.arange(120_000) / 500.0,
    )
    curve = motion_curves(as_model(s.estimate), [long], budget=100_000)[0]
    assert curve["samples"] == 120_000
    assert curve["samples_per_point"] * 100_000 >= 6 * 6 * 120_000
    assert set(curve["joints"][0]) == {"measured", "predicted", "residual"}
    assert len(json.dumps(curve)) < 300_000
    assert len(json.dumps(motion_curves(as_model(s.estimate), [long] * 3))) < 3_000_000


LATE = Finding(Name.DELAY, Level.CARE, "Late.")
UNEVEN = Finding(Name.JITTER, Level.CARE, "Uneven.", "Repair it.", repairable=True)
WEAK = Finding(Name.EXCITATION, Level.NOTE, "Badly told apart.")


def levelled(*logs: UsedLog) -> list[tuple[Level, str]]:
    return [(finding.level, finding.text) for finding in findings_of(logs)]


def test_a_log_s_level_is_that_of_its_gravest_finding() -> None:
    late = UsedLog(DataCheck("a", "good", (LATE,)))
    assert (late.level, late.verdict) == (Level.CARE, "with warnings")
    assert levelled(late) == [(Level.CARE, "Log a (with warnings): Late.")]
    lost = UsedLog(DataCheck("a", "not usable", (replace(LATE, level=Level.FAIL),)))
    assert (lost.level, lost.verdict) == (Level.FAIL, "not usable")
    fine = UsedLog(DataCheck("a", "good"))
    assert levelled(fine) == [(Level.GOOD, "The data check found nothing that would harm a fit in the log.")]
    assert levelled() == []


def test_what_was_repaired_is_a_note() -> None:
    check = DataCheck("a", "usable with repairs", (UNEVEN,))
    assert UsedLog(check).level is Level.CARE
    assert levelled(UsedLog(check)) == [(Level.CARE, "Log a (usable with repairs): Uneven. Repair it.")]
    steps = (Step("repair jitter", {}, ""),)
    motion = replace(study().motions[0], name="a (first 70%)", history=steps)
    (done,) = used_logs([check], [motion])
    assert (done.level, done.verdict) == (Level.NOTE, "repaired")
    assert levelled(done) == [(Level.NOTE, "Log a (repaired): Uneven. Repaired.")]
    both = replace(check, findings=(UNEVEN, LATE))
    (left,) = used_logs([both], [motion])  # a delay is not what was repaired
    assert (left.level, left.summary) == (Level.CARE, "Late.")
    assert used_logs([both], [replace(motion, name="ab")])[0].repaired is False


def test_logs_show_their_condition_on_their_cards() -> None:
    """By name and order, since logs of several folders may share a name; condition numbers are so called."""
    motion = study().motions[0]
    used = [replace(motion, name="a", condition=name) for name in ("free", "loaded")]
    found = used_logs([DataCheck("a", "good"), DataCheck("a", "good", (), {"condition": 17.0})], used)
    assert [log.to_dict()["condition"] for log in found] == ["free", "loaded"]
    page = render_report(document() | {"data": [log.to_dict() for log in found]})
    assert page.count("taken in the condition") == 2
    assert page.index("condition “free”") < page.index("condition “loaded”") < page.index("condition number<")
    assert "taken in the condition" not in render_report(document())


def test_every_warning_of_a_log_is_told_and_notes_share_a_sentence() -> None:
    logs = [UsedLog(DataCheck(name, "good", (WEAK,))) for name in "abc"]
    logs.append(UsedLog(DataCheck("d", "good", (LATE, replace(LATE, sentence="Later.")))))
    assert levelled(*logs) == [
        (Level.CARE, "Log d (with warnings): Late."),
        (Level.CARE, "Log d (with warnings): Later."),
        (Level.NOTE, "Log a (good): Badly told apart. Also in b, c."),
    ]
    assert [finding.name for finding in findings_of(logs)] == [Name.DELAY, Name.DELAY, Name.EXCITATION]
    assert findings_of(logs)[0].where.log == "d"


def test_a_log_to_validate_with_need_not_excite() -> None:
    weak = DataCheck("a", "good", (Finding(Name.NOT_EXCITED, Level.CARE, "Fv1 is dark."),))
    assert UsedLog(weak).level is Level.CARE
    kept = UsedLog(weak, "validation")
    assert (kept.level, kept.to_dict()["use"]) == (Level.GOOD, "validation")
    assert [level for level, _ in levelled(kept)] == [Level.GOOD]
    late = UsedLog(DataCheck("a", "good", (LATE,)), "validation")
    assert levelled(late) == [(Level.CARE, "Validation log a (with warnings): Late.")]


def test_a_prior_with_an_unknown_part_is_none() -> None:
    chain = joint("j1", "base", "a") + joint("j2", "a", "b", xyz="0.3 0 0", rpy="1.5707963267948966 0 0")
    robot = from_urdf_text(urdf(link("base", ""), link("a"), link("b", "rod"), chain))
    parts = unknown_parts(find_base(robot.with_terms("Ia", "Fv", "Fc")), robot.parameters)
    assert parts["ZZ1R"] == ("Ia1",)
    assert parts["Fc1"] is None
    assert parts["MX2"] == ()
    assert unknown_parts(find_base(robot.with_terms("Fv")), robot.parameters)["ZZ1R"] == ()
    # One link alone: its own ZZ is not the sum with the drive's inertia either.
    alone = from_urdf_text(urdf(link("base", ""), link("a"), joint("j1", "base", "a")))
    assert unknown_parts(find_base(alone.with_terms("Ia")), alone.parameters)["ZZ1R"] == ("Ia1",)
    # Papers publish the sum under the name of its leading parameter.
    published = unknown_parts(find_base(load_robot("tx40")), load_robot("tx40").parameters)
    assert published["ZZ1R"] == ()


def test_rows_of_parameters_without_a_full_prior_have_no_gap() -> None:
    s = study()
    names = [n for n in s.base.robot.table.names if n not in ("Ia1", "M3")]
    rows = {row["name"]: row for row in parameter_rows(s.estimate, dict.fromkeys(names, 1.0))}
    lacking = rows["ZZ1R"]
    assert (lacking["prior"], lacking["prior_gap"]) == (None, None)
    assert lacking["prior_lacks"] == ["Ia1", "M3"]
    assert rows["Fv1"]["prior"] == 1.0
    assert rows["Fv1"]["prior_lacks"] == []
    page = render_report(build_document(s.estimate, s.motions, PLAN, s.fit, prior=dict.fromkeys(names, 1.0)))
    assert 'title="no a-priori value of ' in page


def test_warnings_of_a_data_check_lower_the_grade() -> None:
    warning = Finding(Name.DRIVE_SIGNAL, Level.CARE, "Torque is in A.", "Give a gain.")
    made = document(checks=[DataCheck("exciting_a", "good", (warning,))])
    assert made["verdict"]["grade"] == "care"
    assert "Torque is in A. Give a gain." in made["verdict"]["sentence"]
    held = document(checks=[], validation_checks=[DataCheck("pick_and_place", "good", (warning,))])
    assert held["verdict"]["grade"] == "care"
    assert held["data"][0]["use"] == "validation"
    worried = document(concerns=[Finding(Name.IMPOSSIBLE_VALUES, Level.CARE, "No robot has that.")])
    assert worried["verdict"]["sentence"].endswith("The main caution: No robot has that.")


def test_a_misfit_is_not_said_to_have_ended_well() -> None:
    s = study()
    wrong = replace(s.estimate, values=-s.estimate.values)
    own = validate(wrong, s.motions, PLAN, seen=True)
    verdict = build_document(wrong, s.motions, PLAN, own)["verdict"]
    assert verdict["grade"] == "fail"
    said = " ".join(finding["sentence"] for finding in verdict["findings"])
    assert "ended well" not in said
    assert "the model does not explain the torques of its own fit" in said


@pytest.mark.parametrize(
    ("options", "start"),
    [
        ({"seen": True}, "On the motion of its own fit, "),
        ({"repeated": True}, "On motion that repeats the fit's, "),
        ({}, "On motion the fit has not seen, "),
    ],
)
def test_the_sentence_says_what_was_tried(options: dict[str, bool], start: str) -> None:
    s = study()
    tried = validate(s.estimate, s.unseen, PLAN, fit=s.fit, **options)
    made = document(validation=tried)
    assert made["verdict"]["sentence"].startswith(start)
    headings = {"seen": "the motion of the fit", "repeated": "motion that repeats the fit's"}
    heading = headings.get(next(iter(options), ""), "unseen motion")
    assert f"Validation on {heading}<" in unescape(render_report(made))


@pytest.mark.parametrize("key", ["verdict", "robot", "estimate", "fit", "curves", "reproducibility"])
def test_a_partial_document_is_told_in_a_sentence(key: str) -> None:
    partial = {name: value for name, value in document().items() if name != key}
    with pytest.raises(DynidError, match=f"The report document is damaged: it lacks '{key}'"):
        render_report(partial)
    with pytest.raises(DynidError, match="The report document is damaged"):
        render_report({**document(), key: 7})
