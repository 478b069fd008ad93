"""Conditions: what differs between the experiments of one problem, as a payload, a tool or a brake."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dynid.core.errors import ModelError, unknown_name
from dynid.core.keys import key
from dynid.core.tables import check_fields
from dynid.model.joint import Joint
from dynid.model.parameters import ParameterTable

FREE = ""
"""Condition of a log that names none: only parameters that live everywhere."""

MOST_CONDITIONS = 32
"""The regressor of every condition is looked at when base parameters are found: some seconds for so many."""


@dataclass(frozen=True)
class Condition:
    """A state of the robot in which some parameters live that others do not have.

    A parameter that no condition lists lives in every experiment; one that some list lives in those only: its
    column is zero in all others (P2 eq 27, whose first block row has no payload).
    """

    name: str = key("name by which a log says that it was taken in this condition")
    parameters: tuple[str, ...] = key(
        "parameters that live only in conditions that list them; the name of a joint stands for all of its "
        "link",
        (),
    )

    def __post_init__(self) -> None:
        """Refuse a condition without a name."""
        check_fields(self, "Condition", ModelError)
        if self.name == FREE:
            raise ModelError("A condition has no name; give one that logs can name, such as 'loaded'.")


def living_parameters(
    conditions: Sequence[Condition], name: str, table: ParameterTable, joints: Sequence[Joint]
) -> tuple[bool, ...]:
    """Which parameters of a table live in a condition.

    Args:
        conditions: all conditions of the robot.
        name: of one of them; "" where none of their own parameters live.
        table: the robot's parameters.
        joints: its joints, whose names stand for the parameters of their links.
    """
    own = {condition.name: _listed_parameters(condition, table, joints) for condition in conditions}
    if name != FREE and name not in own:
        raise unknown_name("condition", name, own)
    bound = frozenset[int]().union(*own.values())
    here = own.get(name, frozenset())
    return tuple(k not in bound or k in here for k in range(len(table)))


def _listed_parameters(
    condition: Condition, table: ParameterTable, joints: Sequence[Joint]
) -> frozenset[int]:
    """Indices into the table of the parameters that a condition lists."""
    links = {joint.name: j for j, joint in enumerate(joints)}
    found = set[int]()
    for word in condition.parameters:
        if word in table.names:
            found.add(table.index(word))
        elif word in links:
            found |= {k for k, entry in enumerate(table) if entry.joint == links[word]}
        else:
            raise unknown_name(f"parameter or joint of condition {condition.name!r}", word, table.names)
    return frozenset(found)


def check_conditions(conditions: Sequence[Condition], table: ParameterTable, joints: Sequence[Joint]) -> None:
    """Refuse conditions of one name, and parameters that the robot does not have."""
    names = [condition.name for condition in conditions]
    if len(names) > MOST_CONDITIONS:
        raise ModelError(f"{len(names)} conditions are given; a robot takes {MOST_CONDITIONS} at most.")
    for name in names:
        if names.count(name) > 1:
            raise ModelError(f"The condition {name!r} is defined twice; keep one.")
    for condition in conditions:
        _listed_parameters(condition, table, joints)
