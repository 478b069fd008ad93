"""``dynid fit`` on the measured TX40 log against FIGAROH on the same files: time and memory of processes."""

from __future__ import annotations

import importlib.util
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from _harness import Report

HERE = Path(__file__).parent
DATA = Path(os.environ.get("DYNID_DATA", HERE.parents[1] / "shared" / "data")) / "tx40"
ROUNDS = 4


def measure(command: list[str]) -> tuple[float, float]:
    """Seconds and peak memory [MB] of a process; the memory of this process's largest child so far."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True)
    return time.perf_counter() - start, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def main() -> None:
    if not DATA.is_dir():
        print(f"skipped: the TX40 log is not at {DATA}; set DYNID_DATA to the folder of the measured logs.")
        return
    if importlib.util.find_spec("figaroh") is None:
        print("skipped: FIGAROH is not installed; pip install figaroh adds it.")
        return
    report = Report("figaroh_tx40")
    mapping = HERE.parent / "src" / "dynid" / "casestudies" / "maps" / "tx40.toml"
    with tempfile.TemporaryDirectory() as place:
        ours = [sys.executable, "-m", "dynid.cli.main", "fit", "tx40_log", str(DATA), "--map", str(mapping)]
        ours += ["--cutoff-hz", "100", "--decimation", "100", "--out", f"{place}/result", "--force"]
        theirs = [sys.executable, str(HERE / "_figaroh_tx40.py"), str(DATA)]
        # Ours first: the memory figure is that of the largest child so far, and theirs is larger.
        runs = [measure(ours) for _ in range(ROUNDS)]
        peers = [measure(theirs) for _ in range(2)]
    best, peer = min(r[0] for r in runs), min(r[0] for r in peers)
    report.ratio("TX40 log, raw files to report", "FIGAROH's classes", best, peer, 8, "s")
    report.bound("peak memory as a share of FIGAROH's", runs[-1][1] / peers[-1][1], 1 / 3, "")
    report.note("peak memory [MB]", dynid=runs[-1][1], figaroh=peers[-1][1])
    print(f"saved {report.save()}")


if __name__ == "__main__":
    main()
