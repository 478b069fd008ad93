"""The page of a designed motion in a real browser: the figure moves and turns, and its numbers are right."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dynid.report.design_page import render_design
from support.browser import Page, browser, find_browser
from support.designs import design

PIXELS = """(() => { const pen = document.getElementById('stick').getContext('2d');
  const bytes = pen.getImageData(0, 0, pen.canvas.width, pen.canvas.height).data;
  let sum = 0; for (let i = 0; i < bytes.length; i += 1) sum = (sum * 31 + bytes[i]) % 1000000007;
  return sum; })()"""
INKED = """(() => { const pen = document.getElementById('stick').getContext('2d');
  const bytes = pen.getImageData(0, 0, pen.canvas.width, pen.canvas.height).data;
  let n = 0; for (let i = 3; i < bytes.length; i += 4) n += bytes[i] > 0; return n; })()"""
NOW = """Object.fromEntries([...document.querySelectorAll('[data-now]')]
  .map(n => [n.dataset.now, Number(n.dataset.raw)]))"""
JOINTS = "[...document.querySelectorAll('[data-joint]')].map(n => Number(n.dataset.raw))"
FIGURES = """Object.fromEntries([...document.querySelectorAll('#verdict [data-figure]')]
  .map(b => [b.dataset.figure, Number(b.dataset.value)]))"""
CELLS = """[...document.querySelectorAll('#%s tbody tr')].map(row => [...row.cells]
  .filter(c => 'value' in c.dataset).map(c => c.dataset.value))"""
MIDDLE = """(b => [b.left + b.width / 2, b.top + b.height / 2])
  (document.getElementById('stick').getBoundingClientRect())"""
CHART = """(b => [b.left, b.top, b.width, b.height])
  (charts[0].svg.querySelector('.frame').getBoundingClientRect())"""
FRAMES = "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(() => done(true))))"
PASSES = """new Promise(done => { const from = state.time;
  const look = () => Math.abs(state.time - from) > 0.05 ? done(true) : requestAnimationFrame(look);
  look(); })"""
KEY = "document.getElementById('stick').dispatchEvent(new KeyboardEvent('keydown', {key: '%s'}))"


@pytest.fixture(scope="module")
def content() -> dict[str, Any]:
    return design()


@pytest.fixture(scope="module")
def tab(content: dict[str, Any], tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Page, Path]]:
    program = find_browser()
    if program is None:
        pytest.skip("No Chromium or Chrome was found, so the page is not tried in a browser.")
    folder = tmp_path_factory.mktemp("design")
    file = folder / "design.html"
    file.write_text(render_design(content), encoding="utf-8")
    with browser(program, folder / "profile") as page:
        yield page, file


def opened(tab: tuple[Page, Path], width: int = 1280, dark: bool = False, still: bool = False) -> Page:
    page, file = tab
    page.open(file, width=width, dark=dark, still=still)
    assert page.run("document.documentElement.dataset.script") == "done"
    page.run(FRAMES)
    return page


def paused(tab: tuple[Page, Path], time: float, width: int = 1280, dark: bool = False) -> Page:
    page = opened(tab, width, dark)
    page.run(
        f"play(false); setTime({time}); document.getElementById('stick').scrollIntoView({{block: 'center'}})"
    )
    page.run(FRAMES)
    return page


def test_the_figure_moves_by_itself(tab: tuple[Page, Path]) -> None:
    page = opened(tab)
    assert page.run("document.getElementById('stick-play').textContent") == "Pause"
    before, picture, places = page.run(NOW), page.run(PIXELS), page.run("shownPlaces()")
    assert page.run(PASSES)
    page.run("play(false)")
    after = page.run(NOW)
    assert after["time"] > before["time"]
    assert (after["x"], after["y"], after["z"]) != (before["x"], before["y"], before["z"])
    assert page.run(PIXELS) != picture
    assert page.run("shownPlaces()") != places
    stopped = page.run(NOW)
    page.run("new Promise(done => setTimeout(() => done(true), 100))")
    assert page.run(NOW) == stopped


def test_it_plays_in_real_time_and_starts_again_at_the_end(tab: tuple[Page, Path]) -> None:
    page = paused(tab, 0.0)
    # The clock of the animation is told to the page, so the machine's own speed does not matter.
    page.run("requestAnimationFrame = () => 0")
    page.run("play(true); tick(1000); tick(1100); tick(1200)")
    assert page.run("state.time") == pytest.approx(0.2)
    page.run("state.speed = 2; tick(1300)")
    assert page.run("state.time") == pytest.approx(0.4)
    page.run("tick(9999)")  # the tab slept
    assert page.run("state.time") == pytest.approx(0.9)
    last = page.run("STICK.times[STICK.times.length - 1]")
    page.run(f"play(false); setTime({last} + 0.25)")
    assert page.run("state.time") == pytest.approx(0.25)


def test_a_wish_for_no_motion_is_respected(tab: tuple[Page, Path]) -> None:
    page = opened(tab, still=True)
    assert page.run("state.playing") is False
    assert page.run("document.getElementById('stick-play').textContent") == "Play"
    page.run("document.getElementById('stick-play').click()")
    assert page.run(PASSES)


@pytest.mark.parametrize("frame", [0, 137, -1])
def test_the_numbers_beside_the_figure_are_those_of_the_document(
    tab: tuple[Page, Path], content: dict[str, Any], frame: int
) -> None:
    stick, curves = content["stick"], content["curves"]
    time = stick["times"][frame]
    page = paused(tab, time)
    shown = page.run(NOW)
    assert shown["time"] == time
    assert [shown[axis] for axis in "xyz"] == stick["points"][frame][-1]
    expected = [np.interp(time, curves["time"], values) for values in curves["position"]]
    assert page.run(JOINTS) == pytest.approx(expected, abs=1e-12)
    assert float(page.run("document.getElementById('stick-time').value")) == pytest.approx(time)


def test_between_frames_the_robot_is_between_them(tab: tuple[Page, Path], content: dict[str, Any]) -> None:
    stick = content["stick"]
    page = paused(tab, (stick["times"][10] + stick["times"][11]) / 2)
    middle = (np.array(stick["points"][10]) + np.array(stick["points"][11])) / 2
    np.testing.assert_allclose(page.run("poseAt(state.time).points"), middle, atol=1e-12)


def test_the_tables_and_the_headline_are_those_of_the_document(
    tab: tuple[Page, Path], content: dict[str, Any]
) -> None:
    page = opened(tab)
    figures = page.run(FIGURES)
    assert figures["criterion"] == content["criterion"]["value"]
    for key in ("condition", "condition_scaled", "log_det"):
        assert figures[key] == content["figures"][key]
    assert figures["duration_s"] == content["trajectory"]["duration_s"]
    rows = page.run(CELLS % "gains")
    assert [row[0] for row in rows] == [row["name"] for row in content["parameters"]]
    for k, key in ((1, "gain"), (2, "sigma_before"), (3, "sigma")):
        assert [float(row[k]) for row in rows] == [row[key] for row in content["parameters"]]
    limits = [row for row in content["limits"] if row["used_percent"] is not None]
    used = [float(row[2]) for row in page.run(CELLS % "limits") if row[2]]
    assert used == [row["used_percent"] for row in limits]


def test_tables_sort(tab: tuple[Page, Path], content: dict[str, Any]) -> None:
    page = opened(tab)
    page.run("document.querySelector('#gains [data-sort=gain]').click()")
    gains = [float(row[1]) for row in page.run(CELLS % "gains")]
    assert gains == sorted(row["gain"] for row in content["parameters"])
    page.run("document.querySelector('#limits [data-sort=used]').click()")
    page.run("document.querySelector('#limits [data-sort=used]').click()")
    used = [row[2] for row in page.run(CELLS % "limits")]
    numbers = [float(cell) for cell in used if cell]
    assert numbers == sorted(numbers, reverse=True)
    assert used[len(numbers) :] == [""] * 7  # joints without a limit stay last


def test_dragging_turns_the_figure(tab: tuple[Page, Path]) -> None:
    page = paused(tab, 2.0)
    places, picture, (x, y) = page.run("shownPlaces()"), page.run(PIXELS), page.run(MIDDLE)
    page.mouse("mousePressed", x, y)
    page.mouse("mouseMoved", x + 120, y + 40, buttons=1)
    page.mouse("mouseReleased", x + 120, y + 40)
    turned = page.run("shownPlaces()")
    assert np.max(np.abs(np.subtract(turned, places))) > 5
    assert page.run(PIXELS) != picture
    assert page.run("view.azimuth") == pytest.approx(-0.9 - 120 * 0.008)
    assert page.run("view.elevation") == pytest.approx(0.35 + 40 * 0.008)
    page.mouse("mouseMoved", x - 90, y)  # not held any more
    assert page.run("shownPlaces()") == turned
    page.run("document.querySelector('[data-view=reset]').click()")
    assert page.run("shownPlaces()") == places


def test_the_figure_is_seen_as_a_camera_sees_it(tab: tuple[Page, Path]) -> None:
    """Independent: an eye at a place, looking at the middle of the scene, with z up."""
    page = paused(tab, 2.0)
    page.run("Object.assign(view, {azimuth: 0.7, elevation: 0.4, zoom: 1.5})")
    middle, radius = (np.array(page.run(f"scene.{part}")) for part in ("middle", "radius"))
    size = np.array(page.run("[canvas.clientWidth, canvas.clientHeight]"))
    out = np.array([np.cos(0.4) * np.cos(0.7), np.cos(0.4) * np.sin(0.7), np.sin(0.4)])
    right = np.cross([0.0, 0.0, 1.0], out) / np.cos(0.4)
    up = np.cross(out, right)
    points = middle + 0.4 * radius * np.random.default_rng(0).normal(size=(20, 3))
    seen = points - (middle + 5 * radius * out)
    pixels = 1.5 * 0.48 * size.min() * 5 / (-seen @ out)
    expected = size / 2 + pixels[:, None] * np.column_stack([seen @ right, -seen @ up])
    shown = page.run(f"{points.tolist()}.map(projection())")
    np.testing.assert_allclose([[p["x"], p["y"]] for p in shown], expected, atol=1e-6)
    np.testing.assert_allclose([p["scale"] for p in shown], pixels, rtol=1e-9)
    assert np.all(np.argsort([p["near"] for p in shown]) == np.argsort(seen @ out))


def test_bodies_move_with_their_links(tab: tuple[Page, Path], content: dict[str, Any]) -> None:
    stick = content["stick"]
    page = paused(tab, stick["times"][200])
    for capsule in stick["capsules"]:
        link, end = capsule["link"], np.array(capsule["end"])
        R = np.eye(3) if link < 0 else np.reshape(stick["rotations"][200][link], (3, 3))
        origin = np.zeros(3) if link < 0 else np.array(stick["points"][200][link])
        found = page.run(f"inBase(poseAt(state.time), {link}, {end.tolist()})")
        np.testing.assert_allclose(found, origin + R @ end, atol=1e-12)
    skew = page.run("inBase(poseAt(state.time), 5, [0.1, -0.2, 0.3])")
    R = np.reshape(stick["rotations"][200][5], (3, 3))
    np.testing.assert_allclose(skew, stick["points"][200][5] + R @ [0.1, -0.2, 0.3], atol=1e-12)


def test_a_finger_turns_and_two_zoom(tab: tuple[Page, Path]) -> None:
    page = paused(tab, 2.0, width=390)
    x, y = page.run(MIDDLE)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        fingers = [{"x": px, "y": py, "id": k} for k, (px, py) in enumerate(points)]
        page.send("Input.dispatchTouchEvent", type=kind, touchPoints=fingers)

    page.send("Emulation.setTouchEmulationEnabled", enabled=True)
    try:
        touch("touchStart", (x, y))
        touch("touchMove", (x + 50, y - 30))
        touch("touchEnd")
        assert page.run("view.azimuth") == pytest.approx(-0.9 - 50 * 0.008)
        assert page.run("view.elevation") == pytest.approx(0.35 - 30 * 0.008)
        touch("touchStart", (x - 30, y), (x + 30, y))
        touch("touchMove", (x - 60, y), (x + 60, y))
        touch("touchEnd")
        assert page.run("view.zoom") == pytest.approx(2.0)
        assert page.run("view.azimuth") == pytest.approx(-0.9 - 50 * 0.008)
    finally:
        page.send("Emulation.setTouchEmulationEnabled", enabled=False)


def test_the_wheel_zooms_a_figure_in_use_and_else_scrolls_the_page(tab: tuple[Page, Path]) -> None:
    page = paused(tab, 2.0)
    x, y = page.run(MIDDLE)
    wheel = {"x": x, "y": y, "deltaX": 0, "deltaY": -200}
    page.run("document.activeElement.blur()")
    page.send("Input.dispatchMouseEvent", type="mouseWheel", **wheel)
    page.run(FRAMES)
    assert page.run("view.zoom") == 1
    page.run("document.getElementById('stick').focus()")
    page.send("Input.dispatchMouseEvent", type="mouseWheel", **wheel)
    page.run(FRAMES)
    assert page.run("view.zoom") == pytest.approx(np.exp(0.3))


def test_keys_turn_zoom_and_play(tab: tuple[Page, Path]) -> None:
    page = paused(tab, 2.0)
    places = page.run("shownPlaces()")
    for key, name, sign in (("ArrowLeft", "azimuth", 1), ("ArrowDown", "elevation", 1), ("+", "zoom", 1)):
        before = page.run(f"view.{name}")
        page.run(KEY % key)
        assert sign * (page.run(f"view.{name}") - before) > 0.1
    page.run(KEY % "0")
    assert page.run("shownPlaces()") == places
    page.run(KEY % " ")
    assert page.run("state.playing") is True
    page.run(KEY % " ")
    assert page.run("state.playing") is False


def test_the_slider_the_charts_and_the_distances_choose_the_moment(
    tab: tuple[Page, Path], content: dict[str, Any]
) -> None:
    page = opened(tab)
    page.run(
        "(s => { s.value = 4; s.dispatchEvent(new Event('input')); })(document.getElementById('stick-time'))"
    )
    assert page.run("state.playing") is False
    assert page.run(NOW)["time"] == 4
    least = min(content["clearances"], key=lambda row: row["least"])
    page.run("document.querySelector('[data-at]').click()")
    assert page.run(NOW)["time"] == least["time_s"]
    page.run("document.querySelector('#limits .plot').scrollIntoView({block: 'center'})")
    left, top, width, height = page.run(CHART)
    page.mouse("mousePressed", left + width / 2, top + height / 2, buttons=1)
    page.mouse("mouseReleased", left + width / 2, top + height / 2)
    assert page.run(NOW)["time"] == pytest.approx(5.0, abs=0.05)
    places = page.run("charts.map(c => Number(c.cursor.getAttribute('transform').match(/[\\d.]+/)[0]))")
    assert places == pytest.approx([places[0]] * 28, abs=0.2)


@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_figure_fits_every_screen(tab: tuple[Page, Path], width: int, dark: bool) -> None:
    page = paused(tab, 2.0, width, dark)
    assert page.run("document.documentElement.scrollWidth") == width
    box = page.run("[canvas.clientWidth, canvas.clientHeight, canvas.width, canvas.height]")
    assert box[:2] == box[2:]
    assert 250 < box[0] < width
    places = np.array(page.run("shownPlaces()"))
    assert np.all((places > 0) & (places < box[:2]))
    assert page.run(INKED) > 2000
    ink = page.run("colours.ink")
    assert ink == ("#e7edf3" if dark else "#17212b")


def test_the_figure_follows_its_window_and_is_printed_dark_on_light(tab: tuple[Page, Path]) -> None:
    page = paused(tab, 2.0, dark=True)
    page.send("Emulation.setDeviceMetricsOverride", width=700, height=900, deviceScaleFactor=2, mobile=False)
    page.run(FRAMES)
    assert page.run("canvas.width") == 2 * page.run("canvas.clientWidth") < 1400
    dark = {"name": "prefers-color-scheme", "value": "dark"}
    assert page.run("colours.ink") == "#e7edf3"
    page.send("Emulation.setEmulatedMedia", media="print", features=[dark])
    page.run(FRAMES)
    assert page.run("colours.ink") == "#000"
    page.send("Emulation.setEmulatedMedia", media="")


def test_printing_opens_what_is_folded(tab: tuple[Page, Path], tmp_path: Path) -> None:
    page = paused(tab, 2.0)
    page.run("addEventListener('beforeprint', () => document.body.dataset.open = document.querySelectorAll("
             "'details.motion[open]').length)")  # fmt: skip
    page.pdf(tmp_path / "design.pdf")
    assert page.run("document.body.dataset.open") == "7"
    assert page.run("document.querySelectorAll('details.motion[open]').length") == 1


def test_a_page_without_a_figure_works(
    tab: tuple[Page, Path], content: dict[str, Any], tmp_path: Path
) -> None:
    page, _ = tab
    file = tmp_path / "plain.html"
    file.write_text(render_design({**content, "stick": None}), encoding="utf-8")
    page.open(file, width=1280)
    assert page.run("document.documentElement.dataset.script") == "done"
    assert page.run("document.documentElement.dataset.error") is None
    page.run("document.querySelector('#gains [data-sort=gain]').click()")


def test_nothing_fails_and_nothing_is_fetched(tab: tuple[Page, Path]) -> None:
    page = opened(tab)
    assert page.run(PASSES)
    for button in page.run("[...document.querySelectorAll('button')].map((b, i) => i)"):
        page.run(f"document.querySelectorAll('button')[{button}].click()")
    page.run(FRAMES)
    assert page.run("document.documentElement.dataset.error") is None
    methods = [event["method"] for event in page.events]
    assert "Runtime.exceptionThrown" not in methods
    assert "Runtime.consoleAPICalled" not in methods
    assert "Log.entryAdded" not in methods
    asked = [
        event["params"]["request"]["url"]
        for event in page.events
        if event["method"] == "Network.requestWillBeSent"
    ]
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
    assert len([url for url in asked if url.startswith("file:")]) == 1
