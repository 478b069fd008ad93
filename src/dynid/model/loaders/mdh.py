"""Robot files: one TOML file with the modified Denavit–Hartenberg table of a robot, read and written."""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from dynid.core.errors import ModelError, unknown_name
from dynid.core.files import naming_file, read_toml, toml_text
from dynid.core.keys import OtherKey, key
from dynid.core.tables import table_from, to_table
from dynid.model.condition import Condition
from dynid.model.coupling import Coupling
from dynid.model.drives import Drives
from dynid.model.element import ForceElement
from dynid.model.friction import FrictionTerm
from dynid.model.inertia import LinkInertia
from dynid.model.joint import BASE, LENGTHS, Joint, JointKind, Limits
from dynid.model.loaders.loop_rows import (
    ClosureTable,
    LoopRow,
    closure_from_rows,
    closure_table,
    loop_row,
)
from dynid.model.robot import EARTH_GRAVITY, Robot
from dynid.model.shapes import CapsuleRow, capsule_rows

_ANGLES = ("gamma", "alpha", "theta")
_LENGTH_WORDS = 'a number, or a name from [lengths] with a minus sign if need be, such as "-D3"'


@dataclass(frozen=True)
class LinkRow:
    """A link as a CAD program gives it: ``link`` of a joint."""

    mass: float = key("mass", 0.0, unit="kg")
    com: tuple[float, float, float] = key("centre of mass in frame j", (0.0, 0.0, 0.0), unit="m")
    inertia: tuple[float, float, float, float, float, float] = key(
        "[XX, XY, XZ, YY, YZ, ZZ] about the centre of mass", (0.0, 0.0, 0.0, 0.0, 0.0, 0.0), unit="kg m²"
    )


@dataclass(frozen=True)
class JointRow:
    """A joint and the link it carries: one table ``[[joint]]``."""

    name: str = key("unique name", "", absent="`joint1`, `joint2`, …")
    antecedent: int | str | None = key(
        'the link it hangs on: a joint\'s number (from 1) or name; 0 or "base" is the base',
        None,
        absent="the joint before",
    )
    kind: JointKind = key("how it moves", JointKind.REVOLUTE)
    gamma: float = key(
        "rotation γ about z of the antecedent",
        0.0,
        unit="rad",
        other=OtherKey("gamma_deg", "deg", math.radians),
    )
    b: float | str = key("translation along z of the antecedent", 0.0, unit="m", allowed=_LENGTH_WORDS)
    alpha: float = key(
        "rotation α about the common normal x",
        0.0,
        unit="rad",
        other=OtherKey("alpha_deg", "deg", math.radians),
    )
    d: float | str = key("translation along x", 0.0, unit="m", allowed=_LENGTH_WORDS)
    theta: float = key(
        "rotation θ about z of frame j", 0.0, unit="rad", other=OtherKey("theta_deg", "deg", math.radians)
    )
    r: float | str = key("translation along z of frame j", 0.0, unit="m", allowed=_LENGTH_WORDS)
    limits: Limits = key("bounds of its motion, as limits = { … }", factory=Limits, absent="unknown")
    actuated: bool | None = key("whether a motor drives it", None, absent="true, false when fixed")
    label: str | int | None = key(
        "what follows the symbol in parameter names, as the 3 of XX3", None, absent="its number"
    )
    link: LinkRow | None = key("mass, centre of mass and inertia, as link = { … }", None, absent="unknown")
    shapes: tuple[CapsuleRow, ...] = key("capsules that enclose the link, as shapes = [{ … }, …]", ())


