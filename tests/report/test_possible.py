"""Is this robot possible? The sentence, the tables, and every link of every kind of robot in the picture."""

from __future__ import annotations

import copy
import json
import math
import re
from functools import cache
from html import unescape
from typing import Any

import numpy as np
import pytest

from dynid.base import find_base
from dynid.core.errors import DynidError
from dynid.estimators import WLS, identify
from dynid.model.load import load_robot
from dynid.model.loaders.urdf import from_urdf_text
from dynid.model.robot import Robot
from dynid.problem import build_problem
from dynid.report.charts import LEFT, RIGHT, TOP
from dynid.report.page import render_report
from dynid.report.robot_picture import HIGHEST, LOWEST, WIDTH, robot_drawings
from dynid.workflow.possibility import judge_possibility
from support.html_tree import parsed
from support.robots import branched_robot, prismatic_robot, welded_robot, with_random_inertias
from support.study import PLAN, document, simulated
from support.urdf_text import chain, joint, link, robot as urdf

MIMIC = urdf(
    link("base", ""),
    *(link(name, body) for name, body in (("arm", "box"), ("left", "rod"), ("right", "ball"))),
    joint("shoulder", "base", "arm", xyz="0 0 0.4", axis="0 1 0"),
    joint("finger", "arm", "left", "prismatic", xyz="0.3 0 0", axis="0 1 0"),
    joint(
        "thumb", "arm", "right", "prismatic", xyz="0.3 0 0", more='<mimic joint="finger" multiplier="-1"/>'
    ),
)


def robots() -> dict[str, Robot]:
    return {
        "scara": load_robot("scara"),
        "urdf": from_urdf_text(chain(("revolute", "continuous", "fixed", "revolute"))),
        "mimic": from_urdf_text(MIMIC),
        "prismatic": prismatic_robot(),
        "branched": branched_robot(),
        "welded": welded_robot(),
        "tilted": load_robot("rx90").with_gravity(2.1, -3.7, -8.6),
    }


@cache
def entry(name: str) -> dict[str, Any]:
    """What a fit of a simulated motion finds of a robot with drawn bodies."""
    rng = np.random.default_rng(7)
    robot = with_random_inertias(robots()[name], rng)
    motion = simulated(robot, robot.table.vector(robot.parameters), name, rng)
    found = judge_possibility(identify(build_problem(robot, [motion], PLAN, find_base(robot)), WLS()))
    assert found is not None
    return found.to_dict()


def section(possibility: dict[str, Any]) -> str:
    page = render_report(document() | {"possibility": json.loads(json.dumps(possibility, allow_nan=False))})
    parsed(page)
    start = page.index('<section id="possible"')
    return page[start : page.index("</section>", start)]


def said(html: str) -> str:
    """The words of a part of a page."""
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


def changed(**values: Any) -> str:
    return said(section(copy.deepcopy(document()["possibility"]) | values))


@pytest.mark.parametrize("name", robots())
def test_every_link_is_in_the_table_and_in_both_pictures(name: str) -> None:
    found = entry(name)
    html = section(found)
    count = len(robots()[name].joints)
    assert len(found["links"]) == count
    assert html.count('<figure class="sketch">') == 2
    assert html.count('<circle class="mass by-') == 2 * count
    assert html.count('<line class="bone"') == 2 * count
    for one in found["links"]:
        named = f"{one['label']}&nbsp;{one['joint']}".replace("_", "_<wbr>")
        assert f'<td class="name">{named}</td><td data-value="{one["mass"]!r}">' in html
        assert f"{one['joint']}: " in html
        for value in (*one["com"], *one["principal_moments"], one["triangle"]):
            assert f'data-value="{value!r}"' in html
    for value in found["standard"]:
        assert f'data-value="{value!r}"' in html


def test_a_document_without_it_has_no_such_section() -> None:
    old = document()
    del old["possibility"]
    for content in (old, document() | {"possibility": None}):
        page = render_report(content)
        assert "Is this robot possible?" not in page
        assert "#possible" not in page


def test_one_sentence_answers_the_heading() -> None:
    assert "Yes: the values are those of the nearest robot that can exist." in changed()
    assert "that can exist, as was asked for." in changed(choice="always")
    assert "Yes, as it is: no torque of these logs tells" in changed(as_it_is=True)
    assert "are kept because they predict parts of the logs that were not used better" in changed(
        recommended=False
    )
    assert "of the fit alone, and no robot has them." in changed(recommended=False, choice="never")
    short = changed(recommended=False, possible_percent=None, plain_percent=None)
    assert "are kept because too little data were left to try both" in short
    assert "On parts" not in short


def test_both_errors_and_the_price_are_told() -> None:
    words = changed(possible_percent=5.5912, plain_percent=5.7049, cost=1.0123)
    assert (
        "the possible robot misses 5.59 % of the torque, the fit alone 5.70 %. Its residual is 1.2 %" in words
    )
    assert "Its residual is no larger than that of the fit alone." in changed(cost=1.0 + 1e-9)
    assert "Its residual is 7.3 times that of the fit alone." in changed(cost=7.31)


