"""One instant of a robot: what a recursion takes, whatever stream it came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from dynid.core.arrays import FloatArray


@dataclass(frozen=True, eq=False, slots=True)
class Sample:
    """One instant, on the joint side, in SI.

    Args:
        time: stamp [s].
        q: joint positions [rad or m], (n,).
        tau: joint torques [N m or N], (n,).
        qd: joint speeds [rad/s or m/s], (n,); None when the stream has none.
        reference: commanded joint positions [rad or m], (n,); None when the stream has none.
    """

    time: float
    q: FloatArray
    tau: FloatArray
    qd: FloatArray | None = None
    reference: FloatArray | None = None

    def between(self, later: Sample, share: float) -> Sample:
        """The sample at time + share · (later.time − time), on straight lines.

        Args:
            later: the sample after this one.
            share: between 0 and 1.
        """

        def line(a: FloatArray | None, b: FloatArray | None) -> FloatArray | None:
            return None if a is None or b is None else a + share * (b - a)

        return Sample(
            self.time + share * (later.time - self.time),
            self.q + share * (later.q - self.q),
            self.tau + share * (later.tau - self.tau),
            line(self.qd, later.qd),
            line(self.reference, later.reference),
        )


class Arrival(NamedTuple):
    """A sample in its place.

    Args:
        sample: the sample.
        anew: whether it begins a stretch, at which causal filters restart.
        made_up: whether it was interpolated between its neighbours.
        clock: its stamp on the clock of the feed, which follows the sender's without its jitter [s]; None
            where there is no feed.
    """

    sample: Sample
    anew: bool = False
    made_up: bool = False
    clock: float | None = None