@dataclass(frozen=True)
class DrivesRow:
    """Gears between motors and joints: the table ``[drives]``."""

    ratio: tuple[tuple[float, ...] | float, ...] = key(
        "gear ratios, one per coordinate; R with its off-diagonal entries where motors are coupled",
        allowed="a list of gear ratios, or a matrix with one row per motor",
        rule=lambda ratio: len({isinstance(part, tuple) for part in ratio}) == 1,
    )
    offset: tuple[float, ...] = key(
        "joint positions where the motors read zero",
        (),
        unit="rad or m",
        absent="`0`",
        other=OtherKey("offset_deg", "deg", math.radians),
    )
    gain: tuple[float, ...] = key("motor torque per unit of the logged signal", (), absent="`1`")

    @classmethod
    def of(cls, drives: Drives) -> DrivesRow:
        """The table of drives; gear ratios as one list where no motor turns with several joints."""
        plain = not drives.coupled_motors()
        ratio = tuple(row[i] for i, row in enumerate(drives.ratio)) if plain else drives.ratio
        return cls(ratio, drives.offset, drives.gain)

    def drives(self) -> Drives:
        """The drives, whose own checks compare the sizes."""
        n = len(self.ratio)
        rows = [
            part if isinstance(part, tuple) else tuple(part if i == j else 0.0 for j in range(n))
            for i, part in enumerate(self.ratio)
        ]
        return Drives(tuple(rows), self.offset or (0.0,) * n, self.gain or (1.0,) * n)


@dataclass(frozen=True)
class DrivesFile:
    """A file with ``[drives]`` and nothing else."""

    drives: DrivesRow = key("gears; what else a robot has is in its own file")


@dataclass(frozen=True)
class CouplingRow:
    """A dependent joint as a sum of coordinates: ``[coupling.NAME]``."""

    offset: float = key("constant", 0.0, unit="rad or m", other=OtherKey("offset_deg", "deg", math.radians))
    factors: Mapping[str, float] = key("factor of the coordinate of that name", factory=dict, spread=True)


@dataclass(frozen=True)
class CouplingTable:
    """Linear couplings between joints: the table ``[coupling]``."""

    coordinates: tuple[str, ...] = key("names of the independent joints")
    rows: Mapping[str, CouplingRow] = key("sums of coordinates, by joint", factory=dict, spread=True)


@dataclass(frozen=True, kw_only=True)
class RobotFile:
    """The keys of a robot file."""

    name: str = key("short name of the robot", "", absent="name of the file")
    title: str = key("what it is", "")
    source: str = key("where the numbers come from", "")
    gravity: tuple[float, float, float] = key(
        "acceleration of gravity in the base frame", EARTH_GRAVITY, unit="m/s²"
    )
    terms: tuple[str, ...] = key(
        "terms beside the inertial ones: Ia, friction terms, Iam, Fvm, Fcm", ("Fv", "Fc", "off")
    )
    lengths: Mapping[str, float] = key(
        "values of named lengths, which appear by name in base formulas", factory=dict, unit="m"
    )
    joint: tuple[JointRow, ...] = key("the joints, see below", allowed="one [[joint]] table per joint")
    base_shapes: tuple[CapsuleRow, ...] = key("capsules that enclose the immobile base, see below", ())
    friction: tuple[FrictionTerm, ...] = key("friction laws of your own, see below", ())
    element: tuple[ForceElement, ...] = key("springs, dampers and counterbalances, see below", ())
    drives: DrivesRow | None = key(
        "gears between motors and joints, see below", None, absent="none: logs are on the joint side"
    )
    coupling: CouplingTable | None = key(
        "linear couplings between joints, see below", None, absent="none: each joint is a coordinate"
    )
    condition: tuple[Condition, ...] = key("states of the robot that logs name, see below", ())
    loop: tuple[LoopRow, ...] = key("joints that close loops, see below", ())
    closure: ClosureTable | None = key(
        "coordinates and an assembled position of a robot with loops, see below",
        None,
        absent="none: no loops",
    )
    parameters: Mapping[str, float] = key(
        "values of standard parameters by name; they override link", factory=dict, absent="zero"
    )
    inverse_only: str = key("why these values serve inverse dynamics only and cannot be simulated", "")


# ── reading ───────────────────────────────────────────────────────────────────────────────────────────────


def from_mdh(path: str | Path) -> Robot:
    """Load a robot from a TOML file.

    Args:
        path: the file; its keys are described in ``docs/robot-files.md``.
    """
    file = Path(path)
    content = read_toml(file, "robot file")
    with naming_file(file, "Robot file"):
        return robot_from_table(content, default_name=file.stem)


