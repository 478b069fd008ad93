"""A result folder read back: nothing in it is run, and everything has the type and size it must have."""

from __future__ import annotations

import io
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dynid.base.base_map import BaseMap
from dynid.base.find import find_base
from dynid.core.errors import DynidError, FileError
from dynid.core.kinds import require_kinds
from dynid.core.lazy import later
from dynid.estimators.estimate import Further
from dynid.model.loaders.mdh import robot_from_table
from dynid.model.robot import Robot
from dynid.model.robot_source import RobotSource
from dynid.preparation.motion import Trail
from dynid.preparation.preparation import Preparation
from dynid.results.folder import (
    ARRAYS,
    LARGEST,
    RESULT,
    ROBOT_FILES,
    damaged_result,
    file_of_result,
    read_result,
)
from dynid.results.result import SavedResult
from dynid.results.save import FURTHER_ARRAYS, STANDARD, TRAIL_ARRAYS
from dynid.simulation.parameter_file import read_parameters

if TYPE_CHECKING:
    from dynid.simulation.added_torques import AddedTorque

_term_of = later("dynid.estimators.linear.terms", "NonlinearTerm")
_slots_of = later("dynid.estimators.linear.terms", "slots_of")
_NEEDED = ("values", "covariance", "kept", "joint_sigma")
_TABLES = ("verdict", "estimate", "fit", "validation", "reproducibility", "suspects", "possibility")
"""Parts of the document that are tables, where it has them."""
_UNREADABLE = (
    *(OSError, ValueError, EOFError, KeyError, AttributeError, NotImplementedError, MemoryError),
    *(zipfile.BadZipFile, zlib.error),
)
"""What NumPy and ``zipfile`` raise where arrays are cut or changed."""
Arrays = Mapping[str, NDArray[Any]]


def load_result(folder: str | Path) -> SavedResult:
    """Read a result folder back.

    Args:
        folder: as ``save_result`` wrote it.

    Raises:
        FileError: when it is no result folder, damaged, or of another schema.
    """
    require_kinds(load_result, locals())
    folder = Path(folder)
    content, packed = read_result(folder)
    arrays = _arrays(folder, packed)
    try:
        origin = _origin(folder, content)
        robot = replace(robot_from_table(content["robot_file"]), origin=origin)
        base = find_base(robot, method=content["base"]["method"])
        plan = Preparation(**_tuples(content["plan"]))
        names, document = content["base"]["names"], _document(content["document"])
        further = _further_from(content.get("further"), arrays, base)
        trails = trails_from(arrays, robot.n_coordinates)
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, DynidError) as error:
        reason = f"{RESULT} lacks {error.args[0]!r}" if isinstance(error, KeyError) else str(error)
        raise damaged_result(folder, reason) from None
    _check_sizes(folder, base, names, arrays)
    standard = arrays.get(STANDARD)
    return SavedResult(
        folder,
        robot,
        base,
        arrays["values"].astype(float),
        arrays["covariance"].astype(float),
        arrays["kept"].astype(bool),
        arrays["joint_sigma"].astype(float),
        plan,
        document,
        further,
        trails,
        None if standard is None else standard.astype(float),
    )


def parameters_from(path: Path, robot: Robot) -> dict[str, float]:
    """Standard parameters of a robot from a result folder or a file.

    Args:
        path: a result folder (its base parameters, expanded), or a TOML or JSON file that
            ``read_parameters`` reads.
        robot: the robot they are for.

    Raises:
        DynidError: when the result is of another robot, or has added terms.
    """
    values, saved = _values_of(path, robot)
    if saved is not None and saved.further is not None:
        raise DynidError(
            f"The result in {path} has terms beside the robot's own ({', '.join(saved.further.names)}), "
            "which standard parameters cannot hold; use the result of a fit without added terms (--add none)."
        )
    return values


def plant_from(path: Path, robot: Robot) -> tuple[dict[str, float], tuple[AddedTorque, ...]]:
    """What moves a simulated robot: the same parameters, and the added terms of a result."""
    values, saved = _values_of(path, robot)
    return values, () if saved is None else saved.added_torques


def _values_of(path: Path, robot: Robot) -> tuple[dict[str, float], SavedResult | None]:
    """Standard parameters from a result folder or a file, and the result."""
    if not path.is_dir():
        return read_parameters(path, robot), None
    saved = load_result(path)
    if saved.robot.digest != robot.digest:
        raise DynidError(
            f"The result in {path} is of robot {saved.robot.name!r} with terms "
            f"{', '.join(saved.robot.terms)}; robot {robot.name!r} differs in geometry, gravity, "
            "terms or drives, so its parameters mean something else."
        )
    return robot.table.mapping(saved.base.expand(saved.values)), saved


