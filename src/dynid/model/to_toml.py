"""A robot as the text of a robot file: what was read from URDF or MJCF becomes one file to edit."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from dynid.core.errors import ModelError
from dynid.core.files import toml_key, toml_value
from dynid.model.from_mdh import robot_from_table
from dynid.model.joint import GEOMETRY
from dynid.model.robot import Robot
from dynid.model.to_table import robot_to_table

_TOP = ("name", "title", "source", "gravity", "terms")


def robot_to_toml(robot: Robot) -> str:
    """The robot as the text of a TOML robot file, from which ``load_robot`` gives the same robot back.

    What a robot file takes for granted (zero lengths and angles, the joint before as antecedent) is left out.

    Raises:
        ModelError: when the robot is not the same when read back: it has what robot files do not hold.
    """
    table = robot_to_table(robot)
    lines = [f"{key} = {toml_value(table[key])}" for key in _TOP if table[key] != ""]
    lines += _table("lengths", table["lengths"])
    for i, row in enumerate(table["joint"]):
        lines += _table("joint", _short(row, i), brackets=2)
    for row in table["friction"]:
        lines += _table("friction", row, brackets=2)
    if "drives" in table:
        lines += _drives(table["drives"])
    lines += _table("coupling", table.get("coupling", {}))
    lines += _table("parameters", table["parameters"])
    text = "\n".join(lines) + "\n"
    if robot_from_table(tomllib.loads(text)) != robot:
        raise ModelError(
            f"Robot {robot.name!r} cannot be written as a robot file; smooth signs have no key there, and "
            "coupled joints cannot be named 'coordinates', 'offset' or 'offset_deg'."
        )
    return text


def _table(name: str, values: Mapping[str, Any], brackets: int = 1) -> list[str]:
    """The lines of a table; of an empty one none, unless it is one of several."""
    if not values and brackets == 1:
        return []
    heading = f"{'[' * brackets}{name}{']' * brackets}"
    return ["", heading, *(f"{toml_key(key)} = {toml_value(value)}" for key, value in values.items())]


def _short(row: Mapping[str, Any], i: int) -> dict[str, Any]:
    """Joint number i without what is taken for granted; -0.0 is kept, because the digest knows it."""
    granted = dict.fromkeys(GEOMETRY, 0.0) | {
        "antecedent": i,
        "limits": {},
        "actuated": row["kind"] != "fixed",
        "label": str(i + 1),
    }
    keys = ("name", "antecedent", "kind", *GEOMETRY, "limits", "actuated", "label")
    return {key: row[key] for key in keys if repr(row[key]) != repr(granted.get(key))}


def _drives(row: Mapping[str, Any]) -> list[str]:
    """Gear ratios as one list where no motor turns with several joints, else one line per motor."""
    ratio = row["ratio"]
    n = len(ratio)
    if all(ratio[i][j] == 0.0 for i in range(n) for j in range(n) if i != j):
        return _table("drives", {**row, "ratio": [ratio[i][i] for i in range(n)]})
    rows = [f"  {toml_value(line)}," for line in ratio]
    rest = [f"{key} = {toml_value(row[key])}" for key in row if key != "ratio"]
    return ["", "[drives]", "ratio = [", *rows, "]", *rest]
