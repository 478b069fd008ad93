"""C99 of identified models: compiled without a warning where there is a compiler, and run."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dynid.compile.kernels import kernels
from dynid.export.export import export_model
from dynid.model.load import load_robot
from dynid.results.result import SavedResult
from support.exported import LOADED, STRIBECK, result_of, sly_robot
from support.robots import prismatic_robot

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler on this machine")
STRICT = (
    "-std=c99 -Wall -Wextra -Werror -pedantic -Wconversion -Wshadow -Wundef -Wstrict-prototypes "
    "-Wmissing-prototypes -Wunused -O1 -shared -fPIC"
)
RESULTS = {
    "scara": result_of(load_robot("scara"), STRIBECK, LOADED),
    "tx40": result_of(load_robot("tx40")),
    "haptic": result_of(load_robot("haptic"), STRIBECK),
    "prismatic": result_of(prismatic_robot()),
    "base": replace(result_of(load_robot("elastic_drive")), standard=None),
    "sly": result_of(sly_robot(), STRIBECK),
}


def library(result: SavedResult, folder: Path) -> Any:
    export_model(result, "c", folder, name="arm")
    build = [str(COMPILER), *STRICT.split(), "arm.c", "-o", "arm.so", "-lm"]
    subprocess.run(build, cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "arm.so"))


def called(function: Any, width: int, *given: np.ndarray) -> np.ndarray:
    """The results of every sample."""
    rows = []
    for sample in zip(*given, strict=True):
        out = np.full(width, np.nan)
        arrays = [np.ascontiguousarray(part) for part in (*sample, out)]
        function(*(ctypes.c_void_p(array.ctypes.data) for array in arrays))
        rows.append(arrays[-1])
    return np.array(rows)


def assert_equal(found: np.ndarray, expected: np.ndarray, size: float | None = None) -> None:
    assert np.abs(found - expected).max() <= 1e-12 * (size or np.abs(expected).max())


@needs_compiler
@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_the_compiled_functions_equal_python(result: SavedResult, tmp_path: Path) -> None:
    robot, made = result.robot, library(result, tmp_path)
    n, own = robot.n_coordinates, kernels(robot)
    values = result.base.expand(result.values) if result.standard is None else result.standard
    q, qd, qdd = np.random.default_rng(3).uniform(-1.5, 1.5, (3, 20, n))
    tau = result.predict(q, qd, qdd)
    assert_equal(called(made.arm_inverse, n, q, qd, qdd), tau)
    if result.standard is not None:
        assert_equal(called(made.arm_inverse_base, n, q, qd, qdd), tau)
    assert_equal(called(made.arm_gravity, n, q), own.gravity(values, q), np.abs(tau).max())
    assert_equal(called(made.arm_inertia_matrix, n * n, q), own.inertia_matrix(values, q).reshape(20, -1))
    back = called(made.arm_forward, n, q, qd, tau)
    assert_equal(result.predict(q, qd, back), tau)
    still = np.zeros_like(q)
    links = np.where([e.family == "inertial" for e in robot.table], values, 0.0)
    bias = own.inverse(links, q, qd, still) + called(made.arm_friction, n, q, qd)
    assert_equal(bias, result.predict(q, qd, still))


@needs_compiler
def test_a_result_may_be_written_over_an_input(tmp_path: Path) -> None:
    result = RESULTS["tx40"]
    made = library(result, tmp_path)
    q, qd, qdd = np.random.default_rng(4).uniform(-1, 1, (3, 6))
    expected = called(made.arm_inverse, 6, q[None], qd[None], qdd[None])[0]
    places = [ctypes.c_void_p(array.ctypes.data) for array in (q, qd, qdd, qdd)]
    made.arm_inverse(*places)
    assert np.array_equal(qdd, expected)


def test_the_header_says_what_a_controller_needs() -> None:
    header, source = (file.content.decode() for file in export_model(RESULTS["tx40"], "c").files)
    assert "robot tx40, by dynid" in header
    assert re.search(r"^ \*   5: joint6 \(rad; N m\)$", header, re.MULTILINE)
    assert re.search(r"^ \* Result [0-9a-f]{16}\.$", header, re.MULTILINE)
    assert "Torque error on unseen motion: 1.23 percent." in header
    assert re.search(r"inverse_base: \d+ additions, \d+ multiplications, 0 divisions, 10 sines and", header)
    assert header.isascii()
    assert source.isascii()
    assert max(map(len, header.splitlines())) <= 110
    assert not re.search(r"malloc|static|goto|while|for \(", source)


def test_names_from_a_robot_file_stay_in_comments() -> None:
    for file in export_model(RESULTS["sly"], "c").files:
        code = re.sub(r"/\*.*?\*/", "", file.content.decode(), flags=re.DOTALL)
        assert "int evil" not in code
        assert "??/" not in file.content.decode()
        assert "\\" not in code
