"""How long a user waits for kernels of a seven-axis arm: first compilation, then from the disk cache."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile

from _harness import Report

NAMES = ("regressor", "inverse", "direct", "inertia_matrix", "regressor_adjoint", "energy_regressor")
CHILD = """
import json, sys, time
import dynid
robot = dynid.load_robot("iiwa14")
from dynid.compile.batch import compile_batch
from dynid.compile.trace import describe
times = {}
for name in sys.argv[1:]:
    start = time.perf_counter()
    kernel = compile_batch(describe(robot, name))
    kernel._functions
    times[name] = [time.perf_counter() - start, kernel.from_disk]
print(json.dumps(times))
"""
ROUNDS = 5


def run(cache: str, names: tuple[str, ...]) -> dict[str, list[float]]:
    done = subprocess.run(
        [sys.executable, "-c", CHILD, *names],
        env=os.environ | {"DYNID_CACHE": cache},
        check=True,
        capture_output=True,
        text=True,
    )
    return json.loads(done.stdout)


def main() -> None:
    report = Report("compile_time")
    first = dict.fromkeys(NAMES, float("inf"))
    second = dict.fromkeys(NAMES, float("inf"))
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory() as cache:
            for name in NAMES:  # one process per kernel: nothing is warm but the disk
                seconds, from_disk = run(cache, (name,))[name]
                assert not from_disk
                first[name] = min(first[name], seconds)
                seconds, from_disk = run(cache, (name,))[name]
                assert from_disk
                second[name] = min(second[name], seconds)
    for name in NAMES:
        report.bound(f"first compilation of {name}", first[name], 1.0, "s")
        report.bound(f"{name} in a second process", second[name], 0.1, "s")
    print(f"saved {report.save()}")


if __name__ == "__main__":
    main()
