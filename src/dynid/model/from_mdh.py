"""Robot files: one TOML file with the modified Denavit–Hartenberg table of a robot."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from pathlib import Path

from dynid.core.errors import ModelError, unknown_name
from dynid.core.files import naming_file, read_toml
from dynid.model.coupling import Coupling
from dynid.model.drives_file import drives_from_table
from dynid.model.friction import FrictionTerm
from dynid.model.inertia import LinkInertia
from dynid.model.joint import BASE, GEOMETRY, LENGTHS, Joint, JointKind, Limits
from dynid.model.robot import EARTH_GRAVITY, Robot
from dynid.model.table_values import Table, check_keys, list_of, number_of, numbers_of, table_of, truth_of

_ANGLES = ("gamma", "alpha", "theta")
_ROBOT_KEYS = (
    "name", "title", "source", "gravity", "terms", "lengths", "joint", "friction", "drives", "coupling",
    "parameters",
)  # fmt: skip
_JOINT_KEYS = (
    "name", "antecedent", "kind", *GEOMETRY, *(f"{a}_deg" for a in _ANGLES), "limits", "actuated",
    "label", "link",
)  # fmt: skip
_LIMIT_KEYS = ("lower", "upper", "velocity", "acceleration", "effort")


def from_mdh(path: str | Path) -> Robot:
    """Load a robot from a TOML file.

    Args:
        path: the file; its keys are described in ``docs/robot-files.md``.
    """
    file = Path(path)
    content = read_toml(file, "robot file")
    with naming_file(file, "Robot file"):
        return robot_from_table(content, default_name=file.stem)


def robot_from_table(content: Table, default_name: str = "robot") -> Robot:
    """Build a robot from the parsed content of a robot file."""
    check_keys(content, _ROBOT_KEYS, "robot file")
    lengths = {
        name: number_of(value, f"length {name}") for name, value in table_of(content, "lengths").items()
    }
    rows = content.get("joint", [])
    if not isinstance(rows, list) or not rows:
        raise ModelError("The robot file has no [[joint]] tables; give one per joint.")
    for row in rows:
        check_keys(row, _JOINT_KEYS, "[[joint]] table")
    names = [str(row.get("name", f"joint{i + 1}")) for i, row in enumerate(rows)]
    joints = tuple(_joint(row, i, names, lengths) for i, row in enumerate(rows))
    gravity = content.get("gravity", EARTH_GRAVITY)
    if not isinstance(gravity, list | tuple) or len(gravity) != 3:
        raise ModelError(f"gravity is {gravity!r}; give three numbers in m/s².")
    drives = table_of(content, "drives")
    robot = Robot(
        name=str(content.get("name", default_name)),
        joints=joints,
        gravity=tuple(number_of(g, "gravity") for g in gravity),  # type: ignore[arg-type]
        terms=tuple(str(t) for t in list_of(content, "terms", ["Fv", "Fc", "off"])),
        friction=tuple(_friction(row) for row in list_of(content, "friction", [])),
        drives=drives_from_table(drives) if drives else None,
        coupling=_coupling(table_of(content, "coupling"), joints),
        lengths=lengths,
        title=str(content.get("title", "")),
        source=str(content.get("source", "")),
    )
    values = _link_values(rows, robot) | dict(table_of(content, "parameters"))
    return robot.with_parameters({name: number_of(value, name) for name, value in values.items()})


def _joint(row: Table, i: int, names: list[str], lengths: Mapping[str, float]) -> Joint:
    where = f"joint {names[i]!r}"
    kinds = [kind.value for kind in JointKind]
    kind = row.get("kind", "revolute")
    if kind not in kinds:
        raise unknown_name("joint kind", str(kind), kinds)
    geometry = {name: _angle(row, name, where) for name in _ANGLES}
    symbols = {}
    for name in LENGTHS:
        value = row.get(name, 0.0)
        if isinstance(value, str):
            symbols[name], geometry[name] = value, _length(value, lengths, where)
        else:
            geometry[name] = number_of(value, f"{where}: {name}")
    return Joint(
        name=names[i],
        antecedent=_antecedent(row.get("antecedent", i), i, names, where),
        kind=JointKind(kind),
        symbols=symbols,
        limits=_limits(row.get("limits", {}), where),
        actuated=truth_of(row, "actuated", kind != "fixed", where),
        label=str(row.get("label", i + 1)),
        **geometry,
    )


def _antecedent(value: object, i: int, names: list[str], where: str) -> int:
    """0 or "base" is the base, a number counts joints from 1, a string is a joint's name."""
    if value == "base":
        return BASE
    if isinstance(value, str):
        if value not in names:
            raise unknown_name("antecedent", value, ["base", *names])
        return names.index(value)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= len(names):
        raise ModelError(
            f"{where}: antecedent is {value!r}; give 0 for the base, a joint's number up to {len(names)}, "
            "or its name."
        )
    return value - 1


