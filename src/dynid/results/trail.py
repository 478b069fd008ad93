"""Where a robot went: positions at a low rate, kept in a result folder to know the motion again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
TRAIL_ARRAYS = ("trail_positions", "trail_samples", "trail_rate_hz")


@dataclass(frozen=True, eq=False)
class Trail:
    """Positions of one motion.

    Args:
        rate_hz: samples per second.
        q: positions (samples, coordinates) [rad or m].
    """

    rate_hz: float
    q: FloatArray

    @property
    def samples(self) -> int:
        """Number of samples."""
        return len(self.q)

    @property
    def time(self) -> FloatArray:
        """Stamps from zero [s], (samples,)."""
        return np.asarray(np.arange(self.samples) / self.rate_hz, dtype=float)


def trail_arrays(trails: Sequence[Trail]) -> dict[str, NDArray[Any]]:
    """Arrays by the names of ``TRAIL_ARRAYS``; none without trails.

    Args:
        trails: of one robot.
    """
    if not trails:
        return {}
    parts: tuple[NDArray[Any], ...] = (
        np.concatenate([trail.q for trail in trails]).astype(np.float32),
        np.array([trail.samples for trail in trails]),
        np.array([trail.rate_hz for trail in trails]),
    )
    return dict(zip(TRAIL_ARRAYS, parts, strict=True))


def trails_from(arrays: Mapping[str, NDArray[Any]], coordinates: int) -> tuple[Trail, ...]:
    """Read back what ``trail_arrays`` made; () where an earlier version has kept none.

    Args:
        arrays: of a result folder.
        coordinates: of the robot.

    Raises:
        ValueError: when they do not belong together.
    """
    if not any(name in arrays for name in TRAIL_ARRAYS):
        return ()
    try:
        positions, samples, rates = (arrays[name].astype(float) for name in TRAIL_ARRAYS)
    except KeyError as error:
        raise ValueError(f"the fit's motion lacks {error.args[0]!r}") from None
    fits = (
        positions.ndim == 2
        and positions.shape[1] == coordinates
        and samples.ndim == 1
        and samples.shape == rates.shape
        and np.all(samples >= 1)
        and samples.sum() == len(positions)
    )
    if not fits or not np.all(rates > 0) or not all(np.all(np.isfinite(a)) for a in (positions, rates)):
        raise ValueError("the fit's motion has arrays that do not belong together")
    ends = np.cumsum(samples.astype(int))[:-1]
    return tuple(Trail(float(r), q) for r, q in zip(rates, np.split(positions, ends), strict=True))
