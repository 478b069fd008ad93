"""A model as a MATLAB function, which GNU Octave runs too, and its parameters as a MAT file."""

from __future__ import annotations

import io
import textwrap
from typing import Any

import numpy as np

from dynid.compile.dialects import MATLAB, statements
from dynid.core.errors import DynidError
from dynid.core.lazy import later
from dynid.export.agreement import differences, require_agreement
from dynid.export.functions import ModelFunction, base_values, model_function
from dynid.export.model import Export, ExportedFile
from dynid.export.model_code import lost_in_code
from dynid.export.numpy_module import module_functions, python_text
from dynid.export.tables import base_sigma
from dynid.export.words import coordinate_names, heading_lines
from dynid.results.result import SavedResult

_save_mat, _load_mat = later("scipy.io", "savemat"), later("scipy.io", "loadmat")
_CHOOSE = [
    "",
    "function x = choose(condition, yes, no)",
    "  if condition",
    "    x = yes;",
    "  else",
    "    x = no;",
    "  end",
    "end",
]


def to_matlab(result: SavedResult, name: str) -> Export:
    """``tau = name(q, qd, qdd)`` from the base parameters, and ``name.mat`` with all parameters.

    Args:
        result: the model.
        name: of the function and of both files.
    """
    MATLAB.require_name(name, "a MATLAB function")
    values = base_values(result)
    inverse = model_function(values, "inverse")
    found = differences(values, module_functions(python_text(result, [inverse]), [inverse]))
    require_agreement("matlab", found)
    files = (
        ExportedFile(f"{name}.m", _function(result, inverse, name).encode()),
        ExportedFile(f"{name}.mat", _parameters(result)),
    )
    lost = ["Gravity, inertia matrix and forward dynamics as functions."]
    figures = {"largest_difference": max(found.values()), "operations": {"inverse": inverse.operations}}
    return Export("matlab", files, (*lost, *lost_in_code(result)[1:]), figures=figures)


def _function(result: SavedResult, inverse: ModelFunction, name: str) -> str:
    n = result.robot.n_coordinates
    lines, results = statements(inverse.program, MATLAB, {port: port for port in inverse.inputs})
    notes = [f"One sample: q, qd, qdd and tau have {n} elements. From identified base parameters."]
    said = [part for line in heading_lines(result, notes) for part in textwrap.wrap(line, 100)]
    made = [
        f"function tau = {name}(q, qd, qdd)",
        f"% {name}: {inverse.words}",
        *(f"% {line}" for line in said),
    ]
    made += [*lines, f"  tau = zeros({n}, 1);"]
    made += [f"  {MATLAB.at('tau', k)} = {value};" for k, value in enumerate(results)]
    uses_choose = any("choose(" in line for line in lines)
    return "\n".join([*made, "end", *(_CHOOSE if uses_choose else []), ""])


def _parameters(result: SavedResult) -> bytes:
    """A MAT file of version 5 with names as cells and numbers as columns, read back and compared."""
    numbers = {"values": result.values, "sigma": base_sigma(result), "covariance": result.covariance}
    texts = {
        "joints": coordinate_names(result.robot),
        "names": result.base.names,
        "units": result.base.units,
        "formulas": result.base.formulas,
    }
    if result.standard is not None:
        numbers["standard"] = result.standard
        texts["standard_names"] = result.robot.table.names
        texts["standard_units"] = tuple(entry.unit for entry in result.robot.table)
    if result.further is not None:
        numbers["further_values"] = result.further.values
        numbers["further_covariance"] = result.further.covariance
        texts["further_names"] = result.further.names
        texts["further_terms"] = tuple(term.expression for term in result.further.terms)
    content: dict[str, Any] = {key: np.array(words, dtype=object)[:, None] for key, words in texts.items()}
    file = io.BytesIO()
    _save_mat(file, content | numbers, oned_as="column")
    again = _load_mat(io.BytesIO(file.getvalue()), squeeze_me=False)
    for key, array in numbers.items():
        if not np.array_equal(again[key].reshape(array.shape), array):
            raise DynidError(f"The MAT file does not give {key!r} back; please report it.")
    return file.getvalue()
