"""Loops in robot files: the tables ``[[loop]]`` and ``[closure]``, read and written."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from dynid.core.errors import ModelError, unknown_name
from dynid.core.keys import key
from dynid.model.joint import BASE, Joint, JointKind
from dynid.model.loop import Closure, CutKind, LoopCut, Point, Rows
from dynid.model.robot import Robot


@dataclass(frozen=True)
class LoopRow:
    """A joint that closes a loop and is no part of the tree: one table ``[[loop]]``."""

    kind: CutKind = key("what holds between its two links")
    links: tuple[str, str] = key('the two links, by the names of their joints; "base" is the base')
    name: str = key("unique name", "", absent="`loop1`, `loop2`, …")
    points: tuple[Point, Point] = key(
        "where the links meet, in the frame of each", ((0.0,) * 3, (0.0,) * 3), unit="m"
    )
    axes: tuple[Point, Point] | None = key(
        "direction of the axis in the frame of each link; for revolute, prismatic and parallel",
        None,
        absent="none",
    )
    rotation: Rows | None = key(
        "rows of the rotation of the second link's frame in the first's; for fixed and prismatic",
        None,
        absent="as at the start",
    )


@dataclass(frozen=True)
class ClosureTable:
    """The coordinates of a robot with loops, and an assembled position: the table ``[closure]``."""

    coordinates: tuple[str, ...] = key("names of the joints that move the loops and of all others outside")
    start: Mapping[str, float] = key(
        "positions of the movable joints with the loops closed, by name", factory=dict, unit="rad or m"
    )
    start_deg: Mapping[str, float] = key(
        "those of revolute joints that start does not give", factory=dict, unit="deg"
    )


def closure_from_rows(
    loops: Sequence[LoopRow], table: ClosureTable | None, joints: tuple[Joint, ...]
) -> Closure | None:
    """The loops of a file; ``[[loop]]`` and ``[closure]`` belong together."""
    if table is None and not loops:
        return None
    if table is None or not loops:
        given, missing = ("[closure]", "[[loop]]") if table else ("[[loop]]", "[closure]")
        raise ModelError(f"The file has {given} but no {missing}; a robot with loops needs both.")
    names, movable = [joint.name for joint in joints], [joint.name for joint in joints if joint.movable]
    for name in table.coordinates:
        if name not in movable:
            raise unknown_name("coordinate in [closure]", name, movable)
    start = _start(table, joints)
    cuts = []
    for i, row in enumerate(loops):
        for link in row.links:
            if link not in ("base", *names):
                raise unknown_name(f"link of [[loop]] {row.name or i + 1}", link, ["base", *names])
        first, second = (BASE if link == "base" else names.index(link) for link in row.links)
        name = row.name or f"loop{i + 1}"
        cuts.append(LoopCut(name, row.kind, (first, second), row.points, row.axes, row.rotation))
    return Closure(
        tuple(cuts),
        tuple(movable.index(name) for name in table.coordinates),
        tuple(start[name] for name in movable),
    )


def _start(table: ClosureTable, joints: tuple[Joint, ...]) -> dict[str, float]:
    """Positions of all movable joints by name, each given once [rad or m]."""
    kinds = {joint.name: joint.kind for joint in joints if joint.movable}
    for name in (*table.start, *table.start_deg):
        if name not in kinds:
            raise unknown_name("joint in start of [closure]", name, kinds)
    for name in table.start_deg:
        if kinds[name] is JointKind.PRISMATIC:
            raise ModelError(f"start_deg of [closure] gives the prismatic joint {name!r}; use start, in m.")
    for name in kinds:
        if (name in table.start) == (name in table.start_deg):
            given = "gives joint {!r} twice" if name in table.start else "does not give joint {!r}"
            raise ModelError(
                f"start of [closure] {given.format(name)}; it needs all movable joints, each once."
            )
    return dict(table.start) | {name: math.radians(value) for name, value in table.start_deg.items()}


def loop_row(robot: Robot, cut: LoopCut) -> LoopRow:
    """A loop as a robot file has it."""
    first, second = ("base" if link == BASE else robot.joints[link].name for link in cut.links)
    return LoopRow(cut.kind, (first, second), cut.name, cut.points, cut.axes, cut.rotation)


def closure_table(robot: Robot, closure: Closure) -> ClosureTable:
    """Coordinates and start as a robot file has them."""
    names = [robot.joints[j].name for j in robot.movable]
    start = dict(zip(names, closure.start, strict=True))
    return ClosureTable(tuple(names[c] for c in closure.coordinates), start)
