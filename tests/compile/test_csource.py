"""C99 source of kernels, compiled where a C compiler is at hand."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from dynid.compile.batch import compile_batch
from dynid.compile.csource import c_source
from dynid.compile.trace import KERNELS, describe
from dynid.model.load import load_robot

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")


@pytest.mark.skipif(
    COMPILER is None, reason="no C compiler on this machine, so the C source is only generated"
)
@pytest.mark.parametrize("name", KERNELS)
def test_compiled_source_equals_the_kernel(name: str, tmp_path: Path) -> None:
    robot = load_robot("tx40_log")
    kernel = describe(robot, name)
    source, library = tmp_path / "kernel.c", tmp_path / "kernel.so"
    source.write_text(c_source(kernel.program(), f"dynid_{name}"))
    strict = ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O0", "-shared", "-fPIC"]
    subprocess.run([str(COMPILER), *strict, str(source), "-o", str(library), "-lm"], check=True)
    rng = np.random.default_rng(0)
    given = [np.abs(rng.normal(size=port.width)) + 0.1 for port in kernel.inputs]
    results = [np.full(port.width, np.nan) for port in kernel.outputs]
    pointers = [ctypes.c_void_p(a.ctypes.data) for a in (*given, *results)]
    getattr(ctypes.CDLL(str(library)), f"dynid_{name}")(*pointers)
    shaped = [
        a if p.uniform else a[:, None] if p.columns else a[None, :]
        for a, p in zip(given, kernel.inputs, strict=True)
    ]
    expected = compile_batch(kernel)(*shaped)[:, 0]
    found = np.concatenate(results)
    assert np.abs(found - expected).max() <= 1e-12 * np.abs(expected).max()


def test_source_names_its_arguments_and_sizes() -> None:
    text = c_source(describe(load_robot("scara"), "inverse").program(), "scara_torque")
    assert "inverse: q[2], qd[2], qdd[2], parameters[24] -> tau[2]" in text
    assert "void scara_torque(const double *in_q, const double *in_qd" in text
    assert text.count("{") == text.count("}") == 1
