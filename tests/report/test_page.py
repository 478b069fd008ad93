"""The page: self-contained, in order, safe against hostile names, the document's numbers in it."""

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

import pytest

from dynid.core.errors import DynidError
from dynid.report.page import REPORT, asset, number, render_report
from support.html_tree import parsed
from support.study import document, study

EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)>\'"&'


@pytest.fixture(scope="module")
def page() -> str:
    return render_report(document())


def test_the_page_needs_nothing_but_itself(page: str) -> None:
    assert not re.search(r"https?:|//[a-z]+\.|@import|url\((?!#)", page)
    tree = parsed(page)
    assert len(tree.ids) == len(set(tree.ids))
    assert tree.handlers == []
    assert not {"iframe", "object", "embed", "img"} & set(tree.tags)
    assert re.findall(r"<link [^>]*>", page) == ['<link rel="icon" href="data:,">']
    assert len(page) < 2_000_000


def test_the_verdict_comes_first_and_sections_follow_in_order(page: str) -> None:
    places = [page.index(f'<section id="{key}"') for key in (section.key for section in REPORT.sections)]
    assert places == sorted(places)
    links = re.findall(r'<a href="#([a-z]+)">', page)
    assert links == [section.key for section in REPORT.sections[1:]]
    assert page.count("<h1") == 1
    assert page.index("<h1") < page.index("This model can be trusted.") < page.index("<h2")


def test_the_document_s_numbers_are_in_the_page(page: str) -> None:
    content = document()
    for figure in content["verdict"]["figures"]:
        assert f'data-figure="{figure["key"]}" data-value="{figure["value"]!r}"' in page
    for row in content["parameters"]:
        assert f'data-value="{row["value"]!r}"' in page
        assert f'data-value="{row["sigma"]!r}"' in page
    for value in content["validation"]["decimated"]["relative_percent"]:
        assert f'data-value="{value!r}"' in page


def test_a_page_from_saved_json_is_the_same(page: str) -> None:
    assert render_report(json.loads(json.dumps(document()))) == page


def test_hostile_names_stay_text() -> None:
    content = copy.deepcopy(document())
    evil = json.loads(json.dumps(content).replace("exciting_a", "@@").replace("joint1", "@@"))
    evil = json.loads(json.dumps(evil).replace('"@@', json.dumps(EVIL)[:-1]).replace("@@", "evil"))
    evil["title"] = evil["robot"]["name"] = evil["robot"]["source"] = EVIL
    evil["reproducibility"]["command"] = EVIL
    evil["reproducibility"]["options"] = {EVIL: EVIL}
    evil["data"][0]["findings"][0]["sentence"] = EVIL
    evil["parameters"][0]["name"] = evil["parameters"][0]["formula"] = EVIL
    evil["robot"]["lengths"] = {EVIL: 1.0}
    page = render_report(evil)
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


PARTS = ("title", "verdict", "robot", "data", "estimate", "parameters", "correlation", "fit", "stability")
PARTS += ("possibility", "curves", "reproducibility")


@pytest.mark.parametrize("key", PARTS)
def test_whatever_a_tampered_result_holds_stays_text(key: str) -> None:
    """Each leaf of a part in turn is hostile: the page keeps its tags, or the document is called damaged."""
    content = document(run=RUN)
    content["correlation"] |= {"names": ["Fv1"], "matrix": [[1.0]]}
    content["parameters"], content["curves"] = content["parameters"][:2], content["curves"][:1]
    named = {path[-1] or path[-2]: path for path in leaves(content[key], (key,))}  # one place of each name
    for *way, last in named.values():
        evil = copy.deepcopy(content)
        place = reduce(lambda inner, step: inner[step], way, evil)
        place[last] = EVIL
        with suppress(DynidError):
            tree = parsed(render_report(evil))
            assert tree.tags.count("script") == 2
            assert "img" not in tree.tags
            assert tree.handlers == []


