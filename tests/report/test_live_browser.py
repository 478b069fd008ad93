"""The live page in a real browser: records come, plots move, tables follow, and the end stays."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dynid.report.live_history import HistorySize
from dynid.report.live_page import render_track
from dynid.report.live_server import LiveServer, LiveServerOptions
from support.browser import Page, browser, find_browser
from support.live_records import live_header, live_records

SMALL = HistorySize(recent=40, older=30)
RECORDS = list(live_records(120, parameters=12, joints=3))
UNTIL = """new Promise(done => { const look = () => (%s) ? done(true) : setTimeout(look, 20); look(); })"""
PATH = "document.querySelector('%s .canvas path.predicted').getAttribute('d')"
CELLS = """[...document.querySelectorAll('tbody[data-parameter="%d"] td')].map(c => c.dataset.value)"""
BADGE = "document.getElementById('connection').textContent"
EVENTS = "[...document.querySelectorAll('#event-list li')].map(n => n.textContent)"
FIGURES = """Object.fromEntries([...document.querySelectorAll('[data-figure]')]
  .map(b => [b.dataset.figure, Number(b.dataset.value)]))"""
PLOTTED = """[...document.querySelectorAll('[data-plot=parameter]:not([hidden]) figcaption b')]
  .map(n => n.textContent)"""
MARKS = "document.querySelectorAll('[data-plot=innovation] g[transform]').length"
DRAWN = "new Promise(done => setTimeout(() => { redraw(); setTimeout(() => done(true), 150); }, 120))"
CHOOSE = "(s => { s.value = '%s'; s.dispatchEvent(new Event('change')); })(document.getElementById('%s'))"


@pytest.fixture(scope="module")
def tab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Page]:
    program = find_browser()
    if program is None:
        pytest.skip("No Chromium or Chrome was found, so the live page is not tried in a browser.")
    with browser(program, tmp_path_factory.mktemp("live") / "profile") as page:
        yield page


def visit(page: Page, url: str, height: int = 900) -> None:
    """Load an address as a desktop would."""
    page.events.clear()
    page.send(
        "Emulation.setDeviceMetricsOverride", width=1280, height=height, deviceScaleFactor=1, mobile=False
    )
    page.send("Page.navigate", url=url)
    page.wait_for("Page.loadEventFired")
    assert page.run("document.documentElement.dataset.script") == "done"


def told(page: Page) -> list[Any]:
    """Errors of scripts and complaints of the browser, such as of the page's policy."""
    entries = [event["params"]["entry"] for event in page.events if event["method"] == "Log.entryAdded"]
    return [entry for entry in entries if entry["level"] == "error"] + [
        error for error in [page.run("document.documentElement.dataset.error")] if error
    ]


@pytest.fixture
def live() -> Iterator[LiveServer]:
    with LiveServer(LiveServerOptions(size=SMALL, retry_s=0.1)) as server:
        yield server


def test_plots_move_and_tables_follow(tab: Page, live: LiveServer) -> None:
    live.write(RECORDS[0])
    visit(tab, live.url, height=3000)  # all plots in sight
    tab.run(UNTIL % f"{BADGE} === 'waiting'")
    for record in RECORDS[1:31]:
        live.write(record)
    tab.run(UNTIL % "run.recent.length === 30")
    tab.run(DRAWN)
    assert tab.run(BADGE) == "live"
    before = {part: tab.run(PATH % part) for part in ("[data-plot=torque]", "[data-plot=innovation]")}
    cells, figures = tab.run(CELLS % 2), tab.run(FIGURES)
    last = RECORDS[30]
    assert float(cells[1]) == pytest.approx(last["values"][2], rel=1e-6)
    assert float(cells[2]) == pytest.approx(2 * last["sigma"][2], rel=1e-6)
    assert float(cells[3]) == pytest.approx(RECORDS[1]["values"][2], rel=1e-6)
    moved = (last["values"][2] - RECORDS[1]["values"][2]) / last["sigma"][2]
    assert float(cells[5]) == pytest.approx(moved, rel=1e-4)
    assert figures["time"] == pytest.approx(2.9)
    assert figures["innovation"] == pytest.approx(last["innovation"], rel=1e-6)
    assert tab.run(EVENTS) == []
    for record in RECORDS[31:]:
        live.write(record)
    tab.run(UNTIL % f"run.end && {BADGE} === 'ended'")
    tab.run(DRAWN)
    for part, path in before.items():
        assert path.count("L") > 10
        assert tab.run(PATH % part) != path
    assert tab.run(CELLS % 2)[1] != cells[1]
    assert tab.run(EVENTS) == ["care1 · 6 s · payload The robot carries 2.0 kg more than before <b>."]
    assert tab.run(MARKS) == 1
    assert tab.run("document.getElementById('sentence').textContent") == "The source has ended."
    assert told(tab) == []


