"""What deserves attention about a design: limits that were not looked at, parameters that hardly show."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from dynid.core.finding import Finding, Level, Name
from dynid.excitation.clearance import has_loops

if TYPE_CHECKING:
    from dynid.excitation.design import Design

PARALLEL = 100.0
"""Condition number of W with unit columns above which columns are nearly parallel."""


def remarks_on(design: Design) -> Iterator[Finding]:
    """All remarks, in no order."""
    yield from _on_the_search(design)
    yield from _on_torques(design)
    yield from _on_collisions(design)
    yield from _on_parameters(design)


def _on_the_search(design: Design) -> Iterator[Finding]:
    if design.size < 1.0:
        shrunk = (
            f"The motion was shrunk to {100 * design.size:.3g} %, to keep its limits between samples too."
        )
        yield Finding(Name.SHRUNK_MOTION, Level.NOTE, shrunk)
    if len(design.runs) < design.starts or any(run.outcome == "interrupted" for run in design.runs):
        yield Finding(Name.INTERRUPTED, Level.NOTE, "The search was interrupted; this is the best so far.")


def _on_torques(design: Design) -> Iterator[Finding]:
    robot = design.robot
    free = [
        robot.joints[j].name
        for j, most in zip(robot.coordinates, design.limits.effort, strict=True)
        if not np.isfinite(most)
    ]
    if robot.parameters and not free:
        return
    whose = f" of {', '.join(free)}" if robot.parameters and len(free) < len(robot.coordinates) else ""
    lacks = "effort limits" if robot.parameters else "a-priori parameters"
    given = not robot.parameters and len(free) < len(robot.coordinates)  # limits that could not be asked
    yield Finding(
        Name.UNCHECKED_LIMIT,
        Level.CARE if given else Level.NOTE,
        f"The torques{whose} were not held to limits: no {lacks} are known.",
        "Try the motion at low speed first, or add them to the robot file.",
    )


def _on_collisions(design: Design) -> Iterator[Finding]:
    scene = design.problem.scene
    for note in design.robot.notes:
        # Shapes that could not be read are bodies that nobody keeps apart.
        if "shape" in note:
            yield Finding(Name.UNCHECKED_LIMIT, Level.CARE, note)
    if scene is None:
        yield Finding(
            Name.UNCHECKED_LIMIT,
            Level.NOTE,
            "Collisions were not looked at.",
            "For robots with closed loops no clearance can be proved; look for collisions elsewhere."
            if has_loops(design.robot)
            else "Give a floor or walls, and shapes of the links in the robot file.",
        )
        return
    if scene.beyond:
        yield Finding(
            Name.UNCHECKED_LIMIT,
            Level.CARE,
            f"Whatever the motion, a link stands beyond what it should keep from: {', '.join(scene.beyond)}.",
            "Correct the floor, the wall or the shape, unless it stands there.",
        )
    if not scene.pairs:
        yield Finding(
            Name.UNCHECKED_LIMIT,
            Level.CARE,
            "Nothing was kept apart: no pair of shapes is left to look at.",
            "Give the links shapes, or --link-radius.",
        )
    if scene.left_out:
        yield Finding(
            Name.UNCHECKED_LIMIT,
            Level.NOTE,
            "Not looked at, because they touch in nearly all poses or no motion changes their distance: "
            f"{', '.join(scene.left_out)}.",
        )


def _on_parameters(design: Design) -> Iterator[Finding]:
    hidden = [name for name, sigma in zip(design.names, design.sigma, strict=True) if not np.isfinite(sigma)]
    if hidden:
        yield Finding(
            Name.NOT_EXCITED,
            Level.CARE,
            f"The motion does not show {', '.join(hidden)}.",
            "Take the criterion log-det, more harmonics or a longer motion.",
        )
        return
    scaled = design.condition_scaled
    if scaled > PARALLEL:
        yield Finding(
            Name.PARALLEL_COLUMNS,
            Level.CARE,
            f"Columns of W are nearly parallel: with unit columns its condition number is {scaled:.3g}, "
            f"above {PARALLEL:g}; some parameters can only be told together.",
            "Take the criterion log-det or log-cond, which see it; Hadamard's bound does not.",
            figures={"condition_scaled": scaled},
        )
