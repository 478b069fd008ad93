"""The page: self-contained, in order, safe against hostile names, the document's numbers in it."""

from __future__ import annotations

import copy
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from dynid.core.errors import DynidError
from dynid.report.html import shown
from dynid.report.page import SECTIONS, asset, render_report
from support.study import document, study

EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)>\'"&'
VOID = {"meta", "link", "input", "br", "img", "hr"}


class Tree(HTMLParser):
    """Tags that open and close properly, ids, headings and what scripts there are."""

    def __init__(self) -> None:
        super().__init__()
        self.stack: list[str] = []
        self.ids: list[str] = []
        self.tags: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.ids += [value or "" for name, value in attrs if name == "id"]
        self.handlers += [name for name, _ in attrs if name.startswith("on")]
        if tag not in VOID:
            self.stack.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.stack.pop() == tag


def parsed(page: str) -> Tree:
    tree = Tree()
    tree.feed(page)
    tree.close()
    assert tree.stack == []
    return tree


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
    places = [page.index(f'<section id="{key}"') for key in ("verdict", *(key for key, _ in SECTIONS))]
    assert places == sorted(places)
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
    assert page.count("&lt;script&gt;alert(&quot;x&quot;)") > 10


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
        DynidError, match=r"has schema 'dynid.report/99'; this version reads 'dynid.report/1'"
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
    assert shown(value) == expected


def test_assets_ship_with_the_package() -> None:
    assert "@media print" in asset("page.css")
    assert '"use strict"' in asset("page.js")
    folder = Path(asset.__code__.co_filename).parent / "assets"
    assert sorted(path.name for path in folder.iterdir()) == ["page.css", "page.js"]
