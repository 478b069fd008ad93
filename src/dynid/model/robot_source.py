"""The file a robot was read from, kept so that a model can be written back into it."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True)
class RobotSource:
    """A robot file as it was read.

    Args:
        name: file name, without folder.
        form: "urdf" or "mjcf".
        text: its whole text.
    """

    name: str
    form: str
    text: str

    @property
    def sha256(self) -> str:
        """Hash of the text, in hexadecimal digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()