def test_what_moved_most_is_drawn_with_its_band(tab: Page, live: LiveServer) -> None:
    for record in RECORDS[:110]:
        live.write(record)
    visit(tab, live.url)
    tab.run(UNTIL % "run.recent.length === 40")
    tab.run("document.getElementById('parameters').scrollIntoView()")
    tab.run(DRAWN)
    rows = range(12)
    first, last = RECORDS[1], RECORDS[109]
    moved = [abs((last["values"][k] - first["values"][k]) / last["sigma"][k]) for k in rows]
    wanted = sorted(sorted(rows, key=lambda k: -moved[k])[:4])
    names = [row["name"] for row in RECORDS[0]["parameters"]]
    assert tab.run(PLOTTED) == [names[k] for k in wanted]
    band = tab.run("document.querySelector('[data-plot=parameter] path[fill-opacity]').getAttribute('d')")
    assert band.endswith("Z")
    # Marking one in the table takes over, and at most eight are drawn.
    for k in rows:
        if k not in wanted:
            tab.run(f"document.querySelector('tbody[data-parameter=\"{k}\"] input').click()")
    tab.run(DRAWN)
    assert tab.run("document.getElementById('chosen').value") == "mine"
    assert len(tab.run(PLOTTED)) == 8
    assert tab.run("document.querySelectorAll('tbody input:checked').length") == 8
    value = tab.run(PATH % "[data-plot=parameter]")
    tab.run(CHOOSE % ("percent", "scale"))
    tab.run(DRAWN)
    assert tab.run(PATH % "[data-plot=parameter]") != value
    unit = tab.run("document.querySelector('[data-plot=parameter] figcaption span').textContent")
    assert unit == "% of the start"


def test_a_reader_finds_values_with_the_keyboard(tab: Page, tmp_path: Path) -> None:
    file = tmp_path / "track.html"
    file.write_text(render_track(RECORDS), encoding="utf-8")
    visit(tab, file.as_uri())
    tab.run(CHOOSE % ("1", "joint"))
    tab.run(DRAWN)
    tab.run("torqueBox.dispatchEvent(new KeyboardEvent('keydown', {key: 'End'}))")
    said = tab.run("torquePlot.querySelector('.readout').textContent")
    last = RECORDS[-2]
    assert said.startswith("11.9 s: measured ")
    shown = float(said.split("measured ")[1].split(",")[0].replace("−", "-"))
    assert shown == pytest.approx(last["measured"][1], rel=1e-3)
    tab.run("torqueBox.dispatchEvent(new KeyboardEvent('keydown', {key: 'Home'}))")
    assert tab.run("torquePlot.querySelector('.readout').textContent").startswith("0 s: ")


def test_pausing_holds_the_picture_and_loses_nothing(tab: Page, live: LiveServer) -> None:
    for record in RECORDS[:20]:
        live.write(record)
    visit(tab, live.url)
    tab.run(UNTIL % "run.recent.length === 19")
    tab.run(DRAWN)
    tab.run("document.getElementById('pause').click()")
    held, cells = tab.run(PATH % "[data-plot=torque]"), tab.run(CELLS % 0)
    for record in RECORDS[20:50]:
        live.write(record)
    tab.run(UNTIL % "unseen === 30")
    tab.run(DRAWN)
    assert tab.run("document.getElementById('waiting').textContent") == "Paused; 30 records since."
    assert (tab.run(PATH % "[data-plot=torque]"), tab.run(CELLS % 0)) == (held, cells)
    tab.run("document.getElementById('pause').click()")
    tab.run(DRAWN)
    assert tab.run(PATH % "[data-plot=torque]") != held
    assert tab.run("run.recent.length + run.older.length") == 49


