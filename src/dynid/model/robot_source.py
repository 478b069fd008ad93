"""The file a robot was read from, kept so that a model can be written back into it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True)
class RobotSource:
    """A robot file as it was read.

    Args:
        name: file name, without folder.
        form: "urdf" or "mjcf".
        text: its whole text.
        folder: where it lay, for the meshes it names; empty where it is not known.
    """

    name: str
    form: str
    text: str
    folder: str = field(default="", compare=False)

    @property
    def sha256(self) -> str:
        """Hash of the text, in hexadecimal digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()


def folder_of(file: Path) -> str:
    """The folder of a file, from the root of the file system.

    Args:
        file: the file.
    """
    return str(file.absolute().parent)
