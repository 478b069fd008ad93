"""The nearest possible robot on the factor of a seven-axis log, of a short log and of ten million samples.

`python benchmarks/possible_robot.py [SAMPLES]` takes another length for the long log.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from functools import partial

import numpy as np

import dynid
from _arms import with_bodies
from _harness import Job, Report, best_of
from dynid.compile.kernels import kernels
from dynid.consistency import PossibleRobots
from dynid.estimators.data_rows import data_rows_of
from dynid.estimators.fit import Fit
from dynid.preparation.motion import Motion
from dynid.problem.problem import Problem

RATE_HZ, PIECE = 1000.0, 500_000


def motions(robot: dynid.Robot, samples: int) -> Iterator[Motion]:
    """Pieces of a log: sines of each axis, 3 % of noise on the torques."""
    rng = np.random.default_rng(0)
    n, table = robot.n_coordinates, robot.table
    values = table.vector(robot.parameters)
    w, phase = rng.uniform(1, 6, (3, n)), rng.uniform(0, 6, (3, n))
    for first in range(0, samples, PIECE):
        time_s = np.arange(first, min(first + PIECE, samples)) / RATE_HZ
        angle = time_s[:, None, None] * w + phase
        q = np.sum(0.6 * np.sin(angle), axis=1)
        qd, qdd = np.sum(0.6 * w * np.cos(angle), axis=1), np.sum(-0.6 * w**2 * np.sin(angle), axis=1)
        tau = kernels(robot).inverse(values, q, qd, qdd)
        tau += 0.03 * np.sqrt(np.mean(tau**2, axis=0)) * rng.standard_normal(tau.shape)
        yield Motion(f"piece {first // PIECE}", time_s - time_s[0], q, qd, qdd, tau, rate_hz=RATE_HZ)


def problem_of(robot: dynid.Robot, samples: int) -> tuple[Problem, float]:
    start = time.perf_counter()
    plan = dynid.Preparation(decimation=10)
    return dynid.build_problem(robot, motions(robot, samples), plan), time.perf_counter() - start


def nearest(robot: dynid.Robot, problem: Problem, fit: Fit) -> object:
    rows = data_rows_of(problem.base, fit)
    return PossibleRobots.of(robot, rows).nearest(rows)


def main() -> None:
    long = int(float(sys.argv[1])) if len(sys.argv) > 1 else 10_000_000
    report = Report("possible_robot")
    robot = with_bodies(dynid.load_robot("iiwa14"), friction=0.5)
    unknown = robot.with_parameters({})
    for samples in (20_000, long):
        problem, built = problem_of(robot, samples)
        fit = dynid.WLS().fit(problem)
        jobs = {
            "nearest": Job(partial(nearest, unknown, problem, fit)),
            "with sigma": Job(partial(dynid.identify, problem, dynid.Consistent(dynid.WLS()))),
        }
        found = best_of(jobs, rounds=5)
        what = f"seven axes, {samples:_} samples".replace("_", " ")
        report.bound(f"{what}: nearest possible robot on the factor", 1e3 * found["nearest"], 200.0, "ms")
        report.note(what, regression_s=built, consistent_fit_with_sigma_s=found["with sigma"])
    report.save()


if __name__ == "__main__":
    main()
