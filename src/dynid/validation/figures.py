"""How far a prediction is from the torque: per joint and in all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import ShapeError
from dynid.core.plain import plain
from dynid.logs.spool import Samples


@dataclass(frozen=True, eq=False)
class ErrorFigures:
    """Errors e = τ − τ̂ per coordinate, and over all of them.

    Args:
        samples: rows that count, per coordinate.
        relative_percent: 100 ‖e‖ / ‖τ‖ (coordinates,); infinite or NaN where the torque is zero.
        rms: √mean(e²) [N m or N].
        nrmse_percent: 100 rms / (max τ − min τ).
        bias: mean(e) [N m or N].
        max_error: max |e| [N m or N].
        overall_percent: 100 ‖e‖ / ‖τ‖ over all coordinates together: the joints with large torques weigh
            most.
    """

    samples: NDArray[np.int_]
    relative_percent: FloatArray
    rms: FloatArray
    nrmse_percent: FloatArray
    bias: FloatArray
    max_error: FloatArray
    overall_percent: float

    @property
    def undriven(self) -> NDArray[np.bool_]:
        """Coordinates whose torque is zero in every row: their errors have no share, only a size."""
        return np.asarray(~np.isfinite(self.relative_percent) & np.isfinite(self.rms), dtype=bool)

    @property
    def worst(self) -> int:
        """The coordinate with the largest share; of those that have one, where any has."""
        errors = self.relative_percent
        return int(np.argmax(np.where(np.isfinite(errors), errors, np.where(self.undriven, -1.0, np.inf))))

    def share(self, j: int, unit: str) -> str:
        """The error of a coordinate in words: in percent of its torque, or as a size where that is zero."""
        percent = self.relative_percent[j]
        return f"{percent:.3g} %" if np.isfinite(percent) else f"{self.rms[j]:.3g} {unit} rms"

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; figures that do not exist are None."""
        return {name: plain(value) for name, value in vars(self).items()}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> ErrorFigures:
        """Read back what ``to_dict`` wrote; figures that do not exist are NaN."""
        rows = {f.name: np.array(content[f.name], dtype=float) for f in fields(cls)}
        overall = float(rows.pop("overall_percent"))
        return cls(rows.pop("samples").astype(int), overall_percent=overall, **rows)


def error_figures(
    measured: Sequence[Samples],
    predicted: Sequence[Samples],
    counts: Sequence[NDArray[np.bool_]] | None = None,
) -> ErrorFigures:
    """Figures over one or several stretches of torque.

    Args:
        measured: τ of each stretch (samples, coordinates) [N m or N].
        predicted: τ̂ of each stretch.
        counts: which entries count (samples, coordinates); all when None.
    """
    for tau, model in zip(measured, predicted, strict=True):
        if tau.shape != model.shape:
            raise ShapeError(
                f"The predicted torques have shape {model.shape}; expected that of the measured, {tau.shape}."
            )
    masks = [None] * len(measured) if counts is None else list(counts)
    n = measured[0].shape[1]
    columns = [
        _column_figures(_values_of(measured, masks, j), _values_of(predicted, masks, j)) for j in range(n)
    ]
    table = np.array(columns)
    wrong, size = np.sum(table[:, 5]), np.sum(table[:, 6])
    with np.errstate(divide="ignore", invalid="ignore"):
        overall = float(100 * np.sqrt(wrong / size))
    return ErrorFigures(
        table[:, 7].astype(int),
        table[:, 0],
        table[:, 1],
        table[:, 2],
        table[:, 3],
        table[:, 4],
        overall,
    )


def _values_of(parts: Sequence[Samples], masks: Sequence[NDArray[np.bool_] | None], j: int) -> FloatArray:
    """One coordinate of all stretches, where it counts."""
    pairs = zip((part[:, j] for part in parts), masks, strict=True)
    columns = [x if mask is None else x[mask[:, j]] for x, mask in pairs]
    return np.ascontiguousarray(columns[0]) if len(columns) == 1 else np.concatenate(columns)


def _column_figures(tau: FloatArray, model: FloatArray) -> tuple[float, ...]:
    if len(tau) == 0:
        nothing = float("nan")
        return (nothing, nothing, nothing, nothing, nothing, 0.0, 0.0, 0)
    error = tau - model
    wrong, size = float(error @ error), float(tau @ tau)
    rms = np.sqrt(wrong / len(tau))
    with np.errstate(divide="ignore", invalid="ignore"):
        relative = float(100 * np.sqrt(np.float64(wrong) / size))
        ranged = float(100 * rms / np.float64(np.ptp(tau)))
    largest = max(float(error.max()), -float(error.min()))
    return (relative, rms, ranged, float(error.mean()), largest, wrong, size, len(tau))


def percent_text(value: float) -> str:
    """A relative error in words."""
    return f"{value:.3g} %" if np.isfinite(value) else "an undefined share"
