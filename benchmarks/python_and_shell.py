"""The main job from Python against the same from the shell: whole processes, BLAS threads as they come."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time

from _harness import Report

ROUNDS = 5
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
LAW = "--controller tx40 --reference tx40"
SIMULATE = f"simulate tx40 {LAW} --torque-noise-relative 0.02 --seed 1 --out run.csv"
SHELL = "fit tx40 run.csv --split 0.7 --out shell --force"
PYTHON = """
import dynid
result = dynid.fit(dynid.load_robot("tx40"), dynid.read_log("run.csv"), split=0.7)
result.save("python", force=True)
"""


def seconds(command: list[str], folder: str) -> float:
    free = {name: value for name, value in os.environ.items() if name not in THREADS}
    start = time.perf_counter()
    subprocess.run(command, cwd=folder, env=free, check=True, capture_output=True)
    return time.perf_counter() - start


def main() -> None:
    report = Report("python_and_shell")
    shell = [sys.executable, "-m", "dynid.cli.main"]
    with tempfile.TemporaryDirectory() as folder:
        seconds([*shell, *SIMULATE.split()], folder)
        commands = {"shell": [*shell, *SHELL.split()], "python": [sys.executable, "-c", PYTHON]}
        best = dict.fromkeys(commands, float("inf"))
        for _ in range(ROUNDS + 1):
            for name, command in commands.items():
                best[name] = min(best[name], seconds(command, folder))
    what = "fit of a six-axis log from Python, file to result folder"
    report.ratio(what, "dynid fit", best["python"], best["shell"], 0.9, "s")
    print(f"saved {report.save()}")


if __name__ == "__main__":
    main()
