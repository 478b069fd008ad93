"""Find the base parameters of a robot."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.base.closed_form import closed_form
from dynid.base.numeric import numeric_grouping
from dynid.core.errors import ModelError, unknown_name
from dynid.core.kinds import require_kinds
from dynid.model.robot import Robot

METHODS = ("auto", "closed-form", "numeric")
_SEED = 20260
"""The default random states are always the same, so that results are."""


def find_base(
    robot: Robot,
    *,
    method: str = "auto",
    order: Sequence[int] | None = None,
    rows: Sequence[int] | None = None,
    rng: np.random.Generator | None = None,
) -> BaseMap:
    """Find the parameters that the torques can tell apart, and how the others are regrouped into them.

    Both methods keep the earliest independent columns, link by link, and so agree: the sets of SYMORO
    (Gautier–Khalil 1990; Gautier 1991).

    Args:
        robot: the robot.
        method: "closed-form" (trees, all torques, default order), "numeric" (everything), or "auto": closed
            form where it applies.
        order: links by joint index in the order in which their columns are tried; 0 … n−1 when None.
        rows: coordinates whose torques are used; all when None.
        rng: source of the random states of the numeric method; a fixed seed when None.

    Raises:
        NotTrustworthyError: when the numeric method finds no clear gap between kept and dropped columns.
    """
    require_kinds(find_base, locals())
    if method not in METHODS:
        raise unknown_name("method of finding base parameters", method, METHODS)
    links = _checked_order(robot, order)
    coordinates = _checked_rows(robot, rows)
    obstacle = _obstacle(robot, links, coordinates)
    if method == "closed-form" and obstacle:
        raise ModelError(f"The closed form {obstacle}; use the numeric method.")
    if method == "numeric" or obstacle:
        generator = np.random.default_rng(_SEED) if rng is None else rng
        found, used = numeric_grouping(robot, coordinates, links, generator), "numeric"
    else:
        found, used = closed_form(robot), "closed-form"
    return BaseMap(robot, used, found.columns, found.matrix, found.gap, coordinates, links, found.forms)


@lru_cache(maxsize=32)
def base_of(robot: Robot) -> BaseMap:
    """The base parameters of a robot by default, found once for all who ask."""
    return find_base(robot)


def joint_bases(robot: Robot, *, rng: np.random.Generator | None = None) -> tuple[BaseMap, ...]:
    """Base parameters seen from the torque of each coordinate alone (P2 §III).

    Args:
        robot: the robot.
        rng: source of the random states; a fixed seed when None.
    """
    return tuple(find_base(robot, method="numeric", rows=(j,), rng=rng) for j in range(robot.n_coordinates))


def _obstacle(robot: Robot, order: tuple[int, ...], rows: tuple[int, ...]) -> str | None:
    """Why the closed form does not apply, or None."""
    if robot.closure is not None:
        return f"is for trees, and robot {robot.name!r} has closed loops"
    if robot.coupling is not None:
        return f"is for trees, and robot {robot.name!r} has couplings between its joints"
    if robot.conditions:
        return f"is for one condition, and robot {robot.name!r} has {len(robot.conditions)}"
    if robot.elements:
        return f"does not know springs and dampers, and robot {robot.name!r} has {robot.elements[0].name}"
    if rows != tuple(range(robot.n_coordinates)):
        return f"is for the torques of all {robot.n_coordinates} coordinates, and rows are {rows}"
    if order != tuple(range(len(robot.joints))):
        return f"keeps the earliest columns in the order of the joints, and order is {order}"
    return None


def _checked_order(robot: Robot, order: Sequence[int] | None) -> tuple[int, ...]:
    n = len(robot.joints)
    if order is None:
        return tuple(range(n))
    links = tuple(int(j) for j in order)
    if sorted(links) != list(range(n)):
        raise ModelError(f"order is {links}; give each of the joint indices 0 … {n - 1} once.")
    return links


def _checked_rows(robot: Robot, rows: Sequence[int] | None) -> tuple[int, ...]:
    n = robot.n_coordinates
    if rows is None:
        return tuple(range(n))
    wanted = tuple(int(k) for k in rows)
    if not wanted or len(set(wanted)) != len(wanted) or not all(0 <= k < n for k in wanted):
        raise ModelError(f"rows is {wanted}; give some of the coordinates 0 … {n - 1}, each once.")
    return tuple(sorted(wanted))
