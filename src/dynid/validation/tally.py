"""Figures of a validation added up piece by piece, with memory that does not depend on the log's length."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.validation.figures import ErrorFigures
from dynid.validation.residual_tests import ResidualTests, residual_tests

FloatArray = NDArray[np.float64]
_TESTED_ROWS = 200_000
"""Rows of a long log that the residual tests look at, from its beginning; more would change nothing."""


class FigureSums:
    """Sums behind ``ErrorFigures``: Σe², Στ², Σe, max|e| and the range of τ, per coordinate.

    Args:
        coordinates: how many there are.
    """

    def __init__(self, coordinates: int) -> None:
        """Start from nothing."""
        self.samples = np.zeros(coordinates, dtype=np.int_)
        self.wrong, self.size, self.bias, self.largest = np.zeros((4, coordinates))
        self.low, self.high = np.full(coordinates, np.inf), np.full(coordinates, -np.inf)

    def add(self, tau: FloatArray, model: FloatArray, counts: NDArray[np.bool_] | None = None) -> None:
        """Add a piece.

        Args:
            tau: measured torques (samples, coordinates) [N m or N].
            model: predicted torques.
            counts: which entries count; all when None.
        """
        there = np.ones(tau.shape, dtype=bool) if counts is None else counts
        error = np.where(there, tau - model, 0.0)
        self.samples += np.count_nonzero(there, axis=0)
        self.wrong += np.sum(error**2, axis=0)
        self.size += np.sum(np.where(there, tau, 0.0) ** 2, axis=0)
        self.bias += np.sum(error, axis=0)
        self.largest = np.maximum(self.largest, np.max(np.abs(error), axis=0, initial=0.0))
        self.low = np.minimum(self.low, np.min(np.where(there, tau, np.inf), axis=0, initial=np.inf))
        self.high = np.maximum(self.high, np.max(np.where(there, tau, -np.inf), axis=0, initial=-np.inf))

    def figures(self) -> ErrorFigures:
        """The figures of all pieces together."""
        nothing = self.samples == 0
        with np.errstate(divide="ignore", invalid="ignore"):
            rms = np.sqrt(self.wrong / self.samples)
            columns = (
                100 * np.sqrt(self.wrong / self.size),
                rms,
                100 * rms / (self.high - self.low),
                self.bias / self.samples,
                self.largest,
            )
            overall = float(100 * np.sqrt(np.sum(self.wrong) / np.sum(self.size)))
        relative, rms, ranged, bias, largest = (np.where(nothing, np.nan, column) for column in columns)
        return ErrorFigures(self.samples.copy(), relative, rms, ranged, bias, largest, overall)


class ResidualStore:
    """The first residuals of a log, for the tests of whiteness and normality."""

    def __init__(self) -> None:
        """Start from nothing."""
        self._pieces: list[FloatArray] = []
        self._rows = 0

    def add(self, residual: FloatArray) -> None:
        """Keep a piece (rows, coordinates) while there is room; NaN marks rows that do not count."""
        room = _TESTED_ROWS - self._rows
        if room > 0:
            self._pieces.append(residual[:room].copy())
            self._rows += len(self._pieces[-1])

    def tests(self) -> tuple[ResidualTests, ...]:
        """One per coordinate; pieces are taken for experiments of their own, as they were decimated."""
        width = self._pieces[0].shape[1]
        return tuple(residual_tests([piece[:, j] for piece in self._pieces]) for j in range(width))
