"""What changed while the logs were taken: torque zeros, friction, payload; step by step or slowly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.model.robot import Robot
from dynid.suspects.scene import Scene
from dynid.suspects.suspect import Kind, Suspect


@dataclass(frozen=True)
class TimeCourse:
    """How something changes over time.

    Args:
        name: in words.
        over: share of time that has passed, 0 … 1, and number of the experiment ↦ size of the change.
    """

    name: str
    over: Callable[[FloatArray, int], FloatArray]


DRIFT = TimeCourse("drifts", lambda t, k: t - 0.5)
STEP = TimeCourse("steps", lambda t, k: np.where(t > 0.5, 0.5, -0.5))


@dataclass(frozen=True)
class Change(Suspect):
    """Something on a joint that is not the same all the time.

    Args:
        joint: the joint.
        what: "torque zero" or "friction".
        course: how it changes.
    """

    kind = Kind.CHANGE
    joint: int
    what: str
    course: TimeCourse

    @property
    def key(self) -> str:
        """What changes, how, and the joint."""
        return f"{self.what} {self.course.name}@{self.joint + 1}"

    def columns(self, scene: Scene) -> tuple[FloatArray, ...]:
        """The course, times friction where that changes."""
        over = self.course.over(scene.time_share, scene.number)
        if self.what == "friction":
            over = over * scene.friction(self.joint)
        return (scene.on_joint(self.joint, over),)

    def words(self, size: FloatArray) -> str:
        """Size over the logs."""
        amount = f"{100 * size[0]:+.3g} %" if self.what == "friction" else f"{size[0]:+.3g} N m or N"
        return f"{self.what}{self.at} {self.course.name} by {amount} over the logs"

    def remedy(self, size: FloatArray) -> str:
        """Fit apart."""
        return "Fit what was recorded before and after the change apart, or warm the robot up first."


def changes(robot: Robot) -> tuple[Suspect, ...]:
    """Drifts and steps of every joint."""
    return tuple(
        Change(j, what, course)
        for what in ("torque zero", "friction")
        for course in (DRIFT, STEP)
        for j in range(robot.n_coordinates)
    )
