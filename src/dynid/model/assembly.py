"""Closing loops by numbers: residuals of the cuts, their Jacobian, and the nearest closed position."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import ModelError
from dynid.model.geometry import rotation_x, rotation_z
from dynid.model.joint import BASE, LENGTHS, Joint, JointKind
from dynid.model.loop import Closure, CutKind, LoopCut

CLOSED = 1e-12
"""Residual of a closed loop beside the size of the robot: rounding."""
_NEAR = 0.02
"""Largest correction of a given start, beside the size of the robot: the decimals of a file, no more."""
_STEPS = 30
"""Newton steps; a start that is meant to close needs five."""
_DEPENDENT = 1e-7
"""A column below this share beside the others, all of unit length, is a combination of them; its root is
asked of motions, because positions given with some decimals are no better."""


@dataclass(frozen=True)
class Linkage:
    """A tree with cuts, ready to be evaluated at many positions.

    Args:
        joints: joints of the tree.
        cuts: cuts that close loops; fixed and prismatic ones have their rotation.
        coordinates: indices, among the movable joints, of the coordinates.
    """

    joints: tuple[Joint, ...]
    cuts: tuple[LoopCut, ...]
    coordinates: tuple[int, ...]

    @property
    def movable(self) -> tuple[int, ...]:
        """Indices of the joints that move."""
        return tuple(j for j, joint in enumerate(self.joints) if joint.movable)

    @property
    def dependent(self) -> tuple[int, ...]:
        """Indices, among the movable joints, of those that follow."""
        return tuple(i for i in range(len(self.movable)) if i not in self.coordinates)

    @property
    def size(self) -> float:
        """Largest length of the joints and cuts [m]; 1 where all are zero."""
        lengths = [abs(getattr(joint, name)) for joint in self.joints for name in LENGTHS]
        lengths += [abs(x) for cut in self.cuts for point in cut.points for x in point]
        return max(lengths) or 1.0

    @property
    def scales(self) -> FloatArray:
        """1 rad for revolute joints, the size of the robot for prismatic ones, by movable joint."""
        kinds = [self.joints[j].kind for j in self.movable]
        return np.array([self.size if kind is JointKind.PRISMATIC else 1.0 for kind in kinds])

    def frames(self, q: FloatArray) -> list[tuple[FloatArray, FloatArray]]:
        """Rotation (samples, 3, 3) and position (samples, 3) of all links in the base frame, the base last.

        Args:
            q: positions of the movable joints (samples, movable).
        """
        result: list[tuple[FloatArray, FloatArray]] = []
        column = {j: i for i, j in enumerate(self.movable)}
        for j, joint in enumerate(self.joints):
            R, p = _placements(joint, q[:, column[j]] if joint.movable else np.zeros(len(q)))
            if joint.antecedent != BASE:
                R_a, p_a = result[joint.antecedent]
                R, p = R_a @ R, p_a + (R_a @ p[:, :, None])[:, :, 0]
            result.append((R, p))
        base = (np.broadcast_to(np.eye(3), (len(q), 3, 3)), np.zeros((len(q), 3)))
        return [*result, base]

    def residuals(self, q: FloatArray) -> FloatArray:
        """φ of all cuts (samples, rows) [m]; products of directions are multiplied by the robot's size.

        Args:
            q: positions of the movable joints (samples, movable).
        """
        frames = self.frames(q)
        rows: list[FloatArray] = []
        for cut in self.cuts:
            (R1, p1), (R2, p2) = (frames[link] for link in cut.links)
            gap = p1 + R1 @ np.array(cut.points[0]) - p2 - R2 @ np.array(cut.points[1])
            rows += list(gap.T) if cut.meets else []
            rows += [_dot(gap, R2 @ np.array(v)) for v in cut.slides]
            rows += [self.size * _dot(R1 @ np.array(u), R2 @ np.array(v)) for u, v in cut.pairs]
        return np.stack(rows, axis=1)

    def jacobian(self, q: FloatArray) -> FloatArray:
        """J = ∂φ/∂q (samples, rows, movable).

        Args:
            q: positions of the movable joints (samples, movable).
        """
        frames = self.frames(q)
        blocks = []
        for cut in self.cuts:
            (R1, p1), (R2, p2) = (frames[link] for link in cut.links)
            P1, P2 = p1 + R1 @ np.array(cut.points[0]), p2 + R2 @ np.array(cut.points[1])
            normals = [np.cross(R1 @ np.array(u), R2 @ np.array(v)) for u, v in cut.pairs]
            block = np.zeros((len(q), _row_count(cut), len(self.movable)))
            for link, P, sign in ((cut.links[0], P1, 1.0), (cut.links[1], P2, -1.0)):
                for i, (turn, move) in self._unit_motions(frames, link, P).items():
                    rows = list(move.T) if cut.meets else []
                    for v in (R2 @ np.array(one) for one in cut.slides):
                        # The direction v turns with the second link.
                        rows.append(_dot(move, v) + (sign < 0) * _dot(P2 - P1, np.cross(turn, v)))
                    rows += [self.size * _dot(turn, normal) for normal in normals]
                    block[:, :, i] += sign * np.stack(rows, axis=1)
            blocks.append(block)
        return np.concatenate(blocks, axis=1)

    def _unit_motions(
        self, frames: list[tuple[FloatArray, FloatArray]], link: int, P: FloatArray
    ) -> dict[int, tuple[FloatArray, FloatArray]]:
        """Angular velocity of a link and velocity of its point P per unit speed of each joint below it."""
        motions = {}
        column = {j: i for i, j in enumerate(self.movable)}
        while link != BASE:
            joint, (R, p) = self.joints[link], frames[link]
            axis = R[:, :, 2]
            if joint.kind is JointKind.REVOLUTE:
                motions[column[link]] = (axis, np.cross(axis, P - p))
            elif joint.kind is JointKind.PRISMATIC:
                motions[column[link]] = (np.zeros_like(axis), axis)
            link = joint.antecedent
        return motions

    def nearest_closed(self, q: FloatArray, steps: int = _STEPS) -> FloatArray:
        """Positions after Gauss–Newton steps of the dependent joints, p ← p − Jₚ⁺ φ.

        Args:
            q: positions of the movable joints (samples, movable).
            steps: how many, at most.
        """
        q, p = np.array(q), list(self.dependent)
        for _ in range(steps):
            residual = self.residuals(q)
            open_still = np.abs(residual).max(axis=1) > CLOSED * self.size
            if not open_still.any():
                break
            J = self.jacobian(q[open_still])[:, :, p]
            q[np.ix_(open_still, p)] -= np.einsum("spr,sr->sp", np.linalg.pinv(J), residual[open_still])
        return q

    def is_closed(self, q: FloatArray) -> NDArray[np.bool_]:
        """Whether all loops are closed at each position, up to rounding."""
        # Newton steps end where rounding stops them, a little above what is asked of them.
        return np.asarray(np.abs(self.residuals(q)).max(axis=1) < 100 * CLOSED * self.size)


def _dot(u: FloatArray, v: FloatArray) -> FloatArray:
    return np.asarray(np.einsum("si,si->s", u, v))


def _placements(joint: Joint, q: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Rotation and position of frame j in frame a(j) at many joint positions."""
    before = rotation_z(joint.gamma) @ rotation_x(joint.alpha)
    still = rotation_z(joint.gamma) @ np.array([joint.d, 0.0, joint.b]) + before @ np.array([0, 0, joint.r])
    if joint.kind is JointKind.PRISMATIC:
        R = np.broadcast_to(before @ rotation_z(joint.theta), (len(q), 3, 3))
        return R, still + np.multiply.outer(q, before[:, 2])
    angle = joint.theta + (q if joint.kind is JointKind.REVOLUTE else 0.0 * q)
    cos, sin, zero, one = np.cos(angle), np.sin(angle), 0.0 * q, 0.0 * q + 1.0
    turn = np.stack([cos, -sin, zero, sin, cos, zero, zero, zero, one], axis=1).reshape(-1, 3, 3)
    return before @ turn, np.broadcast_to(still, (len(q), 3))


