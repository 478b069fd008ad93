"""A controller as data: its law, its clock, its own estimate of speed, its limits and its delay."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, unknown_name
from dynid.dynamics.algebra import Scalar
from dynid.model.frozen import FrozenDict
from dynid.model.robot import Robot
from dynid.simulation.law import Law, options_of, per_axis, whole_number

KINDS = ("exact", "backward", "mean", "filtered")
MAXIMUM = "maximum"


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


BACKWARD = Velocity()


@dataclass(frozen=True)
class Controller:
    """A sampled controller, or a continuous one when it has no sample time.

    Args:
        law: torques from reference and measurement.
        sample_time: T [s]; the torque is held in between. None makes the law continuous.
        velocity: how it gets the speeds; a continuous law knows them exactly.
        delay: samples between a measurement and the torque it causes.
        saturation: largest torque of each axis [N m or N]; () none.
        feedforward: parameters of a model whose inverse dynamics along the reference are added to the
            torque; None adds nothing.
        posture: where the controller's own inertia rule takes J_j = M_jj(q) (P0 eq 51): "maximum" over the
            joints' range, or a position q.
    """

    law: Law
    sample_time: float | None
    velocity: Velocity = BACKWARD
    delay: int = 0
    saturation: tuple[float, ...] = ()
    feedforward: Mapping[str, float] | None = None
    posture: str | tuple[float, ...] = MAXIMUM
    name: str = field(default="", compare=False)

    def __post_init__(self) -> None:
        """Refuse contradictions."""
        set_field, n = object.__setattr__, self.law.axes
        if self.sample_time is None:
            set_field(self, "velocity", Velocity("exact"))
            if self.delay:
                raise DynidError("A continuous law has no samples to delay; give a sample_time or no delay.")
        elif not 0 < self.sample_time < math.inf:
            raise DynidError(f"The controller's sample_time is {self.sample_time!r} s; it must be positive.")
        delay = whole_number(self.delay)
        if delay is None or not 0 <= delay <= 1000:
            raise DynidError(
                f"The controller's delay is {self.delay!r} samples; give a whole number from 0 to 1000."
            )
        set_field(self, "delay", delay)
        if np.size(self.saturation):
            limits = per_axis(self.saturation, n, "saturation")
            if min(limits) <= 0:
                raise DynidError(f"saturation is {limits}; every axis needs a positive torque.")
            set_field(self, "saturation", limits)
        if self.feedforward is not None:
            set_field(self, "feedforward", FrozenDict(self.feedforward))
        if not isinstance(self.posture, str):
            set_field(self, "posture", per_axis(self.posture, n, "posture"))
        elif self.posture != MAXIMUM:
            raise DynidError(f"posture is {self.posture!r}; give {MAXIMUM!r} or one position per axis.")

    @property
    def axes(self) -> int:
        """Coordinates it controls."""
        return self.law.axes

    @property
    def memory(self) -> int:
        """Numbers remembered from sample to sample."""
        return self.velocity.memory(self.axes) + self.law.memory + self.delay * self.axes

    @property
    def key(self) -> str:
        """Text that fixes its traced program; gains and limits are symbols."""
        return f"{self.law.key} {self.sample_time} {self.velocity} {self.delay} {bool(self.saturation)}"

    def scaled(self, ratio: Sequence[float]) -> Controller:
        """The controller tuned for inertias that are ``ratio`` times as large (P0 eq 59)."""
        return replace(self, law=self.law.scaled(ratio))

    def check_robot(self, robot: Robot) -> None:
        """Refuse a robot of another size."""
        if robot.n_coordinates != self.axes:
            raise DynidError(
                f"The controller has {self.axes} axes, but robot {robot.name!r} has "
                f"{robot.n_coordinates}; give one set of gains per axis of the robot."
            )

    def to_dict(self) -> dict[str, Any]:
        """Everything that defines it, ready for JSON; a law of the user's own is named only."""
        return {
            **options_of(self.law),
            "sample_time": self.sample_time,
            "velocity": self.velocity.kind,
            "velocity_cutoff_hz": self.velocity.cutoff_hz,
            "delay": self.delay,
            "saturation": list(self.saturation),
            "feedforward": None if self.feedforward is None else dict(self.feedforward),
            "posture": self.posture if isinstance(self.posture, str) else list(self.posture),
        }
