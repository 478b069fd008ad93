"""``import dynid`` against ``import scipy.signal``, each in fresh processes."""

from __future__ import annotations

import subprocess
import sys

from _harness import Report

CHILD = "import time; s = time.perf_counter(); import {0}; print(time.perf_counter() - s)"
ROUNDS = 7


def main() -> None:
    report = Report("import_time")
    best = dict.fromkeys(("dynid", "scipy.signal"), float("inf"))
    for _ in range(ROUNDS):
        for name in best:
            done = subprocess.run(
                [sys.executable, "-c", CHILD.format(name)], check=True, capture_output=True, text=True
            )
            best[name] = min(best[name], float(done.stdout))
    report.ratio("import dynid", "import scipy.signal", best["dynid"], best["scipy.signal"], 1, "ms")
    print(f"saved {report.save()}")


if __name__ == "__main__":
    main()
