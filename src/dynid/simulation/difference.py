"""How far two integrations of one loop lie apart, and how much of that is encoders that round otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from dynid.simulation.batch import PIECES, WINDOWS, Batch, Whole
from dynid.simulation.simulator import Paths

FloatArray = NDArray[np.float64]
_FLIPS = 3.0
"""Encoder steps by which a reading that flips may move a loop; what is more comes from the integration."""


class Track(NamedTuple):
    """Positions of runs, true ones and as the controller sees them, (simulations, samples, coordinates)."""

    q: FloatArray
    measured: FloatArray


@dataclass(frozen=True)
class Difference:
    """Largest difference of positions between two runs [rad or m].

    Args:
        smooth: as long as all encoders read the same.
        total: at all samples.
        rounding: largest step of an encoder as the joints see it; 0 when none rounds.
    """

    smooth: float
    total: float
    rounding: float = 0.0

    def within(self, tolerance: float, factor: float) -> bool:
        """Whether the integration is good enough; readings that flip do not go away with shorter steps."""
        flips = max(tolerance / factor, _FLIPS * self.rounding)
        return factor * self.smooth <= tolerance and self.total <= flips

    def error(self, factor: float) -> float:
        """Estimated error of positions, never less than a step of an encoder that rounds."""
        return max(factor * self.total, self.rounding)


def between(
    coarse: Paths | Track, fine: Paths | Track, encoder: FloatArray, *, follows: bool = False
) -> Difference:
    """The largest difference of positions between runs.

    Args:
        coarse: runs.
        fine: the same with other steps.
        encoder: how far the reading of each joint moves with one step of each encoder.
        follows: whether each run begins where the one before it ends, so that the difference at its end is
            added to those of the next: a loop that forgets nothing adds them up.
    """
    rounding = float(np.abs(encoder).sum(axis=1).max())
    with np.errstate(invalid="ignore", over="ignore"):
        apart = fine.q - coarse.q
        alike = _alike(coarse, fine, apart, encoder) if rounding else None
        total = _size(apart)
        smooth = total if alike is None else _size(np.where(alike[..., None], apart, 0.0))
        if follows:
            ends = apart[:-1, -1] if alike is None else apart[:-1, -1] * alike[:-1, -1:]
            later = apart[1:] + np.cumsum(ends, axis=0)[:, None]
            carried = _size(later if alike is None else np.where(alike[1:, :, None], later, 0.0))
            smooth, total = max(smooth, carried), max(total, carried)
    return Difference(smooth, total, rounding)


def _alike(
    coarse: Paths | Track, fine: Paths | Track, apart: FloatArray, encoder: FloatArray
) -> NDArray[np.bool_]:
    """Where all encoders have read the same so far, (simulations, samples)."""
    least = 0.5 * float(np.abs(encoder[encoder != 0]).min())
    moved = np.abs((fine.measured - coarse.measured) - apart).max(axis=2)
    return np.asarray(np.logical_and.accumulate(moved < least, axis=1))


def _size(values: FloatArray) -> float:
    found = float(np.abs(values).max())
    return found if np.isfinite(found) else float("inf")


def worst_windows(coarse: Track, fine: Paths, batch: Batch) -> list[tuple[int, int]]:
    """Pieces and windows in them where two runs differ most, as many as there are lanes."""
    apart = np.abs(fine.q - coarse.q)[:, : WINDOWS * batch.window]
    size = apart.reshape(PIECES, WINDOWS, -1).max(axis=2)
    return [divmod(int(k), WINDOWS) for k in np.argsort(size, axis=None)[-PIECES:]]


def cut(whole: Whole, batch: Batch) -> Track:
    """A run over all samples in the pieces of its batch."""

    def parts(signal: FloatArray) -> FloatArray:
        return np.array([signal[0, first : first + batch.piece] for first in batch.firsts])

    return Track(parts(whole.paths.q), parts(whole.paths.measured))
