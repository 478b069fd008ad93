"""The page of a designed motion: it has the document's numbers, is safe, and is honest about limits."""

from __future__ import annotations

import base64
import copy
import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import suppress
from functools import reduce
from html import unescape
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dynid.compile.kernels import kernels
from dynid.core.errors import DynidError, ShapeError
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.report.design_page import DESIGN, drawn_data, render_design
from dynid.report.stick_figure import MOST_FRAMES, stick_figure
from support.designs import design
from support.html_tree import parsed
from support.robots import branched_robot, prismatic_robot

EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)>\'"&'


@pytest.fixture(scope="module")
def page() -> str:
    return render_design(design())


def values_of(page: str, section: str, columns: int) -> list[list[str]]:
    """The numbers behind the cells of a section's table, row by row."""
    part = page[page.index(f'<section id="{section}"') :]
    part = part[: part.index("</section>")]
    cells = [unescape(value) for value in re.findall(r'<td[^>]* data-value="([^"]*)"', part)]
    return [cells[k : k + columns] for k in range(0, len(cells), columns)]


def said(value: Any) -> str:
    return "" if value is None else str(value) if isinstance(value, str) else repr(value)


def test_the_page_needs_nothing_but_itself(page: str) -> None:
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\((?!#)", page)
    tree = parsed(page)
    assert len(tree.ids) == len(set(tree.ids))
    assert tree.handlers == []
    assert tree.tags.count("script") == 2
    assert not {"iframe", "object", "embed", "img"} & set(tree.tags)
    assert not re.search(r"<[^>]+ style=", re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL))
    assert len(page) < 2_000_000


def test_the_policy_names_the_style_and_the_script_of_this_page(page: str) -> None:
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in unescape(policy[1]).split("; "))
    assert rules["default-src"] == "'none'"
    for tag, rule in (("style", "style-src"), ("script", "script-src")):
        (text,) = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert rules[rule] == f"'sha256-{digest}'"
    assert "poseAt" in page  # motion.js, and not the script of a report
    assert "heatMap" not in page


def test_sections_stand_in_order_and_are_linked(page: str) -> None:
    keys = [section.key for section in DESIGN.sections]
    places = [page.index(f'<section id="{key}"') for key in keys]
    assert places == sorted(places)
    assert re.findall(r'<a href="#([a-z]+)">', page) == keys[1:]
    assert page.count("<h1") == 1


def test_the_headline_has_the_document_s_figures(page: str) -> None:
    content = design()
    found = dict(re.findall(r'data-figure="([a-z_]+)" data-value="([^"]*)"', page))
    figures = content["figures"]
    used = max(row["used_percent"] for row in content["limits"] if row["used_percent"] is not None)
    assert found == {
        "criterion": repr(content["criterion"]["value"]),
        **{key: repr(figures[key]) for key in ("condition", "condition_scaled", "log_det")},
        "duration_s": repr(content["trajectory"]["duration_s"]),
        "used_percent": repr(used),
        "clearance": "0.131",
    }
    for words in (
        content["criterion"]["words"],
        content["trajectory"]["words"],
        "260 evaluations in 0.700 s",
    ):
        assert words.replace("'", "&#39;") in page
    assert content["findings"][0]["sentence"] in page


@pytest.mark.parametrize(
    ("section", "entries", "keys"),
    [
        ("limits", "limits", ("joint", "quantity", "used_percent", "least", "largest", "low", "high")),
        ("gains", "parameters", ("name", "gain", "sigma_before", "sigma", "value", "percent_sigma")),
        ("starts", "starts", ("", "value", "condition", "log_det", "evaluations", "seconds", "outcome")),
    ],
)
def test_tables_have_the_document_s_numbers(
    page: str, section: str, entries: str, keys: tuple[str, ...]
) -> None:
    rows = design()[entries]
    columns = len(keys) + (section == "limits")  # the last says where a limit holds
    found = values_of(page, section, columns)
    assert len(found) == len(rows)
    for cells, row in zip(found, rows, strict=True):
        assert [c for c, key in zip(cells, keys, strict=False) if key] == [
            said(row[key]) for key in keys if key
        ]


def test_the_smallest_distance_comes_first(page: str) -> None:
    rows = sorted(design()["clearances"], key=lambda row: row["least"])
    expected = [[row["pair"], repr(row["least"]), repr(row["time_s"])] for row in rows]
    assert values_of(page, "clearances", 3) == expected


def test_charts_show_every_curve_and_limit_without_a_script(page: str) -> None:
    part = page[page.index('<section id="limits"') : page.index('<section id="gains"')]
    charts = re.findall(r"<svg viewBox.*?</svg>", part, re.DOTALL)
    assert len(charts) == 7 * 4
    limited = [chart.count('class="limit line"') for chart in charts]
    assert limited == [2, 2, 0, 2] * 7  # no limit of the acceleration
    assert all(chart.count('class="predicted line"') == 1 for chart in charts)


