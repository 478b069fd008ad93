"""Parameter values that a command line names: a result folder, or a TOML or JSON file."""

from __future__ import annotations

from pathlib import Path

from dynid.core.errors import DynidError
from dynid.model.robot import Robot
from dynid.results.load import load_result
from dynid.simulation.parameter_file import read_parameters


def parameters_from(path: Path, robot: Robot) -> dict[str, float]:
    """Standard parameters of a robot.

    Args:
        path: a result folder of ``dynid fit`` (its base parameters, expanded), or a file that
            ``read_parameters`` reads.
        robot: the robot they are for.
    """
    if not path.is_dir():
        return read_parameters(path, robot)
    saved = load_result(path)
    if saved.robot.digest != robot.digest:
        raise DynidError(
            f"The result in {path} is of robot {saved.robot.name!r} with terms "
            f"{', '.join(saved.robot.terms)}; robot {robot.name!r} differs in geometry, gravity, "
            "terms or drives, so its parameters mean something else."
        )
    if saved.further is not None:
        raise DynidError(
            f"The result in {path} has friction that is not linear ({', '.join(saved.further.names)}), which "
            "standard parameters cannot hold; use a result of another method than separable."
        )
    return robot.table.mapping(saved.base.expand(saved.values))
