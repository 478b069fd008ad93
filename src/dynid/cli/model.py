"""``dynid model``: what a robot is and which of its parameters can be seen."""

from __future__ import annotations

import math
from typing import Annotated, Any

import typer

from dynid.base.find import METHODS, find_base, joint_bases
from dynid.cli.output import print_json
from dynid.cli.robot_options import GravityOption, PayloadOption, RobotArgument, TermsOption, chosen_robot
from dynid.cli.screen import Screen, TextTable
from dynid.errors import DynidError, NotTrustworthyError
from dynid.model.joint import GEOMETRY
from dynid.model.robot import Robot


def model(
    robot: RobotArgument,
    base: Annotated[bool, typer.Option("--base", help="Find the base parameters.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,
    terms: TermsOption = None,
    gravity: GravityOption = None,
    payload: PayloadOption = False,
    method: Annotated[
        str | None,
        typer.Option(
            help=f"With --base: how to find them, one of {', '.join(METHODS)}.", show_default="auto"
        ),
    ] = None,
    per_joint: Annotated[
        bool, typer.Option("--per-joint", help="With --base: also the base set seen from each joint alone.")
    ] = False,
) -> None:
    """Describe a robot: joints, parameters and, with --base, the combinations its torques can reveal."""
    if method is not None and not (base or per_joint):
        raise DynidError(f"--method {method} has no meaning without --base; add --base.", name="method")
    found = chosen_robot(robot, terms, gravity, payload)
    document = describe_robot(found)
    if base or per_joint:
        document |= describe_base(found, method or "auto")
    if per_joint:
        document["per_joint"] = [
            one.to_dict() | {"joint": found.joints[j].name} for j, one in _by_joint(found)
        ]
    if as_json:
        print_json(document)
    else:
        _print(found, document)


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
                "lengths or angles that are nearly but not quite zero.",
                name="n_base",
                value=(len(found), len(check)),
            )
        document["rank_gap"] = check.to_dict()["rank_gap"]
        document["n_base_numeric"] = len(check)
    return document


def _by_joint(robot: Robot) -> list[tuple[int, Any]]:
    return list(zip(robot.coordinates, joint_bases(robot), strict=True))


def _print(robot: Robot, document: dict[str, Any]) -> None:
    screen = Screen()
    screen.print(f"{robot.name}  {robot.title}", style="bold")
    if robot.source:
        screen.print(f"source: {robot.source}", style="dim")
    g = ", ".join(f"{value:g}" for value in robot.gravity)
    screen.print(
        f"{document['n_joints']} joints, {document['n_coordinates']} coordinates, "
        f"{document['n_standard']} standard parameters, gravity ({g}) m/s², "
        f"terms {' '.join(robot.terms) or 'none'}"
    )
    rows = [[_cell(joint, name) for name in _COLUMNS] for joint in document["joints"]]
    screen.print(TextTable("", _COLUMNS, rows))
    if "base" in document:
        _print_base(document)
    for one in document.get("per_joint", []):
        names = " ".join(entry["name"] for entry in one["base"])
        screen.print(f"\n{one['joint']} alone sees {one['n_base']}: {names}")


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
