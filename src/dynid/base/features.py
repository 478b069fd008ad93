"""Energy features of a link, how they pass through a joint, and which of them its antecedents can reach.

The energy of a link is linear in its ten parameters X: kinetic energy k(V)·X with V = (ω, v) the velocity of
its frame, potential energy −(MS·g + M s) with g gravity in the frame and s = g·p. Through joint j all of
these change by matrices that are sums of a few functions of q_j times constant matrices.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.base.subspaces import row_space
from dynid.core.arrays import FloatArray
from dynid.dynamics.algebra import (
    Rotation,
    Scalar,
    Vector,
    add,
    constants,
    dot,
    mul,
    plus,
    rotate,
    scale,
    sub,
)
from dynid.model.geometry import placement
from dynid.model.inertia import skew
from dynid.model.joint import Joint, JointKind
from dynid.model.parameters import TENSOR
from dynid.model.robot import Robot

SCREW = {
    JointKind.REVOLUTE: np.array([0, 0, 1, 0, 0, 0], dtype=float),
    JointKind.PRISMATIC: np.array([0, 0, 0, 0, 0, 1], dtype=float),
}
"""Velocity (ω, v) of frame j against frame a(j) per unit joint speed, in frame j."""


def kinetic_features(V: FloatArray, U: FloatArray) -> FloatArray:
    """Polar form of k: k(V, U)·X = ½ Vᵀ I(X) U for two velocities (ω, v) of one frame.

    Args:
        V: one velocity, shape (6,).
        U: velocities, shape (·, 6).

    Returns:
        Features of each pair, shape (·, 10).
    """
    w, v, a, b = V[:3], V[3:], U[:, :3].T, U[:, 3:].T
    tensor = [(w[i] * a[k] + w[k] * a[i]) * (0.25 if i == k else 0.5) for i, k in TENSOR]
    turns = ((1, 2), (2, 0), (0, 1))
    moment = [0.5 * (v[i] * a[k] - v[k] * a[i] + b[i] * w[k] - b[k] * w[i]) for i, k in turns]
    return np.column_stack([*tensor, *moment, 0.5 * v @ b])


def carry(X: Sequence[Scalar], R: Rotation, p: Vector) -> list[Scalar]:
    """The ten parameters of a body of frame j, expressed in frame a(j): x_a = R x + p.

    J_a = R J Rᵀ + (2 p·s + M p·p) 1 − (p sᵀ + s pᵀ) − M p pᵀ,  MS_a = s + M p,  s = R MS; any scalar type.
    """
    J = ((X[0], X[1], X[2]), (X[1], X[3], X[4]), (X[2], X[4], X[5]))
    mass = X[9]
    turned = [rotate(R, tuple(dot(J[i], R[k]) for i in range(3))) for k in range(3)]
    s = rotate(R, (X[6], X[7], X[8]))
    half = plus(s, scale(mul(0.5, mass), p))
    trace = mul(2.0, dot(p, half))
    tensor = []
    for i, k in TENSOR:
        value = sub(turned[k][i], add(mul(p[i], half[k]), mul(half[i], p[k])))
        tensor.append(add(value, trace) if i == k else value)
    return [*tensor, *plus(s, scale(mass, p)), mass]


@dataclass(frozen=True)
class Passage:
    """Constant matrices of the passage from a(j) to j.

    Args:
        bodies: Λ_m (10, 10), a body of frame j in frame a(j): λ(q) = Σ_m f_m(q) Λ_m.
        velocities: A_m (6, 6), velocity of a(j) as seen from j: V_j = Σ_m f_m(q) A_m V_a + S q̇.
        kind: which functions f_m these are: 1 cos sin cos2 sin2, or 1 q q², or 1.
    """

    bodies: tuple[FloatArray, ...]
    velocities: tuple[FloatArray, ...]
    kind: JointKind

    @property
    def weights(self) -> tuple[FloatArray, ...]:
        """B_m (4, 4): (g, s) of frame j from that of frame a(j), the transposed lower block of Λ_m."""
        return tuple(body[6:, 6:].T for body in self.bodies)

    def slopes(self, q: float) -> FloatArray:
        """f_m'(q) of each harmonic."""
        if self.kind is JointKind.REVOLUTE:
            c, s = math.cos(q), math.sin(q)
            return np.array([0.0, -s, c, -2 * math.sin(2 * q), 2 * math.cos(2 * q)])
        return np.array([0.0, 1.0, 2 * q]) if self.kind is JointKind.PRISMATIC else np.zeros(1)


