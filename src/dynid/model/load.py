"""One door for robots: a catalog name or a path to a TOML, URDF or MJCF file."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import resources
from pathlib import Path

from dynid.core.errors import FileError, UnknownNameError, unknown_name
from dynid.core.lazy import later
from dynid.model.loaders.mdh import from_mdh
from dynid.model.robot import Robot

Reader = Callable[[Path], Robot]
_ROOTS: dict[str, Reader] = {
    "robot": later("dynid.model.from_urdf", "from_urdf"),
    "mujoco": later("dynid.model.from_mjcf", "from_mjcf"),
}
_READERS: dict[str, Reader] = {".toml": from_mdh, ".urdf": _ROOTS["robot"], ".mjcf": _ROOTS["mujoco"]}
_read_xml = later("dynid.model.xml_safe", "read_xml")


def catalog() -> tuple[str, ...]:
    """Names of the robots shipped with the package."""
    folder = resources.files("dynid.model") / "catalog"
    return tuple(sorted(Path(entry.name).stem for entry in folder.iterdir() if entry.name.endswith(".toml")))


def load_robot(name_or_path: str | Path) -> Robot:
    """Load a robot by catalog name or from a file.

    Args:
        name_or_path: a name that ``catalog()`` lists, or a path to a ``.toml`` (MDH table), ``.urdf``,
            ``.mjcf`` or ``.xml`` file (URDF or MJCF by its root element).
    """
    text = str(name_or_path)
    if not text.strip():
        raise UnknownNameError(
            f"The robot's name is empty ({text!r}); give one of {', '.join(catalog())}, or a path to a "
            ".toml, .urdf or .xml file."
        )
    if text in catalog():
        with resources.as_file(resources.files("dynid.model") / "catalog" / f"{text}.toml") as path:
            return from_mdh(path)
    path = _expanded(text)
    suffix = path.suffix.lower()
    if not suffix and not os.path.exists(path):  # unlike Path.exists, says False to names that cannot be
        raise unknown_name("robot", text, catalog(), "Or give a path to a .toml, .urdf or .xml file.")
    if suffix == ".xml":
        return _reader_of_xml(path)(path)
    if os.path.isdir(path):
        raise FileError(f"{path} is a folder; give the robot file itself.")
    reader = _READERS.get(suffix)
    if reader is None:
        raise FileError(f"{path} ends in {path.suffix!r}; a robot file ends in .toml, .urdf, .mjcf or .xml.")
    return reader(path)


def _expanded(text: str) -> Path:
    try:
        return Path(text).expanduser()
    except RuntimeError:  # "~name" of a user who does not exist
        return Path(text)


def _reader_of_xml(path: Path) -> Reader:
    """URDF or MJCF by the root element; a URDF may hold a <mujoco> element for MuJoCo's compiler."""
    tag = _read_xml(path, "robot file").tag
    if tag not in _ROOTS:
        raise FileError(
            f"The root element of {path.name} is <{tag}>; a robot file has <robot> (URDF) or <mujoco> (MJCF)."
        )
    return _ROOTS[tag]
