"""What stands around a robot: a floor, walls, and how much room the links must keep."""

from __future__ import annotations

import math
from dataclasses import dataclass

from dynid.core.errors import ModelError
from dynid.core.keys import key
from dynid.core.tables import check_fields


@dataclass(frozen=True)
class HalfSpace:
    """A wall: the robot stays where n·x ≥ d, with n of length one in the base frame."""

    normal: tuple[float, float, float] = key("direction into the free space, base frame; any length")
    offset: float = key("distance of the wall from the origin of the base, along the direction", unit="m")
    name: str = key("what it is called in sentences", "", absent="`wall 1`, `wall 2`, …")

    def __post_init__(self) -> None:
        """Bring the normal to length one."""
        check_fields(self, "Wall", ModelError)
        length = math.hypot(*self.normal)
        if length < 1e-9:
            raise ModelError(
                f"Wall: normal is {list(self.normal)}, which has no direction; give the direction into the "
                "free space, such as [0, 1, 0]."
            )
        object.__setattr__(self, "normal", tuple(value / length for value in self.normal))


@dataclass(frozen=True)
class Workcell:
    """What the links of a robot must keep away from, and how far: the table ``[workcell]``."""

    floor: float | None = key(
        "height of the floor in the base frame: links stay at z above it", None, unit="m"
    )
    walls: tuple[HalfSpace, ...] = key("half-spaces that the links stay in, see below", ())
    margin: float = key("room that is kept between links and from floor and walls", 0.02, unit="m", least=0)
    self_collision: bool = key("whether links keep away from each other", True)
    ignored: tuple[tuple[str, str], ...] = key(
        'pairs of links that may touch, by their joints, such as [["joint2", "joint4"]]; "base" is the base',
        (),
        allowed="a list of pairs of names",
    )

    def __post_init__(self) -> None:
        """Check values given in Python as those of a file."""
        check_fields(self, "Workcell", ModelError)

    @property
    def half_spaces(self) -> tuple[HalfSpace, ...]:
        """Floor and walls, each with a name."""
        floor = () if self.floor is None else (HalfSpace((0.0, 0.0, 1.0), self.floor, "the floor"),)
        named = [
            HalfSpace(wall.normal, wall.offset, wall.name or f"wall {i + 1}")
            for i, wall in enumerate(self.walls)
        ]
        return (*floor, *named)
