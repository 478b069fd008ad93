"""Frames of the links of a robot's own file: a URDF's links, an MJCF's bodies, the joints of a TOML file."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from dynid.core.errors import ModelError, unknown_name
from dynid.core.lazy import later
from dynid.model.loaders.tree import SNAP_RAD, Held
from dynid.model.robot import Robot

_links_of_urdf = later("dynid.model.loaders.urdf", "links_of_urdf")
_bodies_of_mjcf = later("dynid.model.loaders.mjcf", "bodies_of_mjcf")
_parse_xml = later("dynid.model.loaders.xml_safe", "parse_xml")


def link_frames(robot: Robot) -> dict[str, Held]:
    """Where the links of the robot's file sit on the links that move, by name.

    Loaders turn frames so that z is the joint's axis, and weld fixed links to those that carry them. This is
    the way back: x_host = R x + p for a point x in the frame that the file gives the link. Links that are
    fixed to the base are left out. A robot from a TOML file has the frames of its joints.

    Args:
        robot: the robot.
    """
    origin = robot.origin
    if origin is None:
        return {joint.name: Held(j, np.eye(3), np.zeros(3)) for j, joint in enumerate(robot.joints)}
    root = _parse_xml(origin.text, f"robot file {origin.name}")
    found = dict(_WAYS[origin.form](root))
    return {name: held for name, held in found.items() if held.host >= 0}


def _urdf_frames(root: Any) -> Iterator[tuple[str, Held]]:
    for _, link, held in _links_of_urdf(root, SNAP_RAD):
        yield str(link.get("name")), held


def _mjcf_frames(root: Any) -> Iterator[tuple[str, Held]]:
    for body in _bodies_of_mjcf(root, SNAP_RAD):
        yield str(body.element.get("name") or ""), body.held


_WAYS: dict[str, Callable[[Any], Iterator[tuple[str, Held]]]] = {"urdf": _urdf_frames, "mjcf": _mjcf_frames}


def frame_on_carrier(robot: Robot, carrier: str | None = None, link: str | None = None) -> Held:
    """Where a link of the robot's file sits on the link that carries a payload.

    Args:
        robot: the robot.
        carrier: name of the joint whose link carries the payload; the last joint when None.
        link: of the file; the one that this joint moves when None.

    Raises:
        UnknownNameError: for a joint or a link that the robot does not have.
        ModelError: when the link moves with another joint.
    """
    names = [joint.name for joint in robot.joints]
    if carrier is not None and carrier not in names:
        raise unknown_name("carrier joint", carrier, names)
    host = len(names) - 1 if carrier is None else names.index(carrier)
    frames = link_frames(robot)
    own = link or next(name for name, held in frames.items() if held.host == host)
    if own not in frames:
        raise unknown_name("link of the robot's file", own, frames)
    if frames[own].host != host:
        raise ModelError(
            f"Link {own!r} moves with joint {names[frames[own].host]!r}, the payload with {names[host]!r}; "
            "name a link of that joint, or another carrier."
        )
    return frames[own]
