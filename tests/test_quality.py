"""Style, format and types are part of the tests, so that `make test` says all there is to say."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize(
    "command",
    [["ruff", "check", "."], ["ruff", "format", "--check", "."], ["mypy"]],
    ids=["style", "format", "types"],
)
def test_tool_finds_nothing(command: list[str]) -> None:
    if importlib.util.find_spec(command[0]) is None:
        pytest.skip(f"{command[0]} is not installed; install the test extra.")
    tool = [sys.executable, "-m", *command]
    run = subprocess.run(tool, cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"{' '.join(command)}\n{run.stdout}{run.stderr}"
