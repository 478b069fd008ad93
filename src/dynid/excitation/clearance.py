"""How far the links of a robot are from each other, from the floor and from walls, with exact gradients."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike

from dynid.compile.kernels import kernels
from dynid.core.arrays import BoolArray, FloatArray, as_numbers
from dynid.core.errors import ModelError, ShapeError, unknown_name
from dynid.core.kinds import require_field_kinds
from dynid.excitation.segments import closest_on_segments, directions
from dynid.excitation.workcell import HalfSpace, Workcell
from dynid.model.joint import BASE, JointKind
from dynid.model.robot import Robot

_DRAWN_POSES = 200
"""Random poses that tell which pairs say nothing about a motion."""
_ALWAYS = 0.95
"""Share of these poses in which a pair touches that is left out, as in MoveIt's setup assistant: shapes of
links around one wrist overlap by their make, and no motion would satisfy them."""
_STILL = 1e-9
"""Change of a clearance over these poses [m] below which no motion changes it."""


@dataclass(frozen=True)
class Pair:
    """A capsule and what it is kept away from: a second capsule or a half-space.

    Args:
        name: in words, such as "link 2 and link 5".
        first: index of the capsule in ``robot.shapes``.
        second: index of the other capsule, or the half-space.
    """

    name: str
    first: int
    second: int | HalfSpace


@dataclass(frozen=True)
class CollisionScene:
    """A robot in its workcell: clearances of pairs and their gradients.

    A clearance is the distance between the axes of two capsules less their radii and the margin, or that of
    a capsule's lower end from a wall; below zero the room is not kept. Of the pairs of links those are left
    out that share a joint, are rigidly joined, or are ``ignored``; those that touch in 95 %
    of 200 random poses within the position limits; and those, with walls too, whose clearance no motion
    changes.

    Args:
        robot: with shapes.
        workcell: floor, walls, margin.
    """

    robot: Robot
    workcell: Workcell = field(default_factory=Workcell)

    def __post_init__(self) -> None:
        """A robot without shapes has no clearance, and for one with loops none can be proved."""
        require_field_kinds(self)
        refuse_loops(self.robot)
        if not self.robot.shapes:
            raise ModelError(
                f"Robot {self.robot.name!r} has no shapes, so its clearances are unknown; add shapes to its "
                "file, take those of its URDF or MJCF with attach_shapes(robot), or those of its frames with "
                "robot.with_shapes(capsules_from_frames(robot, radius))."
            )

    @cached_property
    def pairs(self) -> tuple[Pair, ...]:
        """What is kept apart; the columns of ``clearances``."""
        return tuple(pair for pair, left in zip(self._candidates, self._silent, strict=True) if not left)

    @property
    def names(self) -> tuple[str, ...]:
        """The pairs in words."""
        return tuple(pair.name for pair in self.pairs)

    @property
    def left_out(self) -> tuple[str, ...]:
        """Pairs that do not share a joint and that the random poses left out, in words."""
        return tuple(pair.name for pair, left in zip(self._candidates, self._silent, strict=True) if left)

    def at(self, q: ArrayLike) -> Closest:
        """The closest points of all pairs.

        Args:
            q: positions (samples, coordinates) [rad or m].
        """
        return _closest(self, self._layout, q)

    def clearances(self, q: ArrayLike) -> FloatArray:
        """Clearances (samples, pairs) [m].

        Args:
            q: positions (samples, coordinates) [rad or m].
        """
        return self.at(q).clearances

    @cached_property
    def _layout(self) -> _Layout:
        return _Layout.of(self, self.pairs)

    @property
    def beyond(self) -> tuple[str, ...]:
        """Links that stand beyond a wall or the floor whatever the motion, in words."""
        walls = [not isinstance(pair.second, int) for pair in self._candidates]
        rows = zip(self._candidates, walls, self._silent, self._distances.max(axis=0), strict=True)
        return tuple(pair.name for pair, wall, left, distance in rows if wall and left and distance < 0)

    @cached_property
    def _silent(self) -> BoolArray:
        """Which candidates always touch, whatever the margin, or never change."""
        links = np.array([isinstance(pair.second, int) for pair in self._candidates], dtype=bool)
        touching = np.mean(self._distances <= 0.0, axis=0) >= _ALWAYS
        return np.asarray((np.ptp(self._distances, axis=0) < _STILL) | (touching & links))

    @cached_property
    def _distances(self) -> FloatArray:
        """Distances of all candidates, without the margin, at random poses, (poses, candidates) [m]."""
        poses = _random_poses(self.robot, _DRAWN_POSES, np.random.default_rng(0))
        drawn = _closest(self, _Layout.of(self, self._candidates), poses).clearances
        return np.asarray(drawn + self.workcell.margin, dtype=float)

    @cached_property
    def _candidates(self) -> tuple[Pair, ...]:
        links = tuple(_pairs_of_links(self)) if self.workcell.self_collision else ()
        return (*links, *_pairs_with_walls(self))


# ── which pairs there are ─────────────────────────────────────────────────────────────────────────────────


def _pairs_of_links(scene: CollisionScene) -> Iterator[Pair]:
    robot = scene.robot
    bodies = _bodies(robot)
    apart = {(bodies[link], bodies[joint.antecedent]) for link, joint in enumerate(robot.joints)}
    apart |= {(bodies[one], bodies[other]) for one, other in _ignored_links(scene)}
    for (i, one), (k, other) in combinations(enumerate(robot.shapes), 2):
        ends = bodies[one.link], bodies[other.link]
        if ends[0] != ends[1] and ends not in apart and ends[::-1] not in apart:
            yield Pair(f"{_shape_name(robot, i)} and {_shape_name(robot, k)}", i, k)


def _pairs_with_walls(scene: CollisionScene) -> Iterator[Pair]:
    bodies = _bodies(scene.robot)
    for i, shape in enumerate(scene.robot.shapes):
        if bodies[shape.link] != BASE:
            for wall in scene.workcell.half_spaces:
                yield Pair(f"{_shape_name(scene.robot, i)} and {wall.name}", i, wall)


def _bodies(robot: Robot) -> dict[int, int]:
    """The first link of the rigid body that each link is part of."""
    bodies = {BASE: BASE}
    for link, joint in enumerate(robot.joints):
        bodies[link] = link if joint.movable else bodies[joint.antecedent]
    return bodies


def _ignored_links(scene: CollisionScene) -> Iterator[tuple[int, int]]:
    links = {"base": BASE} | {joint.name: link for link, joint in enumerate(scene.robot.joints)}
    for pair in scene.workcell.ignored:
        for name in pair:
            if name not in links:
                raise unknown_name("link in ignored", name, links)
        yield links[pair[0]], links[pair[1]]


def _shape_name(robot: Robot, shape: int) -> str:
    """A link in words; its shapes are numbered where it has several."""
    link = robot.shapes[shape].link
    same = [i for i, other in enumerate(robot.shapes) if other.link == link]
    number = f" (shape {same.index(shape) + 1})" if len(same) > 1 else ""
    return ("the base" if link == BASE else f"link {robot.joints[link].label}") + number


def _random_poses(robot: Robot, count: int, rng: np.random.Generator) -> FloatArray:
    """Positions within the limits; a turn, or two metres, where there are none."""
    lower, upper = [], []
    for j in robot.coordinates:
        limits, half = robot.joints[j].limits, math.pi if robot.joints[j].kind is JointKind.REVOLUTE else 1.0
        low = limits.lower if math.isfinite(limits.lower) else min(limits.upper - 2 * half, -half)
        lower.append(low)
        upper.append(limits.upper if math.isfinite(limits.upper) else max(low + 2 * half, half))
    return rng.uniform(lower, upper, (count, robot.n_coordinates))


# ── distances ─────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, eq=False)
class _Layout:
    """Pairs and shapes as arrays; pairs of capsules come before those with walls.

    Args:
        links: link of each capsule.
        starts: first ends in the frames of the links, (capsules, 3) [m].
        ends: second ends.
        first: capsules of the pairs of capsules.
        second: the capsules they are paired with.
        reach: sum of their radii and the margin, (pairs, 1) [m].
        walled: capsules of the pairs with walls.
        normals: of these walls, (pairs, 3).
        offsets: of the walls plus radii and margin, (pairs, 1) [m].
    """

    links: np.ndarray
    starts: FloatArray
    ends: FloatArray
    first: np.ndarray
    second: np.ndarray
    reach: FloatArray
    walled: np.ndarray
    normals: FloatArray
    offsets: FloatArray

    @staticmethod
    def of(scene: CollisionScene, pairs: tuple[Pair, ...]) -> _Layout:
        shapes, margin = scene.robot.shapes, scene.workcell.margin
        links = [(pair.first, pair.second) for pair in pairs if isinstance(pair.second, int)]
        walls = [(pair.first, pair.second) for pair in pairs if isinstance(pair.second, HalfSpace)]
        radii = [shapes[i].radius + shapes[k].radius + margin for i, k in links]
        offsets = [wall.offset + shapes[i].radius + margin for i, wall in walls]
        return _Layout(
            np.array([shape.link for shape in shapes]),
            np.array([shape.start for shape in shapes]),
            np.array([shape.end for shape in shapes]),
            np.array([i for i, _ in links], dtype=int),
            np.array([k for _, k in links], dtype=int),
            np.array(radii).reshape(-1, 1),
            np.array([i for i, _ in walls], dtype=int),
            np.array([wall.normal for _, wall in walls]).reshape(-1, 3),
            np.array(offsets).reshape(-1, 1),
        )


@dataclass(frozen=True, eq=False)
class Closest:
    """The closest points of all pairs at some poses.

    Args:
        scene: robot and workcell.
        q: positions (samples, coordinates).
        clearances: (samples, pairs) [m].
    """

    scene: CollisionScene
    q: FloatArray
    clearances: FloatArray
    _layout: _Layout
    _directions: FloatArray  # from the second capsule to the first, (pairs, 3, samples)
    _shares: tuple[FloatArray, FloatArray, FloatArray]  # s and t of capsules, s of walls; (pairs, samples)

    def gradient(self, seed: ArrayLike) -> FloatArray:
        """dJ/dq (samples, coordinates) from dJ/d(clearances).

        The closest points may be held in their links: to first order their own motion changes no distance
        (envelope theorem). Of a capsule parallel to a wall or another capsule one of the closest points
        stands for all.

        Args:
            seed: dJ/d(clearances), (samples, pairs).
        """
        bar = as_numbers(seed, "The seed").T
        if bar.shape != self.clearances.T.shape:
            raise ShapeError(f"The seed has shape {bar.T.shape}; expected {self.clearances.shape}.")
        layout, (s, t, w) = self._layout, self._shares
        push = bar[: len(layout.first), None] * self._directions
        wall = bar[len(layout.first) :, None] * layout.normals[:, :, None]
        points = ((layout.first, push, s), (layout.second, -push, t), (layout.walled, wall, w))
        at_starts, at_ends = np.zeros((2, len(layout.links), 3, len(self.q)))
        for capsules, force, share in points:
            chosen = (np.arange(len(layout.links))[:, None] == capsules).astype(float)
            at_ends += _weighted_sum(chosen, share[:, None] * force)
            at_starts += _weighted_sum(chosen, (1.0 - share[:, None]) * force)
        robot = self.scene.robot
        frames = np.zeros((len(robot.joints), 12, len(self.q)))
        carried = (np.arange(len(robot.joints))[:, None] == layout.links).astype(float)
        frames[:, :3] = _weighted_sum(carried, at_starts + at_ends)
        for axis in range(3):  # entry (i, axis) of a rotation moves coordinate i of its points
            frames[:, 3 + axis :: 3] = _weighted_sum(carried * layout.starts[:, axis], at_starts)
            frames[:, 3 + axis :: 3] += _weighted_sum(carried * layout.ends[:, axis], at_ends)
        adjoint = kernels(robot).kernel("forward_kinematics_adjoint")
        return np.ascontiguousarray(adjoint(self.q, frames.reshape(-1, len(self.q))).T)


def _weighted_sum(weights: FloatArray, values: FloatArray) -> FloatArray:
    """Σ_k weights[i, k] values[k] for values (k, 3, samples)."""
    return np.asarray(np.tensordot(weights, values, axes=1))


def _closest(scene: CollisionScene, layout: _Layout, q: ArrayLike) -> Closest:
    positions = as_numbers(q, "q")
    starts, along = _axes(scene.robot, layout, positions)
    i, k = layout.first, layout.second
    s, t = closest_on_segments(starts[i], along[i], starts[k], along[k])
    gap = starts[i] + s[:, None] * along[i] - starts[k] - t[:, None] * along[k]
    distance = np.sqrt(gap[:, 0] ** 2 + gap[:, 1] ** 2 + gap[:, 2] ** 2)
    heights = np.einsum("pi,pis->ps", layout.normals, starts[layout.walled])
    rise = np.einsum("pi,pis->ps", layout.normals, along[layout.walled])
    clearances = np.concatenate([distance - layout.reach, heights + np.minimum(rise, 0.0) - layout.offsets])
    return Closest(
        scene,
        positions,
        np.ascontiguousarray(clearances.T),
        layout,
        directions(gap, distance, along[i], along[k]),
        (s, t, (rise < 0.0).astype(float)),
    )


def _axes(robot: Robot, layout: _Layout, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """First ends of the capsules in the base frame, and from there to the second, (capsules, 3, samples)."""
    raw = kernels(robot).kernel("forward_kinematics")(q)
    frames = np.concatenate([raw, np.zeros((12, raw.shape[1]))]).reshape(-1, 12, raw.shape[1])
    frames[BASE, 3::4] = 1.0  # the base, which index -1 finds at the end: no rotation
    rotations = frames[:, 3:].reshape(len(frames), 3, 3, -1)[layout.links]
    along = np.einsum("cijs,cj->cis", rotations, layout.ends - layout.starts)
    return frames[layout.links, :3] + np.einsum("cijs,cj->cis", rotations, layout.starts), along


def has_loops(robot: Robot) -> bool:
    """Whether a robot has loops with a G that changes, so that no clearance can be proved."""
    return robot.closure is not None and robot.coupling is None


def refuse_loops(robot: Robot) -> None:
    """Refuse to look at collisions of a robot for which no clearance can be proved."""
    if has_loops(robot):
        raise ModelError(
            f"Robot {robot.name!r} has closed loops, for which no clearance can be proved; look for "
            "collisions elsewhere and design without them: leave out floor, walls and --link-radius, and "
            "shapes of the robot with --no-collisions (workcell=None)."
        )
