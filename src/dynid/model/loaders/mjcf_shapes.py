"""Capsules around the geoms of an MJCF model, in the frames of our links."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path, PurePath
from xml.etree.ElementTree import Element

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, ModelError, unknown_name
from dynid.model.loaders.enclose import (
    around_ball,
    around_box,
    around_cylinder,
    around_ellipsoid,
    around_points,
    around_rod,
)
from dynid.model.loaders.meshes import mesh_path, mesh_vertices
from dynid.model.loaders.mjcf import bodies_of_mjcf
from dynid.model.loaders.mjcf_inertia import Geom, pose_of, size_and_pose
from dynid.model.loaders.mjcf_source import MAIN, Settings, defaults_of, section, settings_of
from dynid.model.loaders.tree import SNAP_RAD
from dynid.model.loaders.xml_safe import number, numbers
from dynid.model.orientation import from_quaternion
from dynid.model.shapes import Capsule


def mjcf_shapes(
    root: Element, folder: Path | None, snap_rad: float = SNAP_RAD
) -> tuple[tuple[Capsule, ...], tuple[str, ...]]:
    """The shapes of an MJCF model's bodies, and sentences about those that were left out.

    Geoms whose contype and conaffinity are both 0 are drawn and do not collide. Geoms of the world itself are
    surroundings, not the robot.

    Args:
        root: the root element, without includes.
        folder: of the file, where meshes are looked for; None where it is not known.
        snap_rad: as for ``from_mjcf``.
    """
    settings, meshes = settings_of(root), _mesh_assets(root)
    directory = _mesh_folder(root, folder)
    shapes, notes = [], []
    for body in bodies_of_mjcf(root, snap_rad):
        name = body.element.get("name") or "without a name"
        where = f"Body {name!r}: <geom>"
        for geom in body.geoms:
            try:
                if not _collides(geom, where):
                    continue
                shape = _capsule(geom, settings, snap_rad, where, meshes, directory)
                shape = shape.expressed_in(*geom.frame)
                shapes.append(shape.expressed_in(body.held.rotation, body.held.position, body.held.host))
            except DynidError as error:
                notes.append(f"A shape of body {name!r} was left out. {error}")
    return tuple(shapes), tuple(notes)


def _collides(geom: Geom, where: str) -> bool:
    return any(number(geom.attributes, key, where, 1.0) for key in ("contype", "conaffinity"))


def _capsule(
    geom: Geom,
    settings: Settings,
    snap_rad: float,
    where: str,
    meshes: Mapping[str, Mapping[str, str]],
    folder: Path | None,
) -> Capsule:
    """The geom's capsule in the frame that the geom is written in."""
    given = geom.attributes
    kind = given.get("type", "sphere")
    if kind == "mesh":
        name = given.get("mesh", "")
        if name not in meshes:
            raise unknown_name("mesh", name, meshes)
        points = _vertices(name, meshes[name], folder)
        return around_points(points).expressed_in(*pose_of(given, settings, snap_rad, where))
    kinds = ("box", "capsule", "cylinder", "ellipsoid", "mesh", "sphere")
    if kind not in kinds:
        raise unknown_name(f"type of {where}", kind, kinds)
    if "mesh" in given:
        raise ModelError(f"{where}: a {kind} fitted to a mesh is not read; give its size.")
    size, pose = size_and_pose(given, kind, settings, snap_rad, where)
    match kind:
        case "sphere":
            shape = around_ball(size[0])
        case "capsule":
            shape = around_rod(size[0], size[1])
        case "cylinder":
            shape = around_cylinder(size[0], size[1])
        case "ellipsoid":
            shape = around_ellipsoid(size)
        case _:
            shape = around_box(size)
    return shape.expressed_in(*pose)


def _mesh_assets(root: Element) -> dict[str, dict[str, str]]:
    """Attributes of the meshes by name; a mesh without one has that of its file."""
    defaults = defaults_of(root)
    assets = {}
    for element in section(root, "asset"):
        if element.tag == "mesh":
            given = defaults.of(element, MAIN)
            assets[given.get("name") or PurePath(given.get("file", "")).stem] = given
    return assets


def _mesh_folder(root: Element, folder: Path | None) -> Path | None:
    """The folder that mesh files are named from: meshdir or assetdir of the compiler."""
    inside = ""
    for compiler in root.findall("compiler"):
        inside = compiler.get("meshdir", compiler.get("assetdir", inside))
    return None if folder is None else folder / inside


def _vertices(name: str, given: Mapping[str, str], folder: Path | None) -> FloatArray:
    """Vertices in the frame of the geom: seen from the mesh's reference pose, then scaled, as in MuJoCo."""
    where = f"Mesh {name!r}"
    if "vertex" in given:
        count = len(given["vertex"].split())
        if count % 3:
            raise ModelError(f"{where}: vertex has {count} numbers; give three per vertex.")
        points = np.array(numbers(given, "vertex", where, (0.0,) * count)).reshape(-1, 3)
    elif "file" in given:
        points = mesh_vertices(mesh_path(given["file"], folder))
    else:
        raise ModelError(f"{where} has neither a file nor vertices.")
    R = from_quaternion(numbers(given, "refquat", where, (1.0, 0.0, 0.0, 0.0)), f"{where}: refquat")
    shift = np.array(numbers(given, "refpos", where, (0.0,) * 3))
    return np.asarray((points - shift) @ R * numbers(given, "scale", where, (1.0,) * 3))
