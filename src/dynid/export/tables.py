"""The parameters of a result as rows, and the forms that are tables of them: CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import dynid
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.core.plain import plain
from dynid.estimators.linear.terms import slots_of
from dynid.export.model import Export, ExportedFile
from dynid.export.words import NO_STANDARD, coordinate_names, coordinate_units, result_hash, unseen_error
from dynid.model.loaders.mdh import robot_from_table, robot_to_table
from dynid.results.result import SavedResult
from dynid.results.save import csv_text

SCHEMA = "dynid.export/1"


@dataclass(frozen=True)
class ParameterRow:
    """A parameter that was identified.

    Args:
        name: of the base parameter, coefficient or constant.
        value: SI.
        sigma: standard deviation; infinite where the logs do not determine the parameter.
        unit: SI.
        kept: whether it was estimated; others were removed as not essential, and are zero.
        formula: what it is made of; of an added term, its expression.
    """

    name: str
    value: float
    sigma: float
    unit: str
    kept: bool
    formula: str

    @property
    def percent(self) -> float:
        """100 σ / |value|; infinite where the value is zero."""
        return 100 * self.sigma / abs(self.value) if self.value else math.inf


def base_rows(result: SavedResult) -> list[ParameterRow]:
    """The base parameters in order."""
    base = result.base
    columns = (base.names, result.values, base_sigma(result), base.units, result.kept, base.formulas)
    return [
        ParameterRow(name, float(value), float(sigma), unit, bool(kept), formula)
        for name, value, sigma, unit, kept, formula in zip(*columns, strict=True)
    ]


def base_sigma(result: SavedResult) -> FloatArray:
    """Standard deviations of the base parameters; infinite where the logs do not determine them."""
    facts = result.section("estimate").get("facts") or {}
    lost = set(facts.get("undetermined", ()))
    sigma = np.sqrt(np.maximum(np.diag(result.covariance), 0.0))
    return np.where([name in lost for name in result.base.names], np.inf, sigma)


def further_rows(result: SavedResult) -> list[ParameterRow]:
    """Coefficients and constants of the added terms."""
    further = result.further
    if further is None:
        return []
    formulas = {
        name: f"{slot.coefficient} * ({slot.term.expression})"
        for slot in slots_of(result.robot, further.terms)
        for name in (slot.coefficient, *slot.constants)
    }
    rows = zip(further.names, further.values, further.sigma, further.units, strict=True)
    return [
        ParameterRow(name, float(value), float(sigma), unit, True, formulas[name])
        for name, value, sigma, unit in rows
    ]


def standard_rows(result: SavedResult) -> list[dict[str, Any]]:
    """Standard parameters: name, value, sigma (classical; None where unknown), unit, source.

    The source is "data", "bound" or "prior"; None where the document does not say it.
    """
    assert result.standard is not None
    found = result.section("possibility")
    names = [str(name) for name in found.get("names", ())]
    source, sigma = (dict(zip(names, found.get(key, ()), strict=False)) for key in ("fixed_by", "sigma"))
    return [
        {"name": e.name, "value": v, "sigma": sigma.get(e.name), "unit": e.unit, "source": source.get(e.name)}
        for e, v in zip(result.robot.table, result.standard.tolist(), strict=True)
    ]


# ── CSV ──────────────────────────────────────────────────────────────────────────────────────────────────

_BASE_HEAD = ("name", "value", "sigma", "relative_sigma_percent", "unit", "kept", "formula")
_STANDARD_HEAD = ("name", "value", "sigma", "unit", "source")


def to_csv(result: SavedResult, name: str) -> Export:
    """Two tables with all digits: base parameters with added terms, and standard parameters.

    Args:
        result: the model.
        name: what the files begin with.
    """
    rows = [*base_rows(result), *further_rows(result)]
    cells = [
        [r.name, repr(r.value), _finite(r.sigma), _finite(r.percent), r.unit, str(int(r.kept)), r.formula]
        for r in rows
    ]
    files = [ExportedFile(f"{name}_base.csv", csv_text(_BASE_HEAD, cells).encode())]
    _require_values(files[0], [row.value for row in rows])
    lost = ["Covariances between the parameters, and the robot itself."]
    if result.standard is None:
        lost.append(NO_STANDARD)
    else:
        made = [
            [
                "" if cell is None else repr(cell) if isinstance(cell, float) else str(cell)
                for cell in row.values()
            ]
            for row in standard_rows(result)
        ]
        files.insert(0, ExportedFile(f"{name}_standard.csv", csv_text(_STANDARD_HEAD, made).encode()))
        _require_values(files[0], result.standard.tolist())
    return Export(
        "csv", tuple(files), tuple(lost), figures={"parameters": len(rows), "largest_difference": 0.0}
    )


def _finite(value: float) -> str:
    return repr(value) if math.isfinite(value) else ""


def _require_values(file: ExportedFile, values: Sequence[float]) -> None:
    """Read a table back: every value is the same number."""
    rows = list(csv.reader(io.StringIO(file.content.decode(), newline="")))[1:]
    if [float(row[1]) for row in rows] != list(values):
        raise DynidError(f"The table {file.name} does not give its values back; please report it.")


# ── JSON ─────────────────────────────────────────────────────────────────────────────────────────────────


def to_json(result: SavedResult, name: str) -> Export:
    """One document with robot, base parameters, covariance, standard parameters and added terms.

    Args:
        result: the model.
        name: of the file.
    """
    document = model_document(result)
    content = json.dumps(document, indent=1, allow_nan=False, ensure_ascii=False).encode()
    _require_same_model(result, json.loads(content))
    lost = () if result.standard is not None else (NO_STANDARD,)
    return Export("json", (ExportedFile(f"{name}.json", content),), lost, figures={"largest_difference": 0.0})


def model_document(result: SavedResult) -> dict[str, Any]:
    """The model as JSON holds it; infinite standard deviations are null."""
    units = zip(coordinate_names(result.robot), coordinate_units(result.robot), strict=True)
    rows = base_rows(result)
    base = [vars(row) | {"percent_sigma": row.percent} for row in rows]
    return {
        "schema": SCHEMA,
        "dynid": dynid.__version__,
        "result": result_hash(result),
        "torque_error_percent": unseen_error(result),
        "robot": robot_to_table(result.robot),
        "coordinates": [{"name": n, "position_unit": q, "torque_unit": tau} for n, (q, tau) in units],
        "base": {"parameters": plain(base), "covariance": plain(result.covariance)},
        "standard": None if result.standard is None else standard_rows(result),
        "further": _further_document(result),
    }


def _further_document(result: SavedResult) -> dict[str, Any] | None:
    if result.further is None:
        return None
    terms = [{**vars(term), "constants": dict(term.constants)} for term in result.added_torques]
    rows = [vars(row) for row in further_rows(result)]
    return {"parameters": plain(rows), "covariance": plain(result.further.covariance), "terms": plain(terms)}


def _require_same_model(result: SavedResult, document: Mapping[str, Any]) -> None:
    """Read a document back: the same equations, and the same numbers."""
    same = robot_from_table(document["robot"]).digest == result.robot.digest
    same &= [row["value"] for row in document["base"]["parameters"]] == result.values.tolist()
    same &= document["base"]["covariance"] == result.covariance.tolist()
    if result.standard is not None:
        same &= [row["value"] for row in document["standard"]] == result.standard.tolist()
    if result.further is not None:
        same &= [row["value"] for row in document["further"]["parameters"]] == result.further.values.tolist()
    if not same:
        raise DynidError("The JSON document does not give the model back; please report it.")
