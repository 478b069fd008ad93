"""The page in a real browser: it runs, shows the document's numbers, fetches nothing and fits a phone."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dynid.report.page import render_report
from support.browser import Page, browser, find_browser
from support.study import document

FIGURES = """Object.fromEntries([...document.querySelectorAll('#verdict [data-figure]')]
  .map(b => [b.dataset.figure, Number(b.dataset.value)]))"""
CELLS = """[...document.querySelectorAll('table.parameters tbody tr')]
  .map(row => [...row.cells].map(cell => cell.dataset.value))"""
LEFT = """[...document.querySelectorAll('table.parameters tbody tr:not([hidden])')]
  .map(row => row.cells[0].dataset.value)"""
BOX = """(b => [b.left, b.top, b.width, b.height])
  (document.querySelector('.curves .plot .canvas').getBoundingClientRect())"""
CAPTIONS = """[...document.querySelectorAll('[data-set=fit] .plot:not([hidden])')]
  .map(f => f.querySelector('figcaption').innerText)"""
COLOURS = """[getComputedStyle(document.body).color,
  getComputedStyle(document.querySelector('section')).backgroundColor]"""
BADGE = "(s => [s.color, s.backgroundColor])(getComputedStyle(document.querySelector('.badge.%s')))"
COUNT_WHEN_PRINTED = """window.addEventListener('beforeprint', () => {
  document.body.dataset.printed = document.querySelectorAll('.plot svg').length; })"""
CHOOSE = """(s => { s.value = '%s'; s.dispatchEvent(new Event('change')); })
  (document.getElementById('%s'))"""


@pytest.fixture(scope="module")
def content() -> dict[str, Any]:
    return document()


@pytest.fixture(scope="module")
def tab(content: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Page, Path]]:
    program = find_browser()
    if program is None:
        pytest.skip("No Chromium or Chrome was found, so the page is not tried in a browser.")
    folder = tmp_path_factory.mktemp("report")
    file = folder / "report.html"
    file.write_text(render_report(content), encoding="utf-8")
    with browser(program, folder / "profile") as page:
        yield page, file


def opened(tab: tuple[Page, Path], width: int = 1280, dark: bool = False) -> Page:
    page, file = tab
    page.open(file, width=width, dark=dark)
    assert page.run("document.documentElement.dataset.script") == "done"
    return page


def test_the_first_screen_says_whether_to_trust(tab: tuple[Page, Path], content: dict[str, Any]) -> None:
    page = opened(tab)
    verdict = content["verdict"]
    assert page.run("document.querySelector('h1').innerText").endswith(verdict["words"])
    assert page.run("document.querySelector('.answer').innerText") == verdict["sentence"]
    assert page.run(FIGURES) == {figure["key"]: figure["value"] for figure in verdict["figures"]}
    bottom = page.run("document.querySelector('.figures').getBoundingClientRect().bottom")
    assert bottom < 600


def test_the_parameter_table_holds_the_estimate(tab: tuple[Page, Path], content: dict[str, Any]) -> None:
    page = opened(tab)
    rows = page.run(CELLS)
    assert [row[0] for row in rows] == [row["name"] for row in content["parameters"]]
    assert [float(row[1]) for row in rows] == [row["value"] for row in content["parameters"]]
    assert [float(row[2]) for row in rows] == [row["percent_sigma"] for row in content["parameters"]]


def test_sorting_and_filtering(tab: tuple[Page, Path], content: dict[str, Any]) -> None:
    page = opened(tab)
    page.run("document.querySelector('[data-sort=percent]').click()")
    doubts = [float(row[2]) for row in page.run(CELLS)]
    assert doubts == sorted(row["percent_sigma"] for row in content["parameters"])
    page.run("document.querySelector('[data-sort=percent]').click()")
    assert float(page.run(CELLS)[0][2]) == max(doubts)
    page.run(
        "(f => { f.value = 'fv'; f.dispatchEvent(new Event('input')); })(document.getElementById('find'))"
    )
    left = page.run(LEFT)
    assert sorted(left) == [f"Fv{k}" for k in range(1, 7)]
    assert page.run("document.getElementById('count').textContent") == "6 of 58"


def test_curves_zoom_by_dragging_and_reset(tab: tuple[Page, Path]) -> None:
    page = opened(tab)
    assert page.run("document.querySelectorAll('.plot:not([hidden]) svg').length") == 12
    page.run("document.querySelector('.curves .plot .canvas').scrollIntoView({block: 'center'})")
    left, top, width, height = page.run(BOX)
    page.mouse("mouseMoved", left + width / 2, top + height / 2)
    assert "measured" in page.run("document.querySelector('.readout').textContent")
    page.mouse("mousePressed", left + width * 0.4, top + 60)
    page.mouse("mouseMoved", left + width * 0.5, top + 60, buttons=1)
    page.mouse("mouseReleased", left + width * 0.6, top + 60)
    first, last = page.run("views.get(0)")
    assert 3.0 < first < 5.5 < last < 8.0  # of 12 s
    page.run("act(0, 'right')")
    assert page.run("views.get(0)")[0] > first
    page.run("document.querySelector('.curves .canvas').dispatchEvent(new MouseEvent('dblclick'))")
    assert page.run("views.get(0)") == page.run("wholeSpan(0)")


def test_experiments_and_joints_can_be_chosen(tab: tuple[Page, Path]) -> None:
    page = opened(tab)
    page.run(CHOOSE % (1, "fit-motion"))
    page.run(CHOOSE % (2, "fit-joint"))
    (caption,) = page.run(CAPTIONS)
    assert caption.startswith("joint3")
    assert "exciting_b" in caption


@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_no_sideways_scrolling_and_readable_colours(tab: tuple[Page, Path], width: int, dark: bool) -> None:
    page = opened(tab, width, dark)
    assert page.run("document.documentElement.scrollWidth") == width
    ink, card = page.run(COLOURS)
    assert contrast(ink, card) > 7
    for level in ("good", "note"):
        fore, back = page.run(BADGE % level)
        assert contrast(fore, back) > 4.5, level


def test_wide_tables_say_that_they_scroll(tab: tuple[Page, Path]) -> None:
    hidden = "[...document.querySelectorAll('#fit .hint')].map(h => getComputedStyle(h).display)"
    assert opened(tab, 1280).run(hidden) == ["none"]
    page = opened(tab, 390)
    assert page.run(hidden) == ["block"]
    assert page.run("document.querySelector('#fit .scroll').classList.contains('more')")
    page.run("document.querySelector('#fit .scroll').scrollLeft = 9999")
    page.run("document.querySelector('#fit .scroll').dispatchEvent(new Event('scroll'))")
    assert not page.run("document.querySelector('#fit .scroll').classList.contains('more')")


def contrast(one: str, other: str) -> float:
    """WCAG contrast of two rgb(…) colours."""

    def light(colour: str) -> float:
        parts = [float(v) / 255 for v in colour[colour.index("(") + 1 : -1].split(",")[:3]]
        linear = [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    high, low = sorted((light(one), light(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


def test_printing_shows_every_curve(tab: tuple[Page, Path], tmp_path: Path) -> None:
    page = opened(tab, dark=True)
    page.run(COUNT_WHEN_PRINTED)
    page.pdf(tmp_path / "report.pdf")
    assert page.run("document.body.dataset.printed") == "18"  # two motions of the fit, one unseen, six joints
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


def test_nothing_fails_and_nothing_is_fetched(tab: tuple[Page, Path]) -> None:
    page = opened(tab)
    for button in ("in", "out", "left", "right", "reset"):
        page.run(f"document.querySelector('[data-act={button}]').click()")
    assert page.run("document.documentElement.dataset.error") is None
    methods = [event["method"] for event in page.events]
    assert "Runtime.exceptionThrown" not in methods
    assert "Log.entryAdded" not in methods
    asked = [
        event["params"]["request"]["url"]
        for event in page.events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert len([url for url in asked if url.startswith("file:")]) == 1
