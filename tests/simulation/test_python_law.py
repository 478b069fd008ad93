"""Laws in Python files: they run as built-in ones do, and what cannot be is told in a sentence."""

from __future__ import annotations

import tomllib
from pathlib import Path

import numpy as np
import pytest

from dynid.core.errors import DynidError, FileError
from dynid.model.load import load_robot
from dynid.simulation import PID, Controller, DriveSide, Sines, UserLaw, simulate
from dynid.simulation.controller_file import controller_from_table, controller_to_toml, load_controller

SCARA = load_robot("scara")
SWING = Sines(((0.5,), (0.4,)), ((0.5,), (0.8,)))
LAW = """
def spring(signals, memory, gains, ops):
    error = [r - q for r, q in zip(signals.reference, signals.position)]
    return [gains[0] * e - gains[1] * v + m for e, v, m in zip(error, signals.speed, memory)], error


def jumpy(signals, memory, gains, ops):
    return [1.0 if signals.position[0] > 0 else -1.0, 0.0], []


def short(signals, memory, gains, ops):
    return [0.0], []


def hungry(signals, memory, gains, ops):
    return [gains[0], gains[1]], []


def lost(signals, memory, gains, ops):
    return [ops.functions["sqrt"](-1.0 - q * q) for q in signals.position], []


number = 3
"""
PYTHON = 'kind = "python"\nrate_hz = 500\nfile = "law.py"\nfunction = "{}"\n'


def write_law(tmp_path: Path, function: str, more: str = "", law: str = LAW) -> Path:
    (tmp_path / "law.py").write_text(law)
    (tmp_path / "c.toml").write_text(PYTHON.format(function) + more)
    return tmp_path / "c.toml"


def test_a_python_law_runs_as_the_same_pid(tmp_path: Path) -> None:
    file = write_law(tmp_path, "spring", "gains = [60, 8]\nstates = 2\n")
    mine = load_controller(file, SCARA)
    assert isinstance(mine.law, UserLaw)
    pid = Controller(PID(60, (8, 8), (1, 1), 0.0), 2e-3)
    reference = SWING.sample(2e-3, 0.4)
    paths = [simulate(SCARA, None, c, reference).q for c in (mine, pid)]
    assert np.abs(paths[0] - paths[1]).max() < 1e-9
    scaled = load_controller(
        write_law(tmp_path, "spring", "gains = [30, 4]\nstates = 2\ndrive_gain = 2\n"), SCARA
    )
    assert isinstance(scaled.law, DriveSide)
    with pytest.raises(DynidError, match=r"'law\.spring' is a Python function and cannot be written as TOML"):
        controller_to_toml(scaled)


@pytest.mark.parametrize(
    ("function", "more", "law", "sentence"),
    [
        ("nobody", "", LAW, "law.py has no function 'nobody'"),
        ("number", "", LAW, "law.py has no function 'number'"),
        ("jumpy", "", LAW, "decide with ops instead of if"),
        ("short", "", LAW, "gives 1 torques and 0 memory rates; 2 and 0 are needed"),
        ("hungry", "", LAW, "takes an entry that is not there: it has 2 axes, 0 gains and states = 0"),
        ("spring", "gains = [1, 2]\n", LAW, "states is 0 (missing or zero, so that memory is empty)"),
        ("lost", "saturation = 5\n", LAW, "law.lost gives NaN for all signals that were tried"),
        ("spring", "", "1/0", "law.py cannot be run (ZeroDivisionError: division by zero)"),
        ("spring", "", "import sys; sys.exit(3)", "law.py cannot be run (SystemExit: 3)"),
        ("spring", "", "def spring(*a): raise SystemExit(3)", "fails on symbols (SystemExit: 3)"),
        ("spring", "", "def spring(*a): return None", "fails on symbols (it answers None)"),
        ("spring", "", "def spring(:", "law.py cannot be run (SyntaxError"),
    ],
)
def test_python_laws_that_cannot_be(
    tmp_path: Path, function: str, more: str, law: str, sentence: str
) -> None:
    with pytest.raises(FileError) as caught:
        load_controller(write_law(tmp_path, function, more, law), SCARA)
    assert sentence in str(caught.value)


def test_code_is_only_run_for_files_given_by_path(tmp_path: Path) -> None:
    (tmp_path / "law.py").write_text("raise RuntimeError('ran')")
    feedforward = 'kind = "p"\nrate_hz = 5\nkp = 1\nfeedforward = "x.toml"'
    with pytest.raises(DynidError, match="file names a file, which only a file given by its path may do"):
        controller_from_table(tomllib.loads(PYTHON.format("spring")), SCARA)
    with pytest.raises(DynidError, match="feedforward names a file"):
        controller_from_table(tomllib.loads(feedforward), SCARA)
