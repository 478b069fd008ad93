"""A result folder read back, with suspicion."""

from __future__ import annotations

import json
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.base.base_map import BaseMap
from dynid.base.find import find_base
from dynid.core.errors import DynidError, FileError
from dynid.estimators.estimate import Further
from dynid.model.from_mdh import robot_from_table
from dynid.preparation.preparation import Preparation
from dynid.results.folder import ARRAYS, RESULT, SCHEMA, SavedResult
from dynid.results.further import further_from
from dynid.results.trail import trails_from

_NEEDED = ("values", "covariance", "kept", "joint_sigma")


def load_result(folder: Path) -> SavedResult:
    """Read a result folder back.

    Args:
        folder: as ``save_result`` wrote it.

    Raises:
        FileError: when it is no result folder, damaged, or of another schema.
    """
    folder = Path(folder)
    content, arrays = _content(folder), _arrays(folder)
    try:
        robot = robot_from_table(content["robot_file"])
        base = find_base(robot, method=content["base"]["method"])
        plan = Preparation(**_tuples(content["plan"]))
        names, document = content["base"]["names"], content["document"]
        further = _further(content, arrays, base)
        trails = trails_from(arrays, robot.n_coordinates)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, DynidError) as error:
        told = f"{RESULT} lacks {error.args[0]!r}" if isinstance(error, KeyError) else str(error)
        raise _damaged(folder, told) from None
    if not isinstance(document, dict):
        raise _damaged(folder, f"the document in {RESULT} is no table")
    _check_sizes(folder, base, names, arrays)
    return SavedResult(
        folder,
        robot,
        base,
        arrays["values"],
        arrays["covariance"],
        arrays["kept"].astype(bool),
        arrays["joint_sigma"],
        plan,
        document,
        further,
        trails,
    )


def _content(folder: Path) -> dict[str, Any]:
    try:
        content = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        raise _missing(folder, RESULT) from None
    except (OSError, ValueError, RecursionError) as error:
        raise _damaged(folder, f"{RESULT}: {error}") from None
    given = content.get("schema") if isinstance(content, dict) else None
    if given != SCHEMA:
        raise FileError(f"The result in {folder} has schema {given}; this version reads schema {SCHEMA}.")
    assert isinstance(content, dict)
    return content


def _arrays(folder: Path) -> dict[str, NDArray[Any]]:
    try:
        # Opened here, because NumPy leaves the file open when it is cut.
        with open(folder / ARRAYS, "rb") as file, np.load(file, allow_pickle=False) as stored:
            arrays = {name: np.asarray(stored[name]) for name in stored.files}
    except FileNotFoundError:
        raise _missing(folder, ARRAYS) from None
    except (OSError, ValueError, EOFError, KeyError, AttributeError, zipfile.BadZipFile, zlib.error):
        # What NumPy says here advises to allow pickles, which nobody should.
        raise _damaged(folder, f"{ARRAYS} cannot be read") from None
    for name in _NEEDED:
        if name not in arrays:
            raise _damaged(folder, f"{ARRAYS} lacks {name!r}")
    return arrays


def _further(content: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], base: BaseMap) -> Further | None:
    table = content.get("further")
    return None if table is None else further_from(table, arrays, len(base))


def _check_sizes(folder: Path, base: BaseMap, names: Any, arrays: Mapping[str, NDArray[Any]]) -> None:
    n, joints = len(base), base.robot.n_coordinates
    if list(base.names) != names or arrays["values"].shape != (n,):
        raise FileError(f"The result in {folder} names other base parameters than its robot has.")
    for name, shape in (("covariance", (n, n)), ("kept", (n,)), ("joint_sigma", (joints,))):
        if arrays[name].shape != shape:
            raise _damaged(folder, f"{name} has shape {arrays[name].shape} instead of {shape}")


def _damaged(folder: Path, told: str) -> FileError:
    return FileError(f"The result in {folder} is damaged ({told.rstrip('.')}); fit again.")


def _missing(folder: Path, file: str) -> FileError:
    told = "it is a file" if folder.is_file() else f"it has no {file}"
    return FileError(f"{folder} is not a dynid result folder: {told}.")


def _tuples(plan: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in plan.items()}
