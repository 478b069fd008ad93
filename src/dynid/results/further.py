"""Parameters of nonlinear friction in a result folder: their terms as data, never as code."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.lazy import later
from dynid.estimators.estimate import Further

_term_of = later("dynid.estimators.terms", "NonlinearTerm")
FURTHER_ARRAYS = ("further_values", "further_covariance")


def further_table(further: Further) -> dict[str, Any]:
    """Names, units and terms, ready for JSON; values and covariance are arrays of their own."""
    terms = [
        {**asdict(term), "joints": None if term.joints is None else list(term.joints)}
        for term in further.terms
    ]
    return {"names": list(further.names), "units": list(further.units), "terms": terms}


def further_from(table: Mapping[str, Any], arrays: Mapping[str, NDArray[Any]], base: int) -> Further:
    """Read back what ``further_table`` wrote, with its arrays.

    Args:
        table: names, units and terms.
        arrays: values and covariance by the names of ``FURTHER_ARRAYS``.
        base: number of base parameters, which come first in the covariance.

    Raises:
        KeyError, TypeError, ValueError, ModelError: when it is damaged.
    """
    terms = tuple(_term(row) for row in table["terms"])
    names, units = tuple(map(str, table["names"])), tuple(map(str, table["units"]))
    values, covariance = (np.asarray(arrays[name], dtype=float) for name in FURTHER_ARRAYS)
    count = len(names)
    if values.shape != (count,) or covariance.shape != (base + count, base + count) or len(units) != count:
        raise ValueError(f"{count} further parameters have arrays of other sizes")
    return Further(names, units, values, covariance, terms)


def _term(row: Mapping[str, Any]) -> Any:
    return _term_of(
        name=str(row["name"]),
        expression=str(row["expression"]),
        start={str(k): float(v) for k, v in row["start"].items()},
        bounds={str(k): (float(v[0]), float(v[1])) for k, v in row["bounds"].items()},
        joints=None if row["joints"] is None else tuple(int(j) for j in row["joints"]),
        unit=str(row["unit"]),
        constant_units={str(k): str(v) for k, v in row["constant_units"].items()},
    )
