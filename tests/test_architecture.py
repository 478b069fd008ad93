"""The house plan, checked: layers, no cycles, small files, imports where they can be seen."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src").rglob("*.py"))
MAX_LINES = 400
# Heavy libraries that most users of a module never touch may be imported where they are used.
MAY_BE_LATE = {
    *("casadi", "h5py", "jinja2", "llvmlite", "matplotlib", "numpy", "pandas"),
    *("pyarrow", "rosbags", "scipy", "threadpoolctl", "trimesh"),
}


def source_name(path: Path) -> str:
    return str(path.relative_to(ROOT / "src"))


def test_sources_are_found() -> None:
    assert len(SOURCES) > 20


def test_import_contracts_hold() -> None:
    """The contracts of ``[tool.importlinter]`` in pyproject.toml."""
    pytest.importorskip("importlinter", reason="import-linter checks the layers; install the test extra.")
    command = "from importlinter.cli import lint_imports_command; lint_imports_command(['--no-cache'])"
    run = subprocess.run(
        [sys.executable, "-c", command], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout + run.stderr
    assert "3 kept, 0 broken" in run.stdout


@pytest.mark.parametrize("path", SOURCES, ids=source_name)
def test_files_are_small(path: Path) -> None:
    lines = len(path.read_text(encoding="utf-8").splitlines())
    assert lines <= MAX_LINES, f"{source_name(path)} has {lines} lines; split it by the noun it holds."


@pytest.mark.parametrize("path", SOURCES, ids=source_name)
def test_imports_stand_at_the_top(path: Path) -> None:
    """Only heavy optional libraries may be imported inside a function."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    functions = [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]
    inner = [node for function in functions for node in ast.walk(function)]
    names = {alias.name for node in inner if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module or "." for node in inner if isinstance(node, ast.ImportFrom)}
    late = {name for name in names if name.split(".")[0] not in MAY_BE_LATE}
    assert not late, f"{source_name(path)} imports {sorted(late)} inside a function; move them to the top."
