"""Results side by side: parameters, residuals and time of several estimators or several logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.errors import DynidError
from dynid.export.result import SavedResult

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several results of one robot.

    Args:
        labels: one per result.
        names: base parameters of any of them.
        units: their units.
        values: (results, names); not a number where a result has no such parameter.
        sigma: (results, names); zero where a parameter was removed as not essential.
        summaries: per result, method, residual, time, outcome and verdict.
    """

    labels: tuple[str, ...]
    names: tuple[str, ...]
    units: tuple[str, ...]
    values: FloatArray
    sigma: FloatArray
    summaries: tuple[dict[str, Any], ...]

    @property
    def gaps(self) -> FloatArray:
        """Largest distance of each parameter between any two results, in their combined σ, (names,)."""
        gaps = np.zeros(len(self.names))
        for a in range(len(self.labels)):
            for b in range(a):
                distance = np.abs(self.values[a] - self.values[b])
                doubt = np.hypot(self.sigma[a], self.sigma[b])
                share = np.divide(distance, doubt, out=np.full(len(gaps), np.nan), where=doubt > 0)
                gaps = np.fmax(gaps, share)
        return gaps

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        gaps = self.gaps
        return {
            "results": [
                {"label": label, **row} for label, row in zip(self.labels, self.summaries, strict=True)
            ],
            "parameters": [
                {
                    "name": name,
                    "unit": self.units[i],
                    "values": [float(v) for v in self.values[:, i]],
                    "sigma": [float(s) for s in self.sigma[:, i]],
                    "largest_gap_sigma": float(gaps[i]),
                }
                for i, name in enumerate(self.names)
            ],
        }


def compare_results(results: Sequence[SavedResult]) -> Comparison:
    """Put results of one robot side by side.

    Args:
        results: at least two, of robots with the same axes.
    """
    if len(results) < 2:
        raise DynidError(
            f"{len(results)} result was given; a comparison needs at least two.",
            name="results",
            value=len(results),
        )
    axes = {r.robot.n_coordinates for r in results}
    if len(axes) > 1:
        named = ", ".join(f"{r.folder} ({r.robot.name}, {r.robot.n_coordinates} axes)" for r in results)
        raise DynidError(
            f"The results belong to different robots: {named}; compare results of one robot.", name="results"
        )
    units = {name: unit for r in results for name, unit in zip(r.base.names, r.base.units, strict=True)}
    names = tuple(units)
    values = np.full((len(results), len(names)), np.nan)
    sigma = np.full((len(results), len(names)), np.nan)
    for row, result in enumerate(results):
        where = [names.index(name) for name in result.base.names]
        values[row, where] = result.values
        sigma[row, where] = np.sqrt(np.maximum(np.diag(result.covariance), 0.0))
    return Comparison(
        _labels(results),
        names,
        tuple(units[name] for name in names),
        values,
        sigma,
        tuple(_summary(r) for r in results),
    )


def _labels(results: Sequence[SavedResult]) -> tuple[str, ...]:
    """Names of the folders, or their paths where names repeat."""
    short = [r.folder.name or str(r.folder) for r in results]
    return tuple(
        name if short.count(name) == 1 else str(r.folder) for name, r in zip(short, results, strict=True)
    )


def _summary(result: SavedResult) -> dict[str, Any]:
    document = result.document
    verdict, run = document.get("verdict") or {}, document.get("reproducibility") or {}
    estimate = document.get("estimate") or {}
    strategy = estimate.get("strategy") or {}
    return {
        "method": str(strategy.get("name", "")),
        "kept": int(result.kept.sum()),
        "relative_residual_percent": _percent(document.get("fit")),
        "unseen_percent": _percent(document.get("validation")),
        "iterations": estimate.get("iterations"),
        "seconds": run.get("seconds"),
        "outcome": (estimate.get("outcome") or {}).get("name"),
        "trustworthy": verdict.get("trustworthy"),
    }


def _percent(validation: Any) -> Any:
    """Error over all joints at the regression's rate, or at full rate where it was not decimated."""
    figures = (validation or {}).get("decimated") or (validation or {}).get("full") or {}
    return figures.get("overall_percent")
