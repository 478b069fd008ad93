"""A study like a real one, from simulated data: a TX40 moved three times, fitted on two of the motions.

Run as a script it writes the study's report: ``python tests/support/study.py FOLDER``.
"""

from __future__ import annotations

import copy
import hashlib
import json
import sys
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.base import BaseMap, find_base
from dynid.checks import DataCheck
from dynid.compile.kernels import kernels
from dynid.core.finding import FINE, Finding, Level, Name
from dynid.estimators import WLS, Estimate, identify
from dynid.logs.log import Source, Step
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem import Problem, build_problem
from dynid.report.document import build_document
from dynid.report.page import render_report
from dynid.suspects.judgement import judge_suspects
from dynid.validation.cross import experiment_stability
from dynid.validation.validation import Validation, validate
from dynid.workflow.possibility import judge_possibility

FloatArray = NDArray[np.float64]
RATE = 500.0
SECONDS = 12.0
PLAN = Preparation(cutoff_hz=40.0, decimation=10, drop_samples=20)


@dataclass(frozen=True)
class Study:
    """What a run of the main job leaves behind."""

    robot: Robot
    base: BaseMap
    truth: FloatArray
    motions: tuple[Motion, ...]
    unseen: tuple[Motion, ...]
    estimate: Estimate
    fit: Validation
    validation: Validation


def fourier(rng: np.random.Generator, coordinates: int, seconds: float = SECONDS) -> list[FloatArray]:
    """q, q̇, q̈ of random sums of sines (samples, coordinates), and their times."""
    t = np.arange(0.0, seconds, 1 / RATE)
    q, qd, qdd = (np.zeros((len(t), coordinates)) for _ in range(3))
    for k in range(1, 6):
        w = 2 * np.pi * 0.12 * k
        amplitude = rng.uniform(0.15, 0.5, coordinates) / np.sqrt(k)
        phase = rng.uniform(0, 2 * np.pi, coordinates)
        angle = w * t[:, None] + phase
        q += amplitude * np.sin(angle)
        qd += amplitude * w * np.cos(angle)
        qdd -= amplitude * w * w * np.sin(angle)
    return [t, q, qd, qdd]


def simulated(
    robot: Robot, truth: FloatArray, name: str, rng: np.random.Generator, noise: float = 0.04
) -> Motion:
    """A motion whose torques carry white noise and a slow disturbance, as friction leaves behind."""
    t, q, qd, qdd = fourier(rng, robot.n_coordinates)
    tau = kernels(robot).inverse(truth, q, qd, qdd)
    size = np.sqrt(np.mean(tau**2, axis=0))
    white = rng.normal(size=tau.shape)
    slow = np.sin(2 * np.pi * 0.9 * t)[:, None] * np.sign(np.sin(2 * np.pi * 0.23 * t))[:, None]
    tau = tau + noise * size * (white + 0.5 * slow)
    history = (
        Step("read", {"rate_hz": RATE}, f"{len(t)} rows"),
        Step("joint side", {}, "motor positions and torques through the drives"),
        Step("butterworth", {"cutoff_hz": 40.0, "order": 4}, "positions, forward and backward"),
        Step("central differences", {}, "speeds and accelerations"),
    )
    digest = hashlib.sha256(name.encode()).hexdigest()
    return Motion(name, t, q, qd, qdd, tau, RATE, history, (Source(f"logs/{name}.csv", digest, 1_482_113),))


def weighted_fit(problem: Problem, kept: NDArray[np.bool_] | None = None) -> Estimate:
    """Weighted least squares from the problem's factors, apart from the package's own estimators."""
    chosen = np.ones(len(problem.base), dtype=bool) if kept is None else kept
    weights = np.ones(len(problem.row_counts))
    for _ in range(2):
        R = problem.stacked_factor(weights)
        values = np.zeros(len(chosen))
        values[chosen], *_ = np.linalg.lstsq(R[:, :-1][:, chosen], R[:, -1], rcond=None)
        sigma = problem.residual_norms(values) / np.sqrt(problem.row_counts - chosen.sum() / len(weights))
        weights = 1 / sigma
    A = problem.stacked_factor(weights)[:, :-1][:, chosen]
    covariance = np.zeros((len(chosen), len(chosen)))
    covariance[np.ix_(chosen, chosen)] = np.linalg.inv(A.T @ A)
    conditions = {"condition": float(np.linalg.cond(A / np.linalg.norm(A, axis=0)))}
    return Estimate(
        problem,
        {"name": "WLS", "iterations": 1},
        values,
        covariance,
        chosen,
        sigma,
        "classical",
        2,
        FINE,
        facts=conditions,
    )


