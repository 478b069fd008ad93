"""Poses of MJCF elements, and inertias of bodies: the inertial element, or the sum of primitive geoms."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import ModelError
from dynid.model.inertia import LinkInertia, check_physical
from dynid.model.loaders.mjcf_source import ORIENTATIONS, Settings
from dynid.model.loaders.xml_safe import number, numbers, required_text
from dynid.model.orientation import (
    align_z,
    from_axis_angle,
    from_euler,
    from_quaternion,
    from_xy_axes,
    snap_angle,
    snap_rotation,
)

Pose = tuple[FloatArray, FloatArray]
_SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}
_ALONG = ("capsule", "cylinder", "box", "ellipsoid")


def pose_of(attributes: Mapping[str, str], settings: Settings, snap_rad: float, where: str) -> Pose:
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


@dataclass(frozen=True, eq=False)
class Geom:
    """A geom's attributes with its defaults, and the pose of the frame it is written in, in its body."""

    attributes: Mapping[str, str]
    frame: Pose


def body_inertia(
    inertial: Mapping[str, str] | None, geoms: Sequence[Geom], settings: Settings, snap_rad: float, where: str
) -> LinkInertia:
    """Inertia of a body in its own frame.

    Args:
        inertial: attributes of ``<inertial>``, or None.
        geoms: the body's geoms.
        settings: what ``<compiler>`` says.
        snap_rad: tolerance of angles.
        where: the body, for error sentences.
    """
    mode = settings.inertia_from_geoms
    if (mode == "true" and geoms) or (mode == "auto" and inertial is None):
        body = _from_geoms(geoms, settings, snap_rad, where)
    elif inertial is not None:
        body = _explicit(inertial, settings, snap_rad, where)
    else:
        body = LinkInertia.zero()
    return _with_bounds(body, settings)


def _explicit(inertial: Mapping[str, str], settings: Settings, snap_rad: float, where: str) -> LinkInertia:
    where = f"{where}: <inertial>"
    for key in ("mass", "pos"):
        required_text(inertial, key, where)
    mass = number(inertial, "mass", where, 0.0)
    R, com = pose_of(inertial, settings, snap_rad, where)
    if "fullinertia" in inertial:
        if "diaginertia" in inertial:
            raise ModelError(f"{where}: both fullinertia and diaginertia are given; keep one.")
        xx, yy, zz, xy, xz, yz = numbers(inertial, "fullinertia", where, (0.0,) * 6)
        tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
    else:
        tensor = np.diag(numbers(inertial, "diaginertia", where, (0.0,) * 3))
    return LinkInertia.from_com(mass, com, R @ tensor @ R.T, where)


def _from_geoms(geoms: Iterable[Geom], settings: Settings, snap_rad: float, where: str) -> LinkInertia:
    total = LinkInertia.zero()
    first, last = settings.inertia_groups
    for geom in geoms:
        if first <= number(geom.attributes, "group", f"{where}: <geom>", 0.0) <= last:
            total = total + _geom_inertia(geom, settings, snap_rad, where)
    return total


def _geom_inertia(geom: Geom, settings: Settings, snap_rad: float, where: str) -> LinkInertia:
    given = geom.attributes
    kind = given.get("type", "sphere")
    where = f'{where}: <geom type="{kind}">'
    mass = number(given, "mass", where, math.nan)
    density = number(given, "density", where, 1000.0)
    if mass == 0.0 or (math.isnan(mass) and density == 0.0):
        return LinkInertia.zero()  # drawn, not weighed
    if kind not in _SIZES or "mesh" in given or given.get("shellinertia", "false") != "false":
        raise ModelError(
            f"{where}: the inertia of a mesh, shell or surface is not computed; give the body an "
            '<inertial> with mass, pos and diaginertia or fullinertia, or give the geom mass="0".'
        )
    size, pose = size_and_pose(given, kind, settings, snap_rad, where)
    volume, per_mass = _solid(kind, size)
    mass = density * volume if math.isnan(mass) else mass
    central = np.diag([mass * value for value in per_mass])
    check_physical(mass, pose[1], central, where)
    body = LinkInertia.from_com(mass, np.zeros(3), central, where)
    return body.expressed_in(*pose).expressed_in(*geom.frame)


