"""Samples that no robot can have taken: a glitch of an encoder would stay in a recursion for ever."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import ShapeError
from dynid.tracking.sample import Sample


@dataclass(frozen=True)
class GateRules:
    """When a sample is a glitch. Chosen by hand; tests hold them on smooth motion from rest and on pick-ups.

    Args:
        ratio: speed between two samples, and torque, over the largest of each joint so far. Motion that grows
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
        self.speed, self.torque = np.zeros(axes), np.zeros(axes)
        self.taken, self.refused, self._in_a_row = 0, 0, 0
        self._last: FloatArray | None = None
        self._time = 0.0

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
        if not math.isfinite(sample.time + float(sample.q @ sample.tau)):
            self.refused += 1
            return False
        speed, torque = self._speed_of(sample), np.abs(sample.tau)
        if self.taken >= self.rules.first and self._in_a_row < self.rules.persist:
            ratio = self.rules.ratio
            if (speed > ratio * self.speed).any() or (torque > ratio * self.torque).any():
                self._in_a_row += 1
                self.refused += 1
                return False
        self._in_a_row = 0
        self.taken += 1
        np.maximum(self.speed, speed, out=self.speed)
        np.maximum(self.torque, torque, out=self.torque)
        self._last, self._time = sample.q, sample.time
        return True

    def _speed_of(self, sample: Sample) -> FloatArray:
        """Between this sample and the last one that was taken; zero where there is none before it."""
        step = sample.time - self._time
        if self._last is None or step <= 0:
            return np.zeros(self._shape)
        return np.asarray(np.abs(sample.q - self._last) / step, dtype=float)
