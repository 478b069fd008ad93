"""What ``dynid simulate`` prints: a document, and the same for people."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from dynid.cli.screen import Screen
from dynid.core.text import TextTable
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.simulation.controller import Controller
from dynid.simulation.simulation import Simulation


@dataclass(frozen=True, eq=False)
class Run:
    """One simulation of a command: its seed, what came out, and the log and file it was written to."""

    seed: int | None
    result: Simulation
    log: Log
    file: Path | None


def summarise(
    robot: Robot, controller: Controller, reference: str, runs: list[Run], seconds: float
) -> dict[str, Any]:
    """What the command prints as JSON."""
    return {
        "robot": robot.name,
        "controller": controller.name,
        "reference": reference,
        "trustworthy": all(run.result.outcome.trustworthy for run in runs),
        "simulations": [_summary(robot, run) for run in runs],
        "seconds": seconds,
    }


def _summary(robot: Robot, run: Run) -> dict[str, Any]:
    result, log = run.result, run.log
    error = result.q - result.log.channel("reference")
    rows = []
    for i, j in enumerate(robot.coordinates):
        rows.append(
            {
                "name": robot.joints[j].name,
                "tracking_rms": _rms(error[:, i]),
                "tracking_max": float(np.abs(error[:, i]).max()),
                "torque_rms": _rms(result.tau[:, i]),
                "torque_max": float(np.abs(result.tau[:, i]).max()),
            }
        )
    return {
        "seed": run.seed,
        "file": None if run.file is None else str(run.file),
        "samples": log.samples,
        "duration_s": log.duration,
        "rate_hz": log.rate_hz,
        "substeps": result.substeps,
        "error": result.error,
        "outcome": result.outcome.name,
        "trustworthy": result.outcome.trustworthy,
        "cause": result.outcome.sentence,
        "remedy": result.outcome.remedy,
        "joints": rows,
    }


def _rms(values: Any) -> float:
    with np.errstate(over="ignore"):  # a diverged loop has an infinite mean
        return float(np.sqrt(np.mean(values**2)))


def print_summary(document: dict[str, Any]) -> None:
    """The document as lines and tables."""
    screen = Screen()
    for run in document["simulations"]:
        seed = "" if run["seed"] is None else f", seed {run['seed']}"
        screen.print(
            f"{document['robot']} under {document['controller']}{seed}: {run['outcome']}",
            style="bold",
        )
        if run["cause"]:
            screen.print(f"  {run['cause']} {run['remedy']}")
        if not run["trustworthy"]:
            screen.print("  No log was written.")
            continue
        steps = run["substeps"]
        how = f"{steps} step{'s' * (steps > 1)} per sample" if steps else "adaptive steps"
        error = f", position error about {run['error']:.1g}" if math.isfinite(run["error"]) else ""
        screen.print(
            f"  {run['samples']} samples, {run['duration_s']:.6g} s at {run['rate_hz']:.6g} Hz, {how}{error}"
        )
        columns = ("joint", "tracking rms", "largest", "torque rms", "largest")
        rows = [[r["name"], *(f"{r[k]:.4g}" for k in list(r)[1:])] for r in run["joints"]]
        screen.print(TextTable("", columns, rows))
        if run["file"] is not None:
            screen.print(f"log: {run['file']}")
    screen.print(f"{document['seconds']:.2f} s")
