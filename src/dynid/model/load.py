"""One door for robots: a catalog name or a path to a TOML, URDF or MJCF file."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from dynid.core.errors import FileError, UnknownNameError
from dynid.core.files import named_file, shipped_names
from dynid.core.kinds import require_kinds
from dynid.core.lazy import later
from dynid.model.loaders.mdh import from_mdh
from dynid.model.robot import Robot

Reader = Callable[[Path], Robot]
_HOME = ("dynid.model", "catalog")
_ROOTS: dict[str, Reader] = {
    "robot": later("dynid.model.loaders.urdf", "from_urdf"),
    "mujoco": later("dynid.model.loaders.mjcf", "from_mjcf"),
}
_READERS: dict[str, Reader] = {".toml": from_mdh, ".urdf": _ROOTS["robot"], ".mjcf": _ROOTS["mujoco"]}
_SHAPES = {
    "urdf": later("dynid.model.loaders.urdf_shapes", "urdf_shapes"),
    "mjcf": later("dynid.model.loaders.mjcf_shapes", "mjcf_shapes"),
}
_read_xml = later("dynid.model.loaders.xml_safe", "read_xml")
_parse_xml = later("dynid.model.loaders.xml_safe", "parse_xml")


def catalog() -> tuple[str, ...]:
    """Names of the robots shipped with the package."""
    return shipped_names(*_HOME)


def load_robot(name_or_path: str | Path) -> Robot:
    """Load a robot by catalog name or from a file.

    Args:
        name_or_path: a name that ``catalog()`` lists, or a path to a ``.toml`` (MDH table), ``.urdf``,
            ``.mjcf`` or ``.xml`` file (URDF or MJCF by its root element).
    """
    require_kinds(load_robot, locals())
    if not str(name_or_path).strip():
        raise UnknownNameError(
            f"The robot's name is empty ({str(name_or_path)!r}); give one of {', '.join(catalog())}, or a "
            "path to a .toml, .urdf or .xml file."
        )
    hint = "Or give a path to a .toml, .urdf or .xml file."
    with named_file(name_or_path, *_HOME, "robot", hint) as file:
        path, suffix = file.path, file.path.suffix.lower()
        if suffix == ".xml":
            return _reader_of_xml(path)(path)
        if os.path.isdir(path):
            raise FileError(f"{path} is a folder; give the robot file itself.")
        if suffix not in _READERS:
            raise FileError(
                f"{path} ends in {path.suffix!r}; a robot file ends in .toml, .urdf, .mjcf or .xml."
            )
        return _READERS[suffix](path)


def attach_shapes(robot: Robot) -> Robot:
    """The robot with capsules around the collision shapes of the URDF or MJCF file it was read from.

    A robot that has shapes already, or comes from no such file, stays as it is. What cannot be read, such as
    a mesh that is missing, is left out, and ``robot.notes`` says so.

    Args:
        robot: the robot.
    """
    require_kinds(attach_shapes, locals())
    if robot.shapes or robot.origin is None:
        return robot
    root = _parse_xml(robot.origin.text, f"robot file {robot.origin.name}")
    folder = Path(robot.origin.folder) if robot.origin.folder else None
    shapes, notes = _SHAPES[robot.origin.form](root, folder)
    return replace(robot, shapes=shapes, notes=(*robot.notes, *notes))


def _reader_of_xml(path: Path) -> Reader:
    """URDF or MJCF by the root element; a URDF may hold a <mujoco> element for MuJoCo's compiler."""
    tag = _read_xml(path, "robot file").tag
    if tag not in _ROOTS:
        raise FileError(
            f"The root element of {path.name} is <{tag}>; a robot file has <robot> (URDF) or <mujoco> (MJCF)."
        )
    return _ROOTS[tag]