def test_the_policy_names_the_one_style_and_the_one_script(page: str) -> None:
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    assert policy is not None
    rules = dict(rule.split(" ", 1) for rule in unescape(policy[1]).split("; "))
    assert rules["default-src"] == "'none'"
    for tag, rule in (("style", "style-src"), ("script", "script-src")):
        texts = re.findall(rf"<{tag}>(.*?)</{tag}>", page, re.DOTALL)
        hashes = [base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() for text in texts]
        assert [f"'sha256-{digest}'" for digest in hashes] == rules[rule].split()
    assert not re.search(r"<[^>]+ style=", re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL))


def test_data_in_the_page_cannot_end_its_script() -> None:
    content = document()
    content["curves"][0]["name"] = "</script><!-- <script>"
    page = render_report(content)
    (data,) = re.findall(r'<script type="application/json" id="document">(.*?)</script>', page, re.DOTALL)
    assert json.loads(data)["curves"][0]["name"] == "</script><!-- <script>"
    assert "<" not in data


def test_plots_and_controls_are_named(page: str) -> None:
    for tag in re.findall(r'<(?:div|svg)[^>]* role="img"[^>]*>', page):
        assert "aria-label=" in tag
    for tag in re.findall(r"<svg[^>]*>", page):
        assert re.search('aria-label=|aria-hidden="true"|hidden', tag)
    for button in re.findall(r"<button[^>]*>[^<]*<", page):
        assert "aria-label=" in button or re.search(r">[^<]*\w[^<]*<", button)
    for control in re.findall(r"(<label>[^<]*)?<(?:select|input)", page):
        assert control.startswith("<label>")


def test_the_page_explains_its_words_and_its_frames(page: str) -> None:
    for word in ("ZZ1R", "base parameter", "HAC", "essential", "decimated", "at full rate"):
        assert word in page[page.index('<section id="words"') :]
    robot = page[page.index('<section id="robot"') : page.index('<section id="data"')]
    assert "Modified Denavit–Hartenberg" in robot
    for said in ("antecedent", "α", "d [m]", "θ", "r [m]", "D3 = 0.225", "RL4 = 0.225", "−90.0°"):
        assert said in robot


def test_priors_far_away_are_explained() -> None:
    content = document()
    assert "it took no part in the fit" in " ".join(render_report(content).split())
    known = [row for row in content["parameters"] if row["prior"] is not None]
    for row, gap in zip(known, [-58.0, 7.0, *[0.5] * len(known)], strict=False):
        row["prior_gap"] = gap
    page = " ".join(render_report(content).split())
    assert f"2 of {len(known)} values lie more than 5 σ from it" in page
    assert f"(most: {known[0]['name']}, 58 σ): the robot in these logs is not quite the one described" in page


RUN = {
    "command": "dynid fit",
    "options": {"method": "wls", "loss": None, "nonlinear": [], "force": False, "cutoff_hz": 3.0},
    "fitted": [{"name": "a", "files": ["0123"]}],
    "robot_source": {"given": "tx40", "sha256": None},
    "preparation_reasons": ["99 % lies below 0.5 Hz.", "One row of 200."],
    "accuracy": {"steps": [1, 2], "error": 1e-6},
}


def test_how_it_was_made_has_neither_nulls_nor_brackets() -> None:
    page = render_report(document(run=RUN))
    made = page[page.index('<section id="run"') : page.index('<section id="words"')]
    assert "null" not in made
    assert "None" not in made
    assert not re.search(r"[\[{](?!Hz|s\])", re.sub(r"<[^>]*>", "", made))
    assert "<dt>cutoff [Hz]</dt><dd>3</dd>" in made
    assert "<dt>loss</dt>" not in made
    assert "<dt>force</dt>" not in made
    assert "<dd>given tx40</dd>" in made
    assert "<li>99 % lies below 0.5 Hz.</li>" in made
    assert "<dd>steps 1, 2; error 1e-06</dd>" in made


def test_a_document_of_version_0_1_still_makes_a_page() -> None:
    content = document()
    content["schema"] = "dynid.report/1"
    content["verdict"]["reasons"] = [{"level": "note", "sentence": "An old reason."}]
    del content["verdict"]["findings"], content["robot"]["frames"]
    page = render_report(content)
    parsed(page)
    assert "An old reason." in page
    assert "How the frames lie" not in page


