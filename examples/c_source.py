"""An identified SCARA as C99 for a controller, compiled and run where there is a compiler."""

from __future__ import annotations

import ctypes
import runpy
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import dynid

robot = dynid.load_robot("scara")
law = dynid.load_controller("scara", robot)
sines = dynid.simulation.Sines(
    ((2.0, 1.0), (0.8, 0.4)), ((0.08, 0.15), (0.11, 0.3)), ((0.3, 1.0), (2.0, 4.0))
)
sensors = dynid.simulation.Sensors(position_noise=4e-5, torque_noise_relative=0.02)
rng = np.random.default_rng(1)
log = dynid.simulate(robot, None, law, sines.sample(0.005, 40.0), sensors=sensors, rng=rng).log
result = dynid.fit(robot, log)

q, qd, qdd = rng.uniform(-1, 1, (3, robot.n_coordinates))
compiler = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
with tempfile.TemporaryDirectory() as folder:
    made = dynid.export_model(result, "c", folder)
    for file in made.files:
        lines = len(file.content.splitlines())
        print(f"{file.name}: {lines} lines, no dependency but math.h, no allocation, no state")
    print("operations of inverse dynamics:", made.figures["operations"]["inverse"])

    dynid.export_model(result, "python", folder)
    expected = runpy.run_path(str(Path(folder) / "scara.py"))["inverse"](q, qd, qdd)
    print("from Python:", np.round(expected, 6))
    if compiler is None:
        print("No C compiler here, so the source is not run; dynid itself never needs one.")
    else:
        source, library = Path(folder) / "scara.c", Path(folder) / "scara.so"
        subprocess.run(
            [compiler, "-std=c99", "-O2", "-shared", "-fPIC", str(source), "-o", str(library), "-lm"],
            check=True,
        )
        tau = np.zeros(robot.n_coordinates)
        ctypes.CDLL(str(library)).scara_inverse(
            *(array.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for array in (q, qd, qdd, tau))
        )
        print("from C:     ", np.round(tau, 6))
        assert np.allclose(tau, expected, rtol=1e-12, atol=1e-12)
