"""Capsules around the ``<collision>`` elements of a URDF, in the frames of our links."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from xml.etree.ElementTree import Element

import numpy as np

from dynid.core.errors import DynidError, ModelError, unknown_name
from dynid.model.joint import BASE
from dynid.model.loaders.enclose import around_ball, around_box, around_cylinder, around_points, around_rod
from dynid.model.loaders.meshes import mesh_path, mesh_vertices
from dynid.model.loaders.tree import SNAP_RAD, Held
from dynid.model.loaders.urdf import links_of_urdf, origin_of
from dynid.model.loaders.xml_safe import number, numbers, required_text
from dynid.model.shapes import Capsule

_ORIGIN = Held(BASE, np.eye(3), np.zeros(3))


def urdf_shapes(
    root: Element, folder: Path | None, snap_rad: float = SNAP_RAD
) -> tuple[tuple[Capsule, ...], tuple[str, ...]]:
    """The shapes of a URDF's links, and sentences about those that were left out.

    Args:
        root: the root element.
        folder: of the file, where meshes are looked for; None where it is not known.
        snap_rad: as for ``from_urdf``.
    """
    parts = links_of_urdf(root, snap_rad)
    carried = {link.get("name") for _, link, _ in parts}
    roots = [link for link in root.findall("link") if link.get("name") == _root_name(root, carried)]
    shapes, notes = [], []
    for link, held in [(link, _ORIGIN) for link in roots] + [(link, held) for _, link, held in parts]:
        for collision in link.findall("collision"):
            where = f"Link {link.get('name')!r}: <collision>"
            try:
                R, p = origin_of(collision, where, snap_rad)
                shape = _capsule(collision, folder, where).expressed_in(R, p)
                shapes.append(shape.expressed_in(held.rotation, held.position, held.host))
            except DynidError as error:
                notes.append(f"A shape of link {link.get('name')!r} was left out. {error}")
    return tuple(shapes), tuple(notes)


def _root_name(root: Element, carried: set[str | None]) -> str | None:
    """The link that carries others and hangs on none."""
    parents = [parent.get("link") for parent in root.findall("joint/parent")]
    return next((name for name in parents if name not in carried), None)


def _capsule(collision: Element, folder: Path | None, where: str) -> Capsule:
    geometry = collision.find("geometry")
    solid = next(iter(geometry), None) if geometry is not None else None
    if solid is None:
        raise ModelError(f"{where} has no <geometry> with a solid inside.")
    given, where = solid.attrib, f"{where}: <{solid.tag}>"
    match solid.tag:
        case "sphere":
            return around_ball(_length(given, "radius", where))
        case "capsule":
            return around_rod(_length(given, "radius", where), _length(given, "length", where) / 2)
        case "cylinder":
            return around_cylinder(_length(given, "radius", where), _length(given, "length", where) / 2)
        case "box":
            required_text(given, "size", where)
            return around_box([abs(size) / 2 for size in numbers(given, "size", where, (0.0,) * 3)])
        case "mesh":
            name = required_text(given, "filename", where)
            scale = numbers(given, "scale", where, (1.0,) * 3)
            return around_points(mesh_vertices(mesh_path(name, folder)) * scale)
    raise unknown_name(f"solid in {where}", solid.tag, ("box", "capsule", "cylinder", "mesh", "sphere"))


def _length(given: Mapping[str, str], key: str, where: str) -> float:
    required_text(given, key, where)
    return number(given, key, where, 0.0)
