"""The closed loops of a robot in words and as data, for ``dynid model``."""

from __future__ import annotations

from typing import Any

from dynid.dynamics.closure import loop_groups
from dynid.dynamics.loop_guess import closed_ranges
from dynid.model.joint import BASE
from dynid.model.robot import Robot


def describe_loops(robot: Robot, with_ranges: bool) -> dict[str, Any] | None:
    """The loops as a JSON-ready document; None when there are none.

    Args:
        robot: the robot.
        with_ranges: whether to find the ranges in which the loops close, which may take seconds.
    """
    closure = robot.closure
    if closure is None:
        return None
    names = [robot.joints[j].name for j in robot.movable]
    cuts = [
        {
            "name": cut.name,
            "kind": cut.kind.value,
            "links": ["base" if link == BASE else robot.joints[link].name for link in cut.links],
        }
        for cut in closure.cuts
    ]
    document: dict[str, Any] = {
        "cuts": cuts,
        "following": [names[i] for i in closure.dependent],
        "constant": robot.coupling is not None,
    }
    if with_ranges and robot.coupling is None:
        bounded = closed_ranges(robot)
        moving = {j for group in loop_groups(robot.joints, closure) for j in group.coordinates}
        document["ranges"] = {
            robot.joints[j].name: list(bounded[j]) if j in bounded else None for j in sorted(moving)
        }
    return document


def loop_lines(robot: Robot, loops: dict[str, Any]) -> list[str]:
    """What ``describe_loops`` gives, a line each.

    Args:
        robot: the robot.
        loops: its document.
    """
    coordinates = ", ".join(robot.joints[j].name for j in robot.coordinates)
    lines = [f"coordinates: {coordinates}; joints that follow: {', '.join(loops['following'])}"]
    lines += [
        f"loop {cut['name']}: {cut['kind']}, between {' and '.join(cut['links'])}" for cut in loops["cuts"]
    ]
    if loops["constant"]:
        return [*lines, f"G is constant, so the loops are a coupling: {', '.join(_coupling_rows(robot))}"]
    lines.append("G changes with the position")
    if "ranges" in loops:
        parts = [
            f"{name} any position" if ends is None else f"{name} {ends[0]:.4g} to {ends[1]:.4g}"
            for name, ends in loops["ranges"].items()
        ]
        lines[-1] += f"; the loops close for {', '.join(parts)} [rad or m]"
    else:
        lines[-1] += "; --base also finds the ranges in which the loops close"
    return lines


def _coupling_rows(robot: Robot) -> list[str]:
    """The joints that follow as sums of the coordinates, such as "joint3 = joint5 - joint2"."""
    coupling, closure = robot.coupling, robot.closure
    assert coupling is not None
    assert closure is not None
    names = [robot.joints[j].name for j in robot.movable]
    rows = []
    for i in closure.dependent:
        offset = coupling.offset[i]
        terms = [
            f"{'-' if factor < 0 else '+'} {'' if abs(factor) == 1 else f'{abs(factor):.4g} '}{names[c]}"
            for factor, c in zip(coupling.matrix[i], coupling.coordinates, strict=True)
            if factor
        ]
        if offset or not terms:
            terms.append(f"{'-' if offset < 0 else '+'} {abs(offset):.4g}")
        rows.append(f"{names[i]} = {' '.join(terms).removeprefix('+ ')}")
    return rows
