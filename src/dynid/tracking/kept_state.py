"""What a run has learnt, kept on disk every few seconds: arrays by name in one NPZ file, never a pickle."""

from __future__ import annotations

import json
import time
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.core.disk import replaced_file
from dynid.core.errors import DynidError, FileError
from dynid.logs.readers.npz import read_npz, texts_of

SCHEMA = "dynid.track/1"
_ABOUT = "about"


class KeptState:
    """A file that holds the last state of a run, replaced in one step.

    Args:
        path: the file.
        about: what the state belongs to, ready for JSON; another robot's state is refused.
        every_s: time between two states [s of the wall clock]: what a crash may lose.
    """

    def __init__(self, path: Path, about: Mapping[str, Any], every_s: float = 5.0) -> None:
        """Nothing is written yet."""
        self.path, self.about, self.every_s = path, dict(about), every_s
        self._saved = time.monotonic()

    def wait(self) -> None:
        """Try again only after the time between two states."""
        self._saved = time.monotonic()

    def require_writable(self) -> None:
        """Refuse before any work a file that could not be written after it."""
        try:
            with replaced_file(self.path.with_name(f"{self.path.name}.try")) as file:
                file.write(b"")
            self.path.with_name(f"{self.path.name}.try").unlink()
        except OSError as error:
            raise FileError(f"The state {self.path} cannot be written: {error.strerror or error}.") from None

    @property
    def due(self) -> bool:
        """Whether the last state is old enough."""
        return time.monotonic() - self._saved >= self.every_s

    def save(self, state: Mapping[str, Any]) -> None:
        """Replace the file.

        Raises:
            FileError: when it cannot be written.
        """
        flat = _leaves_of(state)
        about = json.dumps({"schema": SCHEMA, **self.about}, sort_keys=True)
        try:
            with replaced_file(self.path) as file:
                np.savez(file, allow_pickle=False, **{_ABOUT: np.array(about)}, **flat)
        except OSError as error:
            raise FileError(f"The state {self.path} cannot be written: {error.strerror or error}.") from None
        self._saved = time.monotonic()

    def load(self) -> dict[str, Any] | None:
        """The state in the file; None where there is no file.

        Raises:
            FileError: when the file is damaged, or of another robot or method.
        """
        if not self.path.exists():
            return None
        try:
            table = read_npz(self.path)
            about = json.loads(texts_of(table).get(_ABOUT, "{}"))
            arrays = {column.name: np.asarray(table.fetch(i)) for i, column in enumerate(table.columns)}
        except (ValueError, KeyError, RecursionError, zipfile.BadZipFile) as error:
            raise self.damage_sentence(error) from None
        if not isinstance(about, dict) or about.get("schema") != SCHEMA:
            raise FileError(f"{self.path} is no state of a run by this version; delete it to begin anew.")
        for name, own in self.about.items():
            if about.get(name) != own:
                raise DynidError(
                    f"{self.path} keeps a run of another {name} ({str(about.get(name))[:60]}, here "
                    f"{str(own)[:60]}); give another file, or delete it to begin anew."
                )
        arrays.pop(_ABOUT, None)
        try:
            return _tree_of(arrays)
        except (IndexError, TypeError, AttributeError) as error:
            raise self.damage_sentence(error) from None

    def damage_sentence(self, error: Exception) -> FileError:
        """The sentence about a file that cannot be gone on from."""
        reason = " ".join(str(error).split()).rstrip(".") or type(error).__name__
        return FileError(
            f"{self.path} is no state that this run can go on from ({reason}); delete it to begin anew."
        )


def about_run(base: BaseMap, method: str) -> dict[str, Any]:
    """What a state belongs to: robot, parameters, method."""
    return {"robot": base.robot.digest, "parameters": list(base.names), "method": method}


def _leaves_of(state: Mapping[str, Any], before: str = "") -> dict[str, Any]:
    """Arrays by path; what is None is left out."""
    found: dict[str, Any] = {}
    for name, value in state.items():
        if isinstance(value, Mapping):
            found |= _leaves_of(value, f"{before}{name}/")
        elif value is not None:
            found[f"{before}{name}"] = np.asarray(value)
    return found


def _tree_of(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """The way back; single numbers and texts become plain ones."""
    found: dict[str, Any] = {}
    for path, array in arrays.items():
        *folders, name = path.split("/")
        place = found
        for folder in folders:
            place = place.setdefault(folder, {})
        place[name] = array.item() if array.ndim == 0 else array
    return found