def test_without_proof_data_or_prior_the_page_says_so() -> None:
    content = document(validation=None, validation_motions=(), checks=[], stability=None, prior={}, run={})
    page = render_report(content)
    parsed(page)
    assert "This model is usable with care." in page
    assert "No unseen motion was given." in page
    assert "No data check was made" in page
    assert "value − prior" not in page
    assert 'id="stability"' not in page
    assert 'href="#stability"' not in page


def test_figures_that_do_not_exist_are_dashes() -> None:
    content = copy.deepcopy(document(study(essential=True)))
    content["validation"]["decimated"]["relative_percent"][0] = None
    content["validation"]["tests"][0] |= {"ljung_box_p": None, "autocorrelation": [], "durbin_watson": None}
    content["verdict"]["figures"][1]["value"] = None
    page = render_report(content)
    parsed(page)
    assert '<td data-value="">–</td>' in page
    assert "nan" not in re.sub(r"<script.*", "", page, flags=re.DOTALL).lower().replace("resonan", "")


def test_another_schema_is_refused() -> None:
    with pytest.raises(
        DynidError, match=r"has schema 'dynid.report/99'; this version reads 'dynid.report/2'"
    ):
        render_report({"schema": "dynid.report/99"})


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (None, "–"),
        (0.0, "0"),
        (1.23456, "1.23"),
        (-0.000123456, "−0.000123"),
        (123456.7, "123457"),
        (1.5e-7, "1.50e−7"),
        (2.5e12, "2.50e12"),
        (9.999e-5, "1.00e−4"),
        (45000, "45\u202f000"),
        (float("inf"), "–"),
    ],
)
def test_numbers_for_reading(value: float | None, expected: str) -> None:
    assert number(value) == expected


def test_assets_ship_with_the_package() -> None:
    assert "@media print" in asset("page.css")
    assert asset("common.js").startswith('"use strict";\n')
    folder = Path(asset.__code__.co_filename).parent / "assets"
    assert sorted(path.name for path in folder.iterdir()) == [
        *("common.js", "live.js", "motion.js", "page.css", "page.js")
    ]


DOCS = (Path(__file__).parents[2] / "docs" / "report.md").read_text(encoding="utf-8")


def test_the_documentation_names_the_sections_as_the_page_does(page: str) -> None:
    titles = [unescape(title) for title in re.findall(r'<h2 id="[a-z]+-h">([^<]*)</h2>', page)]
    (listed,) = re.findall(r"Below, in this order: (.*?)\.\n", DOCS, re.DOTALL)
    assert " ".join(listed.split()).split(", ") == titles
    words = re.findall(r"<dt>([^<]*)</dt>", page[page.index('<dl class="words">') :])
    (explained,) = re.findall(r"\*\*Words\*\* explains what the page says: (.*?) …", DOCS, re.DOTALL)
    for word in " ".join(explained.split()).split(", "):
        assert any(word in heading for heading in words), word


def test_the_documentation_has_every_key_of_the_document() -> None:
    content = document()
    rows = DOCS[DOCS.index("| key | content |") : DOCS.index("## Another page")]
    first = {
        name for cell in re.findall(r"^\| ([^|]*) \|", rows, re.MULTILINE) for name in cell.split("`")[1::2]
    }
    assert first == set(content)
    for part in ("verdict", "parameters"):
        keys = content[part] if isinstance(content[part], dict) else content[part][0]
        (row,) = re.findall(rf"^\| `{part}` \|.*$", rows, re.MULTILINE)
        assert {key for key in keys if f"`{key}`" not in row} == set()


def test_a_new_page_is_a_new_list_of_sections() -> None:
    example = re.findall(r"```python\n(.*?)```", DOCS, re.DOTALL)[-1]
    names: dict[str, Any] = {"document": document()}
    exec(example, names)
    assert re.findall(r'<section id="([a-z]+)"', names["html"]) == ["verdict", "words"]
    parsed(names["html"])