def _arrays(folder: Path, packed: bytes) -> Arrays:
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as members:
            unpacked = sum(member.file_size for member in members.infolist())
        if unpacked > LARGEST:
            raise damaged_result(folder, f"{ARRAYS} unpacks to {unpacked} bytes")
        with np.load(io.BytesIO(packed), allow_pickle=False) as stored:
            arrays = {name: np.asarray(stored[name]) for name in stored.files}
    except _UNREADABLE:  # what NumPy says here advises to allow pickles, which nobody should
        raise damaged_result(folder, f"{ARRAYS} cannot be read") from None
    for name in _NEEDED:
        if name not in arrays:
            raise damaged_result(folder, f"{ARRAYS} lacks {name!r}")
    for name, array in arrays.items():
        if array.dtype.kind not in "biuf":
            raise damaged_result(folder, f"{name} in {ARRAYS} does not hold numbers")
    return arrays


def _origin(folder: Path, content: Mapping[str, Any]) -> RobotSource | None:
    """The robot file that the result kept; None when there is none, or when it was changed since."""
    facts = content.get("robot_origin")
    if facts is None:
        return None
    found = file_of_result(folder, content, ROBOT_FILES[facts["form"]])
    return None if found is None else RobotSource(Path(facts["name"]).name, facts["form"], found.decode())


def _document(document: Any) -> dict[str, Any]:
    if not isinstance(document, dict):
        raise ValueError(f"the document in {RESULT} is no table")
    for name in _TABLES:
        if not isinstance(document.get(name), dict | None):
            raise ValueError(f"{name} of the document in {RESULT} is no table")
    return document


def _check_sizes(folder: Path, base: BaseMap, names: Any, arrays: Arrays) -> None:
    n, joints = len(base), base.robot.n_coordinates
    if list(base.names) != names or arrays["values"].shape != (n,):
        raise FileError(f"The result in {folder} names other base parameters than its robot has.")
    shapes = {
        "covariance": (n, n),
        "kept": (n,),
        "joint_sigma": (joints,),
        STANDARD: (len(base.robot.table),),
    }
    for name, shape in shapes.items():
        if name in arrays and arrays[name].shape != shape:
            raise damaged_result(folder, f"{name} has shape {arrays[name].shape} instead of {shape}")


def _tuples(plan: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in plan.items()}


def trails_from(arrays: Arrays, coordinates: int) -> tuple[Trail, ...]:
    """Read back what ``trail_arrays`` made; () where an earlier version has kept none.

    Args:
        arrays: of a result folder.
        coordinates: of the robot.

    Raises:
        ValueError: when they do not belong together.
    """
    if not any(name in arrays for name in TRAIL_ARRAYS):
        return ()
    try:
        positions, samples, rates = (arrays[name].astype(float) for name in TRAIL_ARRAYS)
    except KeyError as error:
        raise ValueError(f"the fit's motion lacks {error.args[0]!r}") from None
    fits = (
        positions.ndim == 2
        and positions.shape[1] == coordinates
        and samples.ndim == 1
        and samples.shape == rates.shape
        and np.all(samples >= 1)
        and samples.sum() == len(positions)
    )
    if not fits or not np.all(rates > 0) or not all(np.all(np.isfinite(a)) for a in (positions, rates)):
        raise ValueError("the fit's motion has arrays that do not belong together")
    ends = np.cumsum(samples.astype(int))[:-1]
    return tuple(Trail(float(r), q) for r, q in zip(rates, np.split(positions, ends), strict=True))


def _further_from(table: Any, arrays: Arrays, base: BaseMap) -> Further | None:
    """Parameters of added terms, whose covariance has the base parameters first."""
    if table is None:
        return None
    terms = tuple(_term(row) for row in table["terms"])
    names, units = tuple(map(str, table["names"])), tuple(map(str, table["units"]))
    values, covariance = (np.asarray(arrays[name], dtype=float) for name in FURTHER_ARRAYS)
    count, size = len(names), len(base) + len(names)
    if values.shape != (count,) or covariance.shape != (size, size) or len(units) != count:
        raise ValueError(f"{count} further parameters have arrays of other sizes")
    ranges = tuple(
        {str(name): (float(low), float(high)) for name, (low, high) in row.items()}
        for row in table.get("ranges", ())
    )
    if len(ranges) not in (0, len(_slots_of(base.robot, terms))):
        raise ValueError(f"{len(ranges)} ranges of signals do not belong to the terms")
    return Further(names, units, values, covariance, terms, ranges)


def _term(row: Mapping[str, Any]) -> Any:
    return _term_of(
        name=str(row["name"]),
        expression=str(row["expression"]),
        start={str(k): float(v) for k, v in row["start"].items()},
        bounds={str(k): (float(v[0]), float(v[1])) for k, v in row["bounds"].items()},
        joints=None if row["joints"] is None else tuple(int(j) for j in row["joints"]),
        unit=str(row["unit"]),
        constant_units={str(k): str(v) for k, v in row["constant_units"].items()},
        words=str(row.get("words", "")),
        never_negative=bool(row.get("never_negative", False)),
    )
