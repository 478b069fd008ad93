"""Loops in exports: what MJCF holds of them, how they are written, and whether two robots have the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.export.xml_edit import numbers_text, tag
from dynid.model.assembly import Linkage
from dynid.model.joint import BASE
from dynid.model.loop import Closure, CutKind, LoopCut
from dynid.model.robot import Robot

_HELD = (CutKind.REVOLUTE, CutKind.SPHERICAL, CutKind.FIXED)
"""Cuts that MJCF has equalities for; a revolute one is two points on its axis that meet."""
_AROUND = 0.1
"""How far around their starts two robots are closed and compared [rad, or shares of their size]."""
_SAMPLES = 5
_SAME = 1e-9
"""Gap of loops that are the same, beside the size of the robot."""


def mjcf_holds_loops(robot: Robot) -> bool:
    """Whether the robot has loops and MJCF can hold all of them."""
    return robot.closure is not None and all(cut.kind in _HELD for cut in robot.closure.cuts)


def loop_difference(robot: Robot, file: Robot) -> str:
    """The difference between the loops of two robots with the same tree, as a clause; empty when none.

    Their cuts may be written in other ways: what one of them closes must be closed in the other.

    Args:
        robot: the robot of a result.
        file: the robot of a file.
    """
    if robot.closure is None or file.closure is None:
        has, others = ("has", "none") if robot.closure is None else ("has no", "has")
        return f"it {has} loops, and the result's robot {others}"
    ours, theirs = ([r.joints[j].name for j in r.coordinates] for r in (robot, file))
    if ours != theirs:
        return (
            f"its loops are moved by {', '.join(theirs)} and those of the result's robot by {', '.join(ours)}"
        )
    pairs = (robot, robot.closure), (file, file.closure)
    for (one, given), (other, checked) in (pairs, pairs[::-1]):
        q = _closed_positions(_linkage(one, given), np.array(given.start))
        place = {one.joints[j].name: i for i, j in enumerate(one.movable)}
        order = [place[other.joints[j].name] for j in other.movable]
        linkage = _linkage(other, checked)
        if np.abs(linkage.residuals(q[:, order])).max() > _SAME * linkage.size:
            return "its loops close otherwise than those of the result's robot"
    return ""


def _linkage(robot: Robot, closure: Closure) -> Linkage:
    return Linkage(robot.joints, closure.cuts, closure.coordinates)


def _closed_positions(linkage: Linkage, start: FloatArray) -> FloatArray:
    """Positions of all movable joints at and around the start at which the loops are closed."""
    q = np.tile(start, (_SAMPLES, 1))
    c = list(linkage.coordinates)
    nudges = np.random.default_rng(0).uniform(-_AROUND, _AROUND, (_SAMPLES - 1, len(c)))
    q[1:, c] += nudges * linkage.scales[c]
    q = linkage.nearest_closed(q)
    return q[linkage.is_closed(q)]


def loop_table(robot: Robot) -> dict[str, Any] | None:
    """The loops for the file beside a model file."""
    if robot.closure is None:
        return None
    names = [robot.joints[j].name for j in robot.movable]
    return {
        "cuts": [
            {
                "name": cut.name,
                "kind": str(cut.kind),
                "links": ["base" if link == BASE else robot.joints[link].name for link in cut.links],
                "points": cut.points,
                "axes": cut.axes,
                "rotation": cut.rotation,
            }
            for cut in robot.closure.cuts
        ],
        "coordinates": [robot.joints[j].name for j in robot.coordinates],
        "start": dict(zip(names, robot.closure.start, strict=True)),
    }


# ── a new MJCF ────────────────────────────────────────────────────────────────────────────────────────────


def site_lines(robot: Robot, link: int) -> list[str]:
    """Sites in the body of a link (or of the base) at which equalities hold it, one line each."""
    if not mjcf_holds_loops(robot):
        return []
    assert robot.closure is not None
    return [
        f"<{tag('site', {'name': f'{name}_{end + 1}', **place})}/>"
        for cut in robot.closure.cuts
        for end in (0, 1)
        if cut.links[end] == link
        for name, place in _ends(cut, end).items()
    ]


def equality_tags(robot: Robot) -> list[str]:
    """Connect and weld equalities of the sites."""
    if not mjcf_holds_loops(robot):
        return []
    assert robot.closure is not None
    return [
        tag(
            "weld" if cut.kind is CutKind.FIXED else "connect",
            {"name": name, "site1": f"{name}_1", "site2": f"{name}_2"},
        )
        for cut in robot.closure.cuts
        for name in _ends(cut, 0)
    ]


def start_tags(robot: Robot) -> list[str]:
    """The keyframe at which the loops are closed; MuJoCo orders joints as the bodies that hold them."""
    if not mjcf_holds_loops(robot):
        return []
    assert robot.closure is not None
    place = dict(zip(robot.movable, robot.closure.start, strict=True))
    return [tag("key", {"name": "home", "qpos": numbers_text([place[j] for j in _depth_first(robot, BASE)])})]


def _depth_first(robot: Robot, parent: int) -> list[int]:
    order: list[int] = []
    for j, joint in enumerate(robot.joints):
        if joint.antecedent == parent:
            order += [j] * joint.movable + _depth_first(robot, j)
    return order


def _ends(cut: LoopCut, end: int) -> dict[str, dict[str, str]]:
    """Attributes of the sites of a cut on one of its links, by the names of their equalities."""
    point = np.array(cut.points[end])
    if cut.kind is CutKind.REVOLUTE:
        assert cut.axes is not None
        # Two points on the axis, as far apart as the cut is from the frame, so that both weigh alike.
        along = np.array(cut.axes[end]) * max(0.1, float(np.linalg.norm(cut.points[0])))
        return {
            cut.name: {"pos": numbers_text(point)},
            f"{cut.name}_axis": {"pos": numbers_text(point + along)},
        }
    turn = {}
    if cut.kind is CutKind.FIXED and end == 1 and cut.rotation is not None:
        R = np.array(cut.rotation).T  # the first link's frame in the second's
        turn = {"xyaxes": numbers_text([*R[:, 0], *R[:, 1]])}
    return {cut.name: {"pos": numbers_text(point), **turn}}
