"""All suspects of a regression: those that every robot has, and those whose constants the rows choose."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dynid.estimators.linear.catalogue import CATALOGUE, TERM_NAMES
from dynid.estimators.linear.least_squares import WLS
from dynid.estimators.linear.terms import NonlinearTerm
from dynid.problem.problem import Problem
from dynid.suspects.changes import OF_ALL, OF_JOINT, changes
from dynid.suspects.drive_defects import Backlash, Elasticity, drive_defects
from dynid.suspects.log_defects import (
    ClockRate,
    GearRatio,
    GravityTilt,
    JointZero,
    PositionScale,
    TorqueDelay,
    TorqueScale,
    log_defects,
)
from dynid.suspects.physics import physics
from dynid.suspects.position_effects import position_effects
from dynid.suspects.row_view import RowView, view_rows
from dynid.suspects.scene import Scene, scenes_of
from dynid.suspects.suspect import Suspect
from dynid.suspects.torque_defects import TorqueDeadband, TorqueSaturation, torque_defects


def suspects_of(
    problem: Problem, kept: NDArray[np.bool_], terms: Mapping[str, NonlinearTerm] = CATALOGUE
) -> tuple[tuple[Suspect, ...], tuple[Scene, ...]]:
    """What may be wrong with the logs or missing in the model, and the scenes that show it.

    Args:
        problem: with rows and motions.
        kept: base parameters in use, (base,).
        terms: physics that the model may lack, by name.
    """
    assert problem.motions is not None
    fit = WLS().fit(problem, kept)
    scenes = scenes_of(problem.base, fit.values, problem.motions, problem.plan)
    return suspects_in_rows(problem, view_rows(problem, fit, scenes), terms), scenes


def suspects_in_rows(
    problem: Problem, view: RowView, terms: Mapping[str, NonlinearTerm]
) -> tuple[Suspect, ...]:
    """Suspects of all families.

    Args:
        problem: with rows and motions.
        view: its rows and scenes.
        terms: physics that the model may lack, by name.
    """
    robot = problem.robot
    made = (
        *log_defects(robot),
        *torque_defects(view),
        *drive_defects(view),
        *changes(view),
        *physics(robot, terms),
        *position_effects(robot, view),
    )
    driven = ~problem.undriven
    return tuple(suspect for suspect in made if _can_be_seen(suspect, driven))


def suspect_names() -> tuple[str, ...]:
    """Names that suspects can have, without their joints: ``delay`` of ``delay@2``."""
    defects = (TorqueDelay, JointZero, PositionScale, TorqueScale, GearRatio, ClockRate, GravityTilt)
    further = (TorqueDeadband, TorqueSaturation, Elasticity, Backlash)
    changed = dict.fromkeys(what.name for what in (*OF_JOINT, *OF_ALL))
    courses = ("drift", "step", "warming", "log", "since")
    return (
        *(kind.name for kind in (*defects, *further)),
        *(f"{what} {course}" for what in changed for course in courses),
        *TERM_NAMES,
        "inertia coupling",
        "viscous coupling",
    )


def _can_be_seen(suspect: Suspect, driven: NDArray[np.bool_]) -> bool:
    """A joint without torque has neither its time nor its scale; one joint alone is not all of them."""
    if suspect.joint is None:
        return not suspect.of_torque or int(driven.sum()) > 1
    return bool(driven[suspect.joint]) or not suspect.of_torque