def test_sources_of_the_parameters_are_counted_by_link() -> None:
    found = document()["possibility"]
    html = section(found)
    for one in found["links"]:
        own = [found["fixed_by"][column] for column in one["columns"]]
        assert [found["names"][column] for column in one["columns"]][-1] == f"M{one['label']}"
        counts = " ".join(str(own.count(source)) for source in ("data", "bound", "prior"))
        assert f'<td data-value="{counts}">' in html
        assert html.count(f"{one['joint']}: ") == 2
    assert f"All {len(found['names'])} standard parameters" in html


def test_bodies_at_the_edge_and_bounds_are_told() -> None:
    active = [
        {"name": "mass of joint3 at most 6 kg", "given": True, "link": None},
        {"name": "body of joint2 at the edge of what is possible", "given": False, "link": 1},
    ]
    html = section(document()["possibility"] | {"active": active})
    assert "<li>mass of joint3 at most 6 kg (as given)</li>" in html
    rows = html[html.index("<tbody>") : html.index("</tbody>")].split("</tr>")
    assert ['<span class="badge note">yes</span>' in row for row in rows[:6]] == [False, True, *[False] * 4]
    assert "No bound holds it." in section(document()["possibility"] | {"active": []})


def test_an_unknown_sigma_is_a_dash_and_rounding_is_zero() -> None:
    found = copy.deepcopy(document()["possibility"])
    found["standard"][:2], found["sigma"][:2] = [3.0, -1e-14], [None, 0.1]
    html = section(found)
    assert '<td data-value="3.0">3.000</td><td data-value="">–</td>' in html
    assert '<td data-value="-1e-14">0</td>' in html


def test_the_picture_has_one_scale_and_holds_everything() -> None:
    links = [
        {"joint": "a", "label": "1", "antecedent": -1, "mass": 4.0, "origin": [0.0, 0.0, 0.5]}
        | {"com_in_base": [0.3, 0.1, 0.7]},
        {"joint": "b", "label": "2", "antecedent": 0, "mass": 1.0, "origin": [1.0, -0.2, 0.5]}
        | {"com_in_base": [1.1, -0.4, 0.5]},
    ]
    side, above = robot_drawings(links, ["data", "prior"])
    one, other = ({body["label"]: body for body in drawing["bodies"]} for drawing in (side, above))
    per_metre = other["2"]["origin"][0] - other["1"]["origin"][0]  # one metre apart along x
    for drawing, bodies, axis in ((side, one, 2), (above, other, 1)):
        heights = [bodies[link["label"]]["place"][1] for link in links]
        expected = per_metre * (links[1]["com_in_base"][axis] - links[0]["com_in_base"][axis])
        assert heights[0] - heights[1] == pytest.approx(expected, abs=0.2)
        assert drawing["bones"] == [
            (drawing["base"], bodies["1"]["origin"]),
            (bodies["1"]["origin"], bodies["2"]["origin"]),
        ]
        assert LOWEST <= drawing["bottom"] - TOP <= HIGHEST
        for body in bodies.values():
            (x, y), r = body["place"], body["radius"]
            assert x - r >= LEFT
            assert x + r <= WIDTH - RIGHT
            assert y - r >= TOP
            assert y + r <= drawing["bottom"]
        steps = [b[0] - a[0] for a, b in zip(drawing["x_ticks"], drawing["x_ticks"][1:], strict=False)]
        steps += [a[0] - b[0] for a, b in zip(drawing["y_ticks"], drawing["y_ticks"][1:], strict=False)]
        np.testing.assert_allclose(steps, steps[0], atol=0.21)
    assert one["1"]["radius"] == 2 * one["2"]["radius"]  # four times the mass


def test_numbers_of_links_that_lie_together_stand_apart() -> None:
    same = {"joint": "j", "antecedent": -1, "mass": 1.0, "origin": [0.0] * 3, "com_in_base": [0.0] * 3}
    drawings = robot_drawings([same | {"label": str(k)} for k in range(6)], ["data"] * 6)
    for drawing in drawings:
        places = [body["number"] for body in drawing["bodies"]]
        assert min(math.dist(a, b) for i, a in enumerate(places) for b in places[:i]) > 10


def test_a_place_that_is_no_number_leaves_the_picture_out() -> None:
    found = copy.deepcopy(document()["possibility"])
    for wrong in (math.inf, 1e300):
        found["links"][0]["origin"][0] = wrong
        page = render_report(document() | {"possibility": found})
        assert '<figure class="sketch">' not in page
        assert "Is this robot possible?" in page
    found["links"][0]["origin"] = None
    with pytest.raises(DynidError, match="The report document is damaged: its content is not as written"):
        render_report(document() | {"possibility": found})


def test_the_pictures_are_described_in_words() -> None:
    html = section(entry("branched"))
    for plane, words in (("xz", "The robot from the side"), ("xy", "The robot from above")):
        assert f'aria-label="{words}" aria-describedby="possible-{plane}"' in html
        (description,) = re.findall(rf'<desc id="possible-{plane}">(.*?)</desc>', html, re.DOTALL)
        assert [one["joint"] in description for one in entry("branched")["links"]] == [True] * 7
    assert "style=" not in html  # the content security policy would not let it work
