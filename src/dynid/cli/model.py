"""``dynid model``: what a robot is and which of its parameters can be seen."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from dynid.base.find import METHODS, find_base, joint_bases
from dynid.cli.command import JsonOption, OptionGroup, command, option
from dynid.cli.loop_words import describe_loops, loop_lines
from dynid.cli.output import Screen, print_json, write_file
from dynid.cli.robot_options import RobotArgument, RobotOptions, chosen_robot
from dynid.core.errors import DynidError, FileError, NotTrustworthyError
from dynid.core.text import TextTable
from dynid.model.drives import Drives
from dynid.model.joint import GEOMETRY
from dynid.model.loaders.mdh import robot_to_toml
from dynid.model.robot import Robot


@dataclass(frozen=True)
class BaseOptions(OptionGroup, title="Base parameters"):
    """Whether and how base parameters are found."""

    base: bool = option(False, "", "Find the base parameters: the combinations that torques reveal.")
    method: str | None = option(
        None,
        "NAME",
        "With --base: auto (closed form where it applies), closed-form or numeric.",
        choices=METHODS,
        shown="auto",
    )
    per_joint: bool = option(False, "", "Also those that each joint's torque alone reveals; implies --base.")


@dataclass(frozen=True)
class RobotFileOptions(OptionGroup):
    """A file to write the robot to."""

    toml: Path | None = option(
        None, "FILE", "Write the robot, varied as told, as a TOML robot file to keep or to edit."
    )
    force: bool = option(False, "", "Overwrite that file.")


@command(
    examples=[
        "dynid model scara",
        "dynid model tx40 --base --terms Ia,Fv,Fc,off,Fvm,Fcm",
        "dynid model arm.urdf --toml arm.toml",
    ],
    exit_2="Closed form and numbers do not find the same base parameters.",
)
def model(
    robot: RobotArgument,
    find: BaseOptions,
    variant: RobotOptions,
    file: RobotFileOptions,
    as_json: JsonOption = False,
) -> None:
    """Describe a robot: joints, parameters and, with --base, the combinations its torques can reveal."""
    wanted = find.base or find.per_joint
    if find.method is not None and not wanted:
        raise DynidError(f"--method {find.method} has no meaning without --base; add --base.")
    if file.force and file.toml is None:
        raise DynidError("--force has no meaning without --toml; add --toml FILE.")
    arm = chosen_robot(robot, variant)
    document = describe_robot(arm) | {"loops": describe_loops(arm, with_ranges=wanted)}
    if file.toml is not None:
        _write(arm, file.toml, file.force)
        document["file"] = str(file.toml)
    if wanted:
        document |= describe_base(arm, find.method or "auto")
    if find.per_joint:
        document["per_joint"] = [
            one.to_dict() | {"joint": arm.joints[j].name}
            for j, one in zip(arm.coordinates, joint_bases(arm), strict=True)
        ]
    if as_json:
        print_json(document)
    else:
        _print(arm, document)


def _write(robot: Robot, path: Path, force: bool) -> None:
    if path.suffix.lower() != ".toml":
        raise FileError(
            f"--toml is {str(path)!r}; it must end in .toml, so that it is read again as what it is."
        )
    write_file(path, robot_to_toml(robot), force)


def describe_robot(robot: Robot) -> dict[str, Any]:
    """The robot as a JSON-ready document."""
    joints = []
    for joint in robot.joints:
        limits = joint.limits
        joints.append(
            {
                "name": joint.name,
                "label": joint.label,
                "antecedent": 0 if joint.antecedent < 0 else joint.antecedent + 1,
                "kind": joint.kind.value,
                **{name: getattr(joint, name) for name in GEOMETRY},
                "symbols": dict(joint.symbols),
                "actuated": joint.actuated,
                "limits": {
                    name: getattr(limits, name)
                    for name in ("lower", "upper", "velocity", "acceleration", "effort")
                    if math.isfinite(getattr(limits, name))
                },
            }
        )
    return {
        "robot": robot.name,
        "title": robot.title,
        "source": robot.source,
        "n_joints": len(robot.movable),
        "n_coordinates": robot.n_coordinates,
        "n_standard": len(robot.table),
        "gravity": list(robot.gravity),
        "terms": list(robot.terms),
        "lengths": dict(robot.lengths),
        "joints": joints,
        "drives": None if robot.drives is None else asdict(robot.drives),
        "drives_note": robot.drives_note,
        "notes": list(robot.notes),
        "inverse_only": robot.inverse_only,
        "elements": [asdict(e) | {"joints": dict(e.joints)} for e in robot.elements],
        "coordinates": [robot.joints[j].name for j in robot.coordinates],
        "parameters": [
            {"name": e.name, "unit": e.unit, "prior": robot.parameters.get(e.name)} for e in robot.table
        ],
    }


def describe_base(robot: Robot, method: str) -> dict[str, Any]:
    """Base parameters as a JSON-ready document, with the rank gap the numeric method measures.

    Raises:
        NotTrustworthyError: when closed form and numbers do not find the same parameters.
    """
    found = find_base(robot, method=method)
    document = found.to_dict()
    if found.method == "closed-form":
        check = find_base(robot, method="numeric")
        if check != found:
            raise NotTrustworthyError(
                f"The closed form finds {len(found)} base parameters of robot {robot.name!r} but the numeric "
                f"method {len(check)}{'' if len(check) != len(found) else ', regrouped otherwise'}; look for "
                "lengths or angles that are nearly but not quite zero."
            )
        document["rank_gap"] = check.to_dict()["rank_gap"]
        document["n_base_numeric"] = len(check)
    return document


def _print(robot: Robot, document: dict[str, Any]) -> None:
    screen = Screen()
    screen.print(f"{robot.name}  {robot.title}", style="bold")
    if robot.source:
        screen.print(f"source: {robot.source}", style="dim")
    g = ", ".join(f"{value:g}" for value in robot.gravity)
    screen.print(
        f"{_counted(document['n_joints'], 'joint')}, {_counted(document['n_coordinates'], 'coordinate')}, "
        f"{document['n_standard']} standard parameters, gravity ({g}) m/s², "
        f"terms {' '.join(robot.terms) or 'none'}"
    )
    if robot.drives is not None:
        screen.print(f"drives: {_gears(robot.drives)}")
    if robot.drives_note:
        screen.print(robot.drives_note, style="yellow")
    for note in robot.notes:
        screen.print(note, style="yellow")
    if robot.inverse_only:
        screen.print(f"values for inverse dynamics only: {robot.inverse_only}", style="yellow")
    passive = [robot.joints[j].name for j, on in zip(robot.coordinates, robot.driven, strict=True) if not on]
    if passive:
        screen.print(f"passive, without a motor: {', '.join(passive)}")
    for line in [] if document["loops"] is None else loop_lines(robot, document["loops"]):
        screen.print(line)
    for element in robot.elements:
        parts = " ".join(f"{factor:+g}·{name}" for name, factor in element.joints.items())
        screen.print(f"element {element.name} [{element.unit}]: {element.expression} of q = {parts}")
    rows = [[_cell(joint, name) for name in _COLUMNS] for joint in document["joints"]]
    screen.print(TextTable("", _COLUMNS, rows))
    if "base" in document:
        _print_base(document)
    for one in document.get("per_joint", []):
        names = " ".join(entry["name"] for entry in one["base"])
        screen.print(f"\n{one['joint']} alone sees {one['n_base']}: {names}")
    if "file" in document:
        screen.print(f"wrote {document['file']}")


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _gears(drives: Drives) -> str:
    """Gear ratios of the motors, and which of them turn with several joints."""
    ratios = ", ".join(f"{row[m]:g}" for m, row in enumerate(drives.ratio))
    coupled = drives.coupled_motors()
    motors = f"motor{'s' if len(coupled) > 1 else ''} {', '.join(str(m + 1) for m in coupled)}"
    return f"ratio {ratios}" + (f"; {motors} also with other joints" if coupled else "")


_COLUMNS = ("label", "name", "antecedent", "kind", *GEOMETRY)


def _cell(joint: dict[str, Any], name: str) -> str:
    value = joint[name]
    if name in joint["symbols"]:
        return f"{joint['symbols'][name]} = {value:g}"
    if name in ("gamma", "alpha", "theta"):
        return f"{math.degrees(value):g}°" if value else "0"
    return f"{value:g}" if isinstance(value, float) else str(value)


def _print_base(document: dict[str, Any]) -> None:
    screen = Screen()
    gap = "none" if document["rank_gap"] is None else f"{document['rank_gap']:.1e}"
    screen.print(
        f"\n{document['n_base']} base parameters ({document['method']}; rank gap {gap}; "
        f"{len(document['unseen'])} parameters without any effect)"
    )
    rows = [[entry["name"], entry["unit"], entry["formula"].split(" = ", 1)[1]] for entry in document["base"]]
    screen.print(TextTable("", ("base", "unit", "is"), rows))
    if document["unseen"]:
        screen.print(f"without effect: {' '.join(document['unseen'])}", style="dim")
    if document["nearly_dependent"]:
        screen.print(
            f"no real log will tell these from the others: {' '.join(document['nearly_dependent'])} "
            "(is an angle in the robot file rounded?)",
            style="yellow",
        )
