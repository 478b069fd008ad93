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
CELLS = """[...document.querySelectorAll('table.parameters tbody tr:first-child')]
  .map(row => [...row.cells].map(cell => cell.dataset.value))"""
LEFT = """[...document.querySelectorAll('table.parameters tbody:not([hidden]) tr:first-child')]
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


def test_a_zoomed_plot_shows_samples(tab: tuple[Page, Path]) -> None:
    page = opened(tab)
    kinds = (
        "[...document.querySelectorAll('.curves .plot path')].slice(0, 3).map(p => p.getAttribute('class'))"
    )
    assert page.run(kinds) == ["measured", "predicted", "residual"]  # 6000 samples on 400 pixels: envelopes
    page.run("show(0, [5, 6])")
    assert page.run(kinds) == ["measured line", "predicted line", "residual line"]
    vertices = "document.querySelector('.curves .plot path').getAttribute('d').split('L').length"
    assert 500 <= page.run(vertices) <= 504  # at 500 Hz
    page.run("show(0, [5, 5.06])")
    assert page.run("document.querySelectorAll('.curves .plot:first-child path.dots').length") == 3


STATUS = """(cell => {
  const box = cell.getBoundingClientRect(), room = cell.closest('.scroll').getBoundingClientRect();
  return box.width > 20 && box.left >= room.left && box.right <= room.right + 1; })
  (document.querySelector('.parameters tbody .status'))"""


@pytest.mark.parametrize("width", [390, 768, 1280])
def test_the_status_stays_in_sight_when_a_formula_is_open(tab: tuple[Page, Path], width: int) -> None:
    page = opened(tab, width)
    shown = "getComputedStyle(document.querySelector('.parameters .formula')).display"
    assert page.run(shown) == "none"
    page.run("document.querySelector('.parameters .name button').click()")
    assert page.run(shown) == "table-row"
    expanded = "document.querySelector('.parameters .name button').getAttribute('aria-expanded')"
    assert page.run(expanded) == "true"
    assert page.run(STATUS)


def test_a_script_or_style_that_slips_in_does_not_run(tab: tuple[Page, Path], tmp_path: Path) -> None:
    page, file = tab
    spoilt = tmp_path / "spoilt.html"
    evil = "<script>window.pwned = 1</script><img src=x onerror='window.pwned = 1'>"
    evil += "<i style='color:red' id=red>x</i>"
    spoilt.write_text(file.read_text(encoding="utf-8").replace("</main>", evil + "</main>"), encoding="utf-8")
    page.open(spoilt, width=1280)
    assert page.run("document.documentElement.dataset.script") == "done"
    assert page.run("window.pwned") is None
    assert page.run("getComputedStyle(document.getElementById('red')).color") != "rgb(255, 0, 0)"


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


SKETCHES = """[...document.querySelectorAll('.sketch svg')].map(s => s.getBoundingClientRect())
  .map(b => [b.left, b.top, b.right])"""
OUTLINES = """['.key .ball', '.sketch .mass'].map(kind => {
  const style = getComputedStyle(document.querySelector(kind + '.by-prior'));
  return kind.startsWith('.key') ? style.borderTopColor : style.stroke; })"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_pictures_of_the_robot_fit_and_have_the_colours_of_their_key(
    tab: tuple[Page, Path], dark: bool
) -> None:
    page = opened(tab, 1280, dark)
    side, above = page.run(SKETCHES)
    assert side[1] == above[1]  # beside each other
    assert side[2] < above[0]
    key, drawn = page.run(OUTLINES)
    assert key == drawn
    side, above = opened(tab, 390, dark).run(SKETCHES)
    assert side[1] < above[1]  # below each other
    assert max(side[2], above[2]) < 390


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
    assert page.run("document.querySelectorAll('details[open]').length") == 0  # folded again
    page.send("Emulation.setEmulatedMedia", media="print")
    assert (
        page.run("getComputedStyle(document.querySelector('.formula:not(.single)')).display") == "table-row"
    )
    assert page.run("getComputedStyle(document.querySelector('.scroll')).borderRightWidth") == "0px"
    page.send("Emulation.setEmulatedMedia", media="")


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
