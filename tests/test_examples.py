"""Every example runs as it is, in an empty folder, with warnings as errors."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[1] / "examples"
SCRIPTS = sorted(path for path in EXAMPLES.glob("*.py") if not path.name.startswith("_"))
VOID = {"meta", "br"}


def run_example(path: Path, folder: Path) -> str:
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    run = subprocess.run(
        [sys.executable, "-W", "error", str(path)],
        cwd=folder,
        env=environment | {"PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        check=False,
    )
    assert run.returncode == 0, run.stdout + run.stderr
    return run.stdout


def test_examples_are_found() -> None:
    assert {"demo.py", "base_parameters.py", "urdf_to_base.py"} <= {path.name for path in SCRIPTS}


@pytest.mark.parametrize("path", [p for p in SCRIPTS if p.name != "demo.py"], ids=lambda path: path.stem)
def test_example_runs(path: Path, tmp_path: Path) -> None:
    assert run_example(path, tmp_path)


class Page(HTMLParser):
    """Checks that tags close in order and notes what the page would fetch."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.fetched: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        self.fetched += [f"{name}={value}" for name, value in attrs if name in ("src", "href", "srcset")]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_demo_tells_the_truth_about_itself(tmp_path: Path) -> None:
    said = run_example(EXAMPLES / "demo.py", tmp_path)
    folder = tmp_path / "out" / "demo"
    assert str(folder / "report.html") in said
    assert "Trustworthy: " in said
    assert sorted(p.name for p in folder.iterdir()) == ["report.html", "result.json", "tx40_inverse.c"]
    result = json.loads((folder / "result.json").read_text(encoding="utf-8"))
    assert result["trusted"] is True
    assert len(result["base"]) == 58
    errors = [abs(p["value"] - p["truth"]) / p["sigma"] for p in result["base"]]
    assert max(errors) < 5
    assert result["within_two_sigma"] == sum(e < 2 for e in errors) / 58
    for joint in result["joints"]:
        assert joint["prediction"] < 1.1 * joint["noise_floor"]
        assert joint["bias"] < 0.5 * joint["noise_floor"]


def test_the_demo_s_report_stands_alone(tmp_path: Path) -> None:
    run_example(EXAMPLES / "demo.py", tmp_path)
    text = (tmp_path / "out" / "demo" / "report.html").read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    assert page.open == []
    assert page.fetched == []
    assert "<script" not in text
    assert not re.search(r"@import|url\(|https?:", text)
    assert (
        text.index("can be trusted") < text.index("<svg") < text.index("Fit per joint") < text.index("ZZ1R")
    )
    assert text.count("error / σ") == 1
