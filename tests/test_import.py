"""`import dynid` is light: heavy libraries load when a kernel is compiled, not before."""

from __future__ import annotations

import ast
import importlib
import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

HEAVY = (
    "casadi", "llvmlite", "matplotlib", "mujoco", "pinocchio", "pandas", "jax",
    "scipy.signal", "scipy.optimize", "typer", "rich",
)  # fmt: skip
REPEATS = 5
FAMILIES = ("dynid", *(f"dynid.{name}" for name in (
    "base", "checks", "suspects", "estimators", "estimators.linear", "estimators.closed_loop", "logs",
    "model", "preparation", "problem", "results", "simulation", "validation", "workflow",
)))  # fmt: skip


def python(code: str) -> str:
    """Output of a fresh interpreter."""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def loaded_by(statement: str) -> set[str]:
    return set(json.loads(python(f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))")))


def test_import_dynid_pulls_in_nothing_heavy() -> None:
    modules = loaded_by("import dynid")
    assert "dynid" in modules
    assert not modules & set(HEAVY)


@pytest.mark.parametrize("package", ["model", "dynamics"])
def test_describing_a_robot_pulls_in_nothing_heavy(package: str) -> None:
    """Every module of the lower folders, and a robot loaded from the catalog."""
    modules = loaded_by(
        f"import importlib, pkgutil, dynid.{package} as package\n"
        "for module in pkgutil.walk_packages(package.__path__, package.__name__ + '.'):\n"
        "    importlib.import_module(module.name)\n"
        "from dynid.model.load import load_robot\n"
        "load_robot('iiwa14')"
    )
    assert any(name.startswith(f"dynid.{package}.") for name in modules)
    assert not modules & set(HEAVY)


def test_the_fit_command_waits_for_neither_scipy_nor_a_compiler() -> None:
    """SciPy serves what most fits do not ask for; half of a short fit's time would go into importing it."""
    modules = loaded_by("import dynid.cli.fit")
    assert "dynid.cli.fit" in modules
    assert not {name.split(".")[0] for name in modules} & {"scipy", "casadi", "llvmlite", "pandas"}


def test_the_fit_command_loads_only_what_it_uses() -> None:
    """Other readers, loaders and estimators, and Rich, would take a third of a short fit's time."""
    modules = loaded_by("import dynid.cli.fit, dynid.logs.read, dynid.workflow.fitting")
    assert not {name.split(".")[0] for name in modules} & {"rich", "xml", "email", "sqlite3"}
    unused = (
        "estimators.linear.separable",
        "estimators.linear.irls",
        "model.loaders.mjcf",
        "logs.readers.bag",
    )
    assert not modules & {f"dynid.{name}" for name in unused}


def import_time(module: str) -> float:
    """Seconds a fresh interpreter spends on one import."""
    clock = "time.perf_counter()"
    return float(python(f"import time\nstart = {clock}\nimport {module}\nprint({clock} - start)"))


def test_import_dynid_is_no_slower_than_scipy_signal() -> None:
    """Best of several, taken in turns, so that the machine's load falls on both."""
    pairs = [(import_time("dynid"), import_time("scipy.signal")) for _ in range(REPEATS)]
    ours, theirs = (min(times) for times in zip(*pairs, strict=True))
    assert ours / theirs <= 1.0, f"import dynid takes {ours / theirs:.2f} times as long as scipy.signal"


@pytest.mark.parametrize("package", FAMILIES)
def test_a_family_exports_what_it_says(package: str) -> None:
    """Type checkers and Python see the same names of a family that is imported when first used."""
    family = importlib.import_module(package)
    tree = ast.parse(Path(str(family.__file__)).read_text(encoding="utf-8"))
    imported = [alias for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names]
    typed = {alias.asname for alias in imported if alias.asname}
    typed |= {"check", "repair", "compare"} if package == "dynid" else set()  # shorter names of the face
    assert typed == set(family.__all__)
    assert set(family.__all__) <= set(dir(family))
    for name in family.__all__:
        assert not isinstance(getattr(family, name), ModuleType), f"a module hides {name}"
    with pytest.raises(AttributeError, match=f"module '{package}' has no attribute 'nothing'"):
        _ = family.nothing
