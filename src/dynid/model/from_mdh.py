"""Robot files: one TOML file with the modified Denavit–Hartenberg table of a robot."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from dynid.errors import FileError, ModelError, unknown_name
from dynid.model.coupling import Coupling
from dynid.model.drives import Drives
from dynid.model.files import naming_file, read_text
from dynid.model.friction import FrictionTerm
from dynid.model.inertia import LinkInertia
from dynid.model.joint import BASE, GEOMETRY, LENGTHS, Joint, JointKind, Limits
from dynid.model.robot import EARTH_GRAVITY, Robot

Table = Mapping[str, Any]
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
    text = read_text(file, "robot file")
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise FileError(
            f"The robot file {file} is not TOML: {error}.", name="path", value=str(file)
        ) from None
    with naming_file(file):
        return robot_from_table(content, default_name=file.stem)


def robot_from_table(content: Table, default_name: str = "robot") -> Robot:
    """Build a robot from the parsed content of a robot file."""
    _check_keys(content, _ROBOT_KEYS, "robot file")
    lengths = {name: _number(value, f"length {name}") for name, value in _table(content, "lengths").items()}
    rows = content.get("joint", [])
    if not isinstance(rows, list) or not rows:
        raise ModelError("The robot file has no [[joint]] tables; give one per joint.", name="joint")
    for row in rows:
        _check_keys(row, _JOINT_KEYS, "[[joint]] table")
    names = [str(row.get("name", f"joint{i + 1}")) for i, row in enumerate(rows)]
    joints = tuple(_joint(row, i, names, lengths) for i, row in enumerate(rows))
    gravity = content.get("gravity", EARTH_GRAVITY)
    if not isinstance(gravity, list | tuple) or len(gravity) != 3:
        raise ModelError(
            f"gravity is {gravity!r}; give three numbers in m/s².", name="gravity", value=gravity
        )
    robot = Robot(
        name=str(content.get("name", default_name)),
        joints=joints,
        gravity=tuple(_number(g, "gravity") for g in gravity),  # type: ignore[arg-type]
        terms=tuple(str(t) for t in _list(content, "terms", ["Fv", "Fc", "off"])),
        friction=tuple(_friction(row) for row in _list(content, "friction", [])),
        drives=_drives(_table(content, "drives")),
        coupling=_coupling(_table(content, "coupling"), joints),
        lengths=lengths,
        title=str(content.get("title", "")),
        source=str(content.get("source", "")),
    )
    values = _link_values(rows, robot) | dict(_table(content, "parameters"))
    return robot.with_parameters({name: _number(value, name) for name, value in values.items()})


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
            geometry[name] = _number(value, f"{where}: {name}")
    return Joint(
        name=names[i],
        antecedent=_antecedent(row.get("antecedent", i), i, names, where),
        kind=JointKind(kind),
        symbols=symbols,
        limits=_limits(row.get("limits", {}), where),
        actuated=_truth(row, "actuated", kind != "fixed", where),
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
            "or its name.",
            name="antecedent",
            value=value,
        )
    return value - 1


def _angle(row: Table, name: str, where: str) -> float:
    if name in row and f"{name}_deg" in row:
        raise ModelError(f"{where}: both {name} and {name}_deg are given; keep one.", name=name)
    if f"{name}_deg" in row:
        return math.radians(_number(row[f"{name}_deg"], f"{where}: {name}_deg"))
    return _number(row.get(name, 0.0), f"{where}: {name}")


def _length(text: str, lengths: Mapping[str, float], where: str) -> float:
    match = re.fullmatch(r"(-?)\s*([A-Za-z_][A-Za-z_0-9]*)", text.strip())
    if not match:
        raise ModelError(
            f"{where}: length {text!r} is neither a number nor a name from [lengths] with an optional "
            "minus sign.",
            name="length",
            value=text,
        )
    sign, name = match.groups()
    if name not in lengths:
        raise unknown_name("length", name, lengths, "Add it to [lengths].")
    return -lengths[name] if sign else lengths[name]


def _limits(row: Table, where: str) -> Limits:
    angles = tuple(f"{key}_deg" for key in _LIMIT_KEYS[:4])
    _check_keys(row, (*_LIMIT_KEYS, *angles), f"limits of {where}")
    values = {}
    for key, value in row.items():
        number = _number(value, f"{where}: {key}")
        values[key.removesuffix("_deg")] = math.radians(number) if key.endswith("_deg") else number
    return Limits(**values)


def _friction(row: Table) -> FrictionTerm:
    keys = ("name", "expression", "unit_revolute", "unit_prismatic")
    _check_keys(row, keys, "[[friction]]")
    for key in keys[:2]:
        if key not in row:
            raise ModelError(f"A [[friction]] table has no {key}.", name="friction")
    return FrictionTerm(**{key: str(value) for key, value in row.items()})


def _drives(row: Table) -> Drives | None:
    if not row:
        return None
    _check_keys(row, ("ratio", "offset", "offset_deg", "gain"), "[drives]")
    ratio = row.get("ratio")
    if not isinstance(ratio, list) or not ratio:
        raise ModelError(
            "[drives] needs ratio: a list of gear ratios, or a matrix with one row per motor.", name="ratio"
        )
    n = len(ratio)
    if not isinstance(ratio[0], list):
        ratio = [[value if i == j else 0.0 for j in range(n)] for i, value in enumerate(ratio)]
    matrix = tuple(_numbers(line, "a row of ratio", n) for line in ratio)
    if "offset" in row and "offset_deg" in row:
        raise ModelError("[drives] gives both offset and offset_deg; keep one.", name="offset")
    offset = _numbers(row.get("offset", [0.0] * n), "offset of [drives]", n)
    if "offset_deg" in row:
        offset = tuple(math.radians(v) for v in _numbers(row["offset_deg"], "offset_deg of [drives]", n))
    return Drives(matrix, offset, _numbers(row.get("gain", [1.0] * n), "gain of [drives]", n))


def _coupling(row: Table, joints: tuple[Joint, ...]) -> Coupling | None:
    """``[coupling]`` lists the coordinates; ``[coupling.NAME]`` gives a dependent joint as a sum of them."""
    if not row:
        return None
    movable = [joint.name for joint in joints if joint.movable]
    coordinates = _list(row, "coordinates", [])
    _check_keys(row, ("coordinates", *movable), "[coupling]")
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
                f"[coupling] gives neither joint {name!r} as a coordinate nor its equation "
                f"[coupling.{name}].",
                name="coupling",
                value=name,
            )
        _check_keys(row[name], ("offset", "offset_deg", *coordinates), f"[coupling.{name}]")
        matrix.append(tuple(_number(row[name].get(c, 0.0), f"coupling of {name}") for c in coordinates))
        degrees = math.radians(_number(row[name].get("offset_deg", 0.0), "offset_deg"))
        offsets.append(degrees + _number(row[name].get("offset", 0.0), "offset"))
    places = tuple(movable.index(name) for name in coordinates)
    return Coupling(places, tuple(matrix), tuple(offsets))


def _link_values(rows: list[Table], robot: Robot) -> dict[str, float]:
    values: dict[str, float] = {}
    for row, joint in zip(rows, robot.joints, strict=True):
        link = row.get("link")
        if link is None:
            continue
        where = f"link of joint {joint.name!r}"
        _check_keys(link, ("mass", "com", "inertia"), where)
        xx, xy, xz, yy, yz, zz = _numbers(link.get("inertia", [0.0] * 6), f"inertia of {where}", 6)
        tensor = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
        com = _numbers(link.get("com", [0.0] * 3), f"com of {where}", 3)
        body = LinkInertia.from_com(_number(link.get("mass", 0.0), where), com, tensor, where)
        values |= body.named(joint.label)
    return values


def _table(content: Table, key: str) -> Table:
    value = content.get(key, {})
    if not isinstance(value, Mapping):
        raise ModelError(f"{key} must be a table, as [{key}].", name=key, value=value)
    return value


def _number(value: object, where: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ModelError(f"{where} is {value!r}; it must be a number.", name=where, value=value)
    return float(value)


def _numbers(values: object, where: str, count: int) -> tuple[float, ...]:
    if not isinstance(values, list) or len(values) != count:
        raise ModelError(
            f"{where} is {values!r}; it must be a list of {count} numbers.", name=where, value=values
        )
    return tuple(_number(value, where) for value in values)


def _list(row: Table, key: str, default: list[Any]) -> list[Any]:
    value = row.get(key, default)
    if not isinstance(value, list):
        raise ModelError(f"{key} is {value!r}; it must be a list.", name=key, value=value)
    return value


def _truth(row: Table, key: str, default: bool, where: str) -> bool:
    value = row.get(key, default)
    if not isinstance(value, bool):
        raise ModelError(f"{where}: {key} is {value!r}; it must be true or false.", name=key, value=value)
    return value


def _check_keys(row: object, known: Iterable[str], where: str) -> None:
    if not isinstance(row, Mapping):
        raise ModelError(
            f"The {where} must be a table of keys and values, not {row!r}.", name=where, value=row
        )
    allowed = tuple(known)
    for key in row:
        if key not in allowed:
            raise unknown_name(f"key in the {where}", str(key), allowed)
