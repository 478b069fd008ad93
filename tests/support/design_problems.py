"""Small design problems of all kinds of limits, and differences to check their gradients by."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.base.find import base_of
from dynid.excitation import DesignTask, LimitChoice, PriorInformation, Workcell
from dynid.excitation.problem import DesignProblem
from dynid.excitation.starts import random_start
from dynid.model.joint import Limits
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.model.shapes import capsules_from_frames
from support.robots import prismatic_robot

Array = NDArray[np.float64]
_NARROW: dict[str, Any] = {"lower": -5.0, "upper": 5.0, "velocity": 3.0, "acceleration": 8.0, "jerk": 60.0}


@cache
def robot_of(name: str) -> Robot:
    """A robot with limits, of the catalog or of the tests; tx90 has shapes made of its frames."""
    if name == "prismatic":
        robot = prismatic_robot()
        limits = Limits(-1.0, 1.0, velocity=1.5, acceleration=5.0)
        return replace(robot, joints=tuple(replace(joint, limits=limits) for joint in robot.joints))
    robot = load_robot(name)
    return robot.with_shapes(capsules_from_frames(robot, 0.05)) if name == "tx90" else robot


def _prior(robot: Robot) -> PriorInformation:
    rows = np.random.default_rng(3).normal(size=(400, len(base_of(robot))))
    return PriorInformation(rows.T @ rows, np.ones(robot.n_coordinates), 100.0, "random rows")


def _tasks() -> dict[str, tuple[str, dict[str, Any]]]:
    tx90 = robot_of("tx90")
    some = [name for name in base_of(tx90).names if not name.startswith("Fc")]
    torques = LimitChoice(effort=(600.0, 600.0, 200.0, 80.0, 50.0, 50.0))
    return {
        "exact": ("tx90", {}),
        "fixed start": ("tx90", {"start": np.full(6, 0.1)}),
        "conservative": ("tx90", {"conservative": True}),
        "conservative, fixed start, jerk": (
            "tx90",
            {"conservative": True, "start": np.full(6, 0.1), "limits": LimitChoice(jerk=100.0)},
        ),
        "torques": ("tx90", {"limits": torques}),
        "clearances": ("tx90", {"workcell": Workcell(floor=-0.6)}),
        "conservative, torques, clearances": (
            "tx90",
            {"conservative": True, "limits": torques, "workcell": Workcell(floor=-0.6)},
        ),
        "kept subset": ("tx90", {"essential": some}),
        "prior and subset": ("tx90", {"essential": some, "prior": _prior(tx90)}),
        "weights": ("tx90", {"noise": np.array([9.0, 8.0, 4.0, 2.0, 1.5, 1.0])}),
        "coupled": ("haptic", {"limits": LimitChoice(**_NARROW)}),
        "prismatic": ("prismatic", {}),
        "prismatic, conservative": ("prismatic", {"conservative": True}),
        "without ends": ("scara", {}),
    }


KINDS = tuple(_tasks())
"""Kinds of limits, information and robots."""


@cache
def problem_of(kind: str) -> DesignProblem:
    """A problem of few samples; its friction bends so slowly that differences see it."""
    robot, asked = _tasks()[kind]
    task = DesignTask(samples=64, **asked)
    problem = task.problem(robot_of(robot), np.random.default_rng(0))
    return replace(problem, model=replace(problem.model, sign_width=0.15))


def start_of(problem: DesignProblem, seed: int = 2) -> Array:
    """Variables inside all limits, the start pose a little off its middle."""
    rng = np.random.default_rng(seed)
    x = random_start(problem, rng)
    if problem.free_start:
        x[:, -1] = rng.uniform(-0.02, 0.02, len(x))
    return 0.95 * x


def relative_error(function: Callable[[Array], Any], slopes: Callable[[Array], Any], x: Array) -> float:
    """Largest difference of slopes along random directions from central differences of the fourth order.

    The best of three steps counts: short ones show rounding, long ones the bends of friction.
    """
    directions = np.random.default_rng(7).normal(size=(4, *x.shape))
    directions /= np.linalg.norm(directions.reshape(4, -1), axis=1).reshape(-1, *[1] * x.ndim)
    found = np.array([slopes(d) for d in directions])
    errors = []
    for step in (1e-5, 3e-5, 1e-4):
        expected = np.array([_slope(function, x, d, step) for d in directions])
        errors.append(np.max(np.abs(found - expected)) / np.max(np.abs(expected)))
    return float(min(errors))


def _slope(function: Callable[[Array], Any], x: Array, d: Array, step: float) -> Any:
    near, far = (np.asarray(function(x + h * d)) - function(x - h * d) for h in (step, 2 * step))
    return (8 * near - far) / (12 * step)
