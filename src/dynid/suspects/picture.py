"""A suspect over the residual along time: what it explains, beside what is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.estimators.uncertainty import white_rows
from dynid.problem.problem import Problem
from dynid.suspects.ledger import Ledger, columns_along, scenes_of_fit
from dynid.suspects.scene import Scene
from dynid.suspects.suspect import Kind

_STRETCH = 300
"""Rows that a picture shows of what is there all the time: more would hide its shape."""
_POINTS = 2000
"""Points of a picture at most."""


@dataclass(frozen=True, eq=False)
class SuspectPicture:
    """Rows of the joint that feels a suspect most.

    Args:
        suspect: its key.
        joint: number of the joint, from 0.
        log: name of the experiment; of the first one where there are several.
        time: of each row [s]; experiments follow one another, (rows,).
        left: ρ, what the fit leaves of the torque [N m or N], (rows,).
        explained: z θ̂, what the suspect explains of it [N m or N], (rows,).
    """

    suspect: str
    joint: int
    log: str
    time: FloatArray
    left: FloatArray
    explained: FloatArray

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: six digits are more than a picture shows."""
        drawn = {
            name: [float(f"{x:.6g}") for x in getattr(self, name).tolist()]
            for name in ("time", "left", "explained")
        }
        return {"suspect": self.suspect, "joint": self.joint + 1, "log": self.log, **drawn}


def draw_suspect(
    problem: Problem,
    ledger: Ledger,
    number: int,
    size: FloatArray,
    scenes: Sequence[Scene] | None = None,
) -> SuspectPicture:
    """The picture of a suspect of a ledger.

    Args:
        problem: with rows and motions.
        ledger: of its suspects.
        number: of the suspect in the ledger.
        size: θ̂, (width,).
        scenes: behind the ledger; those of its fit when None.
    """
    suspect, span, fit = ledger.suspects[number], list(ledger.spans[number]), ledger.fit
    j = int(np.argmax(size**2 @ (ledger.outside[span, None] * ledger.power[span]) * fit.weights**2))
    rows = white_rows(problem, fit, j)
    scenes = scenes_of_fit(problem, fit) if scenes is None else scenes
    made = [columns_along(scene, [suspect])[j] for scene in scenes]
    S = np.concatenate([s[:, rows.sample[rows.experiment == k]] for k, s in enumerate(made)], axis=1)
    explained, left = (S.T - rows.X @ ledger.inside[:, span]) @ size, rows.residual
    shown = _spread(len(left)) if suspect.kind is Kind.CHANGE else _stretch(explained * left, rows.experiment)
    start = np.array([0.0, *np.cumsum([e.regression_samples * e.step_s for e in problem.experiments])[:-1]])
    first = int(rows.experiment[shown[0]])
    time = problem.time(problem.rows(j)) + start[rows.experiment] - start[first]
    name = problem.experiments[first].name
    return SuspectPicture(suspect.key, j, name, time[shown], left[shown], explained[shown])


def _spread(count: int) -> NDArray[np.intp]:
    """Rows over all time: a change is seen over all of it."""
    return np.unique(np.linspace(0, count - 1, min(count, _POINTS)).astype(np.intp))


def _stretch(gain: FloatArray, experiment: NDArray[np.int64]) -> NDArray[np.intp]:
    """Rows of one experiment that follow one another and where the suspect explains most."""
    count = min(len(gain), _STRETCH)
    sums = np.concatenate([[0.0], np.cumsum(gain)])
    over = sums[count:] - sums[:-count]
    whole = experiment[count - 1 :] == experiment[: len(over)]
    first = int(np.argmax(np.where(whole, over, -np.inf))) if whole.any() else 0
    return np.arange(first, first + count)