def size_and_pose(
    given: Mapping[str, str], kind: str, settings: Settings, snap_rad: float, where: str
) -> tuple[tuple[float, ...], Pose]:
    """Sizes of a primitive geom, as MuJoCo halves them, and its pose in the frame it is written in.

    Args:
        given: its attributes.
        kind: its type.
        settings: what ``<compiler>`` says.
        snap_rad: tolerance of angles.
        where: the geom, for error sentences.
    """
    required_text(given, "size", where)
    size: tuple[float, ...]
    if "fromto" in given:
        if kind not in _ALONG:
            raise ModelError(f"{where}: fromto fits {', '.join(_ALONG)} only.")
        half, pose = _half_and_pose(given, where)
        radius = numbers(given, "size", where, (0.0,) * 3, least=1)[0]
        size = (radius, half) if _SIZES[kind] == 2 else (radius, radius, half)
    else:
        size = numbers(given, "size", where, (0.0,) * 3, least=_SIZES[kind])[: _SIZES[kind]]
        pose = pose_of(given, settings, snap_rad, where)
    if min(size) < 1e-30:  # its cube would vanish
        raise ModelError(f"{where}: size {size} must be positive.")
    return size, pose


def _half_and_pose(given: Mapping[str, str], where: str) -> tuple[float, Pose]:
    """Half the length of what ``fromto`` spans, and its pose: z along it, in the middle."""
    if "pos" in given:
        raise ModelError(f"{where}: both pos and fromto are given; keep one.")
    ends = np.array(numbers(given, "fromto", where, (0.0,) * 6))
    start, end = ends[:3], ends[3:]
    pose = align_z(end - start, f"{where}: fromto"), (start + end) / 2
    return float(np.linalg.norm(end - start)) / 2, pose


def site_pose(given: Mapping[str, str], settings: Settings, snap_rad: float, where: str) -> Pose:
    """Pose of a site in the frame it is written in.

    Args:
        given: its attributes.
        settings: what ``<compiler>`` says.
        snap_rad: tolerance of angles.
        where: the site, for error sentences.
    """
    return _half_and_pose(given, where)[1] if "fromto" in given else pose_of(given, settings, snap_rad, where)


def _solid(kind: str, size: tuple[float, ...]) -> tuple[float, tuple[float, float, float]]:
    """Volume [m³] and principal moments per mass [m²] of a solid; the long axis is z."""
    if kind == "sphere":
        (r,) = size
        return 4 / 3 * math.pi * r**3, (0.4 * r * r,) * 3
    if kind == "box":
        x, y, z = size
        return 8 * x * y * z, ((y * y + z * z) / 3, (x * x + z * z) / 3, (x * x + y * y) / 3)
    if kind == "ellipsoid":
        x, y, z = size
        return 4 / 3 * math.pi * x * y * z, ((y * y + z * z) / 5, (x * x + z * z) / 5, (x * x + y * y) / 5)
    r, half = size
    tube, caps = 2 * math.pi * r * r * half, 4 / 3 * math.pi * r**3 if kind == "capsule" else 0.0
    share = tube / (tube + caps)
    along = share * r * r / 2 + (1 - share) * 0.4 * r * r
    # A half ball's centre is 3r/8 beyond the end of the tube: 2r²/5 + h² + 3rh/4 about the middle.
    across = share * (r * r / 4 + half * half / 3) + (1 - share) * (
        0.4 * r * r + half * half + 0.75 * r * half
    )
    return tube + caps, (across, across, along)


def _with_bounds(body: LinkInertia, settings: Settings) -> LinkInertia:
    """Apply boundmass, boundinertia and balanceinertia, in MuJoCo's order."""
    if settings.least_mass <= 0 and settings.least_inertia <= 0 and not settings.balance:
        return body
    com, tensor = np.zeros(3), body.tensor
    if body.mass > 0:
        _, com, tensor = body.com_form()
    moments, axes = np.linalg.eigh(tensor)
    moments = np.maximum(moments, settings.least_inertia)
    if settings.balance and moments[0] + moments[1] < moments[2]:
        moments = np.full(3, moments.mean())
    return LinkInertia.from_com(max(body.mass, settings.least_mass), com, axes @ np.diag(moments) @ axes.T)
