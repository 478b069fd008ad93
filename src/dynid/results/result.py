"""A result folder: what a run found and what is needed to run it again; JSON and NPZ, never pickles."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from dynid.core.errors import FileError
from dynid.estimators.estimate import Estimate
from dynid.model.to_table import robot_to_table
from dynid.results.folder import ARRAYS, PARAMETERS, REPORT, RESULT, SCHEMA, SavedResult
from dynid.results.further import FURTHER_ARRAYS, further_table
from dynid.results.load import load_result
from dynid.results.trail import Trail, trail_arrays

__all__ = [
    "ARRAYS",
    "PARAMETERS",
    "REPORT",
    "RESULT",
    "SCHEMA",
    "SavedResult",
    "check_free",
    "load_result",
    "parameters_csv",
    "save_result",
]


def save_result(
    folder: Path,
    estimate: Estimate,
    document: Mapping[str, Any],
    page: str,
    *,
    trails: Sequence[Trail] = (),
    force: bool = False,
) -> Path:
    """Write a result folder whole or not at all.

    Args:
        folder: where to; it must not exist unless ``force``.
        estimate: what was found.
        document: content of the report.
        page: the report as HTML.
        trails: where the robot went, to know the fit's motion again.
        force: whether an existing result folder may be replaced.
    """
    folder = Path(folder)
    check_free(folder, force)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        part = Path(tempfile.mkdtemp(dir=folder.parent, prefix=f".{folder.name}."))
        try:
            _fill(part, estimate, document, page, trails)
            os.chmod(part, 0o755)
            _put_in_place(part, folder)
        finally:
            shutil.rmtree(part, ignore_errors=True)
    except OSError as error:
        raise FileError(f"The result cannot be written to {folder}: {error.strerror or error}.") from None
    return folder


def check_free(folder: Path, force: bool) -> None:
    """Refuse to overwrite: before the work starts, so that none is lost."""
    if not folder.exists():
        return
    if not force:
        raise FileError(f"{folder} exists already; choose another --out or add --force to replace it.")
    if not folder.is_dir() or (any(folder.iterdir()) and not (folder / RESULT).exists()):
        raise FileError(f"{folder} is not a dynid result folder, so --force does not replace it.")


def _fill(
    part: Path, estimate: Estimate, document: Mapping[str, Any], page: str, trails: Sequence[Trail]
) -> None:
    problem = estimate.problem
    content = {
        "schema": SCHEMA,
        "robot_file": robot_to_table(problem.robot),
        "base": {"method": problem.base.method, "names": list(problem.base.names)},
        "plan": problem.plan.to_dict(),
        "strategy": dict(estimate.strategy),
        "further": None if estimate.further is None else further_table(estimate.further),
        "document": document,
    }
    (part / RESULT).write_text(_lines(content, levels=3), encoding="utf-8")
    arrays: dict[str, Any] = {
        "values": estimate.values,
        "covariance": estimate.covariance,
        "kept": estimate.kept,
        "joint_sigma": estimate.joint_sigma,
    }
    arrays |= trail_arrays(trails)
    if estimate.further is not None:
        arrays |= {FURTHER_ARRAYS[0]: estimate.further.values, FURTHER_ARRAYS[1]: estimate.further.covariance}
    np.savez_compressed(part / ARRAYS, **arrays)
    (part / REPORT).write_text(page, encoding="utf-8")
    (part / PARAMETERS).write_text(parameters_csv(estimate), encoding="utf-8")


def _lines(value: Any, levels: int, indent: str = "") -> str:
    """JSON with entries on lines of their own down to a level; below it, such as a curve, all on one line."""
    if not levels or not value or not isinstance(value, dict | list):
        return json.dumps(value, ensure_ascii=False)
    inner = indent + " "
    if isinstance(value, dict):
        entries = [
            f"{json.dumps(k, ensure_ascii=False)}: {_lines(v, levels - 1, inner)}" for k, v in value.items()
        ]
    else:
        entries = [_lines(v, levels - 1, inner) for v in value]
    left, right = "{}" if isinstance(value, dict) else "[]"
    body = f",\n{inner}".join(entries)
    return f"{left}\n{inner}{body}\n{indent}{right}"


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
    further = estimate.further
    if further is not None:
        for name, value, sigma, unit in zip(
            further.names, further.values, further.sigma, further.units, strict=True
        ):
            shown = f"{100 * sigma / abs(value):.4g}" if value else ""
            lines.append(f'{name},{value:.10g},{sigma:.6g},{shown},{unit},1,"{name}"')
    return "\n".join(lines) + "\n"
