"""Position and orientation of an MJCF element: pos with quat, axisangle, euler, xyaxes or zaxis."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import ModelError
from dynid.model.mjcf_defaults import ORIENTATIONS
from dynid.model.mjcf_source import Settings
from dynid.model.orientation import (
    align_z,
    from_axis_angle,
    from_euler,
    from_quaternion,
    from_xy_axes,
    snap_angle,
    snap_rotation,
)
from dynid.model.xml_safe import numbers

FloatArray = NDArray[np.float64]


def pose_of(
    attributes: Mapping[str, str], settings: Settings, snap_rad: float, where: str
) -> tuple[FloatArray, FloatArray]:
    """Rotation and position of an element in the frame it is written in.

    Args:
        attributes: the element's attributes.
        settings: the unit of angles and the euler sequence.
        snap_rad: angles this near a multiple of π/2 are taken as it.
        where: the element, for error sentences.
    """
    given = [key for key in ORIENTATIONS if key in attributes]
    if len(given) > 1:
        raise ModelError(f"{where}: the orientation is given by {' and '.join(given)}; keep one.")
    position = np.array(numbers(attributes, "pos", where, (0.0, 0.0, 0.0)))
    rotation = _rotation(given[0], attributes, settings, snap_rad, where) if given else np.eye(3)
    return snap_rotation(rotation, snap_rad), position


def _rotation(
    key: str, attributes: Mapping[str, str], settings: Settings, snap_rad: float, where: str
) -> FloatArray:
    counts = {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}
    values = numbers(attributes, key, where, (0.0,) * counts[key])
    where = f"{where}: {key}"
    match key:
        case "quat":
            return from_quaternion(values, where)
        case "axisangle":
            return from_axis_angle(values[:3], snap_angle(settings.angle(values[3]), snap_rad), where)
        case "euler":
            angles = [snap_angle(settings.angle(value), snap_rad) for value in values]
            return from_euler(angles, settings.euler_sequence)
        case "xyaxes":
            return from_xy_axes(values, where)
    return align_z(values, where)
