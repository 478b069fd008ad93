"""A design as data: everything its page and its JSON show."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.plain import plain
from dynid.excitation.design import Design
from dynid.excitation.information import condition_number
from dynid.model.joint import JointKind
from dynid.report.design_page import SCHEMA
from dynid.report.document import versions
from dynid.report.stick_figure import MOST_FRAMES, stick_figure

_CURVE_POINTS = 600


def design_document(design: Design, run: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Assemble the document of a designed motion.

    Args:
        design: what ``design_motion`` gave.
        run: how it was run: "command" and whatever else is to be kept.
    """
    robot, trajectory = design.robot, design.trajectory
    return {
        "schema": SCHEMA,
        "title": f"Exciting motion of {robot.title or robot.name}",
        "robot": {"name": robot.name, "title": robot.title, "joints": _joints(design)},
        "trajectory": {
            "kind": type(trajectory).__name__,
            "duration_s": trajectory.duration,
            "periods": design.task.periods,
            "rate_hz": design.task.rate_hz,
            "words": design.task.space.words,
        },
        "criterion": {
            "name": design.problem.criterion.name,
            "value": _finite(design.runs[0].value),
            "words": design.problem.criterion.words,
        },
        "figures": {
            "condition": _finite(design.condition),
            "condition_scaled": _finite(design.condition_scaled),
            "log_det": _finite(design.log_det),
            "evaluations": sum(one.evaluations for one in design.runs),
            "seconds": design.seconds,
        },
        "starts": [_start(design, k) for k in range(len(design.runs))],
        "limits": [use.to_dict() for use in design.uses],
        "distance": _distance(design),
        "clearances": _clearances(design),
        "parameters": _parameters(design),
        "sigma_words": _sigma_words(design),
        "findings": [plain(finding.to_dict()) for finding in design.findings],
        "curves": _curves(design),
        "stick": _stick(design),
        "run": {
            "command": "",
            "options": {},
            "seed": design.seed,
            "versions": versions(),
            **plain(run or {}),
        },
    }


def _joints(design: Design) -> list[dict[str, Any]]:
    found = []
    for j in design.robot.coordinates:
        joint = design.robot.joints[j]
        turns = joint.kind is JointKind.REVOLUTE
        units = {"unit": "rad" if turns else "m", "torque_unit": "N m" if turns else "N"}
        found.append({"name": joint.name, "kind": str(joint.kind), **units})
    return found


def _start(design: Design, k: int) -> dict[str, Any]:
    one = design.runs[k]
    G = design.information_of(design.problem.trajectory(one.x))
    return {
        "value": _finite(one.value),
        "condition": _finite(condition_number(G)),
        "log_det": _finite(np.linalg.slogdet(G)[1]),
        "evaluations": one.evaluations,
        "seconds": one.seconds,
        "outcome": one.outcome,
        "best": k == 0,
    }


def _clearances(design: Design) -> list[dict[str, Any]]:
    """The least distance of every pair on a grid [m], the nearest first."""
    scene = design.problem.scene
    if scene is None or not scene.pairs:
        return []
    time = np.linspace(0.0, design.trajectory.duration, _CURVE_POINTS + 1)
    found = scene.clearances(design.trajectory.at(time)) + scene.workcell.margin
    rows = [
        {"pair": name, "least": float(column.min()), "time_s": float(time[int(column.argmin())])}
        for name, column in zip(scene.names, found.T, strict=True)
    ]
    return sorted(rows, key=lambda row: float(row["least"]))


def _distance(design: Design) -> dict[str, Any] | None:
    """The least distance of all, proved at every instant."""
    scene, least = design.problem.scene, design.clearance
    if scene is None or least is None or not scene.pairs:
        return None
    margin = scene.workcell.margin
    return {"bound": least.bound + margin, "pair": least.pair, "time_s": least.time, "margin": margin}


def _parameters(design: Design) -> list[dict[str, Any]]:
    base = design.base
    values = base.regroup(design.robot.parameters) if design.robot.parameters else np.zeros(len(base))
    rows = []
    for name, sigma, before in zip(design.names, design.sigma, design.sigma_before, strict=True):
        k = base.names.index(name)
        value = float(values[k]) or None
        rows.append(
            {
                "name": name,
                "unit": base.units[k],
                "sigma_before": _finite(before),
                "sigma": _finite(sigma),
                "gain": _finite(before / sigma) if np.isfinite(before) and sigma > 0 else None,
                "value": value,
                "percent_sigma": None if value is None else _finite(100 * sigma / abs(value)),
            }
        )
    return rows


def _sigma_words(design: Design) -> str:
    noise = design.task.torque_noise(design.robot)
    sizes = ", ".join(f"{value:.3g}" for value in noise)
    earlier = "with the logs given" if design.task.prior else "for the random motion it began with"
    if design.problem.model.kept is not None:
        earlier += "; the parameters that do not count are taken as known"
    return (
        f"σ promised for white noise of {sizes} (N m or N, axis by axis) on the torques of a log of "
        f"{design.task.rate_hz:g} Hz; before: {earlier}."
    )


def _curves(design: Design) -> dict[str, Any]:
    time = np.linspace(0.0, design.trajectory.duration, _CURVE_POINTS + 1)
    states = [design.trajectory.at(time, order) for order in range(3)]
    torque = design.torques(time)
    names = ("position", "velocity", "acceleration")
    return {
        "time": _short_numbers(time),
        **{name: _columns(values) for name, values in zip(names, states, strict=True)},
        "torque": None if torque is None else _columns(torque),
    }


def _stick(design: Design) -> dict[str, Any]:
    """Frames of the links over time, for the moving figure."""
    time = np.linspace(0.0, design.trajectory.duration, MOST_FRAMES)
    around, capsules = design.task.workcell, [asdict(shape) for shape in design.robot.shapes]
    walls = [] if around is None else [asdict(wall) for wall in around.walls]
    floor = None if around is None else around.floor
    return stick_figure(design.robot, time, design.trajectory.at(time), capsules, floor, walls)


def _columns(values: FloatArray) -> list[list[float]]:
    return [_short_numbers(column) for column in values.T]


def _short_numbers(values: FloatArray) -> list[float]:
    return [float(f"{value:.7g}") for value in values.tolist()]


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
