"""What a body format cannot hold, in a JSON file beside it: laws with their coefficients, SI, joint side."""

from __future__ import annotations

import hashlib
import json
import math
import re
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

from dynid.core.plain import plain
from dynid.estimators.linear.terms import own_constants, slots_of
from dynid.export.bodies import equations_of
from dynid.export.joint_values import HeldValues, law_of, lost_parameters
from dynid.export.loops import loop_table
from dynid.export.model import Export, ExportedFile, ExportModel
from dynid.model.parameters import Parameter
from dynid.model.robot import EARTH_GRAVITY, Robot

SCHEMA = 1
_MOTOR_LAWS = {
    "Iam": "torque of joint j = value * share_j * (sum over k != j of share_k * qdd_k)",
    "Fvm": "torque of joint j = value * share_j * (sum over k != j of share_k * qd_k)",
    "Fcm": "torque of joint j = value * share_j * sign(sum over k of share_k * qd_k)",
}
_READ_ME = (
    "Torques that a motor gives beside those of the model file: the sum of value * factor * expression over "
    "all entries whose in_model_file is false. q, qd and qdd are position, speed and acceleration, load is "
    "the torque of the links' inertia and weight by the model, all of the joint, in SI; elements take the "
    "sums of factor * q over their joints. Functions: sign step abs exp tanh atan sqrt sin cos log min max."
)
_LONGEST = 100
"""Letters of a robot's name that a file name takes."""


def export_with_sidecar(
    form: str,
    name: str,
    text: str,
    model: ExportModel,
    held: HeldValues,
    checked: tuple[float, str],
    *,
    lacks: tuple[str, ...],
    notes: Sequence[str],
    loops: bool = False,
) -> Export:
    """The export of a text, with a file beside it where the form does not hold all of the model.

    Args:
        form: "URDF" or "MJCF".
        name: file name; its ending says what the file is.
        text: of the file.
        model: what was exported.
        held: what the form holds.
        checked: as ``read_back`` gives it: the largest difference of a torque, and what deserves care.
        lacks: which of "gravity" and the limits "velocity" and "acceleration" it does not hold.
        notes: further sentences about what is lost.
        loops: whether the text holds the robot's loops.
    """
    content, (difference, care) = text.encode(), checked
    beside = f"{name}.dynid.json"  # of this form: URDF and MJCF of a robot may lie in one folder
    lost = lost_parameters(model, held, form, beside)
    if not loops:
        lost += _lost_couplings(model.robot, form, beside)
    lost += notes
    lost += [care] if care else []
    if model.result.further is not None:
        terms = ", ".join(term.name for term in model.result.further.terms)
        lost.append(f"{form} does not hold the added terms {terms}: they are in {beside}.")
    for key in ("velocity", "acceleration"):
        names = [j.name for j in model.robot.joints if math.isfinite(getattr(j.limits, key))]
        if key in lacks and names:
            lost.append(
                f"{form} does not hold the limits of {key} of {', '.join(names)}: they are in {beside}."
            )
    if "gravity" in lacks and model.robot.gravity != EARTH_GRAVITY:
        x, y, z = model.robot.gravity
        lost.append(
            f"{form} does not hold gravity, which is ({x:g}, {y:g}, {z:g}) m/s² in the base frame: set it in "
            "the simulator."
        )
    if model.robot.drives is not None and model.robot.drives.coupled_motors():
        lost.append(f"{form} moves joints, not motors: the gears that couple them are in {beside}.")
    files = [ExportedFile(name, content)]
    if lost:
        table = _table(model, held, name, content)
        said = json.dumps(plain(table), indent=1, ensure_ascii=False) + "\n"
        files.append(ExportedFile(beside, said.encode()))
    return Export(form.lower(), tuple(files), tuple(lost), figures={"largest_difference": difference})


def file_name(robot: Robot, suffix: str) -> str:
    """A plain file name of a robot."""
    return (re.sub(r"[^A-Za-z0-9._-]+", "_", robot.name).strip("._")[:_LONGEST] or "robot") + suffix


