"""The files around the code agree with each other."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
CONSTRAINTS = (ROOT / "constraints.txt").read_text(encoding="utf-8").splitlines()
PINS = [line for line in CONSTRAINTS if line and not line.startswith("#")]


def normal(name: str) -> str:
    """A distribution's name with its spellings folded together."""
    return re.sub(r"[-_.]+", "-", name).lower()


def test_constraints_are_plain_pins() -> None:
    """No addresses, no options, no editable or local lines: only names and versions."""
    odd = [line for line in PINS if not re.fullmatch(r"[A-Za-z0-9._-]+==[A-Za-z0-9.+!]+", line)]
    assert not odd
    assert "dynid" not in {normal(line.split("==")[0]) for line in PINS}


@pytest.mark.parametrize("extra", ["", *PROJECT["optional-dependencies"]])
def test_every_requirement_is_pinned_within_its_range(extra: str) -> None:
    requirements = PROJECT["optional-dependencies"][extra] if extra else PROJECT["dependencies"]
    pinned = {normal(name): version for name, version in (line.split("==") for line in PINS)}
    for requirement in requirements:
        name, _, least = requirement.partition(">=")
        if normal(name.split("[")[0]) == "dynid":
            continue
        assert normal(name) in pinned, f"{name} of extra {extra!r} is not in constraints.txt"
        assert numbers(pinned[normal(name)]) >= numbers(least), requirement


def numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in re.findall(r"\d+", version))


def test_citation_names_this_version_and_licence() -> None:
    citation = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {PROJECT['version']}\n" in citation
    assert f"\nlicense: {PROJECT['license']}\n" in citation


def test_ci_runs_the_readme_command() -> None:
    script = ROOT / ".ci" / "run"
    assert script.stat().st_mode & 0o111, ".ci/run must be executable"
    assert script.read_text(encoding="utf-8").splitlines()[-1] == "make test"
