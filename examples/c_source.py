"""Gravity compensation of a TX40 as C99 source, compiled and checked where there is a compiler."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import dynid

robot = dynid.load_robot("tx40")
kernels = dynid.kernels(robot)
text = kernels.c_source("gravity", "tx40_gravity")
print(text.splitlines()[3])
print(f"{text.count(chr(10))} lines, no dependency but math.h, no allocation, no state")

q = np.random.default_rng(0).uniform(-1, 1, (1, robot.n_coordinates))
parameters = robot.table.vector(robot.parameters)
expected = kernels.gravity(parameters, q)[0]

compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
if compiler is None:
    print("No C compiler here, so the source is not run; dynid itself never needs one.")
else:
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "gravity.c", Path(folder) / "gravity.so"
        source.write_text(text, encoding="utf-8")
        subprocess.run(
            [compiler, "-std=c99", "-O2", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"],
            check=True,
        )
        function = ctypes.CDLL(str(library)).tx40_gravity
        tau = np.zeros(robot.n_coordinates)
        pointers = [
            array.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for array in (q[0], parameters, tau)
        ]
        function(*pointers)
    print("from C:     ", np.round(tau, 6))
    print("from Python:", np.round(expected, 6))
    assert np.allclose(tau, expected, rtol=1e-12, atol=1e-12)