def test_a_page_from_saved_json_is_the_same(page: str) -> None:
    assert render_design(json.loads(json.dumps(design()))) == page


def test_the_script_gets_the_figure_as_the_document_has_it() -> None:
    content = design()
    data = drawn_data(content)
    assert data["stick"] == content["stick"]
    times, q = data["stick"]["times"], np.array(data["positions"])
    np.testing.assert_allclose(
        q, [np.interp(times, content["curves"]["time"], p) for p in content["curves"]["position"]]
    )


# What the headline says


def level_of(content: dict[str, Any]) -> tuple[str, str]:
    page = render_design(content)
    grade = re.search(r'data-grade="([a-z]+)"', page)
    sentence = re.search(r'<p class="answer">(.*?)</p>', page, re.DOTALL)
    assert grade is not None
    assert sentence is not None
    return grade[1], unescape(sentence[1])


def test_limits_that_hold_are_counted_by_how_they_are_known() -> None:
    content = design()
    grade, sentence = level_of(content)
    assert grade == "good"
    assert "All 21 limits hold, 14 of them at every instant, the others at the samples only." in sentence
    for row in content["limits"]:
        row["verified"] = True
    assert "All 21 limits hold, at every instant." in level_of(content)[1]


def test_a_limit_that_is_passed_forbids_the_motion() -> None:
    content = design()
    content["limits"][1]["used_percent"] = 100.0 + 5e-5  # rounding
    assert level_of(content)[0] == "good"
    content["limits"][1]["used_percent"] = 104.0
    grade, sentence = level_of(content)
    assert grade == "fail"
    assert "1 of 21 limits are passed (velocity of joint1 the most, 104 %)." in sentence
    assert "Do not run this motion." in render_design(content)
    assert ">passed</span>" in render_design(content)


def test_a_contact_forbids_the_motion() -> None:
    content = design()
    content["clearances"][0]["least"] = -0.01
    grade, sentence = level_of(content)
    assert grade == "fail"
    assert "The least distance is −0.0100 m, of link 2 and link 5." in sentence


def test_findings_decide_and_the_gravest_comes_first() -> None:
    content = design()
    content["findings"] += [
        {**content["findings"][0], "level": "care", "sentence": "Nearly parallel columns."}
    ]
    assert level_of(content)[0] == "care"
    page = render_design(content)
    assert page.index("Nearly parallel columns.") < page.index("those of the a-priori model")


def test_a_motion_without_limits_is_said_to_be_unproven() -> None:
    content = design()
    content["limits"] = []
    grade, sentence = level_of(content)
    assert grade == "care"
    assert "No limit was given" in sentence


def test_what_is_not_there_is_left_out() -> None:
    content = design()
    content |= {"clearances": [], "starts": [], "findings": [], "stick": None}
    content["curves"]["torque"] = None
    for row in content["parameters"]:
        row |= {"gain": None, "sigma_before": None, "percent_sigma": None}
    page = render_design(content)
    parsed(page)
    for key in ("clearances", "starts", "figure"):
        assert f'id="{key}"' not in page
    assert "gain [×]" not in page
    assert "torque of joint1" not in page


# Hostile documents


def test_a_hostile_joint_name_stays_text() -> None:
    text = json.dumps(design()).replace('"joint1"', json.dumps(EVIL))
    content = json.loads(text)
    content["title"] = content["robot"]["title"] = content["criterion"]["words"] = EVIL
    content["run"] |= {"command": EVIL, "options": {EVIL: EVIL}}
    page = render_design(content)
    tree = parsed(page)
    assert tree.tags.count("script") == 2
    assert "img" not in tree.tags
    assert tree.handlers == []
    assert page.count("&lt;script&gt;alert(&#34;x&#34;)") > 10