def passage(joint: Joint) -> Passage:
    """Harmonics of a joint, exactly: the functions are sampled where they are independent and solved for."""
    if joint.kind is JointKind.REVOLUTE:
        q = 2 * math.pi * np.arange(5) / 5
        functions = np.column_stack([np.ones(5), np.cos(q), np.sin(q), np.cos(2 * q), np.sin(2 * q)])
    elif joint.kind is JointKind.PRISMATIC:
        q = np.array([-1.0, 0.0, 1.0])
        functions = np.column_stack([np.ones(3), q, q * q])
    else:
        q, functions = np.zeros(1), np.ones((1, 1))
    inverse = np.linalg.inv(functions)
    bodies = np.array([_body_matrix(joint, value) for value in q])
    velocities = np.array([_velocity_matrix(joint, value) for value in q])
    return Passage(_from_samples(inverse, bodies), _from_samples(inverse, velocities), joint.kind)


def _from_samples(inverse: FloatArray, samples: FloatArray) -> tuple[FloatArray, ...]:
    matrices = np.einsum("mk,kij->mij", inverse, samples)
    matrices[np.abs(matrices) < 1e-14 * max(1.0, float(np.abs(samples).max()))] = 0.0
    return tuple(matrices)


def _body_matrix(joint: Joint, q: float) -> FloatArray:
    R, p = placement(joint, q)
    rows = carry(list(np.eye(10)), constants(R), constants(p))
    return np.array([row + np.zeros(10) for row in rows])


def _velocity_matrix(joint: Joint, q: float) -> FloatArray:
    """(ω, v)_j = (Rᵀ ω_a, Rᵀ (v_a + ω_a × p))."""
    R, p = placement(joint, q)
    return np.block([[R.T, np.zeros((3, 3))], [-R.T @ skew(p), R.T]])


@dataclass(frozen=True)
class Attainable:
    """Spans, in rows, over all positions and speeds of the joints up to a link.

    Args:
        twists: (·, 6 + joints) velocities (ω, v) of the frame beside the joint speeds that make them.
        kinetic: (·, 10) kinetic features k(V).
        gravity: (·, 5) gravity features (g, s, 1); the 1 lets constant torques be told from gravity.
    """

    twists: FloatArray
    kinetic: FloatArray
    gravity: FloatArray


def at_base(robot: Robot) -> Attainable:
    """The base stands still under a constant gravity."""
    n = len(robot.joints)
    return Attainable(
        np.zeros((0, 6 + n)), np.zeros((0, 10)), row_space(np.array([[*robot.gravity, 0.0, 1.0]]))
    )


def at_link(before: Attainable, joint: int, through: Passage) -> Attainable:
    """Spans of link j from those of its antecedent.

    V_j = Σ f_m A_m V_a + S q̇ and the f_m are independent functions, so each harmonic adds its own image:
    𝒱_j = Σ A_m 𝒱_a + S,  ℋ_j = Σ Λ_mᵀ ℋ_a + k(S, A_m 𝒱_a) + k(S),  𝒰_j = Σ B_m 𝒰_a.
    """
    twists = [carried_twists(before.twists, A, m == 0) for m, A in enumerate(through.velocities)]
    kinetic = [before.kinetic @ body for body in through.bodies]
    gravity = []
    for m, weight in enumerate(through.weights):
        kept = before.gravity[:, 4:] if m == 0 else np.zeros((len(before.gravity), 1))
        gravity.append(np.hstack([before.gravity[:, :4] @ weight.T, kept]))
    screw = SCREW.get(through.kind)
    if screw is not None:
        kinetic += [kinetic_features(screw, rows[:, :6]) for rows in twists]
        kinetic.append(kinetic_features(screw, screw[None]))
        own = np.zeros(before.twists.shape[1])
        own[:6], own[6 + joint] = screw, 1.0
        twists.append(own[None])
    return Attainable(
        row_space(np.vstack(twists)), row_space(np.vstack(kinetic)), row_space(np.vstack(gravity))
    )


def carried_twists(twists: FloatArray, A: FloatArray, steady: bool) -> FloatArray:
    """One harmonic of the antecedent's velocities in frame j; joint speeds belong to the steady one."""
    speeds = twists[:, 6:] if steady else np.zeros_like(twists[:, 6:])
    return np.hstack([twists[:, :6] @ A.T, speeds])
