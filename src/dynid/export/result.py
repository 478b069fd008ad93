"""A result folder: what a run found and what is needed to run it again; JSON and NPZ, never pickles."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.base.base_map import BaseMap
from dynid.base.find import find_base
from dynid.errors import FileError, ModelError
from dynid.estimators.estimate import Estimate
from dynid.model.from_mdh import robot_from_table
from dynid.model.robot import Robot
from dynid.model.to_table import robot_to_table
from dynid.signals.preparation import Preparation

FloatArray = NDArray[np.float64]
SCHEMA = 1
RESULT, ARRAYS, REPORT, PARAMETERS = "result.json", "arrays.npz", "report.html", "parameters.csv"


@dataclass(frozen=True, eq=False)
class SavedResult:
    """A result read back.

    Args:
        folder: where it lies.
        robot: the robot it belongs to.
        base: its base parameters.
        values: base parameters identified.
        covariance: (base, base).
        kept: which base parameters were estimated.
        joint_sigma: standard deviation of each joint's torque error.
        plan: preparation that was used, and that validation should use.
        document: content of the report.
    """

    folder: Path
    robot: Robot
    base: BaseMap
    values: FloatArray
    covariance: FloatArray
    kept: NDArray[np.bool_]
    joint_sigma: FloatArray
    plan: Preparation
    document: Mapping[str, Any]


def save_result(
    folder: Path, estimate: Estimate, document: Mapping[str, Any], page: str, *, force: bool = False
) -> Path:
    """Write a result folder whole or not at all.

    Args:
        folder: where to; it must not exist unless ``force``.
        estimate: what was found.
        document: content of the report.
        page: the report as HTML.
        force: whether an existing result folder may be replaced.
    """
    folder = Path(folder)
    check_free(folder, force)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        try:
            _fill(part, estimate, document, page)
            os.chmod(part, 0o755)
            _put_in_place(part, folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise FileError(
            f"The result cannot be written to {folder}: {error.strerror or error}.",
            name="out",
            value=str(folder),
        ) from None
    return folder


def check_free(folder: Path, force: bool) -> None:
    """Refuse to overwrite: before the work starts, so that none is lost."""
    if not folder.exists():
        return
    if not force:
        raise FileError(
            f"{folder} exists already; choose another --out or add --force to replace it.",
            name="out",
            value=str(folder),
        )
    if not folder.is_dir() or (any(folder.iterdir()) and not (folder / RESULT).exists()):
        raise FileError(
            f"{folder} is not a dynid result folder, so --force does not replace it.",
            name="out",
            value=str(folder),
        )


def _fill(part: Path, estimate: Estimate, document: Mapping[str, Any], page: str) -> None:
    problem = estimate.problem
    content = {
        "schema": SCHEMA,
        "robot_file": robot_to_table(problem.robot),
        "base": {"method": problem.base.method, "names": list(problem.base.names)},
        "plan": problem.plan.to_dict(),
        "strategy": dict(estimate.strategy),
        "document": document,
    }
    (part / RESULT).write_text(json.dumps(content, indent=1, ensure_ascii=False), encoding="utf-8")
    np.savez_compressed(
        part / ARRAYS,
        values=estimate.values,
        covariance=estimate.covariance,
        kept=estimate.kept,
        joint_sigma=estimate.joint_sigma,
    )
    (part / REPORT).write_text(page, encoding="utf-8")
    (part / PARAMETERS).write_text(parameters_csv(estimate), encoding="utf-8")


def _put_in_place(part: Path, folder: Path) -> None:
    if not folder.exists():
        os.rename(part, folder)
        return
    old = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}.old."))
    os.rename(folder, old / "result")
    os.rename(part, folder)
    shutil.rmtree(old, ignore_errors=True)


def parameters_csv(estimate: Estimate) -> str:
    """The parameters as a small CSV table: name, value, sigma, relative sigma, unit, essential, formula."""
    lines = ["name,value,sigma,relative_sigma_percent,unit,kept,formula"]
    base = estimate.problem.base
    rows = zip(
        base.names,
        estimate.values,
        estimate.sigma,
        estimate.relative_sigma,
        base.units,
        estimate.kept,
        base.formulas,
        strict=True,
    )
    for name, value, sigma, relative, unit, kept, formula in rows:
        shown = f"{relative:.4g}" if np.isfinite(relative) else ""
        lines.append(f'{name},{value:.10g},{sigma:.6g},{shown},{unit},{int(kept)},"{formula}"')
    return "\n".join(lines) + "\n"


def load_result(folder: Path) -> SavedResult:
    """Read a result folder back, with suspicion.

    Args:
        folder: as ``save_result`` wrote it.
    """
    folder = Path(folder)
    try:
        content = json.loads((folder / RESULT).read_text(encoding="utf-8"))
        with np.load(folder / ARRAYS, allow_pickle=False) as arrays:
            data = {
                name: np.asarray(arrays[name]) for name in ("values", "covariance", "kept", "joint_sigma")
            }
    except FileNotFoundError as error:
        raise FileError(
            f"{folder} is not a dynid result folder: it has no {Path(error.filename or '').name}.",
            name="result",
            value=str(folder),
        ) from None
    except (OSError, ValueError, KeyError) as error:
        raise FileError(
            f"The result in {folder} is damaged ({error}).", name="result", value=str(folder)
        ) from None
    given = content.get("schema") if isinstance(content, dict) else None
    if given != SCHEMA:
        raise FileError(
            f"The result in {folder} has schema {given}; this version reads schema {SCHEMA}.",
            name="schema",
            value=given,
        )
    try:
        robot = robot_from_table(content["robot_file"])
        base = find_base(robot, method=content["base"]["method"])
        plan = Preparation(**_tuples(content["plan"]))
    except (KeyError, TypeError, ModelError) as error:
        raise FileError(
            f"The result in {folder} is damaged ({error}).", name="result", value=str(folder)
        ) from None
    n = len(base)
    if list(base.names) != content["base"]["names"] or data["values"].shape != (n,):
        raise FileError(
            f"The result in {folder} names other base parameters than its robot has.",
            name="base",
            value=str(folder),
        )
    return SavedResult(
        folder,
        robot,
        base,
        data["values"],
        data["covariance"],
        data["kept"].astype(bool),
        data["joint_sigma"],
        plan,
        content["document"],
    )


def _tuples(plan: Mapping[str, Any]) -> dict[str, Any]:
    return {key: tuple(value) if isinstance(value, list) else value for key, value in plan.items()}
