"""How a controller gets the joints' speeds: the law's own estimate is part of the loop that is identified."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import DynidError, unknown_name
from dynid.dynamics.algebra import Scalar

FloatArray = NDArray[np.float64]
KINDS = ("exact", "backward", "mean", "filtered")


@dataclass(frozen=True)
class Velocity:
    """Estimate of q̇ from measured positions at the controller's rate.

    Args:
        kind: "exact" (a tachometer: the true speed), "backward" (q_k − q_{k−1})/T, "mean" (backward
            difference of the mean of two samples, (q_k − q_{k−2})/2T), "filtered" (backward difference
            through a first-order low-pass).
        cutoff_hz: of the low-pass of "filtered".
    """

    kind: str = "backward"
    cutoff_hz: float | None = None

    def __post_init__(self) -> None:
        """Refuse unknown kinds and a filter without cut-off."""
        if self.kind not in KINDS:
            raise unknown_name("velocity estimate", self.kind, KINDS)
        if (self.kind == "filtered") != (self.cutoff_hz is not None) or (
            self.cutoff_hz is not None and not 0 < self.cutoff_hz < math.inf
        ):
            raise DynidError(
                f"The velocity estimate {self.kind!r} has cutoff_hz {self.cutoff_hz}; give a positive "
                "cut-off with 'filtered' and none with the others."
            )

    def memory(self, axes: int) -> int:
        """Numbers to remember."""
        return {"exact": 0, "backward": axes, "mean": 2 * axes, "filtered": 2 * axes}[self.kind]

    def start(self, q: FloatArray, qd: FloatArray, period: float) -> FloatArray:
        """Memory of a robot that has moved at a constant speed before the first sample."""
        before = [q - period * qd]
        if self.kind == "mean":
            before.append(q - 2 * period * qd)
        if self.kind == "filtered":
            before.append(qd)
        return np.concatenate(before) if self.kind != "exact" else np.zeros(0)

    def estimate(
        self,
        measured: Sequence[Scalar],
        true_speed: Sequence[Scalar],
        memory: Sequence[Scalar],
        period: float,
    ) -> tuple[list[Scalar], list[Scalar]]:
        """Speeds and the next memory."""
        n = len(measured)
        if self.kind == "exact":
            return list(true_speed), []
        last = memory[:n]
        if self.kind == "mean":
            speeds = [
                (q - older) * (0.5 / period) for q, older in zip(measured, memory[n : 2 * n], strict=True)
            ]
            return speeds, [*measured, *last]
        raw = [(q - p) * (1.0 / period) for q, p in zip(measured, last, strict=True)]
        if self.kind == "backward":
            return raw, list(measured)
        assert self.cutoff_hz is not None
        keep = math.exp(-2 * math.pi * self.cutoff_hz * period)
        smooth = [keep * v + (1.0 - keep) * r for v, r in zip(memory[n : 2 * n], raw, strict=True)]
        return smooth, [*measured, *smooth]
