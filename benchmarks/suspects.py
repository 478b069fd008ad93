"""What looking for suspects adds to a fit: the TX40's measured log, a simulated arm, and ten million samples.

`python benchmarks/suspects.py [SAMPLES]` takes another length for the long log. All figures are processor
time of phases of the same fits: a phase ends where ``fit`` tells of the next one, and the best of the rounds
counts.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path

import numpy as np

import dynid
from _harness import Report
from dynid.logs.log import Log
from dynid.logs.spool import LONG, SpoolWriter
from dynid.suspects.judgement import judge_suspects
from dynid.suspects.ranking import suspect_ledger
from dynid.workflow.term_choice import choose_terms

HERE = Path(__file__).parent
DATA = Path(os.environ.get("DYNID_DATA", HERE.parents[1] / "shared" / "data")) / "tx40"
MAPPING = HERE.parent / "src" / "dynid" / "casestudies" / "maps" / "tx40.toml"
ROUNDS, PIECE = 7, 200_000
SUSPECTS = "looking for suspects"
PHASES = {
    "checking the data": "check",
    "choosing the preparation": "preparation_choice",
    "filtering and differentiating": "estimate",
    "building the regression": "estimate",
    "identifying": "estimate",
    SUSPECTS: "suspects",
    "looking for a possible robot": "possible_robot",
    "validating": "validation",
    "writing": "document",
}


def phases_of(robot: dynid.Robot, log: Log) -> tuple[dict[str, float], dynid.FitResult]:
    """Processor seconds of each phase of a fit and of its document."""
    marks: list[tuple[str, float]] = []

    def note(text: str) -> None:
        marks.append((text, time.process_time()))

    result = dynid.fit(robot, log, progress=note)
    note("writing")
    assert result.document["suspects"] is not None
    note("end")
    seconds = dict.fromkeys(PHASES.values(), 0.0)
    for (text, start), (_, end) in pairwise(marks):
        seconds[PHASES[text]] += end - start
    return seconds, result


def best_phases(robot: dynid.Robot, log: Log, rounds: int) -> tuple[dict[str, float], dynid.FitResult]:
    """The best of several rounds, phase by phase; a round before compiles and fills the caches."""
    made = [phases_of(robot, log) for _ in range(rounds + 1)]
    return {name: min(seconds[name] for seconds, _ in made[1:]) for name in made[0][0]}, made[-1][1]


def steps_of_search(result: dynid.FitResult) -> dict[str, float]:
    """Processor seconds of what looking for suspects consists of, best of several."""
    ledger = suspect_ledger(result.estimate)
    jobs: Mapping[str, Callable[[], object]] = {
        "columns and Grams": lambda: suspect_ledger(result.estimate),
        "terms": lambda: choose_terms(ledger),
        "ranks and findings": lambda: judge_suspects(result.estimate, ledger),
    }
    best = dict.fromkeys(jobs, float("inf"))
    for _ in range(ROUNDS):
        for name, job in jobs.items():
            start = time.process_time()
            job()
            best[name] = min(best[name], time.process_time() - start)
    return best


def told(report: Report, what: str, best: Mapping[str, float], wanted: float, reading: float = 0.0) -> None:
    """Record what suspects add, and the share of each phase."""
    others = sum(best.values()) + reading - best["suspects"]
    report.bound(f"{what}: suspects over all other phases", 100.0 * best["suspects"] / others, wanted, "%")
    whole = others + best["suspects"]
    shares = {name: f"{100.0 * seconds / whole:.0f} %" for name, seconds in best.items()}
    report.note(f"{what}: shares of {whole:.2g} s", reading=f"{100.0 * reading / whole:.0f} %", **shares)


def simulated_log(robot: dynid.Robot, samples: int, rate_hz: float = 1000.0, seed: int = 0) -> Log:
    """Sines with torque noise of 2 %, piece by piece; long logs on disk."""
    rng, n = np.random.default_rng(seed), robot.n_coordinates
    w = 2 * np.pi * rng.uniform(0.05, 0.8, (5, n))
    a, phase = rng.uniform(0.1, 0.4, (5, n)), rng.uniform(0, 2 * np.pi, (5, n))
    kernels, values = dynid.kernels(robot), robot.table.vector(robot.parameters)
    time_s, noise = np.arange(samples) / rate_hz, None
    writers = {name: SpoolWriter(n) for name in ("position", "torque")}
    pieces: dict[str, list[np.ndarray]] = {name: [] for name in writers}
    for first in range(0, samples, PIECE):
        angle = time_s[first : first + PIECE, None, None] * w + phase
        sine, cosine = np.sin(angle), np.cos(angle)
        q, qd, qdd = ((a * x).sum(axis=1) for x in (sine, w * cosine, -(w**2) * sine))
        tau = kernels.inverse(values, q, qd, qdd)
        noise = 0.02 * np.std(tau, axis=0) if noise is None else noise
        parts = {"position": q, "torque": tau + noise * rng.standard_normal(tau.shape)}
        for name, part in parts.items():
            if samples > LONG:
                writers[name].append(part)
            else:
                pieces[name].append(part)
    if samples > LONG:
        return Log("long", time_s, {name: writer.finish() for name, writer in writers.items()})
    return Log("arm", time_s, {name: np.concatenate(parts) for name, parts in pieces.items()})


def measured(report: Report) -> None:
    """The TX40's log, read from its files."""
    if not DATA.is_dir():
        print(f"skipped: the TX40 log is not at {DATA}; set DYNID_DATA to the folder of the measured logs.")
        return
    reading = []
    for _ in range(3):
        start = time.process_time()
        log = dynid.read_log(DATA, mapping=MAPPING)
        reading.append(time.process_time() - start)
    best, result = best_phases(dynid.load_robot("tx40_log"), log, ROUNDS)
    told(report, "TX40 log, from its files", best, 50.0, min(reading))
    told(report, "TX40 log, in memory", best, 50.0)
    milliseconds = {name: 1e3 * seconds for name, seconds in steps_of_search(result).items()}
    report.note("TX40 log, steps of the search [ms]", **milliseconds)


def main(samples: int = 10_000_000) -> None:
    """Measure and save."""
    report = Report("suspects")
    measured(report)
    robot = dynid.load_robot("tx40")
    for count, rounds, wanted in ((30_000, ROUNDS, 50.0), (samples, 1, 30.0)):
        best, _ = best_phases(robot, simulated_log(robot, count), rounds)
        told(report, f"simulated arm, {count:.0e} samples", best, wanted)
    print(f"saved {report.save()}")


if __name__ == "__main__":
    main(*(int(float(word)) for word in sys.argv[1:]))
