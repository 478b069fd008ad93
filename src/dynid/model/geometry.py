"""Constant placements between frames and their six Khalil–Kleinfinger parameters."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray
from dynid.model.joint import Joint, JointKind

CLEAN = 1e-12
"""Below this, an entry of a constant rotation or a length is rounding junk and taken as zero."""


def clean(value: float, tolerance: float = CLEAN) -> float:
    """Round a value that is −1, 0 or 1 up to rounding, so that zeros and ones fold away when tracing."""
    nearest = round(value)
    return float(nearest) if abs(nearest) <= 1 and abs(value - nearest) < tolerance else value


def cos_sin(angle: float) -> tuple[float, float]:
    """cos and sin of a constant angle, free of 1e-17 junk at multiples of π/2."""
    return clean(math.cos(angle)), clean(math.sin(angle))


def rotation_x(angle: float) -> FloatArray:
    """Rotation about x [rad]."""
    c, s = cos_sin(angle)
    return np.array([[1, 0, 0], [0, c, -s], [0, s, c]], dtype=float)


def rotation_z(angle: float) -> FloatArray:
    """Rotation about z [rad]."""
    c, s = cos_sin(angle)
    return np.array([[c, -s, 0], [s, c, 0], [0, 0, 1]], dtype=float)


def placement(joint: Joint, q: float = 0.0) -> tuple[FloatArray, FloatArray]:
    """Rotation and position of frame j in frame a(j) at the joint position q [rad or m]."""
    theta = joint.theta + (q if joint.kind is JointKind.REVOLUTE else 0.0)
    r = joint.r + (q if joint.kind is JointKind.PRISMATIC else 0.0)
    before = rotation_z(joint.gamma) @ rotation_x(joint.alpha)
    position = rotation_z(joint.gamma) @ np.array([joint.d, 0.0, joint.b]) + before @ np.array([0.0, 0.0, r])
    return before @ rotation_z(theta), position


def decompose(rotation: ArrayLike, position: ArrayLike) -> dict[str, float]:
    """The six parameters γ b α d θ r of a constant placement x_a = R x + p.

    R = Rz(γ) Rx(α) Rz(θ) and p = b z_a + d x' + r z_j, with x' the common normal. Any placement has such
    parameters; where the axes are parallel the free choice is θ = 0 or γ by the common normal, and r = 0.
    """
    R, p = np.asarray(rotation, dtype=float), np.asarray(position, dtype=float)
    sin_alpha = math.hypot(R[0, 2], R[1, 2])
    if sin_alpha < 1e-9:
        return _decompose_parallel(R, p)
    gamma, alpha = _normal_angles(R, sin_alpha)
    theta = math.atan2(R[2, 0], R[2, 1])
    normal = np.array([math.cos(gamma), math.sin(gamma), 0.0])
    if alpha < 0:
        theta = math.atan2(-R[2, 0], -R[2, 1])
    b, d, r = np.linalg.solve(np.column_stack([[0.0, 0.0, 1.0], normal, R[:, 2]]), p)
    return _tidy(gamma, b, alpha, d, theta, r)


def _normal_angles(R: FloatArray, sin_alpha: float) -> tuple[float, float]:
    """γ and α with z_j = (sin γ sin α, −cos γ sin α, cos α); of the two solutions, the one with |γ| ≤ π/2."""
    gamma, alpha = math.atan2(R[0, 2], -R[1, 2]), math.atan2(sin_alpha, R[2, 2])
    if abs(gamma) > math.pi / 2 + 1e-9:
        gamma, alpha = math.atan2(-R[0, 2], R[1, 2]), -alpha
    return gamma, alpha


def _decompose_parallel(R: FloatArray, p: FloatArray) -> dict[str, float]:
    alpha = 0.0 if R[2, 2] > 0 else math.pi
    turn = math.atan2(R[1, 0], R[0, 0])  # γ + θ when α = 0, γ − θ when α = π
    d = math.hypot(p[0], p[1])
    gamma = math.atan2(p[1], p[0]) if d > CLEAN else 0.0
    if abs(gamma) > math.pi / 2 + 1e-9:
        gamma, d = math.atan2(-p[1], -p[0]), -d
    theta = turn - gamma if alpha == 0.0 else gamma - turn
    return _tidy(gamma, float(p[2]), alpha, d, theta, 0.0)


def _tidy(gamma: float, b: float, alpha: float, d: float, theta: float, r: float) -> dict[str, float]:
    return {
        "gamma": _angle(gamma),
        "b": _length(b),
        "alpha": _angle(alpha),
        "d": _length(d),
        "theta": _angle(theta),
        "r": _length(r),
    }


def _angle(value: float) -> float:
    """Wrap to (−π, π] and snap to a multiple of π/2 that the file's decimals meant (within 1e-10)."""
    wrapped = math.remainder(value, 2 * math.pi)
    quarter = round(wrapped / (math.pi / 2)) * (math.pi / 2)
    snapped = quarter if abs(wrapped - quarter) < 1e-10 else wrapped
    return math.pi if snapped == -math.pi else snapped + 0.0


def _length(value: float) -> float:
    return 0.0 if abs(value) < CLEAN else float(value)