# ── a start that closes, with as many coordinates as freedoms ─────────────────────────────────────────────


@lru_cache(maxsize=64)
def closed_at_start(joints: tuple[Joint, ...], closure: Closure) -> Closure:
    """The closure with its start polished and the rotations of its cuts resolved.

    Args:
        joints: joints of the tree.
        closure: loops as given.

    Raises:
        ModelError: when the start does not close, or the coordinates are not the freedoms of the loops.
    """
    movable = [joint.name for joint in joints if joint.movable]
    if len(closure.start) != len(movable):
        raise ModelError(
            f"The closure's start has {len(closure.start)} positions, but the robot has {len(movable)} "
            f"movable joints ({', '.join(movable)}); give one per movable joint."
        )
    for cut in closure.cuts:
        if max(cut.links) >= len(joints):
            raise ModelError(
                f"Loop {cut.name!r} names link {max(cut.links)}; the links are 0 to {len(joints) - 1}, and "
                f"{BASE} for the base."
            )
    linkage = Linkage(joints, _with_rotations(joints, closure), closure.coordinates)
    given = np.array([closure.start])
    found = linkage.nearest_closed(given)
    if np.abs(linkage.residuals(given)).max() < _NEAR * linkage.size:
        # Too many coordinates leave too few joints to close the last decimals: that is the reason to tell.
        _check_freedoms(linkage, given)
    _check_start(linkage, given, found)
    _check_freedoms(linkage, found)
    start = found if np.abs(found - given).max() > CLOSED else given
    return Closure(linkage.cuts, closure.coordinates, tuple(start[0].tolist()))