def load_drives(path: str | Path) -> Drives:
    """Load drives from a TOML file that holds ``[drives]`` and nothing else, for ``Robot.with_drives``.

    Args:
        path: the file; the keys of ``[drives]`` are described in ``docs/robot-files.md``.
    """
    file = Path(path)
    content = read_toml(file, "drives file")
    with naming_file(file, "Drives file"):
        return table_from(content, DrivesFile).drives.drives()


def robot_from_table(content: Mapping[str, Any], default_name: str = "robot") -> Robot:
    """Build a robot from the parsed content of a robot file."""
    file = table_from(content, RobotFile)
    names = [row.name or f"joint{i + 1}" for i, row in enumerate(file.joint)]
    joints = tuple(_joint(row, i, names, file.lengths) for i, row in enumerate(file.joint))
    robot = Robot(
        name=file.name or default_name,
        joints=joints,
        gravity=file.gravity,
        terms=file.terms,
        friction=file.friction,
        elements=file.element,
        drives=None if file.drives is None else file.drives.drives(),
        coupling=None if file.coupling is None else _coupling(file.coupling, joints),
        closure=closure_from_rows(file.loop, file.closure, joints),
        lengths=file.lengths,
        title=file.title,
        source=file.source,
        shapes=tuple(
            shape.on_link(link)
            for link, rows in enumerate((file.base_shapes, *(row.shapes for row in file.joint)), BASE)
            for shape in rows
        ),
    )
    values: dict[str, float] = {}
    for row, joint in zip(file.joint, robot.joints, strict=True):
        if row.link is not None:
            values |= _link_inertia(row.link, f"link of joint {joint.name!r}").by_name(joint.label)
    return replace(
        robot,
        parameters=values | dict(file.parameters),
        inverse_only=file.inverse_only,
        conditions=file.condition,
    )


def _joint(row: JointRow, i: int, names: list[str], lengths: Mapping[str, float]) -> Joint:
    where = f"joint {names[i]!r}"
    symbols = {name: value for name in LENGTHS if isinstance(value := getattr(row, name), str)}
    geometry = {name: getattr(row, name) for name in (*_ANGLES, *LENGTHS)}
    geometry |= {name: _length(text, lengths, where) for name, text in symbols.items()}
    return Joint(
        name=names[i],
        antecedent=_antecedent(i if row.antecedent is None else row.antecedent, names, where),
        kind=row.kind,
        symbols=symbols,
        limits=row.limits,
        actuated=row.kind is not JointKind.FIXED if row.actuated is None else row.actuated,
        label=str(i + 1 if row.label is None else row.label),
        **geometry,
    )


def _antecedent(value: int | str, names: list[str], where: str) -> int:
    if value == "base":
        return BASE
    if isinstance(value, str):
        if value not in names:
            raise unknown_name("antecedent", value, ["base", *names])
        return names.index(value)
    if not 0 <= value <= len(names):
        raise ModelError(
            f"{where}: antecedent is {value!r}; give 0 for the base, a joint's number up to {len(names)}, "
            "or its name."
        )
    return value - 1


def _length(text: str, lengths: Mapping[str, float], where: str) -> float:
    match = re.fullmatch(r"(-?)\s*([A-Za-z_][A-Za-z_0-9]*)", text.strip())
    if not match:
        raise ModelError(f"{where}: length {text!r} is neither {_LENGTH_WORDS}.".replace(", or", " nor"))
    sign, name = match.groups()
    if name not in lengths:
        raise unknown_name("length", name, lengths, "Add it to [lengths].")
    return -lengths[name] if sign else lengths[name]


