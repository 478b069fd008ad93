"""A robot as a picture without a script: its frames at q = 0 and the masses of its links, from two sides."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dynid.model.joint import BASE
from dynid.report.charts import BOTTOM, LEFT, RIGHT, TOP, multiples, round_step, tick_label

WIDTH = 430
LOWEST, HIGHEST = 140, 330
"""Least and largest height of the space inside the axes."""
_AIR = 30
"""Around the outermost points: room for a circle and its number."""
_LARGEST, _SMALLEST = 17.0, 2.5
"""Radii of the heaviest link and of those too light to be seen otherwise."""
_BETWEEN_NUMBERS = 13.0
"""Least distance of two numbers."""
_SIDES = (("from the side", 0, 2), ("from above", 0, 1))
_AXES = "xyz"
Place = tuple[float, float]


@dataclass(frozen=True)
class _Scale:
    """Metres of the base frame to places of a picture, the same for all axes.

    Args:
        per_metre: length of a metre in the picture.
        middle: of the points along x, y and z [m].
        height: of the space inside the axes.
    """

    per_metre: float
    middle: tuple[float, ...]
    height: float

    def across(self, axis: int, metres: float) -> float:
        """To the right."""
        return round((LEFT + WIDTH - RIGHT) / 2 + self.per_metre * (metres - self.middle[axis]), 1)

    def down(self, axis: int, metres: float) -> float:
        """Downwards, as pictures count."""
        return round(TOP + self.height / 2 - self.per_metre * (metres - self.middle[axis]), 1)

    def ticks(self, axis: int, length: float) -> list[float]:
        """Round values along an axis of some length, at the same distances on all axes."""
        half = length / 2 / self.per_metre
        step = round_step(0.5 * (WIDTH - LEFT - RIGHT) / self.per_metre)
        return multiples(step, self.middle[axis] - half, self.middle[axis] + half)


def robot_drawings(links: Sequence[Mapping[str, Any]], fixed_by: Sequence[str]) -> list[dict[str, Any]]:
    """The robot from the side (x–z) and from above (x–y), with everything in place.

    Args:
        links: antecedent, mass [kg], origin of the frame and centre of mass in the base frame [m], by link.
        fixed_by: what fixed the mass of each link.

    Returns:
        One drawing per side; none where a number is not finite.
    """
    points = [[0.0, 0.0, 0.0], *(link[key] for link in links for key in ("origin", "com_in_base"))]
    numbers = [*(value for point in points for value in point), *(link["mass"] for link in links)]
    if not all(math.isfinite(value) and abs(value) < 1e12 for value in numbers):
        return []
    scale = _common_scale(points)
    return [_side_drawing(links, fixed_by, scale, *side) for side in _SIDES]


def _common_scale(points: Iterable[Sequence[float]]) -> _Scale:
    """The largest scale at which both pictures hold all points."""
    spans = [(min(values), max(values)) for values in zip(*points, strict=True)]
    sizes = [high - low for low, high in spans]
    rooms = (WIDTH - LEFT - RIGHT, HIGHEST, HIGHEST)
    fitting = [(room - 2 * _AIR) / size for room, size in zip(rooms, sizes, strict=True) if size > 1e-6]
    per_metre = min(fitting, default=200.0)
    height = max(LOWEST, per_metre * max(sizes[1:]) + 2 * _AIR)
    return _Scale(per_metre, tuple((low + high) / 2 for low, high in spans), round(height))


def _side_drawing(
    links: Sequence[Mapping[str, Any]], fixed_by: Sequence[str], scale: _Scale, side: str, x: int, y: int
) -> dict[str, Any]:
    def place(point: Sequence[float]) -> Place:
        return scale.across(x, point[x]), scale.down(y, point[y])

    base = place((0.0, 0.0, 0.0))
    origins, centres = ([place(link[key]) for link in links] for key in ("origin", "com_in_base"))
    before = [base if link["antecedent"] == BASE else origins[link["antecedent"]] for link in links]
    radii = _radii([link["mass"] for link in links])
    bodies = [
        {"place": centre, "origin": origin, "radius": radius, "fixed_by": source, "number": number}
        | {"joint": link["joint"], "label": link["label"], "mass": link["mass"]}
        for link, centre, origin, radius, source, number in zip(
            links, centres, origins, radii, fixed_by, _number_places(centres, radii), strict=True
        )
    ]
    return {
        "side": side,
        "plane": f"{_AXES[x]}{_AXES[y]}",
        "axes": (_AXES[x], _AXES[y]),
        "base": base,
        "bones": list(zip(before, origins, strict=True)),
        "bodies": sorted(bodies, key=lambda body: -float(body["radius"])),  # small ones are drawn last
        "x_ticks": [(scale.across(x, v), tick_label(v)) for v in scale.ticks(x, WIDTH - LEFT - RIGHT)],
        "y_ticks": [(scale.down(y, v), tick_label(v)) for v in scale.ticks(y, scale.height)],
        **{"width": WIDTH, "height": TOP + scale.height + BOTTOM, "left": LEFT, "right": WIDTH - RIGHT},
        **{"top": TOP, "bottom": TOP + scale.height},
    }


def _radii(masses: Sequence[float]) -> list[float]:
    """Radii whose squares are as the masses."""
    heaviest = max(*masses, 1e-9)
    return [max(_SMALLEST, round(_LARGEST * math.sqrt(max(m, 0.0) / heaviest), 1)) for m in masses]


def _number_places(centres: Sequence[Place], radii: Sequence[float]) -> list[Place]:
    """Where the number of each link stands: beside its circle, apart from the numbers before it."""
    found: list[Place] = []
    for (x, y), radius in zip(centres, radii, strict=True):
        rings = [radius + gap for gap in (9.0, 18.0, 27.0)]
        around = [math.radians(angle) for angle in range(-45, 315, 45)]
        tried = [(x + r * math.cos(a), y + r * math.sin(a)) for r in rings for a in around]
        free = (p for p in tried if all(math.dist(p, other) >= _BETWEEN_NUMBERS for other in found))
        place = next(free, tried[0])
        found.append((round(place[0], 1), round(place[1], 1)))
    return found
