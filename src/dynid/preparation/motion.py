"""A prepared motion: positions, speeds, accelerations and torques of the joints, ready for a regressor."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import ShapeError
from dynid.logs.log import Source, Step
from dynid.logs.spool import TILE, Samples, Spool, blocks, cut_rows

FloatArray = NDArray[np.float64]
SIGNALS = ("q", "qd", "qdd", "tau")


@dataclass(frozen=True, eq=False, repr=False)
class Motion:
    """Filtered signals of one experiment at one constant rate.

    Args:
        name: name of the experiment.
        time: stamps [s], (samples,).
        q: positions (samples, coordinates) [rad or m]: an array, or a spool on disk where the log is long.
        qd: speeds.
        qdd: accelerations.
        tau: torques [N m or N].
        rate_hz: samples per second.
        history: what was done to the log, oldest first.
        sources: files it came from.
    """

    name: str
    time: FloatArray
    q: Samples
    qd: Samples
    qdd: Samples
    tau: Samples
    rate_hz: float
    history: tuple[Step, ...] = ()
    sources: tuple[Source, ...] = ()

    def __post_init__(self) -> None:
        """Check that all signals have the same shape and are finite."""
        for name in SIGNALS:
            given = getattr(self, name)
            values = given if isinstance(given, Spool) else np.ascontiguousarray(given, dtype=float)
            if values.shape != np.shape(self.q) or values.ndim != 2 or len(values) != len(self.time):
                raise ShapeError(
                    f"{name} of motion {self.name!r} has shape {values.shape}; expected "
                    f"({len(self.time)}, {np.shape(self.q)[-1]})."
                )
            if not _is_finite(values):
                raise ShapeError(
                    f"{name} of motion {self.name!r} holds values that are not finite; run the data check."
                )
            object.__setattr__(self, name, values)

    def __repr__(self) -> str:
        """Name, size and rate."""
        axes, steps = np.shape(self.q)[1], ", ".join(step.name for step in self.history)
        return f"Motion {self.name!r}: {self.samples} samples of {axes} axes at {self.rate_hz:g} Hz ({steps})"

    @property
    def states(self) -> tuple[Samples, Samples, Samples]:
        """Positions, speeds and accelerations."""
        return self.q, self.qd, self.qdd

    @property
    def samples(self) -> int:
        """Number of samples."""
        return len(self.time)

    @property
    def on_disk(self) -> bool:
        """Whether its signals are kept on disk, because they are long."""
        return any(isinstance(getattr(self, name), Spool) for name in SIGNALS)

    @property
    def nbytes(self) -> int:
        """Size of its signals and stamps, wherever they are kept."""
        return self.time.nbytes + self.q.nbytes + self.qd.nbytes + self.qdd.nbytes + self.tau.nbytes

    def part(self, rows: slice) -> Motion:
        """Consecutive samples of it."""
        q, qd, qdd, tau = (cut_rows(getattr(self, name), rows) for name in SIGNALS)
        return replace(self, time=self.time[rows], q=q, qd=qd, qdd=qdd, tau=tau)

    def pieces(self, size: int = TILE) -> Iterator[Motion]:
        """The motion itself, or, where it is kept on disk, its parts one after the other, in memory.

        Args:
            size: samples of such a part.
        """
        if not self.on_disk:
            yield self
            return
        for rows in blocks(self.samples, size):
            yield self.part(rows)


def _is_finite(values: Samples) -> bool:
    """Whether all values are, looked at axis by axis where they are on disk."""
    if isinstance(values, Spool):
        return all(bool(np.all(np.isfinite(values[:, axis]))) for axis in range(values.shape[1]))
    return bool(np.all(np.isfinite(values)))
