"""Results with standard parameters of robots that can exist, made without a fit."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from dynid.base.find import base_of
from dynid.estimators.estimate import Further
from dynid.estimators.linear.terms import NonlinearTerm, slots_of
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.preparation.preparation import Preparation
from dynid.results.result import SavedResult
from support.robots import random_link

STRIBECK = NonlinearTerm("Fs", "sign(qd)*exp(-(qd/vs)^2)", start={"vs": 0.3})
LOADED = NonlinearTerm("Fl", "abs(load)*sign(qd)", unit="1")
REVERSING = NonlinearTerm("Jx", "qdd*sin(q)", unit="kg m^2")
TORQUE = NonlinearTerm("Ft", "abs(tau)*sign(qd)", unit="1")
SLY = 'x*/ int evil; /* """ + evil ??/ \\input{evil} $ % _ & # {~^ \n\r end %}'
"""A name that ends comments, texts and tables in every language."""


def result_of(robot: Robot, *terms: NonlinearTerm, seed: int = 0) -> SavedResult:
    """A result of a robot with a random body on every link, friction, and added terms.

    Args:
        robot: the robot.
        terms: what is added, with coefficients and constants between 0.02 and 0.2.
        seed: of the random numbers.
    """
    rng = np.random.default_rng(seed)
    values = {"drive": (0.05, 0.5), "motor": (0.01, 0.03), "friction": (0.1, 1.0), "element": (0.1, 1.0)}
    standard = np.array([rng.uniform(*values[e.family]) if e.family in values else 0.0 for e in robot.table])
    for joint in robot.joints:
        for name, value in random_link(rng).by_name(joint.label).items():
            standard[robot.table.index(name)] = value
    base = base_of(robot)
    chi = base.regroup(standard)
    sigma = 0.01 * np.abs(chi) + 1e-6
    kept, errors = np.ones(len(chi), dtype=bool), np.ones(robot.n_coordinates)
    document = {"validation": {"seen": False, "full": {"overall_percent": 1.234}}}
    made = SavedResult(
        Path("nowhere"), robot, base, chi, np.diag(sigma**2), kept, errors, Preparation(), document
    )
    return replace(made, standard=standard, further=_further(robot, terms, sigma, rng) if terms else None)


def _further(
    robot: Robot, terms: tuple[NonlinearTerm, ...], sigma: np.ndarray, rng: np.random.Generator
) -> Further:
    slots = slots_of(robot, terms)
    names = [slot.coefficient for slot in slots] + [name for slot in slots for name in slot.constants]
    units = [slot.unit for slot in slots] + [unit for slot in slots for unit in slot.constant_units]
    values = rng.uniform(0.02, 0.2, len(names))
    return Further(tuple(names), tuple(units), values, np.diag([*sigma**2, *(0.01 * values) ** 2]), terms)


def sly_robot() -> Robot:
    """A robot whose every name is hostile."""
    robot = load_robot("scara")
    first = replace(robot.joints[0], name=SLY, label=SLY)
    return replace(robot, name=SLY, title=SLY, joints=(first, *robot.joints[1:]), parameters={})
