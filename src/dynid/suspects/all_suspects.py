"""All suspects of a regression: those that every robot has, and those whose constants the rows choose."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import numpy as np
from numpy.typing import NDArray

from dynid.estimators.fit import Fit
from dynid.estimators.linear.catalogue import CATALOGUE, TERM_NAMES
from dynid.estimators.linear.least_squares import WLS
from dynid.estimators.linear.terms import NonlinearTerm
from dynid.problem.problem import Problem
from dynid.suspects.changes import OF_ALL, OF_JOINT, changes
from dynid.suspects.drive_defects import Backlash, Elasticity, drive_defects
from dynid.suspects.geometry import LENGTHS
from dynid.suspects.ledger import scenes_of_fit
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
from dynid.suspects.scene import Scene
from dynid.suspects.suspect import Suspect
from dynid.suspects.torque_defects import TorqueDeadband, TorqueSaturation, torque_defects


def suspects_of(
    problem: Problem,
    kept: NDArray[np.bool_],
    terms: Mapping[str, NonlinearTerm] = CATALOGUE,
    fit: Fit | None = None,
) -> tuple[tuple[Suspect, ...], tuple[Scene, ...]]:
    """What may be wrong with the logs or missing in the model, and the scenes that show it.

    Args:
        problem: with rows and motions.
        kept: base parameters in use, (base,).
        terms: physics that the model may lack, by name.
        fit: weighted least squares of the problem, with its added terms; without any where not given.
    """
    fit = WLS().fit(problem, kept) if fit is None else fit
    scenes = scenes_of_fit(problem, fit)
    return suspects_in_rows(problem, view_rows(problem, fit, scenes), terms), scenes


def suspects_in_rows(
    problem: Problem, view: RowView, terms: Mapping[str, NonlinearTerm]
) -> tuple[Suspect, ...]:
    """Suspects of all families, without terms that the model has already.

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
    present = () if view.scenes[0].further is None else view.scenes[0].further.names
    labels = [robot.joints[c].label for c in robot.coordinates]
    names = [{term.name + labels[j] for term in s.terms for j in term.joints or ()} for s in made]
    lacking = [s for s, own in zip(made, names, strict=True) if own.isdisjoint(present)]
    return seen_suspects(lacking, ~problem.undriven)


def suspect_names() -> tuple[str, ...]:
    """Names that suspects can have, without their joints: ``delay`` of ``delay@2``."""
    defects = (TorqueDelay, JointZero, PositionScale, TorqueScale, GearRatio, ClockRate, GravityTilt)
    further = (TorqueDeadband, TorqueSaturation, Elasticity, Backlash)
    changed = dict.fromkeys(what.name for what in (*OF_JOINT, *OF_ALL))
    courses = ("drift", "step", "warming", "log", "since")
    return (
        *(kind.name for kind in (*defects, *further)),
        *(f"{what} {course}" for what in changed for course in courses),
        *(f"length {length}" for length in LENGTHS),
        *TERM_NAMES,
        "fast ripple",
        "inertia coupling",
        "viscous coupling",
    )


def seen_suspects(suspects: Iterable[Suspect], driven: NDArray[np.bool_]) -> tuple[Suspect, ...]:
    """Those of which torques can tell: a joint without torque has neither its time nor its scale.

    Args:
        suspects: what may be wrong; what concerns all torques needs more than one.
        driven: joints that a motor moves, (coordinates,).
    """
    several = int(driven.sum()) > 1
    return tuple(s for s in suspects if not s.of_torque or (several if s.joint is None else driven[s.joint]))