def _angle(row: Table, name: str, where: str) -> float:
    if name in row and f"{name}_deg" in row:
        raise ModelError(f"{where}: both {name} and {name}_deg are given; keep one.")
    if f"{name}_deg" in row:
        return math.radians(number_of(row[f"{name}_deg"], f"{where}: {name}_deg"))
    return number_of(row.get(name, 0.0), f"{where}: {name}")


def _length(text: str, lengths: Mapping[str, float], where: str) -> float:
    match = re.fullmatch(r"(-?)\s*([A-Za-z_][A-Za-z_0-9]*)", text.strip())
    if not match:
        raise ModelError(
            f"{where}: length {text!r} is neither a number nor a name from [lengths] with an optional "
            "minus sign."
        )
    sign, name = match.groups()
    if name not in lengths:
        raise unknown_name("length", name, lengths, "Add it to [lengths].")
    return -lengths[name] if sign else lengths[name]


def _limits(row: Table, where: str) -> Limits:
    angles = tuple(f"{key}_deg" for key in _LIMIT_KEYS[:4])
    check_keys(row, (*_LIMIT_KEYS, *angles), f"limits of {where}")
    values = {}
    for key, value in row.items():
        number = number_of(value, f"{where}: {key}")
        values[key.removesuffix("_deg")] = math.radians(number) if key.endswith("_deg") else number
    return Limits(**values)


def _friction(row: Table) -> FrictionTerm:
    keys = ("name", "expression", "unit_revolute", "unit_prismatic")
    check_keys(row, keys, "[[friction]]")
    for key in keys[:2]:
        if key not in row:
            raise ModelError(f"A [[friction]] table has no {key}.")
    return FrictionTerm(**{key: str(value) for key, value in row.items()})


def _coupling(row: Table, joints: tuple[Joint, ...]) -> Coupling | None:
    """``[coupling]`` lists the coordinates; ``[coupling.NAME]`` gives a dependent joint as a sum of them."""
    if not row:
        return None
    movable = [joint.name for joint in joints if joint.movable]
    coordinates = list_of(row, "coordinates", [])
    check_keys(row, ("coordinates", *movable), "[coupling]")
    for name in coordinates:
        if name not in movable:
            raise unknown_name("coordinate", str(name), movable)
    matrix, offsets = [], []
    for name in movable:
        if name in coordinates:
            matrix.append(tuple(float(name == c) for c in coordinates))
            offsets.append(0.0)
            continue
        if name not in row:
            raise ModelError(
                f"[coupling] gives neither joint {name!r} as a coordinate nor its equation [coupling.{name}]."
            )
        check_keys(row[name], ("offset", "offset_deg", *coordinates), f"[coupling.{name}]")
        matrix.append(tuple(number_of(row[name].get(c, 0.0), f"coupling of {name}") for c in coordinates))
        degrees = math.radians(number_of(row[name].get("offset_deg", 0.0), "offset_deg"))
        offsets.append(degrees + number_of(row[name].get("offset", 0.0), "offset"))
    places = tuple(movable.index(name) for name in coordinates)
    return Coupling(places, tuple(matrix), tuple(offsets))


def _link_values(rows: list[Table], robot: Robot) -> dict[str, float]:
    values: dict[str, float] = {}
    for row, joint in zip(rows, robot.joints, strict=True):
        link = row.get("link")
        if link is None:
            continue
        where = f"link of joint {joint.name!r}"
        check_keys(link, ("mass", "com", "inertia"), where)
        xx, xy, xz, yy, yz, zz = numbers_of(link.get("inertia", [0.0] * 6), f"inertia of {where}", 6)
        tensor = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        com = numbers_of(link.get("com", [0.0] * 3), f"com of {where}", 3)
        body = LinkInertia.from_com(number_of(link.get("mass", 0.0), where), com, tensor, where)
        values |= body.named(joint.label)
    return values
