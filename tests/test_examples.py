"""Every example runs as it is, in an empty folder, with warnings as errors."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
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


def test_the_demo_is_the_main_job(tmp_path: Path) -> None:
    """Two logs, a fit, a proof on unseen motion and a report that stands alone."""
    said = run_example(EXAMPLES / "demo.py", tmp_path)
    folder = tmp_path / "out" / "demo"
    assert str(folder / "report.html") in said
    assert "nothing found speaks against using it" in said
    assert sorted(p.name for p in folder.iterdir()) == [
        "arrays.npz",
        "parameters.csv",
        "report.html",
        "result.json",
    ]
    document = json.loads((folder / "result.json").read_text(encoding="utf-8"))["document"]
    assert len(document["parameters"]) == 58
    assert document["validation"]["decimated"]["overall_percent"] < 2.0
    within, of = map(int, re.search(r"(\d+) of (\d+) parameters lie within 2σ of the truth", said).groups())
    assert within / of > 0.85
    assert not re.search(
        r"@import|(src|href)=[\"']?https?:", (folder / "report.html").read_text(encoding="utf-8")
    )