def test_buffers_stay_bounded_and_are_those_of_the_server(tab: Page, live: LiveServer) -> None:
    """A page that saw everything and one that comes late hold the same course."""
    records = list(live_records(1500, parameters=3, joints=2))[:-1]
    live.write(records[0])
    visit(tab, live.url)
    tab.run(UNTIL % f"{BADGE} === 'waiting'")
    for k in range(1, len(records), 100):
        for record in records[k : k + 100]:
            live.write(record)
        tab.run(UNTIL % f"run.last && run.last.t >= {records[min(k + 99, len(records) - 1)]['t']} - 1e-3")
    assert live.dropped == 0
    kept = live.history.to_dict()
    sizes = tab.run("[run.older.length + (run.group.length ? 1 : 0), run.recent.length, run.stride]")
    assert sizes == [len(kept["older"]), SMALL.recent, kept["stride"]]
    course = tab.run("[...run.older, merged(run.group)].map(p => [p.t, p.innovation])")
    assert course == [[point["t"], point["innovation"]] for point in kept["older"]]


def test_a_lost_server_is_looked_for_again(tab: Page) -> None:
    first = LiveServer(LiveServerOptions(size=SMALL, retry_s=0.1))
    for record in RECORDS[:30]:
        first.write(record)
    visit(tab, first.url)
    tab.run(UNTIL % "run.recent.length === 29")
    first.close()
    tab.run(UNTIL % f"{BADGE} === 'lost, retrying'")
    tab.run(DRAWN)
    assert tab.run("run.recent.length") == 29  # what was received stays
    with LiveServer(LiveServerOptions(port=first.port, size=SMALL, retry_s=0.1)) as second:
        for record in RECORDS[:40]:
            second.write(record)
        tab.run(UNTIL % f"run.recent.length === 39 && {BADGE} === 'live'")
        # Another robot at the same address: the page is asked for anew.
        tab.events.clear()
        second.write(live_header(parameters=5))
        tab.wait_for("Page.loadEventFired")
        tab.run(UNTIL % "document.querySelectorAll('tbody[data-parameter]').length === 5")


def test_hidden_plots_cost_no_drawing(tab: Page, live: LiveServer) -> None:
    live.write(RECORDS[0])
    visit(tab, live.url)
    tab.run("window.scrollTo(0, document.body.scrollHeight)")
    for record in RECORDS[1:20]:
        live.write(record)
    tab.run(UNTIL % "run.recent.length === 19")
    tab.run(DRAWN)
    assert tab.run("torqueBox.inSight") is False
    before = tab.run(PATH % "[data-plot=torque]")
    for record in RECORDS[20:40]:
        live.write(record)
    tab.run(UNTIL % "run.recent.length === 39")
    tab.run(DRAWN)
    assert tab.run(PATH % "[data-plot=torque]") == before
    tab.run("window.scrollTo(0, 0)")
    tab.run(UNTIL % f"torqueBox.inSight && {PATH % '[data-plot=torque]'} !== {before!r}")


@pytest.mark.parametrize("width", [390, 768, 1280])
@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_the_written_page_fits_every_screen(tab: Page, tmp_path: Path, width: int, dark: bool) -> None:
    file = tmp_path / "track.html"
    file.write_text(render_track(RECORDS), encoding="utf-8")
    tab.open(file, width=width, dark=dark)
    tab.run(UNTIL % "plots.parameters[0].shown")
    assert tab.run("document.documentElement.scrollWidth") == width
    assert tab.run(BADGE) == "ended"
    assert len(tab.run(EVENTS)) == 1
    assert tab.run("document.getElementById('pause')") is None
    assert float((tab.run(CELLS % 0))[1]) == pytest.approx(RECORDS[-2]["values"][0], rel=1e-6)
    assert tab.run(PATH % "[data-plot=torque]").count("L") > 50
    assert told(tab) == []


def test_records_without_an_end_say_so(tab: Page, tmp_path: Path) -> None:
    file = tmp_path / "track.html"
    file.write_text(render_track(RECORDS[:-1]), encoding="utf-8")
    visit(tab, file.as_uri())
    tab.run(UNTIL % f"{BADGE} === 'no end'")
    file.write_text(render_track(RECORDS[:1]), encoding="utf-8")
    visit(tab, file.as_uri())
    tab.run(DRAWN)
    assert told(tab) == []
