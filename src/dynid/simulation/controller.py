"""A controller as data: its law, its clock, its own estimate of speed, its limits and its delay."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dynid.core.errors import DynidError
from dynid.model.frozen import FrozenDict
from dynid.model.robot import Robot
from dynid.simulation.law import Law, options_of, per_axis, whole_number
from dynid.simulation.velocity import Velocity

MAXIMUM = "maximum"
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
