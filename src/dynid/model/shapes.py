"""Shapes of links: capsules that enclose them, in the frames of the links."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import ModelError
from dynid.core.keys import key
from dynid.core.tables import check_fields
from dynid.model.geometry import placement
from dynid.model.joint import BASE

if TYPE_CHECKING:
    from dynid.model.robot import Robot

Point = tuple[float, float, float]
_LARGEST = 1e6
"""Largest coordinate and radius [m]: no robot needs more, and products lose digits."""


@dataclass(frozen=True, slots=True)
class Capsule:
    """All points within a radius of a line segment, fixed to a link; a sphere where the ends coincide.

    Args:
        link: index of the link in the robot's joints, or ``BASE`` for the immobile base.
        start: one end of the segment in frame j of the link (the base frame for the base) [m].
        end: the other end [m].
        radius: distance of the surface from the segment [m].
    """

    link: int = key("index of a link, -1 for the base", least=BASE)
    start: Point = key("one end of the segment", unit="m", least=-_LARGEST, most=_LARGEST)
    end: Point = key("the other end", unit="m", least=-_LARGEST, most=_LARGEST)
    radius: float = key("radius", unit="m", above=0, most=_LARGEST)

    def __post_init__(self) -> None:
        """Refuse what is no capsule."""
        check_fields(self, "Capsule", ModelError)

    def expressed_in(self, rotation: FloatArray, position: FloatArray, link: int | None = None) -> Capsule:
        """The capsule in another frame: x' = R x + p.

        Args:
            rotation: R of this frame in the other, (3, 3).
            position: p of its origin there [m].
            link: that the capsule is then fixed to; as before when None.
        """
        start, end = ((rotation @ np.array(x) + position).tolist() for x in (self.start, self.end))
        return Capsule(self.link if link is None else link, start, end, self.radius)


@dataclass(frozen=True)
class CapsuleRow:
    """A capsule of a link in a robot file: one table of ``shapes``."""

    start: Point = key("one end of its axis, in frame j", unit="m")
    radius: float = key("distance of its surface from the axis", unit="m", above=0)
    end: Point | None = key("the other end, in frame j", None, unit="m", absent="start: a sphere")

    def on_link(self, link: int) -> Capsule:
        """The capsule of a link."""
        return Capsule(link, self.start, self.start if self.end is None else self.end, self.radius)


def capsule_rows(robot: Robot, link: int) -> tuple[CapsuleRow, ...]:
    """The shapes of a link as a robot file has them.

    Args:
        robot: the robot.
        link: index of the link, or ``BASE``.
    """
    return tuple(
        CapsuleRow(shape.start, shape.radius, None if shape.end == shape.start else shape.end)
        for shape in robot.shapes
        if shape.link == link
    )


def capsules_from_frames(robot: Robot, radius: float | Sequence[float]) -> tuple[Capsule, ...]:
    """Capsules from each frame's origin to the origins of the links it carries, with all joints at zero.

    A link that carries none, or only links whose origins coincide with its own, gets a sphere. The base gets
    capsules from its own origin.

    Args:
        robot: the robot.
        radius: of all capsules, or one of the base and then one per link [m].
    """
    count = len(robot.joints) + 1
    radii = [float(radius)] * count if isinstance(radius, int | float) else [float(r) for r in radius]
    if len(radii) != count:
        raise ModelError(
            f"capsules_from_frames got {len(radii)} radii; give one for all, or {count}: that of the base "
            f"and those of the {count - 1} links of robot {robot.name!r}."
        )
    ends: dict[int, list[Point]] = {link: [] for link in range(BASE, len(robot.joints))}
    for joint in robot.joints:
        _, origin = placement(joint)
        if np.any(origin):
            ends[joint.antecedent].append((float(origin[0]), float(origin[1]), float(origin[2])))
    zero = (0.0, 0.0, 0.0)
    return tuple(
        Capsule(link, zero, end, radii[link + 1])
        for link, reached in ends.items()
        for end in dict.fromkeys(reached or [zero])
    )
