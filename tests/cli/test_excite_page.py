"""The page of a designed motion in a real browser: the arm moves, and its numbers are the JSON's."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dynid.cli.main import run
from dynid.compile.kernels import kernels
from dynid.model.load import load_robot
from support.browser import Page, browser, find_browser

WORDS = ["excite", "iiwa14", "--floor", "-0.36", "--harmonics", "5", "--starts", "2", "--workers", "1"]
FIGURES = """Object.fromEntries([...document.querySelectorAll('#verdict [data-figure]')]
  .map(b => [b.dataset.figure, Number(b.dataset.value)]))"""
CELLS = """[...document.querySelectorAll('#%s tbody tr')].map(row => [...row.cells]
  .filter(c => 'value' in c.dataset).map(c => c.dataset.value))"""
PASSES = """new Promise(done => { const from = state.time;
  const look = () => Math.abs(state.time - from) > 0.05 ? done(true) : requestAnimationFrame(look);
  look(); })"""


@pytest.fixture(scope="module")
def designed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("designed") / "out"
    assert run([*WORDS, "--out", str(folder)]) == 0
    return folder


@pytest.fixture(scope="module")
def content(designed: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((designed / "design.json").read_text())
    return found


@pytest.fixture(scope="module")
def page(designed: Path) -> Iterator[Page]:
    program = find_browser()
    if program is None:
        pytest.skip("No Chromium or Chrome was found, so the page is not tried in a browser.")
    with browser(program, designed.parent / "profile") as tab:
        tab.open(designed / "report.html", width=1280)
        assert tab.run("document.documentElement.dataset.script") == "done"
        yield tab


def test_the_numbers_read_from_the_page_are_those_of_the_json(page: Page, content: dict[str, Any]) -> None:
    figures = page.run(FIGURES)
    assert figures["criterion"] == content["criterion"]["value"]
    for key in ("condition", "condition_scaled", "log_det"):
        assert figures[key] == content["figures"][key]
    assert (
        figures["clearance"] == content["distance"]["bound"]
    )  # proved at every instant, so below the grid's
    assert figures["clearance"] <= min(row["least"] for row in content["clearances"])
    used = [row["used_percent"] for row in content["limits"] if row["used_percent"] is not None]
    assert figures["used_percent"] == max(used)
    assert [float(row[2]) for row in page.run(CELLS % "limits") if row[2]] == used
    gains = page.run(CELLS % "gains")
    assert [row[0] for row in gains] == [row["name"] for row in content["parameters"]]
    for column, key in ((1, "gain"), (2, "sigma_before"), (3, "sigma")):
        assert [float(row[column]) for row in gains] == [row[key] for row in content["parameters"]]


def test_the_arm_moves_as_the_motion_says(page: Page, designed: Path, content: dict[str, Any]) -> None:
    before = page.run("shownPlaces()")
    page.run(PASSES)
    assert page.run("shownPlaces()") != before
    rows = np.loadtxt(designed / "motion.csv", delimiter=",", skiprows=1)
    robot = load_robot("iiwa14")
    for sample in (0, 250, 700):
        page.run(f"play(false); setTime({rows[sample, 0]})")
        points, _ = kernels(robot).forward_kinematics(rows[sample : sample + 1, 1:8])
        np.testing.assert_allclose(page.run("poseAt(state.time).points"), points[0], atol=2e-3)


def test_the_page_says_that_the_limits_hold(page: Page, content: dict[str, Any]) -> None:
    text = page.run("document.getElementById('verdict').textContent")
    assert "keeps its limits" in text or "look at it before it is run" in text
    assert "do not run it" not in text
    assert all(row["used_percent"] is None or row["used_percent"] <= 100 + 1e-4 for row in content["limits"])
    assert page.run("document.documentElement.dataset.error") is None
