"""A prepared motion: positions, speeds, accelerations and torques of the joints, ready for a regressor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import ShapeError
from dynid.logs.log import Source, Step

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Motion:
    """Filtered signals of one experiment at one constant rate.

    Args:
        name: name of the experiment.
        time: stamps [s], (samples,).
        q: positions (samples, coordinates) [rad or m].
        qd: speeds.
        qdd: accelerations.
        tau: torques [N m or N].
        rate_hz: samples per second.
        history: what was done to the log, oldest first.
        sources: files it came from.
    """

    name: str
    time: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    tau: FloatArray
    rate_hz: float
    history: tuple[Step, ...] = ()
    sources: tuple[Source, ...] = ()

    def __post_init__(self) -> None:
        """Check that all signals have the same shape and are finite."""
        for name in ("q", "qd", "qdd", "tau"):
            array = np.ascontiguousarray(getattr(self, name), dtype=float)
            if array.shape != np.shape(self.q) or array.ndim != 2 or len(array) != len(self.time):
                raise ShapeError(
                    f"{name} of motion {self.name!r} has shape {array.shape}; expected "
                    f"({len(self.time)}, {np.shape(self.q)[-1]})."
                )
            if not np.all(np.isfinite(array)):
                raise ShapeError(
                    f"{name} of motion {self.name!r} holds values that are not finite; run the data check."
                )
            object.__setattr__(self, name, array)

    @property
    def samples(self) -> int:
        """Number of samples."""
        return len(self.time)