def _coupling(table: CouplingTable, joints: tuple[Joint, ...]) -> Coupling:
    """G and g0 of all movable joints; coordinates have unit rows."""
    movable, coordinates = [joint.name for joint in joints if joint.movable], table.coordinates
    for name in coordinates:
        if name not in movable:
            raise unknown_name("coordinate", name, movable)
    for name in table.rows:
        if name not in movable:
            raise unknown_name("joint in [coupling]", name, movable)
    matrix, offsets = [], []
    for name in movable:
        row = CouplingRow(factors={name: 1.0}) if name in coordinates else table.rows.get(name)
        if row is None:
            raise ModelError(
                f"[coupling] gives neither joint {name!r} as a coordinate nor its equation [coupling.{name}]."
            )
        for factor in row.factors:
            if factor not in coordinates:
                raise unknown_name(f"coordinate in [coupling.{name}]", factor, coordinates)
        matrix.append(tuple(row.factors.get(c, 0.0) for c in coordinates))
        offsets.append(row.offset)
    return Coupling(tuple(movable.index(name) for name in coordinates), tuple(matrix), tuple(offsets))


def _link_inertia(link: LinkRow, where: str) -> LinkInertia:
    xx, xy, xz, yy, yz, zz = link.inertia
    tensor = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    return LinkInertia.from_com(link.mass, link.com, tensor, where)


# ── writing ───────────────────────────────────────────────────────────────────────────────────────────────


def robot_to_table(robot: Robot) -> dict[str, Any]:
    """The robot in the keys of a robot file, JSON-ready; ``robot_from_table`` gives the robot back."""
    return to_table(_robot_file(robot), full=True)


def robot_to_toml(robot: Robot) -> str:
    """The robot as the text of a TOML robot file, from which ``load_robot`` gives the same robot back.

    What a robot file takes for granted (zero lengths and angles, the joint before as antecedent) is left out.

    Raises:
        ModelError: when the robot is not the same when read back: it has what robot files do not hold.
    """
    text = toml_text(to_table(_robot_file(robot)))
    if robot_from_table(tomllib.loads(text)) != robot:
        raise ModelError(
            f"Robot {robot.name!r} cannot be written as a robot file; smooth signs have no key there, and "
            "coupled joints cannot be named 'coordinates', 'offset' or 'offset_deg'."
        )
    return text


def _robot_file(robot: Robot) -> RobotFile:
    return RobotFile(
        joint=tuple(_joint_row(robot, i) for i in range(len(robot.joints))),
        name=robot.name,
        title=robot.title,
        source=robot.source,
        gravity=robot.gravity,
        terms=robot.terms,
        lengths=robot.lengths,
        base_shapes=capsule_rows(robot, BASE),
        friction=robot.friction,
        element=robot.elements,
        drives=None if robot.drives is None else DrivesRow.of(robot.drives),
        condition=robot.conditions,
        coupling=None if robot.coupling is None or robot.closure else _coupling_table(robot, robot.coupling),
        loop=() if robot.closure is None else tuple(loop_row(robot, cut) for cut in robot.closure.cuts),
        closure=None if robot.closure is None else closure_table(robot, robot.closure),
        parameters=robot.parameters,
        inverse_only=robot.inverse_only,
    )


def _joint_row(robot: Robot, i: int) -> JointRow:
    """Joint number i; what follows from its place is left out."""
    joint = robot.joints[i]
    return JointRow(
        name=joint.name,
        antecedent=None if joint.antecedent == i - 1 else joint.antecedent + 1,
        kind=joint.kind,
        limits=joint.limits,
        actuated=None if joint.actuated == joint.movable else joint.actuated,
        label=None if joint.label == str(i + 1) else joint.label,
        shapes=capsule_rows(robot, i),
        **{name: getattr(joint, name) for name in _ANGLES},
        **{name: joint.symbols.get(name, getattr(joint, name)) for name in LENGTHS},
    )


def _coupling_table(robot: Robot, coupling: Coupling) -> CouplingTable:
    names = [robot.joints[j].name for j in robot.movable]
    coordinates = tuple(names[c] for c in coupling.coordinates)
    rows = {
        name: CouplingRow(offset, dict(zip(coordinates, row, strict=True)))
        for name, row, offset in zip(names, coupling.matrix, coupling.offset, strict=True)
        if name not in coordinates
    }
    return CouplingTable(coordinates, rows)
