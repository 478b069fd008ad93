"""Samples that no robot can have taken: a glitch of an encoder would stay in a recursion for ever."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dynid.core.errors import ShapeError
from dynid.tracking.sample import Sample


@dataclass(frozen=True)
class GateRules:
    """When a sample is a glitch. Chosen by hand; tests hold them on smooth motion from rest and on pick-ups.

    Args:
        ratio: step between two samples, and torque, over the largest of each joint so far. Motion that grows
            smoothly from rest never grows tenfold from one sample to the next.
        first: samples that are taken as they come, to know what is usual.
        persist: samples in a row that must be so before they are believed: a robot whose motors are switched
            on, a jump that a controller makes.
    """

    ratio: float = 10.0
    first: int = 200
    persist: int = 6


class SampleGate:
    """Refuses samples that are no numbers, and glitches.

    Args:
        axes: n.
        rules: what a glitch is.
    """

    def __init__(self, axes: int, rules: GateRules | None = None) -> None:
        """Nothing is usual yet."""
        self.rules, self._shape = rules or GateRules(), (axes,)
        # Steps of the positions and sizes of the torques, side by side: few calls per sample.
        self._largest, self._bounds, self._now = np.zeros(2 * axes), np.zeros(2 * axes), np.zeros(2 * axes)
        self._step, self._torque = self._now[:axes], self._now[axes:]
        self.taken, self.refused, self._in_a_row = 0, 0, 0
        self._last, self._time, self._period = np.zeros(axes), -math.inf, math.inf

    def takes(self, sample: Sample) -> bool:
        """Whether a sample can be used; what is usual follows those that can.

        Raises:
            ShapeError: when it is of another number of joints.
        """
        if sample.q.shape != self._shape or sample.tau.shape != self._shape:
            raise ShapeError(
                f"A sample has positions {sample.q.shape} and torques {sample.tau.shape}; expected "
                f"{self._shape} of both, one per coordinate."
            )
        now, step = self._now, sample.time - self._time
        np.subtract(sample.q, self._last, out=self._step)
        self._torque[:] = sample.tau
        np.abs(now, out=now)
        if step > 1.5 * self._period:  # behind a gap positions may be anywhere
            self._step[:] = np.where(np.isfinite(self._step), 0.0, self._step)
        # What is no number is within no bound, so that comparisons find it as well.
        if not math.isfinite(step) or False in (now <= self._largest).tolist():
            known = self.taken >= self.rules.first and self._in_a_row < self.rules.persist
            if not math.isfinite(step) or False in (now <= (self._bounds if known else _ANY)).tolist():
                return self._refuse(sample)
            np.maximum(self._largest, now, out=self._largest)
            np.multiply(self._largest, self.rules.ratio, out=self._bounds)
        self._in_a_row = 0
        self.taken += 1
        self._last, self._time, self._period = sample.q, sample.time, step
        return True

    def _refuse(self, sample: Sample) -> bool:
        """Count it; the first sample is where steps begin."""
        numbers = math.isfinite(sample.time + float(sample.q @ sample.tau))
        if numbers and self._time == -math.inf:
            self._last, self._time = sample.q, sample.time
            return True
        self._in_a_row += numbers
        self.refused += 1
        return False


_ANY = 1e150
"""Bound while nothing is usual yet: squares beyond it overflow."""
