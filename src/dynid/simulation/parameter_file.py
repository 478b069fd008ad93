"""Parameter values from a file: standard or base parameters by name, as TOML or JSON."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynid.base.find import base_of
from dynid.core.errors import FileError
from dynid.core.files import naming_file, read_text, read_toml
from dynid.core.keys import key
from dynid.core.tables import shown, table_from
from dynid.model.robot import Robot

ParametersReader = Callable[[Path, Robot], dict[str, float]]
_WHAT = "parameter file"


@dataclass(frozen=True)
class ParameterValues:
    """Values by the names of standard or base parameters."""

    values: Mapping[str, float] = key("value of the parameter of that name", spread=True)


def read_parameters(path: Path, robot: Robot) -> dict[str, float]:
    """Standard parameters from a file.

    Args:
        path: TOML or JSON: names and values, alone or under ``parameters`` as in a robot file; ``parameters``
            may also be a list of tables with ``name`` and ``value``, as ``dynid fit --json`` prints.
        robot: whose parameters they are.
    """
    file = Path(path)
    content = _json(file) if file.suffix.lower() == ".json" else read_toml(file, _WHAT)
    with naming_file(file, "Parameter file"):
        return named_parameters(_values(content), robot)


def named_parameters(values: Mapping[str, Any], robot: Robot) -> dict[str, float]:
    """Standard parameters from values by name; absent ones are zero.

    Args:
        values: names of standard parameters, or of base parameters, with finite numbers.
        robot: whose parameters they are.
    """
    if not values:
        raise FileError("There are no parameters in it; give names and values.")
    table = robot.table
    numbers = dict(table_from(values, ParameterValues).values)
    standard = set(table.names)
    if set(numbers) <= standard:
        return numbers
    base = base_of(robot)
    if set(numbers) <= set(base.names):
        return table.mapping(base.expand([numbers.get(name, 0.0) for name in base.names]))
    # Names of both kinds are refused: a regrouped parameter would count twice.
    unknown = next(name for name in numbers if name not in standard)
    if unknown in base.names:
        raise FileError(
            f"{unknown} is a base parameter and {next(n for n in numbers if n in standard)} a standard one; "
            "give all of one kind."
        )
    table.index(unknown)  # has the sentence with the nearest names
    raise AssertionError(unknown)


def _json(file: Path) -> Any:
    text = read_text(file, _WHAT)
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FileError(f"The {_WHAT} {file} is not JSON: {error}.") from None


def _values(content: Any) -> Mapping[str, Any]:
    found = content["parameters"] if isinstance(content, Mapping) and "parameters" in content else content
    if isinstance(found, list) and all(
        isinstance(row, Mapping) and {"name", "value"} <= set(row) for row in found
    ):
        return {str(row["name"]): row["value"] for row in found}
    if not isinstance(found, Mapping):
        raise FileError(f"The parameters are {shown(found)}; give names and values.")
    return found
