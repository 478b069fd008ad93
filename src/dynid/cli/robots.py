"""``dynid robots``: the robots shipped with the package."""

from __future__ import annotations

from typing import Any

from dynid.cli.command import JsonOption, command
from dynid.cli.output import Screen, print_json
from dynid.core.text import TextTable
from dynid.model.load import catalog, load_robot


@command(examples=["dynid robots", "dynid robots --json"])
def robots(as_json: JsonOption = False) -> None:
    """List the robots shipped with dynid; any of them, or a .toml, .urdf or .xml file, is a ROBOT."""
    rows = [describe(name) for name in catalog()]
    if as_json:
        print_json({"robots": rows})
        return
    lines = [[r["name"], str(r["n_coordinates"]), str(r["n_standard"]), r["title"]] for r in rows]
    Screen().print(TextTable("", ("robot", "axes", "parameters", "what it is"), lines))


def describe(name: str) -> dict[str, Any]:
    """A robot of the catalog in a few JSON-ready values."""
    robot = load_robot(name)
    return {
        "name": name,
        "title": robot.title,
        "n_joints": len(robot.movable),
        "n_coordinates": robot.n_coordinates,
        "n_standard": len(robot.table),
        "terms": list(robot.terms),
        "source": robot.source,
    }