def file_not_kept(robot: Robot) -> str:
    """That the robot's own file is not in the result, and a new one was made."""
    return (
        f"The robot was read from {robot.source}, which the result does not hold as it was; a new file was "
        "made from its frames. Give the file by --urdf (urdf=…) to have the values written into it."
    )


def _lost_couplings(robot: Robot, form: str, beside: str) -> list[str]:
    if robot.closure is not None and robot.coupling is None:
        loops = ", ".join(repr(cut.name) for cut in robot.closure.cuts)
        return [
            f"{form} is written as a tree, without the loop {loops}: the joints that it holds move freely "
            f"there; the loop is in {beside}."
        ]
    return [
        f"{form} lets a joint follow one other joint; joint {name!r} follows {' and '.join(factors)}, so it "
        f"moves freely there: its equation is in {beside}."
        for name, (_, factors) in equations_of(robot).items()
        if len(factors) > 1
    ]


def _table(model: ExportModel, held: HeldValues, name: str, content: bytes) -> dict[str, Any]:
    robot = model.robot
    followers = equations_of(robot)
    return {
        "schema": SCHEMA,
        "robot": robot.name,
        "model_file": {"name": name, "sha256": hashlib.sha256(content).hexdigest()},
        "read_me": _READ_ME,
        "gravity": {"value": robot.gravity, "unit": "m/s^2", "frame": "base"},
        "joints": [
            {
                "name": joint.name,
                "kind": str(joint.kind),
                "follows": {"offset": followers[joint.name][0], "factors": followers[joint.name][1]}
                if joint.name in followers
                else None,
                "terms": [
                    _term(model, held, entry)
                    for entry in robot.table
                    if entry.joint == j and entry.family in ("drive", "friction")
                ],
                "limits": asdict(joint.limits),
            }
            for j, joint in enumerate(robot.joints)
            if joint.movable
        ],
        "loops": loop_table(robot),
        "elements": [
            {**_term(model, held, entry), "factors": law_of(robot, entry)[1]}
            for entry in robot.table
            if entry.family == "element"
        ],
        "motors": _motors(model),
        "added_terms": _added_terms(model),
    }


def _term(model: ExportModel, held: HeldValues, entry: Parameter) -> dict[str, Any]:
    return {
        "name": entry.name,
        "value": model.by_name[entry.name],
        "unit": entry.unit,
        "expression": law_of(model.robot, entry)[0],
        "in_model_file": entry.name in held.parameters,
    }


def _motors(model: ExportModel) -> dict[str, Any] | None:
    """Gears, and the terms of motors that turn with several joints."""
    robot = model.robot
    if robot.drives is None:
        return None
    joints = [robot.joints[j].name for j in robot.coordinates]
    shares = dict(zip(robot.coordinates, robot.drives.shares.tolist(), strict=True))
    return {
        "joints": joints,
        "ratio": robot.drives.ratio,
        "offset": robot.drives.offset,
        "law": "motor positions = ratio (q - offset)",
        "terms": [
            {
                "name": entry.name,
                "value": model.by_name[entry.name],
                "unit": entry.unit,
                "shares": dict(zip(joints, shares[entry.joint], strict=True)),
                "law": _MOTOR_LAWS[entry.symbol],
                "in_model_file": False,
            }
            for entry in robot.table
            if entry.family == "motor"
        ],
    }


def _added_terms(model: ExportModel) -> list[dict[str, Any]]:
    further, robot = model.result.further, model.robot
    if further is None:
        return []
    slots = slots_of(robot, further.terms)
    constants = own_constants(slots, further.values[len(slots) :])
    return [
        {
            "name": slot.coefficient,
            "joint": robot.joints[robot.coordinates[slot.joint]].name,
            "value": value,
            "unit": slot.unit,
            "expression": slot.term.expression,
            "constants": {
                name: {"value": c, "unit": unit}
                for name, c, unit in zip(slot.term.constants, own, slot.constant_units, strict=True)
            },
            "in_model_file": False,
        }
        for slot, value, own in zip(slots, further.values, constants, strict=False)
    ]
