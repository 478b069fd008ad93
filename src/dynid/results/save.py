"""A result folder written: what a run found and what is needed to run it again; JSON and NPZ, no pickles."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.estimators.estimate import Estimate, Further
from dynid.model.loaders.mdh import robot_to_table
from dynid.preparation.motion import Trail
from dynid.results.folder import ARRAYS, PARAMETERS, REPORT, ROBOT_FILES, replace_result, reserved_folder

FURTHER_ARRAYS = ("further_values", "further_covariance")
STANDARD = "standard"
TRAIL_ARRAYS = ("trail_positions", "trail_samples", "trail_rate_hz")


def save_result(
    folder: Path,
    estimate: Estimate,
    document: Mapping[str, Any],
    page: str,
    *,
    trails: Sequence[Trail] = (),
    standard: FloatArray | None = None,
    force: bool = False,
    inputs: Iterable[Path] = (),
) -> Path:
    """Write a result folder whole or not at all.

    Args:
        folder: where to; it must be empty or absent unless ``force``.
        estimate: what was found.
        document: content of the report.
        page: the report as HTML.
        trails: where the robot went, to know the fit's motion again.
        standard: standard parameters of a possible robot, in table order; None where there are none.
        force: whether a result in the folder may be replaced; files that are not dynid's stay as they are.
        inputs: files that the fit has read and that must not be replaced.
    """
    with reserved_folder(folder, force=force, inputs=inputs):
        write_result(folder, estimate, document, page, trails=trails, standard=standard)
    return folder


def write_result(
    folder: Path,
    estimate: Estimate,
    document: Mapping[str, Any],
    page: str,
    *,
    trails: Sequence[Trail] = (),
    standard: FloatArray | None = None,
) -> None:
    """Write into a folder that is reserved already; arguments as for ``save_result``."""
    problem, further, origin = estimate.problem, estimate.further, estimate.problem.robot.origin
    content = {
        "robot_file": robot_to_table(problem.robot),
        "robot_origin": None if origin is None else {"name": origin.name, "form": origin.form},
        "base": {"method": problem.base.method, "names": list(problem.base.names)},
        "plan": problem.plan.to_dict(),
        "strategy": dict(estimate.strategy),
        "further": None if further is None else _further_table(further),
        "document": document,
    }
    arrays: dict[str, Any] = {
        "values": estimate.values,
        "covariance": estimate.covariance,
        "kept": estimate.kept,
        "joint_sigma": estimate.joint_sigma,
        **trail_arrays(trails),
    }
    if further is not None:
        arrays |= dict(zip(FURTHER_ARRAYS, (further.values, further.covariance), strict=True))
    if standard is not None:
        arrays[STANDARD] = standard
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)
    files = {ARRAYS: packed.getvalue(), REPORT: page.encode(), PARAMETERS: parameters_csv(estimate).encode()}
    if origin is not None:
        files[ROBOT_FILES[origin.form]] = origin.text.encode()
    replace_result(folder, content, files)


def trail_arrays(trails: Sequence[Trail]) -> dict[str, NDArray[Any]]:
    """Trails of one robot as arrays by the names of ``TRAIL_ARRAYS``; none without trails."""
    if not trails:
        return {}
    parts: tuple[NDArray[Any], ...] = (
        np.concatenate([trail.q for trail in trails]).astype(np.float32),
        np.array([trail.samples for trail in trails]),
        np.array([trail.rate_hz for trail in trails]),
    )
    return dict(zip(TRAIL_ARRAYS, parts, strict=True))


def _further_table(further: Further) -> dict[str, Any]:
    """Names, units and terms as data, never as code; values and covariance are arrays of their own."""
    terms = [
        {**asdict(term), "joints": None if term.joints is None else list(term.joints)}
        for term in further.terms
    ]
    ranges = [{name: list(ends) for name, ends in of_slot.items()} for of_slot in further.ranges]
    return {"names": list(further.names), "units": list(further.units), "terms": terms, "ranges": ranges}


def parameters_csv(estimate: Estimate) -> str:
    """The parameters as a small CSV table: name, value, sigma, relative sigma, unit, essential, formula."""
    base, further = estimate.problem.base, estimate.further
    columns = (base.names, estimate.values, estimate.sigma, base.units, estimate.kept, base.formulas)
    rows = [_row(*cells) for cells in zip(*columns, strict=True)]
    if further is not None:
        more = zip(further.names, further.values, further.sigma, further.units, strict=True)
        rows += [_row(name, value, sigma, unit, True, name) for name, value, sigma, unit in more]
    return csv_text(("name", "value", "sigma", "relative_sigma_percent", "unit", "kept", "formula"), rows)


def _row(name: str, value: float, sigma: float, unit: str, kept: bool, formula: str) -> list[str]:
    relative = 100 * sigma / abs(value) if value else math.inf
    shown = f"{relative:.4g}" if math.isfinite(relative) else ""
    return [name, f"{value:.10g}", f"{sigma:.6g}", shown, unit, str(int(kept)), formula]


def csv_text(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table as CSV; cells with commas, quotes or line ends are quoted."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(head)
    writer.writerows(rows)
    return text.getvalue()
