"""Rotations from the ways URDF and MJCF write them, and the rounding of their decimals to what they mean."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray, svd
from dynid.core.errors import ModelError
from dynid.model.geometry import clean, cos_sin, rotation_x, rotation_z

_AXES = {"x": 0, "y": 1, "z": 2}


def snap_angle(angle: float, tolerance: float) -> float:
    """The multiple of π/2 within the tolerance, or that the angle's decimals are of; else the angle [rad].

    1.57 and 3.142 are π/2 and π to as many decimals as they have, at least two, rounded or cut off.
    """
    quarter = round(angle / (math.pi / 2)) * (math.pi / 2)
    meant = abs(angle - quarter) <= tolerance or (tolerance > 0 and _has_decimals_of(quarter, angle))
    return quarter if meant else angle


def _has_decimals_of(exact: float, angle: float) -> bool:
    """Whether an angle is another one but zero, written with fewer decimals."""
    decimals = len(repr(angle).partition(".")[2])
    if exact == 0 or decimals < 2 or "e" in repr(angle):
        return False
    cut = math.trunc(exact * 10**decimals) / 10**decimals
    return angle in (round(exact, decimals), cut)


def with_right_angle(rotation: FloatArray, tolerance: float) -> FloatArray:
    """The rotation turned so that its z axis is parallel or at a right angle to z, if it nearly is.

    Axes that lie askew in their frames leave no small entry for ``snap_rotation`` to find.
    """
    z = rotation[:, 2]
    across = math.hypot(z[0], z[1])
    tilt = math.atan2(across, z[2])
    change = snap_angle(tilt, tolerance) - tilt
    if change == 0 or across == 0:
        return rotation
    normal = np.array([-z[1], z[0], 0.0]) / across
    return from_axis_angle(normal, change, "common normal") @ rotation


def snap_rotation(rotation: FloatArray, tolerance: float) -> FloatArray:
    """The nearest rotation whose entries below the tolerance are exactly zero.

    A frame turned by 1.5708 rad instead of π/2 splits base parameters that belong together, so decimals of a
    file are read as the right angle they mean.
    """
    small = (np.abs(rotation) <= tolerance) & (rotation != 0)
    if not small.any():
        return without_rounding(rotation)
    u, _, vt = svd(np.where(small, 0.0, rotation))
    return without_rounding(u @ vt)


def without_rounding(rotation: FloatArray) -> FloatArray:
    """The rotation without rounding junk next to −1, 0 and 1."""
    return np.array([[clean(float(value)) + 0.0 for value in row] for row in rotation])


def rotation_y(angle: float) -> FloatArray:
    """Rotation about y [rad]."""
    c, s = cos_sin(angle)
    return np.array([[c, 0, s], [0, 1, 0], [-s, 0, c]], dtype=float)


def from_rpy(roll: float, pitch: float, yaw: float) -> FloatArray:
    """Rotation of fixed-axis roll, pitch and yaw, as in URDF: R = Rz(yaw) Ry(pitch) Rx(roll) [rad]."""
    return rotation_z(yaw) @ rotation_y(pitch) @ rotation_x(roll)


def to_rpy(rotation: FloatArray) -> tuple[float, float, float]:
    """Roll, pitch and yaw of a rotation [rad]; yaw is 0 where roll and yaw turn about the same line."""
    yaw = math.atan2(rotation[1, 0], rotation[0, 0])
    R = rotation_z(-yaw) @ rotation  # = Ry(pitch) Rx(roll): roll and pitch share what rounding took from yaw
    return math.atan2(-R[1, 2], R[1, 1]), math.atan2(-R[2, 0], R[0, 0]), yaw


def from_euler(angles: Sequence[float], sequence: str) -> FloatArray:
    """Rotation of three successive angles [rad], as MuJoCo's ``eulerseq``.

    Args:
        angles: the three angles.
        sequence: three of xyz (about the turned axes) or XYZ (about the fixed axes).
    """
    about = (rotation_x, rotation_y, rotation_z)
    R = np.eye(3)
    for angle, letter in zip(angles, sequence, strict=True):
        step = about[_AXES[letter.lower()]](angle)
        R = R @ step if letter.islower() else step @ R
    return R


def from_axis_angle(axis: ArrayLike, angle: float, where: str) -> FloatArray:
    """Rotation by an angle [rad] about an axis: R = I + sin·[a]× + (1 − cos)·[a]×²."""
    x, y, z = unit(axis, where)
    c, s = cos_sin(angle)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return without_rounding(np.eye(3) + s * K + (1 - c) * K @ K)


def from_quaternion(quaternion: ArrayLike, where: str) -> FloatArray:
    """Rotation of a quaternion w x y z, which is normalised first."""
    w, x, y, z = unit(quaternion, where)
    return without_rounding(
        np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
    )


def from_xy_axes(axes: Sequence[float], where: str) -> FloatArray:
    """Rotation whose x axis is the first vector and whose y axis lies with the second in the x–y plane."""
    x = unit(axes[:3], where)
    y = np.asarray(axes[3:], dtype=float)
    y = unit(y - (x @ y) * x, where)
    return without_rounding(np.column_stack([x, y, np.cross(x, y)]))


def align_z(axis: ArrayLike, where: str) -> FloatArray:
    """The smallest rotation that takes z to an axis; the identity for +z, half a turn about x for −z."""
    x, y, z = unit(axis, where)
    if x == 0 and y == 0 and z < 0:
        return rotation_x(math.pi)
    s = 1.0 + z if z >= 0 else (x * x + y * y) / (1.0 - z)  # 1 + z without cancellation near −z
    return without_rounding(
        np.array([[1 - x * x / s, -x * y / s, x], [-x * y / s, 1 - y * y / s, y], [-x, -y, z]])
    )


def unit(vector: ArrayLike, where: str, tolerance: float = 0.0) -> FloatArray:
    """The vector scaled to length one; components below the tolerance are taken as zero.

    Raises:
        ModelError: when the vector has no direction.
    """
    v = np.asarray(vector, dtype=float)
    largest = float(np.abs(v).max())
    if largest < 1e-12:
        raise ModelError(f"{where}: {v.tolist()} has no direction; give a vector that is not zero.")
    v = v / largest  # so that neither huge nor tiny components overflow the length
    v = v / np.linalg.norm(v)
    v = np.where(np.abs(v) <= tolerance, 0.0, v)
    v = v / np.linalg.norm(v)
    return np.array([clean(float(value)) + 0.0 for value in v])
