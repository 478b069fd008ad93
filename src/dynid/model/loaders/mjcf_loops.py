"""Connect and weld equalities of MJCF as loops: cuts in link frames, a start that closes, coordinates."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from xml.etree.ElementTree import Element

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import ModelError, unknown_name
from dynid.model.assembly import Linkage
from dynid.model.loaders.mjcf_inertia import Pose
from dynid.model.loaders.tree import Held
from dynid.model.loaders.xml_safe import number, numbers, required_text
from dynid.model.loop import Closure, CutKind, LoopCut, Point
from dynid.model.orientation import from_quaternion
from dynid.model.robot import Robot

WORLD = "world"
_NEAR = 0.02
"""Largest gap of a loop that the decimals of a file explain, beside the size of the robot."""
_DEPENDENT = 1e-7
"""A column of the Jacobian below this share, all of unit length, is a combination of the others."""
_NUDGE = 0.05
"""Step away from a start that shows whether it is singular [rad, or shares of the robot's size]."""


@dataclass(frozen=True, eq=False)
class Places:
    """Where bodies and sites sit in the links of the robot.

    Args:
        bodies: frames of bodies by name, and of the world.
        sites: frames of sites by name.
    """

    bodies: Mapping[str, Held]
    sites: Mapping[str, Held]


@dataclass(frozen=True, eq=False)
class LoopEquality:
    """A connect or weld equality.

    Args:
        name: its name, or one made of its kind and number.
        weld: whether it holds two frames together; else two points.
        attributes: with those of its class.
    """

    name: str
    weld: bool
    attributes: Mapping[str, str]

    def cut(self, places: Places, frames: Sequence[Pose]) -> LoopCut | None:
        """The cut, or None where both ends are on one link.

        Args:
            places: of bodies and sites.
            frames: rotation and position of all links, and last of the base, at the reference position.
        """
        one, two = self._ends(places)
        if one.host == two.host:
            return None
        links = (one.host, two.host)
        if not self.weld:
            return LoopCut(self.name, CutKind.SPHERICAL, links, self._meeting_points(one, two, frames))
        turn, shift = self._relative_pose(one, two, frames)
        anchor = np.array(numbers(self.attributes, "anchor", self._where, (0.0,) * 3))
        points = _in_link(one, turn @ anchor + shift), _in_link(two, anchor)
        if number(self.attributes, "torquescale", self._where, 1.0) == 0.0:
            return LoopCut(self.name, CutKind.SPHERICAL, links, points)
        x, y, z = one.rotation @ turn @ two.rotation.T
        return LoopCut(self.name, CutKind.FIXED, links, points, rotation=(_point(x), _point(y), _point(z)))

    @property
    def _where(self) -> str:
        return f"The equality {self.name!r}"

    @property
    def _by_sites(self) -> bool:
        return "site1" in self.attributes or "site2" in self.attributes

    def _ends(self, places: Places) -> tuple[Held, Held]:
        """The frames of both ends: two sites, or two bodies of which the second may be the world."""
        given, kind = self.attributes, "site" if self._by_sites else "body"
        if self._by_sites and ("body1" in given or "body2" in given):
            raise ModelError(f"{self._where} names both sites and bodies; keep one of the two.")
        first = required_text(given, f"{kind}1", self._where)
        second = required_text(given, "site2", self._where) if self._by_sites else given.get("body2", WORLD)
        known = places.sites if self._by_sites else places.bodies
        for name in (first, second):
            if name not in known:
                raise unknown_name(f"{kind} of equality {self.name!r}", name, known)
        return known[first], known[second]

    def _meeting_points(self, one: Held, two: Held, frames: Sequence[Pose]) -> tuple[Point, Point]:
        """Points of a connect: two sites, or the anchor in body 1 and what it meets at the reference."""
        if self._by_sites:
            return _point(one.position), _point(two.position)
        required_text(self.attributes, "anchor", self._where)
        first = _in_link(one, np.array(numbers(self.attributes, "anchor", self._where, (0.0,) * 3)))
        (R1, p1), (R2, p2) = frames[one.host], frames[two.host]
        return first, _point(R2.T @ (p1 + R1 @ np.array(first) - p2))

    def _relative_pose(self, one: Held, two: Held, frames: Sequence[Pose]) -> Pose:
        """Pose of frame 2 in frame 1 that a weld holds: equal sites, relpose, or that at the reference."""
        if self._by_sites:
            return np.eye(3), np.zeros(3)
        given = numbers(self.attributes, "relpose", self._where, (0.0,) * 7)
        if any(given[3:]):
            return from_quaternion(given[3:], f"{self._where}: relpose"), np.array(given[:3])
        (R1, p1), (R2, p2) = (
            (R @ end.rotation, p + R @ end.position)
            for end, (R, p) in ((end, frames[end.host]) for end in (one, two))
        )
        return R1.T @ R2, R1.T @ (p2 - p1)


def _in_link(end: Held, point: FloatArray) -> Point:
    return _point(end.rotation @ point + end.position)


def _point(values: FloatArray) -> Point:
    x, y, z = (float(value) for value in values)
    return x, y, z


# ── the robot with its loops ──────────────────────────────────────────────────────────────────────────────


def with_loops(
    robot: Robot,
    equalities: Sequence[LoopEquality],
    places: Places,
    reference: Sequence[float],
    keys: Sequence[Element],
    driven: frozenset[str] | None,
) -> Robot:
    """The tree with its loops closed.

    Args:
        robot: the tree.
        equalities: what closes it.
        places: of bodies and sites.
        reference: positions of all joints at which the bodies' poses hold, qpos0 [rad or m].
        keys: elements ``<key>`` of the model.
        driven: joints that actuators name; None when there are no actuators.
    """
    frames = [(R[0], p[0]) for R, p in Linkage(robot.joints, (), ()).frames(np.array([reference]))]
    found = [(equality, equality.cut(places, frames)) for equality in equalities]
    cuts = tuple(cut for _, cut in found if cut is not None)
    notes = [
        f"The equality {equality.name!r} was left out: it joins bodies that never move against each other."
        for equality, cut in found
        if cut is None
    ]
    if not cuts:
        return replace(robot, notes=(*robot.notes, *notes))
    linkage = Linkage(robot.joints, cuts, ())
    start = _start(linkage, reference, keys)
    coordinates = _coordinates(linkage, start, driven)
    if not coordinates:
        raise ModelError(
            f"The equalities {', '.join(cut.name for cut in cuts)} leave no joint free to move; take one of "
            "them out."
        )
    notes += _told_coordinates(linkage, coordinates, driven)
    closure = Closure(cuts, coordinates, tuple(start.tolist()))
    bare = replace(robot, closure=closure, parameters={})
    kept = {name: value for name, value in robot.parameters.items() if name in bare.table.names}
    notes += _lost_values(robot, kept)
    return replace(bare.with_parameters(kept), notes=(*robot.notes, *notes))


def _start(linkage: Linkage, reference: Sequence[float], keys: Sequence[Element]) -> FloatArray:
    """The reference position, or a keyframe where it does not close or is singular.

    Raises:
        ModelError: when the loops close at none of them, or only at singular positions.
    """
    singular = False
    for given in chain([np.array(reference, dtype=float)], _keyframes(keys, len(reference))):
        gap = np.abs(linkage.residuals(given[None])).max()
        found = linkage.nearest_closed(given[None])
        if gap > _NEAR * linkage.size or not linkage.is_closed(found)[0]:
            continue
        if _rank(linkage, found[0]) == max(_rank(linkage, q) for q in _nearby(linkage, found[0])):
            return np.asarray(found[0])
        singular = True
    if singular:
        raise ModelError(
            "The loops close at a singular position only, where they can move in more ways than elsewhere; "
            'add a keyframe, <key name="home" qpos="..."/>, at which they are closed and not stretched out.'
        )
    raise _not_closed(linkage, np.array(reference, dtype=float))


def _keyframes(keys: Sequence[Element], joints: int) -> Iterator[FloatArray]:
    """Positions of the keyframes, that of the name "home" first."""
    for key in sorted(keys, key=lambda element: element.get("name", "").lower() != "home"):
        if "qpos" in key.attrib:
            where = f"Keyframe {key.get('name', '')!r}"
            yield np.array(numbers(key.attrib, "qpos", where, (0.0,) * joints))


def _nearby(linkage: Linkage, start: FloatArray) -> Iterator[FloatArray]:
    """Closed positions around a start."""
    rng = np.random.default_rng(0)
    for _ in range(4):
        q = linkage.nearest_closed((start + _NUDGE * linkage.scales * rng.normal(size=len(start)))[None])
        if linkage.is_closed(q)[0]:
            yield q[0]
    yield start


def _unit_columns(linkage: Linkage, q: FloatArray) -> FloatArray:
    """Columns of the Jacobian of unit length; those of joints outside all loops are zero."""
    J = linkage.jacobian(q[None])[0] * linkage.scales / linkage.size
    lengths = np.linalg.norm(J, axis=0)
    return np.asarray(np.where(lengths > _DEPENDENT, J / np.maximum(lengths, _DEPENDENT), 0.0))


def _rank(linkage: Linkage, q: FloatArray) -> int:
    return int(np.sum(np.linalg.svd(_unit_columns(linkage, q), compute_uv=False) > _DEPENDENT))


def _not_closed(linkage: Linkage, reference: FloatArray) -> ModelError:
    gaps = {
        cut.name: float(np.abs(replace(linkage, cuts=(cut,)).residuals(reference[None])).max())
        for cut in linkage.cuts
    }
    worst = max(gaps, key=lambda name: gaps[name])
    found = linkage.nearest_closed(reference[None])
    near = ""
    if linkage.is_closed(found)[0]:
        near = f' They close at qpos="{" ".join(f"{x:.6g}" for x in found[0])}", if that is meant.'
    return ModelError(
        f"The loop {worst!r} is open by {gaps[worst]:.3g} m, or turned so much, at the reference position, "
        'and no keyframe closes all loops; add a keyframe, <key name="home" qpos="..."/>, at which they are '
        f"closed.{near}"
    )


def _coordinates(linkage: Linkage, start: FloatArray, driven: frozenset[str] | None) -> tuple[int, ...]:
    """Driven joints first, then the others in their order, as long as the loops leave them free.

    The rest must follow: their columns of the Jacobian are a basis of all. It is gathered from the end.
    """
    names = [linkage.joints[j].name for j in linkage.movable]
    order = sorted(range(len(names)), key=lambda i: (driven is not None and names[i] not in driven, i))
    J, follow = _unit_columns(linkage, start), set()
    basis = np.zeros((len(J), 0))
    for i in reversed(order):
        column = J[:, i] - basis @ (basis.T @ J[:, i])
        column -= basis @ (basis.T @ column)  # a second pass, against rounding
        length = float(np.linalg.norm(column))
        if length > _DEPENDENT:
            basis = np.column_stack([basis, column / length])
            follow.add(i)
    return tuple(i for i in range(len(names)) if i not in follow)


def _told_coordinates(
    linkage: Linkage, coordinates: Sequence[int], driven: frozenset[str] | None
) -> list[str]:
    """How the coordinates were chosen, where the actuators do not say it."""
    names = [linkage.joints[j].name for j in linkage.movable]
    chosen = [names[c] for c in coordinates]
    if driven is None:
        return [f"No actuators say which joints move the loops; taken as coordinates: {', '.join(chosen)}."]
    notes = []
    if more := [name for name in chosen if name not in driven]:
        notes.append(
            f"The loops leave {len(chosen)} freedoms, more than the actuators drive; taken as further "
            f"coordinates: {', '.join(more)}."
        )
    if follow := [name for name in names if name in driven and name not in chosen]:
        notes.append(
            f"The actuators drive more joints than the loops leave free; {', '.join(follow)} "
            f"follow{'s' if len(follow) == 1 else ''} {', '.join(chosen)}, and torques of "
            f"{'it' if len(follow) == 1 else 'them'} belong into those, τ = Gᵀ τ_motors."
        )
    return notes


_LOST = {"Ia": "armature", "Fv": "damping", "Fc": "frictionloss", "Ks": "stiffness"}


def _lost_values(robot: Robot, kept: Mapping[str, float]) -> list[str]:
    """Drive and friction of joints that follow: their torques depend on the position, and are not held."""
    lost: dict[str, list[str]] = {}
    for symbol, word in _LOST.items():
        for joint in robot.joints:
            name = symbol + joint.label
            if robot.parameters.get(name, 0.0) != 0.0 and name not in kept:
                lost.setdefault(joint.name, []).append(word)
    return [
        f"Left out, because joint {name!r} follows the loops: its {' and '.join(words)}."
        for name, words in lost.items()
    ]
