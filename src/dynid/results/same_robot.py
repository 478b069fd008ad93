"""Whether results belong to one robot, so that their parameters mean the same."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from dynid.base.find import base_of
from dynid.core.errors import DynidError
from dynid.model.robot import Robot
from dynid.results.result import SavedResult

Mechanics = tuple[tuple[str, ...], frozenset[str]]


def refuse_different_robots(results: Sequence[SavedResult]) -> None:
    """Stop where joints or inertial parameters are not the same; friction and drive terms may differ.

    Args:
        results: of one robot, as the user says.

    Raises:
        DynidError: naming the robots and what tells them apart.
    """
    first = _mechanics(results[0].robot)
    other = next((r for r in results[1:] if _mechanics(r.robot) != first), None)
    if other is None:
        return
    named = " and ".join(f"{r.folder} ({r.robot.name}, {_axes(r.robot)})" for r in (results[0], other))
    raise DynidError(
        f"The results belong to different robots: {named}{_difference(first, _mechanics(other.robot))}; "
        "compare results of one robot."
    )


def _mechanics(robot: Robot) -> Mechanics:
    """Kinds of all joints, and names of the base parameters that the links alone have."""
    bare = robot.with_terms()
    return tuple(joint.kind.value for joint in robot.joints), frozenset(base_of(bare).names)


def _axes(robot: Robot) -> str:
    kinds = Counter(robot.joints[j].kind.value for j in robot.coordinates)
    told = " and ".join(f"{count} {kind}" for kind, count in sorted(kinds.items(), reverse=True))
    return f"{told} axes" if robot.n_coordinates > 1 else f"{told} axis"


def _difference(first: Mechanics, other: Mechanics) -> str:
    if first[0] != other[0]:
        return ""
    apart = sorted(first[1] ^ other[1])
    more = ", …" if len(apart) > 3 else ""
    return f" with other base parameters ({', '.join(apart[:3])}{more})"
