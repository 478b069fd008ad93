"""``dynid fit`` on the measured TX40 log against FIGAROH on the same files: time and memory of processes."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, fields
from pathlib import Path

from _harness import Report

HERE = Path(__file__).parent
DATA = Path(os.environ.get("DYNID_DATA", HERE.parents[1] / "shared" / "data")) / "tx40"
ROUNDS = 5
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def environment(place: str, threads: int | None) -> dict[str, str]:
    """This environment, BLAS's threads as they come or set, and bytecode kept, as installations have it."""
    kept = {k: v for k, v in os.environ.items() if k not in (*THREADS, "PYTHONDONTWRITEBYTECODE")}
    chosen = {} if threads is None else dict.fromkeys(THREADS, str(threads))
    return kept | chosen | {"PYTHONPYCACHEPREFIX": f"{place}/bytecode"}


@dataclass(frozen=True)
class Run:
    """A process: seconds by the clock and of processor time, and peak memory [MB]."""

    seconds: float
    processor: float
    peak: float


def measure(command: list[str], env: dict[str, str], output: Path) -> Run:
    start = time.perf_counter()
    with output.open("wb") as file:
        process = subprocess.Popen(command, env=env, stdout=file, stderr=file)
        _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed:\n{output.read_text(errors='replace')[-2000:]}")
    return Run(time.perf_counter() - start, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024)


def compared(commands: dict[str, list[str]], env: dict[str, str], place: str) -> dict[str, Run]:
    """The best of each command, run in turns; the first turn only fills the caches."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for _ in range(ROUNDS + 1):
        for name, command in commands.items():
            runs[name].append(measure(command, env, Path(place) / "output"))
    return {
        name: Run(*(min(getattr(run, f.name) for run in made[1:]) for f in fields(Run)))
        for name, made in runs.items()
    }


def main() -> None:
    if not DATA.is_dir():
        print(f"skipped: the TX40 log is not at {DATA}; set DYNID_DATA to the folder of the measured logs.")
        return
    if importlib.util.find_spec("figaroh") is None:
        print("skipped: FIGAROH is not installed; pip install figaroh adds it.")
        return
    report = Report("figaroh_tx40")
    mapping = HERE.parent / "src" / "dynid" / "casestudies" / "maps" / "tx40.toml"
    print(
        f"Whole processes in turns, best of {ROUNDS}; a turn before fills the caches of both: bytecode, and "
        "dynid's compiled kernels (half a second, once per robot)."
    )
    with tempfile.TemporaryDirectory() as place:
        fit = [
            "fit",
            "tx40_log",
            str(DATA),
            "--map",
            str(mapping),
            "--cutoff-hz",
            "100",
            "--decimation",
            "100",
        ]
        commands = {
            "dynid": [sys.executable, "-m", "dynid.cli.main", *fit, "--out", f"{place}/result", "--force"],
            "figaroh": [sys.executable, str(HERE / "_figaroh_tx40.py"), str(DATA)],
        }
        for threads, label in ((None, "threads as they come"), (1, "one thread")):
            best = compared(commands, environment(place, threads), place)
            ours, theirs = best["dynid"], best["figaroh"]
            what = f"TX40 log, raw files to report, {label}"
            if threads is None:
                report.ratio(what, "FIGAROH's classes", ours.seconds, theirs.seconds, 8, "s")
                report.bound("peak memory as a share of FIGAROH's", ours.peak / theirs.peak, 1 / 3, "")
            else:
                ratio = theirs.seconds / ours.seconds
                report.note(f"{what} [s]", dynid=ours.seconds, figaroh=theirs.seconds, ratio=ratio)
            ratio = theirs.processor / ours.processor
            report.note(
                f"processor time [s], {label}", dynid=ours.processor, figaroh=theirs.processor, ratio=ratio
            )
            report.note(f"peak memory [MB], {label}", dynid=ours.peak, figaroh=theirs.peak)
    print(f"saved {report.save()}")


if __name__ == "__main__":
    main()
