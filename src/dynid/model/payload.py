"""A payload is one more link, fixed to the link that carries it (P2 §III)."""

from __future__ import annotations

from dataclasses import replace

from dynid.core.errors import unknown_name
from dynid.model.condition import Condition
from dynid.model.inertia import LinkInertia
from dynid.model.joint import Joint, JointKind
from dynid.model.robot import Robot

UNLOADED, LOADED = "free", "loaded"
"""Conditions of logs without and with the payload."""

LABEL = "L"
"""What follows the symbols in the names of a payload's parameters."""


def attach_payload(
    robot: Robot,
    payload: LinkInertia | None = None,
    *,
    carrier: str | None = None,
    label: str = LABEL,
    name: str = "payload",
) -> Robot:
    """The robot with a payload fixed to a link; its parameters are named XXL … ML.

    Args:
        robot: the robot without the payload.
        payload: its inertia in the carrier's frame; unknown when None.
        carrier: name of the joint whose link carries it; the last joint when None.
        label: what follows the symbols in the payload's parameter names.
        name: name of the fixed joint that holds the payload.
    """
    names = [joint.name for joint in robot.joints]
    if carrier is not None and carrier not in names:
        raise unknown_name("carrier joint", carrier, names)
    antecedent = len(names) - 1 if carrier is None else names.index(carrier)
    joint = Joint(name, antecedent, JointKind.FIXED, actuated=False, label=label)
    known = {} if payload is None else payload.by_name(label)
    # The payload's values can be checked only against a table that knows the payload.
    loaded = replace(robot, joints=(*robot.joints, joint))
    return replace(loaded, parameters={**robot.parameters, **known})


def free_and_loaded(robot: Robot, payload: LinkInertia | None = None, *, carrier: str | None = None) -> Robot:
    """The robot in the conditions "free" and "loaded": the payload's parameters live in loaded logs only.

    Logs of both conditions tell the payload from the link that carries it, which neither does alone.

    Args:
        robot: the robot without the payload.
        payload: its inertia in the carrier's frame; unknown when None.
        carrier: name of the joint whose link carries it; the last joint when None.
    """
    loaded = attach_payload(robot, payload, carrier=carrier)
    own = Condition(LOADED, (loaded.joints[-1].name,))
    return loaded.with_conditions(*robot.conditions, Condition(UNLOADED), own)


def with_own_friction(robot: Robot) -> Robot:
    """A robot of ``free_and_loaded`` whose friction and offsets differ between free and loaded logs.

    Every friction law is there a second time, as FvL beside Fv, and lives in loaded logs only: what friction
    changed by between the logs, with temperature or load.

    Args:
        robot: in the conditions "free" and "loaded".
    """
    again = tuple(replace(term, name=f"{term.name}{LABEL}") for term in robot.friction_terms)
    labels = [robot.joints[j].label for j in robot.coordinates]
    names = tuple(f"{term.name}{label}" for term in again for label in labels)
    richer = replace(
        robot,
        terms=(*robot.terms, *(term.name for term in again)),
        friction=(*robot.friction, *again),
        conditions=(),
    )
    own = [c if c.name != LOADED else Condition(LOADED, (*c.parameters, *names)) for c in robot.conditions]
    return richer.with_conditions(*own)
