"""Transmissions of a URDF as drives: simple reducers, and differentials that couple two joints.

The elements are those of ros_control, of ros2_control and of the older pr2_mechanism_model; their equations
are q_m = n (q − offset), and for a differential q_m1 = n1 (m1 p1 + m2 p2), q_m2 = n2 (m1 p1 − m2 p2) with
p = q − offset, n the reductions of the actuators and m those of the joints. FourBarLinkageTransmission is not
read: the torques that its documentation gives are not those of its positions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from xml.etree.ElementTree import Element

import numpy as np

from dynid.core.errors import DynidError, ModelError, unknown_name
from dynid.model.drives import Drives, Matrix
from dynid.model.loaders.xml_safe import number, required_text
from dynid.model.robot import Robot

_REDUCTIONS = ("mechanicalReduction", "mechanical_reduction")
_SIZES = {"SimpleTransmission": 1, "DifferentialTransmission": 2}


@dataclass(frozen=True)
class _Gear:
    """Motors and joints of one transmission: q_m = ratio (q − offset), motor i beside joint i."""

    where: str
    joints: tuple[str, ...]
    ratio: Matrix
    offset: tuple[float, ...]


@dataclass(frozen=True)
class _Side:
    """A joint or an actuator of a transmission; the reduction is None where none is given."""

    name: str
    role: str
    reduction: float | None
    offset: float


class _LeftOutError(Exception):
    """A transmission that is no mistake but tells no gears; the sentence says why."""


def drives_of_transmissions(
    robot: Robot, root: Element, joints: Mapping[str, Element]
) -> tuple[Drives | None, str]:
    """The drives that the transmissions of a URDF describe, or None with a sentence that says why not.

    Nothing is guessed: unless the gears of every coordinate are told, there are no drives. Reductions that
    are all 1, which exporters write where nothing is known, tell nothing.

    Args:
        robot: the robot without drives.
        root: the root element of the URDF.
        joints: its joint elements by name.

    Transmissions are often left over from another robot, and identification from the joint side needs none:
    one that is wrong is told and stops nothing.
    """
    elements = [*root.findall("transmission"), *root.findall("ros2_control/transmission")]
    if not elements:
        return None, ""
    try:
        gears = [gear for element in elements for gear in _read(element, joints)]
        return _drives_of_gears(gears, [robot.joints[j].name for j in robot.coordinates]), ""
    except (_LeftOutError, DynidError) as reason:
        return None, f"The transmissions of the URDF were left out: {reason}"


def _read(element: Element, known: Mapping[str, Element]) -> list[_Gear]:
    """The gear of a transmission; none for a joint that is fixed or not there, because nothing moves."""
    where = f"transmission {element.get('name', '').strip()!r}"
    named = [part.get("name", "").strip() for part in element.findall("joint")]
    if any(named) and not any(name in known for name in named):
        return []  # left over from another robot
    kind = _kind(element)
    if kind not in _SIZES:
        told = f"is of type {kind!r}" if kind else "has no type"
        raise _LeftOutError(f"the {where} {told}, and only {' and '.join(_SIZES)} are read.")
    size = _SIZES[kind]
    sides, motors = ([_side(part, where) for part in element.findall(tag)] for tag in ("joint", "actuator"))
    for side in sides:
        if side.name not in known:
            raise unknown_name(f"joint of {where}", side.name, known)
    if (len(sides), len(motors)) != (size, size):
        raise ModelError(
            f"The {where} has {len(sides)} <joint> and {len(motors)} <actuator>; a {kind} has {size} of each."
        )
    fixed = [side.name for side in sides if known[side.name].get("type") == "fixed"]
    if fixed and size == 1:
        return []
    if fixed:
        raise _LeftOutError(f"joint {fixed[0]!r} of the {where} is fixed.")
    if size == 2:
        return [_differential(where, sides, motors)]
    return [_simple(where, sides[0], motors[0], _reduction(element, f"The {where}"))]


def _kind(element: Element) -> str:
    """The type without its package: <type>, the <plugin> of ros2_control, or an attribute."""
    text = element.findtext("type") or element.findtext("plugin") or element.get("type") or ""
    return text.strip().replace("::", "/").rsplit("/", 1)[-1]


def _side(element: Element, where: str) -> _Side:
    name = required_text(element.attrib, "name", f"The {where}: <{element.tag}>")
    role = (element.findtext("role") or element.get("role") or "").strip()
    inside = f"The {where}: {element.tag} {name!r}"
    return _Side(name, role, _reduction(element, inside), _text_number(element, "offset", inside) or 0.0)


def _reduction(element: Element, where: str) -> float | None:
    for key in _REDUCTIONS:
        value = _text_number(element, key, where)
        if value == 0.0:
            raise ModelError(
                f"{where}: {key} is 0; a joint that moves turns its motor, so give a number other than 0."
            )
        if value is not None:
            return value
    return None


def _text_number(element: Element, key: str, where: str) -> float | None:
    text = element.findtext(key)
    return None if text is None else number({key: text.strip()}, key, where, 0.0)


def _simple(where: str, joint: _Side, motor: _Side, own: float | None) -> _Gear:
    """One reduction, wherever it stands: on the actuator, the joint or the transmission itself."""
    given = {r for r in (motor.reduction, joint.reduction, own) if r is not None}
    if not given:
        raise _LeftOutError(f"the {where} gives no mechanicalReduction.")
    told = given - {1.0} or given
    if len(told) > 1:
        raise ModelError(
            f"The {where} gives the reductions {' and '.join(f'{r:g}' for r in sorted(told))}; keep one "
            "mechanicalReduction."
        )
    return _Gear(where, (joint.name,), ((told.pop(),),), (joint.offset,))


def _differential(where: str, joints: Sequence[_Side], motors: Sequence[_Side]) -> _Gear:
    first, second = _by_role(joints, "joint", where)
    n1, n2 = (motor.reduction for motor in _by_role(motors, "actuator", where))
    if n1 is None or n2 is None:
        raise _LeftOutError(f"an actuator of the {where} gives no mechanicalReduction.")
    m1, m2 = (1.0 if joint.reduction is None else joint.reduction for joint in (first, second))
    if first.name == second.name:
        raise ModelError(f"The {where} names joint {first.name!r} twice.")
    ratio = ((n1 * m1, n1 * m2), (n2 * m1, -n2 * m2))
    return _Gear(where, (first.name, second.name), ratio, (first.offset, second.offset))


def _by_role(sides: Sequence[_Side], what: str, where: str) -> Sequence[_Side]:
    """Two sides in the order of their roles, or of the file where they have none."""
    roles = [side.role for side in sides]
    wanted = [f"{what}1", f"{what}2"]
    if roles == ["", ""]:
        return sides
    if sorted(roles) != wanted:
        raise ModelError(
            f"The {where} gives its {what}s the roles {roles[0]!r} and {roles[1]!r}; they must be "
            f"{wanted[0]!r} and {wanted[1]!r}."
        )
    return sorted(sides, key=lambda side: side.role)


def _drives_of_gears(gears: Sequence[_Gear], coordinates: Sequence[str]) -> Drives:
    """One gear ratio matrix of all coordinates; motor i is the one that stands beside joint i."""
    n = len(coordinates)
    ratio, offset = np.zeros((n, n)), np.zeros(n)
    told: dict[str, _Gear] = {}
    for gear in gears:
        for name in gear.joints:
            other = told.setdefault(name, gear)
            if (other.joints, other.ratio, other.offset) != (gear.joints, gear.ratio, gear.offset):
                raise ModelError(
                    f"The {other.where} and the {gear.where} both drive joint {name!r}, and not alike; keep "
                    "one of them."
                )
            if name not in coordinates:
                raise _LeftOutError(f"the {gear.where} drives joint {name!r}, which follows another joint.")
        places = [coordinates.index(name) for name in gear.joints]
        ratio[np.ix_(places, places)] = gear.ratio
        offset[places] = gear.offset
    missing = [name for name in coordinates if name not in told]
    if missing:
        raise _LeftOutError(f"none of them drives joint {', '.join(repr(name) for name in missing[:5])}.")
    if np.array_equal(ratio, np.eye(n)) and not offset.any():
        raise _LeftOutError("every reduction is 1, which is written where nothing is known.")
    return Drives(tuple(map(tuple, ratio.tolist())), tuple(offset.tolist()), (1.0,) * n)