def leaves(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Paths to all strings and numbers; of a list, its first member stands for all."""
    if isinstance(value, dict | list) and value:
        for key, inner in value.items() if isinstance(value, dict) else [(0, value[0])]:
            yield from leaves(inner, (*path, key))
    elif value is not None:
        yield path


def small() -> dict[str, Any]:
    """A design of few samples, which renders fast."""
    content = design()
    content["curves"] = {
        key: part[:9] if key == "time" else [p[:9] for p in part] for key, part in content["curves"].items()
    }
    for key in ("times", "points", "rotations"):
        content["stick"][key] = content["stick"][key][:5]
    return content


def test_whatever_a_tampered_design_holds_stays_text() -> None:
    """Each leaf in turn is hostile: the page keeps its tags, or the document is called damaged."""
    whole = small()
    shown = 0
    for *way, last in leaves(whole):
        evil = copy.deepcopy(whole)
        reduce(lambda inner, step: inner[step], way, evil)[last] = EVIL
        with suppress(DynidError):
            tree = parsed(render_design(evil))
            assert tree.tags.count("script") == 2, (*way, last)
            assert "img" not in tree.tags
            assert tree.handlers == []
            shown += 1
    assert shown > 20  # texts; numbers are refused


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("times",), [0.0, 0.0, 1.0, 2.0, 3.0]),
        (("times",), [0.0, 1.0]),
        (("parents",), [-1, 5, 1, 2, 3, 4, 5]),
        (("parents",), []),
        (("points",), [[[0.0, 0.0]]]),
        (("points", 0, 0, 0), None),
        (("points", 0, 0, 0), 1e400),
        (("rotations",), []),
        (("capsules", 0, "link"), 7),
        (("capsules", 0, "end"), [0.0]),
        (("walls", 0, "normal"), "x"),
    ],
)
def test_a_figure_whose_parts_do_not_fit_is_called_damaged(path: tuple[Any, ...], value: Any) -> None:
    content = small()
    reduce(lambda inner, step: inner[step], path[:-1], content["stick"])[path[-1]] = value
    with pytest.raises(
        DynidError, match=r"The design document is damaged: .* Make it again with dynid excite\."
    ):
        render_design(content)


@pytest.mark.parametrize("key", ["figures", "limits", "curves", "run", "criterion", "parameters"])
def test_what_a_document_lacks_is_named(key: str) -> None:
    content = small()
    del content[key]
    with pytest.raises(DynidError, match=f"The design document is damaged: it lacks '{key}'"):
        render_design(content)


def test_another_schema_is_refused() -> None:
    with pytest.raises(DynidError, match=r"schema 'dynid\.report/2'; this version reads 'dynid\.design/1'"):
        render_design({**small(), "schema": "dynid.report/2"})


# The figure


@pytest.mark.parametrize("robot", [load_robot("scara"), prismatic_robot(), branched_robot()], ids=str)
def test_the_figure_has_the_frames_of_forward_kinematics(robot: Robot) -> None:
    q = np.random.default_rng(0).normal(size=(7, robot.n_coordinates))
    figure = stick_figure(robot, np.arange(7) * 0.1, q)
    points, rotations = kernels(robot).forward_kinematics(q)
    np.testing.assert_allclose(figure["points"], points, atol=1e-6)
    np.testing.assert_allclose(np.array(figure["rotations"]).reshape(rotations.shape), rotations, atol=1e-6)
    assert figure["parents"] == [joint.antecedent for joint in robot.joints]
    json.dumps(figure, allow_nan=False)


@pytest.mark.parametrize(
    ("samples", "rate", "frames"), [(2, 1.0, 2), (1001, 100.0, 502), (100_001, 1e3, MOST_FRAMES)]
)
def test_frames_are_thinned_and_keep_both_ends(samples: int, rate: float, frames: int) -> None:
    robot = load_robot("scara")
    time = np.arange(samples) / rate
    figure = stick_figure(robot, time, np.zeros((samples, robot.n_coordinates)))
    assert len(figure["times"]) == len(figure["points"]) == frames
    assert (figure["times"][0], figure["times"][-1]) == (time[0], time[-1])
    assert np.all(np.diff(figure["times"]) > 0)


def test_a_document_with_too_many_frames_is_thinned_on_the_page() -> None:
    content = small()
    stick, many = content["stick"], 4 * MOST_FRAMES
    stick["times"] = np.arange(many, dtype=float).tolist()
    for key in ("points", "rotations"):
        stick[key] = [stick[key][0]] * many
    times = drawn_data(content)["stick"]["times"]
    assert len(times) == MOST_FRAMES
    assert times[-1] == many - 1


def test_a_figure_of_another_robot_is_refused() -> None:
    with pytest.raises(
        ShapeError, match=r"time has shape \(3,\) and q \(3, 2\); give \(samples,\) and \(samples, 7\)"
    ):
        stick_figure(load_robot("iiwa14"), np.arange(3.0), np.zeros((3, 2)))


def test_the_documentation_names_the_sections_as_the_page_does(page: str) -> None:
    text = (Path(__file__).parents[2] / "docs" / "excitation.md").read_text(encoding="utf-8")
    titles = [unescape(title) for title in re.findall(r'<h2 id="[a-z]+-h">([^<]*)</h2>', page)]
    (listed,) = re.findall(r"Below, in this order: (.*?)\.\n", text, re.DOTALL)
    assert " ".join(listed.split()).split(", ") == titles
