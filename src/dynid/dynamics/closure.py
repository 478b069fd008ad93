"""Equations of loop cuts over any scalar type: φ = 0, their Jacobian and the bias J̇ q̇."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

from dynid.dynamics.algebra import (
    AXES,
    ZERO,
    Scalar,
    Vector,
    add,
    cross,
    dot,
    mul,
    neg,
    plus,
    rotate,
    scale,
    sub,
)
from dynid.dynamics.operations import Operations
from dynid.dynamics.placement import Placement, place, within
from dynid.dynamics.solve import solve_least_squares
from dynid.model.joint import BASE, Joint, JointKind
from dynid.model.loop import Closure, LoopCut


@dataclass(frozen=True)
class LoopGroup:
    """Loops that share dependent joints, so that they are closed together.

    Args:
        cuts: their cuts.
        chains: for each cut, the joints from the last link that carries both ends to either end.
        coordinates: joints of the coordinates that move them.
        dependent: joints that follow.
    """

    cuts: tuple[LoopCut, ...]
    chains: tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]
    coordinates: tuple[int, ...]
    dependent: tuple[int, ...]


@lru_cache(maxsize=64)
def loop_groups(joints: tuple[Joint, ...], closure: Closure) -> tuple[LoopGroup, ...]:
    """The loops of a robot, those with common dependent joints in one group."""
    movable = [j for j, joint in enumerate(joints) if joint.movable]
    following = {movable[i] for i in closure.dependent}
    groups: list[tuple[set[int], list[int]]] = []
    chains = [_two_chains(joints, cut) for cut in closure.cuts]
    for number, (one, two) in enumerate(chains):
        joined = ({j for j in (*one, *two) if j in following}, [number])
        for group in [g for g in groups if g[0] & joined[0]]:
            groups.remove(group)
            joined = (joined[0] | group[0], group[1] + joined[1])
        groups.append(joined)
    result = []
    for dependent, numbers in groups:
        moved = {j for n in numbers for chain in chains[n] for j in chain if joints[j].movable} - following
        cuts, ways = tuple(closure.cuts[n] for n in numbers), tuple(chains[n] for n in numbers)
        result.append(LoopGroup(cuts, ways, tuple(sorted(moved)), tuple(sorted(dependent))))
    return tuple(result)


def _two_chains(joints: Sequence[Joint], cut: LoopCut) -> tuple[tuple[int, ...], tuple[int, ...]]:
    ways: list[list[int]] = []
    for link in cut.links:
        way: list[int] = []
        while link != BASE:
            way.insert(0, link)
            link = joints[link].antecedent
        ways.append(way)
    shared = 0
    while shared < min(map(len, ways)) and ways[0][shared] == ways[1][shared]:
        shared += 1
    return tuple(ways[0][shared:]), tuple(ways[1][shared:])


@dataclass(frozen=True)
class _End:
    """One end of a cut in the frame of the link that carries both: frame, point, and the joints before it."""

    frame: Placement
    point: Vector
    joints: tuple[tuple[int, JointKind, Vector, Vector], ...]
    """Number, kind, axis and origin of each joint."""

    def unit_motions(self) -> dict[int, tuple[Vector, Vector]]:
        """Angular velocity and velocity of the point per unit speed of each movable joint."""
        motions = {}
        for j, kind, axis, origin in self.joints:
            if kind is JointKind.REVOLUTE:
                motions[j] = (axis, cross(axis, _minus(self.point, origin)))
            elif kind is JointKind.PRISMATIC:
                motions[j] = (ZERO, axis)
        return motions

    def motion(self, speeds: Sequence[Scalar]) -> _EndMotion:
        """ω, ω̇ and the point's velocity and acceleration at speeds of the joints and no accelerations."""
        w, dw, v, dv, at = ZERO, ZERO, ZERO, ZERO, ZERO
        for j, kind, axis, origin in self.joints:
            arm = _minus(origin, at)
            v, dv, at = plus(v, cross(w, arm)), plus(dv, _carried_rate(w, dw, arm)), origin
            rate = scale(speeds[j], axis)
            if kind is JointKind.REVOLUTE:
                w, dw = plus(w, rate), plus(dw, cross(w, rate))
            elif kind is JointKind.PRISMATIC:
                v, dv = plus(v, rate), plus(dv, scale(2.0, cross(w, rate)))
        arm = _minus(self.point, at)
        return _EndMotion(w, dw, plus(v, cross(w, arm)), plus(dv, _carried_rate(w, dw, arm)))


@dataclass(frozen=True)
class _EndMotion:
    w: Vector
    dw: Vector
    v: Vector
    dv: Vector

    def rates(self, direction: Vector) -> tuple[Vector, Vector]:
        """First and second derivative of a direction fixed in the link."""
        return cross(self.w, direction), _carried_rate(self.w, self.dw, direction)


def _carried_rate(w: Vector, dw: Vector, arm: Vector) -> Vector:
    """ω̇ × r + ω × (ω × r)."""
    return plus(cross(dw, arm), cross(w, cross(w, arm)))


def _minus(u: Vector, v: Vector) -> Vector:
    return plus(u, scale(-1.0, v))