def essential_fit(problem: Problem) -> Estimate:
    """The 20 % rule: drop the least known parameter until all are known within 20 %."""
    kept = np.ones(len(problem.base), dtype=bool)
    while True:
        estimate = weighted_fit(problem, kept)
        doubt = np.where(kept, estimate.relative_sigma, 0.0)
        if doubt.max() <= 20.0:
            return estimate
        kept = kept.copy()
        kept[int(np.argmax(doubt))] = False


@cache
def study(seed: int = 4, essential: bool = False) -> Study:
    """The whole study."""
    rng = np.random.default_rng(seed)
    robot = load_robot("tx40")
    base = find_base(robot)
    truth = robot.table.vector(robot.parameters)
    motions = tuple(simulated(robot, truth, name, rng) for name in ("exciting_a", "exciting_b"))
    unseen = (simulated(robot, truth, "pick_and_place", rng),)
    problem = build_problem(robot, motions, PLAN, base)
    estimate = essential_fit(problem) if essential else weighted_fit(problem)
    fit = validate(estimate, motions, PLAN, seen=True)
    return Study(
        robot, base, truth, motions, unseen, estimate, fit, validate(estimate, unseen, PLAN, fit=fit)
    )


def checks() -> list[DataCheck]:
    """Data checks as logs with small defects give them."""
    facts = {"rate_hz": RATE, "samples": 6000, "duration_s": 12.0, "condition": 78.9}
    jitter = Finding(Name.JITTER, Level.NOTE, "Steps vary by 0.4 % of their length.")
    steps = "Positions move in steps of 2.4e-5 rad; harmless after the low-pass."
    quantised = Finding(Name.COARSE_QUANTISATION, Level.NOTE, steps)
    return [
        DataCheck("exciting_a", "good", (jitter,), facts),
        DataCheck("exciting_b", "good", (quantised,), facts),
    ]


def document(made: Study | None = None, **changes: Any) -> dict[str, Any]:
    """The report's document of a study, made once where nothing is changed."""
    if made is None and not changes:
        return copy.deepcopy(_plain_document())
    return _document(made or study(), **changes)


@cache
def _plain_document() -> dict[str, Any]:
    return _document(study())


def _document(s: Study, **changes: Any) -> dict[str, Any]:
    compared = experiment_stability(s.estimate.problem, WLS())
    run = {
        "command": "dynid fit tx40 exciting_a.csv exciting_b.csv --validate pick_and_place.csv --out result",
        "created": "2026-03-01 10:00:00 UTC",
        "seed": 4,
        "options": {"method": "wls", "essential": False},
    }
    arguments: dict[str, Any] = {
        "validation": s.validation,
        "validation_motions": s.unseen,
        "checks": checks(),
        "stability": compared,
        "suspects": judge_suspects(s.estimate),
        "possibility": _possibility(s.estimate.problem),
        "run": run,
    }
    return build_document(s.estimate, s.motions, PLAN, s.fit, **(arguments | changes))


def _possibility(problem: Problem) -> dict[str, Any]:
    """The nearest robot that can exist beside a fit by the package's own estimator."""
    found = judge_possibility(identify(problem, WLS()))
    assert found is not None
    return found.to_dict()


def main(folder: Path) -> None:
    """Write the page and its data."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, made in (("report", study()), ("essential", study(essential=True))):
        content = document(made)
        (folder / f"{name}.json").write_text(json.dumps(content, allow_nan=False), encoding="utf-8")
        (folder / f"{name}.html").write_text(render_report(content), encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
