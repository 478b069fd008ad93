"""Every operation of a program means the same in C, Python and MATLAB."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dynid.compile.csource import c_source
from dynid.compile.dialects import MATLAB, PYTHON, C, Dialect, operation_counts, statements
from dynid.compile.program import BINARY, UNARY, Port, Program
from dynid.core.errors import ModelError

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
OCTAVE = shutil.which("octave-cli") or shutil.which("octave")
OPERATIONS = sorted({*BINARY, *UNARY})
INPUTS = (("input", 0, 0), ("input", 0, 1), ("const", -0.25, 0))
PROGRAM = Program(
    "every",
    (Port("x", 2), Port("unused", 1)),
    (Port("y", len(OPERATIONS) + 2),),
    (*INPUTS, *((op, 0, 1 if op in BINARY else 0) for op in OPERATIONS), ("mul", 0, 2)),
    (*range(3, 3 + len(OPERATIONS)), 3 + len(OPERATIONS), -1),
)
"""Each operation of both inputs, a product with a negative constant, and a structural zero."""
VALUES = [(0.7, 0.3), (0.3, 0.7), (0.5, 0.5), (1.5, 0.0)]
MEANING: dict[str, Any] = {
    "add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": np.power,
    "min": np.minimum, "max": np.maximum, "lt": np.less, "le": np.less_equal, "eq": np.equal,
    "ne": np.not_equal, "and": np.logical_and, "or": np.logical_or, "not": np.logical_not,
    "neg": np.negative, "atan": np.arctan, "if": lambda a, b: np.where(a != 0, b, 0.0),
}  # fmt: skip


def expected(a: float, b: float) -> np.ndarray:
    with np.errstate(divide="ignore"):
        made = [
            MEANING.get(op, getattr(np, op, None))(*([a, b] if op in BINARY else [a])) for op in OPERATIONS
        ]
    return np.array([*made, -0.25 * a, 0.0], dtype=float)


def assert_same(found: Any, a: float, b: float) -> None:
    assert np.allclose(found, expected(a, b), rtol=1e-15, atol=1e-15)


@pytest.mark.parametrize(("a", "b"), VALUES)
def test_python(a: float, b: float) -> None:
    lines, results = statements(PROGRAM, PYTHON, {"x": "x", "unused": "unused"})
    space: dict[str, Any] = {"np": np, "x": np.array([[a, b]])}
    with np.errstate(divide="ignore"):
        exec("\n".join(line.strip() for line in lines), space)
    assert_same([np.ravel(eval(result, space))[0] for result in results], a, b)


@pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
def test_c(tmp_path: Path) -> None:
    (tmp_path / "every.c").write_text(c_source(PROGRAM))
    strict = "-std=c99 -Wall -Wextra -Werror -pedantic -Wconversion -O0 -shared -fPIC every.c -o every.so -lm"
    subprocess.run([str(COMPILER), *strict.split()], cwd=tmp_path, check=True)
    function = ctypes.CDLL(str(tmp_path / "every.so")).every
    for a, b in VALUES:
        given, out = np.array([a, b]), np.full(len(OPERATIONS) + 2, np.nan)
        function(*(ctypes.c_void_p(array.ctypes.data) for array in (given, given, out)))
        assert_same(out, a, b)


@pytest.mark.skipif(OCTAVE is None, reason="GNU Octave is not installed")
def test_matlab(tmp_path: Path) -> None:
    lines, results = statements(PROGRAM, MATLAB, {"x": "x", "unused": "unused"})
    choose = "function x = choose(c, a, b)\n if c\n x = a;\n else\n x = b;\n end\nend"
    printed = f"printf('%.17g\\n', {', '.join(results)});"
    blocks = ["1;", choose, *(f"x = [{a} {b}];\n" + "\n".join([*lines, printed]) for a, b in VALUES)]
    (tmp_path / "every.m").write_text("\n".join(blocks))
    command = [str(OCTAVE), "--no-gui", "--quiet", "every.m"]
    said = subprocess.run(command, cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    rows = np.array([float(word) for word in said.split()]).reshape(len(VALUES), -1)
    for row, (a, b) in zip(rows, VALUES, strict=True):
        assert_same(row, a, b)


@pytest.mark.parametrize("dialect", [C, PYTHON, MATLAB])
def test_numbers_keep_their_digits_and_their_sign(dialect: Dialect) -> None:
    assert dialect.number(0.1) == "0.1"
    assert dialect.number(-1e-300) == "(-1e-300)"
    assert dialect.number(-0.0) == "(-0.0)"
    assert float(dialect.number(1 / 3)) == 1 / 3
    assert dialect.number(float("-inf")) == f"(-{dialect.specials['inf']})"


def test_names_that_a_language_has_taken_are_refused() -> None:
    for dialect, name in (
        (C, "fabs"),
        (C, "while"),
        (C, "a-b"),
        (PYTHON, "lambda"),
        (MATLAB, "end"),
        (C, ""),
    ):
        with pytest.raises(ModelError, match="is not a name for a function of one's own; give another"):
            dialect.require_name(name, "a function")
    assert C.require_name("tx40_inverse", "a function") == "tx40_inverse"


def test_operations_are_counted_by_kind() -> None:
    counts = operation_counts(PROGRAM)
    assert counts == {
        "additions": 2,
        "multiplications": 2,
        "divisions": 1,
        "sines and cosines": 2,
        "others": len(OPERATIONS) - 6,
    }
