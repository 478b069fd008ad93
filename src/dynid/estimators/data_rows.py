"""What a fit knows about base parameters, as rows of unit noise: the metric of possible robots."""

from __future__ import annotations

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.consistency.system import DataRows
from dynid.core.arrays import FloatArray
from dynid.estimators.fit import Fit


def data_rows_of(base: BaseMap, fit: Fit, values: FloatArray | None = None) -> DataRows:
    """‖A (χ − χ̂)‖² with AᵀA the inverse of the fit's classical covariance, parameters of added terms held.

    Weights of rows, instruments and priors of the strategy are in it. Directions that the fit cannot see are
    not in A.

    Args:
        base: base parameters of the robot.
        fit: its solution; where parameters were removed or held, the fit beside it is asked.
        values: χ̂, (base,); the fit's own when None.
    """
    if fit.beside is not None and (fit.project is not None or not fit.kept.all()):
        return data_rows_of(base, fit.beside, values)
    T = fit.root
    columns, rank = T.shape
    if rank == columns:
        information = np.linalg.inv(T)
    else:
        seen = fit.spectrum
        information = seen.s[:rank, None] * seen.V[:, :rank].T * seen.scale
    squares = float(np.sum(T**2))
    variance = float(np.trace(fit.covariance)) / squares if squares > 0 else 0.0
    A = np.zeros((rank, len(base)))
    A[:, fit.kept] = information[:, : int(fit.kept.sum())]
    return DataRows.of_estimate(base, A, fit.values if values is None else values, variance, fit.degrees)
