"""One door for robots: a catalog name or a path to a TOML, URDF or MJCF file."""

from __future__ import annotations

from collections.abc import Callable
from importlib import resources
from pathlib import Path

from dynid.errors import FileError, unknown_name
from dynid.model.files import read_text
from dynid.model.from_mdh import from_mdh
from dynid.model.from_mjcf import from_mjcf
from dynid.model.from_urdf import from_urdf
from dynid.model.robot import Robot

_READERS: dict[str, Callable[[Path], Robot]] = {".toml": from_mdh, ".urdf": from_urdf, ".mjcf": from_mjcf}


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
    if text in catalog():
        with resources.as_file(resources.files("dynid.model") / "catalog" / f"{text}.toml") as path:
            return from_mdh(path)
    path = Path(text).expanduser()
    if not path.suffix and not path.exists():
        raise unknown_name("robot", text, catalog(), "Or give a path to a .toml, .urdf or .xml file.")
    if path.suffix.lower() == ".xml":
        return _reader_of_xml(path)(path)
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise FileError(
            f"{path} ends in {path.suffix!r}; a robot file ends in .toml, .urdf, .mjcf or .xml.",
            name="path",
            value=path.suffix,
            allowed=".toml, .urdf, .mjcf, .xml",
        )
    return reader(path)


def _reader_of_xml(path: Path) -> Callable[[Path], Robot]:
    return from_mjcf if "<mujoco" in read_text(path, "robot file") else from_urdf
