"""The document of a designed motion, made from a real robot on sines."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.base.find import find_base
from dynid.compile.kernels import kernels
from dynid.core.finding import Finding, Level, Name
from dynid.core.plain import plain
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.report.stick_figure import stick_figure
from dynid.trajectories import Reference, Sines

RATE_HZ, DURATION_S, NOISE = 100.0, 10.0, 1.0
RADIUS, FLOOR, WALL = 0.08, -0.36, {"normal": [-1.0, 0.0, 0.0], "offset": -1.1}
_UNITS = {"position": "rad", "velocity": "rad/s", "acceleration": "rad/s^2", "torque": "N m"}


def sines(robot: Robot, seed: int, share: float) -> Reference:
    """Five harmonics with random phases, so large that each joint uses a share of its narrowest limit."""
    rng, n = np.random.default_rng(seed), robot.n_coordinates
    w = np.arange(1, 6) / DURATION_S
    phases = rng.uniform(0, 2 * np.pi, (n, 5))
    amplitudes = []
    for joint in robot.joints:
        span = min(joint.limits.upper / 5, joint.limits.velocity / np.sum(2 * np.pi * w))
        amplitudes.append(np.full(5, share * span))
    return Sines(tuple(amplitudes), tuple(w for _ in range(n)), tuple(phases)).sample(1 / RATE_HZ, DURATION_S)


def _limits(robot: Robot, curves: dict[str, NDArray[np.float64]]) -> list[dict[str, Any]]:
    rows = []
    for j, joint in enumerate(robot.joints):
        own = joint.limits
        bounds = {
            "position": (own.lower, own.upper),
            "velocity": (-own.velocity, own.velocity),
            "acceleration": (-np.inf, np.inf),
            "torque": (-own.effort, own.effort),
        }
        for quantity, (low, high) in bounds.items():
            least, largest = float(curves[quantity][:, j].min()), float(curves[quantity][:, j].max())
            used = 100 * max(least / low, largest / high) if np.isfinite(high) else None
            row = {
                "joint": joint.name,
                "quantity": quantity,
                "unit": _UNITS[quantity],
                "low": low,
                "high": high,
            }
            row |= {"least": least, "largest": largest, "used_percent": used}
            rows.append({**row, "verified": quantity in ("position", "velocity")})
    return rows


def _doubts(robot: Robot, columns: tuple[int, ...], motion: Reference) -> NDArray[np.float64]:
    W = kernels(robot).regressor(motion.q, motion.qd, motion.qdd)[:, :, list(columns)]
    R = np.linalg.qr(W.reshape(-1, len(columns)), mode="r")
    return NOISE * np.linalg.norm(np.linalg.inv(R), axis=1)


def _parameters(robot: Robot, motion: Reference, earlier: Reference) -> list[dict[str, Any]]:
    base = find_base(robot)
    before, after = (_doubts(robot, base.columns, m) for m in (earlier, motion))
    known = base.matrix @ robot.table.vector(robot.parameters)
    return [
        {"name": name, "unit": unit, "sigma_before": b, "sigma": a, "gain": b / a}
        | {"value": v or None, "percent_sigma": 100 * a / abs(v) if v else None}
        for name, unit, b, a, v in zip(base.names, base.units, before, after, known, strict=True)
    ]


def _capsules(robot: Robot) -> list[dict[str, Any]]:
    """One on each link that has a length, along it."""
    zero = np.zeros((1, robot.n_coordinates))
    points, rotations = (part[0] for part in kernels(robot).forward_kinematics(zero))
    found = []
    for j, joint in enumerate(robot.joints):
        i = joint.antecedent
        end = points[j] if i < 0 else rotations[i].T @ (points[j] - points[i])
        if np.linalg.norm(end) > 0.05:
            found.append({"link": i, "start": [0.0, 0.0, 0.0], "end": end.tolist(), "radius": RADIUS})
    found.append({"link": -1, "start": [0.0, 0.0, FLOOR], "end": [0.0, 0.0, 0.0], "radius": 1.4 * RADIUS})
    return found


@cache
def _written() -> str:
    robot = load_robot("iiwa14")
    motion, earlier = sines(robot, 1, 0.97), sines(robot, 2, 0.2)
    torque = kernels(robot).inverse(robot.parameters, motion.q, motion.qd, motion.qdd)
    curves = {"position": motion.q, "velocity": motion.qd, "acceleration": motion.qdd, "torque": torque}
    starts = [
        {"value": -541.2 + 3 * k, "condition": 33.1 + k, "log_det": 541.2 - 3 * k, "evaluations": 260 + k}
        | {"seconds": 0.7 + 0.1 * k, "outcome": "converged", "best": k == 0}
        for k in range(5)
    ]
    finding = Finding(Name.FINE, Level.NOTE, "The torque limits are those of the a-priori model.")
    document = {
        "schema": "dynid.design/1",
        "title": "A motion for iiwa14",
        "robot": {
            "name": robot.name,
            "title": robot.title,
            "joints": [
                {"name": j.name, "kind": "revolute", "unit": "rad", "torque_unit": "N m"}
                for j in robot.joints
            ],
        },
        "trajectory": {"kind": "fourier", "duration_s": DURATION_S, "periods": 1, "rate_hz": RATE_HZ}
        | {"words": "5 harmonics of 0.1 Hz"},
        "criterion": {"name": "log det", "value": -541.2}
        | {"words": "The volume of the parameters' doubt is made small."},
        "figures": {"condition": 33.125, "condition_scaled": 12.0625, "log_det": 541.2, "evaluations": 260}
        | {"seconds": 0.7},
        "starts": starts,
        "limits": _limits(robot, curves),
        "clearances": [
            {"pair": "link 2 and link 5", "least": 0.213, "time_s": 3.25},
            {"pair": "link 4 and the floor", "least": 0.131, "time_s": 7.5},
        ],
        "parameters": _parameters(robot, motion, earlier),
        "sigma_words": "σ for white torque noise of 1 N m; before: the same robot on slow sines.",
        "findings": [finding.to_dict()],
        "curves": {"time": motion.time, **{name: values.T for name, values in curves.items()}},
        "stick": stick_figure(robot, motion.time, motion.q, _capsules(robot), FLOOR, [WALL]),
        "run": {
            "command": "dynid excite iiwa14 --starts 5",
            "seed": 0,
            "versions": {"dynid": "0.1.0"},
            "options": {"starts": 5, "duration_s": 10.0},
            "files": {"motion.csv": "positions, velocities, accelerations and torques at 100 Hz"},
        },
    }
    return json.dumps(plain(document), allow_nan=False)


def design() -> dict[str, Any]:
    """A document of its own for each caller."""
    found: dict[str, Any] = json.loads(_written())
    return found
