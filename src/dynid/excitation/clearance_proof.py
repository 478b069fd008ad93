"""Clearance at every instant of a motion, proven between samples by how fast it can change."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray, as_numbers
from dynid.core.errors import DynidError, ModelError, ShapeError
from dynid.excitation.clearance import CollisionScene, Pair
from dynid.model.geometry import placement
from dynid.model.joint import BASE, Joint, JointKind
from dynid.model.robot import Robot

_FIRST_PARTS = 64
"""Intervals that a motion is first cut into; fewer make the first pass idle, more cost where all is far."""
_BLOCK = 8192
"""Instants whose clearances are computed at once: some 30 MB for twenty pairs."""


@dataclass(frozen=True)
class LeastClearance:
    """The smallest clearance of a motion.

    Args:
        bound: proven: no instant has less [m].
        value: smallest clearance found, at most the tolerance above the bound [m].
        time: when it is found [s].
        pair: between what, in words.
    """

    bound: float
    value: float
    time: float
    pair: str


def verified_clearance(
    scene: CollisionScene,
    at: Callable[[FloatArray], ArrayLike],
    duration: float,
    speeds: ArrayLike | Callable[[FloatArray, FloatArray], ArrayLike],
    tolerance: float = 1e-3,
) -> LeastClearance:
    """The smallest clearance over all instants of a motion, found and proven by bisection.

    Around the middle t of an interval of length h, no clearance is below c(t) − ½ h Σ_j L_j |q̇_j|max, with L
    from ``reach``. Intervals that might hold less than the smallest value found are halved (branch and
    bound).

    Args:
        scene: robot and workcell.
        at: positions (instants, coordinates) at instants between 0 and the duration [s].
        duration: of the motion [s].
        speeds: bounds of |q̇|, one per coordinate [rad/s or m/s]; or a function of the starts and ends of
            intervals (n,) that gives bounds within each, (n, coordinates).
        tolerance: largest distance of the bound from the value found [m]; the cost grows with its inverse.
    """
    if not (duration > 0 and math.isfinite(duration) and tolerance > 0):
        raise DynidError(
            f"verified_clearance got a duration of {duration:g} s and a tolerance of {tolerance:g} m; both "
            "must be above 0."
        )
    if not scene.pairs:
        return LeastClearance(math.inf, math.inf, 0.0, "nothing")
    levers = reach(scene)
    bound, best = math.inf, LeastClearance(math.inf, math.inf, 0.0, "")
    middles, half = (np.arange(_FIRST_PARTS) + 0.5) * duration / _FIRST_PARTS, duration / _FIRST_PARTS / 2
    while len(middles):
        rows = [
            _lower_bounds(scene, at, part, half, _speed_bounds(speeds, part, half, scene.robot) @ levers.T)
            for part in np.split(middles, range(_BLOCK, len(middles), _BLOCK))
        ]
        for _, found in rows:
            best = min(best, found, key=lambda one: one.value)
        lower = np.concatenate([low for low, _ in rows])
        parts = lower < best.value - tolerance
        bound = min(bound, float(np.min(lower[~parts], initial=math.inf)))
        middles = (middles[parts, None] + [-half / 2, half / 2]).ravel()
        half /= 2
    return LeastClearance(bound, best.value, best.time, best.pair)


def _lower_bounds(
    scene: CollisionScene,
    at: Callable[[FloatArray], ArrayLike],
    middles: FloatArray,
    half: float,
    rates: FloatArray,
) -> tuple[FloatArray, LeastClearance]:
    """A bound of all clearances in each interval, and the smallest clearance in their middles."""
    clearances = scene.clearances(at(middles))
    if not np.all(np.isfinite(clearances)):
        when = middles[np.nonzero(~np.isfinite(clearances))[0][0]]
        raise DynidError(
            f"The motion has no finite positions at {when:g} s; give one that is finite at every instant."
        )
    row, column = np.unravel_index(np.argmin(clearances), clearances.shape)
    value = float(clearances[row, column])
    found = LeastClearance(-math.inf, value, float(middles[row]), scene.names[column])
    return np.min(clearances - rates * half, axis=1), found


def _speed_bounds(
    speeds: ArrayLike | Callable[[FloatArray, FloatArray], ArrayLike],
    middles: FloatArray,
    half: float,
    robot: Robot,
) -> FloatArray:
    """Bounds of |q̇| in each interval, (intervals or 1, coordinates)."""
    given = speeds(middles - half, middles + half) if callable(speeds) else speeds
    bounds = np.atleast_2d(as_numbers(given, "speeds"))
    if bounds.shape not in ((1, robot.n_coordinates), (len(middles), robot.n_coordinates)):
        raise ShapeError(
            f"speeds has shape {bounds.shape}; give one bound for each of the {robot.n_coordinates} "
            "coordinates."
        )
    if not np.all((bounds >= 0) & np.isfinite(bounds)):
        raise DynidError("speeds holds a bound that is negative or not finite; give bounds of |q̇| from 0.")
    return bounds


# ── how fast a clearance can change ───────────────────────────────────────────────────────────────────────


def reach(scene: CollisionScene) -> FloatArray:
    """How fast each clearance can change with each coordinate, (pairs, coordinates) [m/rad or m/m].

    A revolute joint between two links moves the closest points against each other by at most the distance of
    one of them from its axis, and it may be that of either: the motion along their common line is the same.
    Distances are at most the sum of the lengths between frames, with prismatic joints at their limits.

    Args:
        scene: robot and workcell.
    """
    robot = scene.robot
    arms = _arms(robot)
    tree = np.array([[_lever(scene, pair, j, arms) for j in robot.movable] for pair in scene.pairs])
    if not np.all(np.isfinite(tree)):
        free = [repr(joint.name) for joint, arm in zip(robot.joints, arms, strict=True) if math.isinf(arm)]
        raise ModelError(
            f"Prismatic joints have no limits ({', '.join(free)}), so it is unknown how far the links reach; "
            "give their lower and upper limits."
        )
    tree = tree.reshape(len(scene.pairs), len(robot.movable))
    return tree if robot.coupling is None else tree @ np.abs(robot.coupling.G)


def _lever(scene: CollisionScene, pair: Pair, joint: int, arms: list[float]) -> float:
    """Bound of |∂clearance/∂v| over all poses, for the variable v of one joint of the tree."""
    robot = scene.robot
    first = scene.robot.shapes[pair.first]
    others = [robot.shapes[pair.second]] if isinstance(pair.second, int) else []
    moved = [shape for shape in (first, *others) if joint in _chain(robot, shape.link)]
    if len(moved) != 1:
        return 0.0  # it moves neither, or both alike
    if robot.joints[joint].kind is JointKind.PRISMATIC:
        return 1.0
    levers = []
    for shape in (first, *others):
        ends = np.array([shape.start, shape.end])
        if shape.link == joint:
            levers.append(float(np.max(np.hypot(ends[:, 0], ends[:, 1]))))
        else:
            between = set(_chain(robot, shape.link)) ^ set(_chain(robot, joint))
            levers.append(float(np.max(np.linalg.norm(ends, axis=1))) + sum(arms[j] for j in between))
    return min(levers)


def _chain(robot: Robot, link: int) -> Iterator[int]:
    """The joints from a link down to the base."""
    while link != BASE:
        yield link
        link = robot.joints[link].antecedent


def _arms(robot: Robot) -> list[float]:
    """Largest distance between each frame's origin and that of its antecedent [m]."""
    ranges = _ranges(robot)
    return [
        max(float(np.linalg.norm(_origin(joint, v))) for v in ranges[j])
        for j, joint in enumerate(robot.joints)
    ]


def _origin(joint: Joint, variable: float) -> FloatArray:
    if joint.kind is JointKind.PRISMATIC and math.isinf(variable):
        return np.full(3, math.inf)
    return placement(joint, variable)[1]


def _ranges(robot: Robot) -> list[tuple[float, float]]:
    """Between which values the variable of each joint of the tree lies; 0 for revolute and fixed joints."""
    ranges = [(0.0, 0.0)] * len(robot.joints)
    limits = [robot.joints[j].limits for j in robot.coordinates]
    G = np.eye(robot.n_coordinates) if robot.coupling is None else robot.coupling.G
    g0 = np.zeros(len(G)) if robot.coupling is None else np.array(robot.coupling.offset)
    for j, row, shift in zip(robot.movable, G, g0, strict=True):
        if robot.joints[j].kind is JointKind.PRISMATIC:
            spans = [(g * bound.lower, g * bound.upper) for g, bound in zip(row, limits, strict=True) if g]
            ranges[j] = (shift + sum(min(span) for span in spans), shift + sum(max(span) for span in spans))
    return ranges