def _with_rotations(joints: tuple[Joint, ...], closure: Closure) -> tuple[LoopCut, ...]:
    """The cuts, with the rotation at the start where a fixed or prismatic cut gives none."""
    frames = [R[0] for R, _ in Linkage(joints, (), ()).frames(np.array([closure.start]))]
    cuts = []
    for cut in closure.cuts:
        if cut.rotation is None and cut.kind in (CutKind.FIXED, CutKind.PRISMATIC):
            first, second = (frames[link] for link in cut.links)
            cut = replace(cut, rotation=(first.T @ second).tolist())
        cuts.append(cut)
    return tuple(cuts)


def _check_start(linkage: Linkage, given: FloatArray, found: FloatArray) -> None:
    """Refuse a start from which the loops close only far away, or not at all."""
    scale = linkage.scales
    if linkage.is_closed(found)[0] and np.abs((found - given) / scale).max() <= _NEAR:
        return
    rows = [_row_count(cut) for cut in linkage.cuts]
    gaps = [np.abs(part).max() for part in np.split(linkage.residuals(given)[0], np.cumsum(rows)[:-1])]
    worst = int(np.argmax(gaps))
    near = ""
    if linkage.is_closed(found)[0]:
        names = [linkage.joints[j].name for j in linkage.movable]
        near_zero = _wrapped_angles(linkage, found[0])
        text = ", ".join(f"{name} = {x:.6g}" for name, x in zip(names, near_zero, strict=True))
        near = f" They close at {text}; give this start if it is the one meant."
    raise ModelError(
        f"The start of the closure does not close loop {linkage.cuts[worst].name!r}: its ends are "
        f"{gaps[worst]:.3g} m apart or turned so much; give positions of all joints at which all loops are "
        f"closed.{near}"
    )


def _wrapped_angles(linkage: Linkage, q: FloatArray) -> FloatArray:
    """Positions (movable,) with the dependent angles within ±π: Newton steps from afar may add turns."""
    turning = [i for i in linkage.dependent if linkage.joints[linkage.movable[i]].kind is JointKind.REVOLUTE]
    wrapped = q.copy()
    wrapped[turning] = np.remainder(q[turning] + np.pi, 2 * np.pi) - np.pi
    return wrapped


def _row_count(cut: LoopCut) -> int:
    return 3 * cut.meets + len(cut.slides) + len(cut.pairs)


def _check_freedoms(linkage: Linkage, start: FloatArray) -> None:
    """Each dependent joint is held by the loops, and the loops leave each coordinate free."""
    names = [linkage.joints[j].name for j in linkage.movable]
    J = linkage.jacobian(start)[0] * linkage.scales
    dependent, coordinates = list(linkage.dependent), list(linkage.coordinates)
    unit = J[:, dependent] / np.maximum(np.linalg.norm(J[:, dependent], axis=0), CLOSED * linkage.size)
    _, sizes, rows = np.linalg.svd(unit)
    rank = int(np.sum(sizes > _DEPENDENT))
    if rank < len(dependent):
        motion = np.abs(rows[rank:]).max(axis=0)
        loose = [names[i] for i, share in zip(dependent, motion, strict=True) if share > _DEPENDENT**0.5]
        raise ModelError(
            f"The loops do not hold {_quoted_names(loose)}: with the coordinates still, "
            f"{'they' if len(loose) > 1 else 'it'} can move at the start; make {len(dependent) - rank} more "
            "of them a coordinate, add the loop that holds them, or start away from the singular position."
        )
    Q = np.linalg.qr(unit)[0] if dependent else np.zeros((len(J), 0))
    rest = J[:, coordinates] - Q @ (Q.T @ J[:, coordinates])
    sizes = np.linalg.norm(rest, axis=0)
    held = [names[c] for c, s in zip(coordinates, sizes, strict=True) if s > _DEPENDENT**0.5 * linkage.size]
    if held:
        excess = int(np.linalg.matrix_rank(rest, _DEPENDENT**0.5 * linkage.size))
        raise ModelError(
            f"The loops do not leave {_quoted_names(held)} free: {len(coordinates)} coordinates are named, "
            f"and the loops have {len(coordinates) - excess} freedoms; name fewer coordinates, or take out "
            "the loop that is too much."
        )


def _quoted_names(names: Sequence[str]) -> str:
    kind = "joint" if len(names) == 1 else "joints"
    return f"{kind} {' and '.join(repr(name) for name in names)}"