@dataclass(frozen=True)
class GroupEquations:
    """The equations of a group of loops at one position (or many, or a symbolic one).

    Args:
        group: the loops.
        ends: both ends of every cut.
    """

    group: LoopGroup
    ends: tuple[tuple[_End, _End], ...]

    def residuals(self) -> list[Scalar]:
        """φ: gaps of points [m] and products of directions."""
        rows: list[Scalar] = []
        for cut, (one, two) in zip(self.group.cuts, self.ends, strict=True):
            gap = _minus(one.point, two.point)
            rows += gap if cut.meets else ()
            rows += [dot(gap, rotate(two.frame.rotation, v)) for v in cut.slides]
            rows += [dot(u, v) for u, v in _pairs(cut, one, two)]
        return rows

    def columns(self) -> dict[int, list[Scalar]]:
        """Columns of J = ∂φ/∂q by joint."""
        joints = (*self.group.coordinates, *self.group.dependent)
        columns: dict[int, list[Scalar]] = {j: [] for j in joints}
        for cut, (one, two) in zip(self.group.cuts, self.ends, strict=True):
            gap = _minus(one.point, two.point)
            slides = [rotate(two.frame.rotation, v) for v in cut.slides]
            normals = [cross(u, v) for u, v in _pairs(cut, one, two)]
            count = 3 * cut.meets + len(slides) + len(normals)
            first, second = one.unit_motions(), two.unit_motions()
            for j in joints:
                rows: list[Scalar] = [0.0] * count
                if j in first:
                    turn, move = first[j]
                    rows = [*(move if cut.meets else ()), *(dot(move, v) for v in slides)]
                    rows += [dot(turn, normal) for normal in normals]
                elif j in second:
                    turn, move = second[j]
                    rows = [neg(x) for x in move] if cut.meets else []
                    rows += [sub(dot(gap, cross(turn, v)), dot(move, v)) for v in slides]
                    rows += [neg(dot(turn, normal)) for normal in normals]
                columns[j] += rows
        return columns

    def bias(self, speeds: Sequence[Scalar]) -> list[Scalar]:
        """J̇ q̇: φ̈ at speeds of all joints of the tree and no accelerations."""
        rows: list[Scalar] = []
        for cut, (one, two) in zip(self.group.cuts, self.ends, strict=True):
            first, second = one.motion(speeds), two.motion(speeds)
            gap = _minus(one.point, two.point)
            velocity, acceleration = _minus(first.v, second.v), _minus(first.dv, second.dv)
            rows += acceleration if cut.meets else ()
            for v in (rotate(two.frame.rotation, direction) for direction in cut.slides):
                rows.append(_second_rate((gap, velocity, acceleration), (v, *second.rates(v))))
            for u, v in _pairs(cut, one, two):
                rows.append(_second_rate((u, *first.rates(u)), (v, *second.rates(v))))
        return rows


def _second_rate(u: tuple[Vector, Vector, Vector], v: tuple[Vector, Vector, Vector]) -> Scalar:
    """(u · v)¨ from both vectors and their two derivatives."""
    return add(add(dot(u[2], v[0]), mul(2.0, dot(u[1], v[1]))), dot(u[0], v[2]))


def _pairs(cut: LoopCut, one: _End, two: _End) -> list[tuple[Vector, Vector]]:
    return [(rotate(one.frame.rotation, u), rotate(two.frame.rotation, v)) for u, v in cut.pairs]


def group_equations(
    joints: Sequence[Joint], group: LoopGroup, positions: Mapping[int, Scalar], ops: Operations
) -> GroupEquations:
    """The equations of a group at positions of its joints.

    Args:
        joints: joints of the robot.
        group: the loops.
        positions: of the coordinates and dependent joints of the group, by joint [rad or m].
        ops: elementary functions of the scalar type.
    """
    frames = {
        j: place(joints[j], positions.get(j, 0.0), ops)
        for chains in group.chains
        for chain in chains
        for j in chain
    }
    ends = []
    for cut, chains in zip(group.cuts, group.chains, strict=True):
        one, two = (
            _end(joints, chain, frames, point) for chain, point in zip(chains, cut.points, strict=True)
        )
        ends.append((one, two))
    return GroupEquations(group, tuple(ends))


def _end(
    joints: Sequence[Joint], chain: Sequence[int], frames: Mapping[int, Placement], point: Vector
) -> _End:
    frame, before = Placement(AXES, ZERO), []
    for j in chain:
        frame = within(frame, frames[j])
        axis = (frame.rotation[0][2], frame.rotation[1][2], frame.rotation[2][2])
        before.append((j, joints[j].kind, axis, frame.position))
    return _End(frame, plus(frame.position, rotate(frame.rotation, point)), tuple(before))


def newton_step(
    joints: Sequence[Joint], group: LoopGroup, positions: Mapping[int, Scalar], ops: Operations
) -> dict[int, Scalar]:
    """Positions after one Gauss–Newton step of the dependent joints: p ← p − (JₚᵀJₚ)⁻¹ Jₚᵀ φ.

    Args:
        joints: joints of the robot.
        group: the loops.
        positions: of the group's joints, by joint.
        ops: elementary functions of the scalar type.
    """
    equations = group_equations(joints, group, positions, ops)
    columns = equations.columns()
    change = solve_least_squares([columns[j] for j in group.dependent], equations.residuals())
    moved = {j: add(positions[j], neg(x)) for j, x in zip(group.dependent, change, strict=True)}
    return dict(positions) | moved
