"""Physics that a model may lack: shapes of friction, springs, ripple, couplings, inertia of motors."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.model.robot import Robot
from dynid.suspects.scene import Scene
from dynid.suspects.suspect import Kind, Suspect

_NEAR_REST = 0.15
"""Speed at which Stribeck's peak fades, as a share of the rms speed."""


@dataclass(frozen=True)
class Effect(Suspect):
    """An effect on a joint as a function of its own motion and torque.

    Args:
        joint: the joint.
        label: name of the effect.
        shape: (scene, joint) ↦ s on that joint, (samples,).
        advice: what to add.
    """

    kind = Kind.PHYSICS
    joint: int
    label: str
    shape: Callable[[Scene, int], FloatArray]
    advice: str

    @property
    def key(self) -> str:
        """Label and joint."""
        return f"{self.label}@{self.joint + 1}"

    def columns(self, scene: Scene) -> tuple[FloatArray, ...]:
        """The shape on its joint."""
        return (scene.on_joint(self.joint, self.shape(scene, self.joint)),)

    def words(self, size: FloatArray) -> str:
        """Name and size."""
        return f"the model lacks {self.label}{self.at} ({size[0]:+.3g})"

    def remedy(self, size: FloatArray) -> str:
        """What to add."""
        return self.advice


def _stribeck(scene: Scene, j: int) -> FloatArray:
    v = scene.qd[:, j]
    slow = _NEAR_REST * float(np.sqrt(np.mean(v**2))) or 1.0
    return np.asarray(np.sign(v) * np.exp(-np.abs(v) / slow))


SHAPES: dict[str, Callable[[Scene, int], FloatArray]] = {
    "viscous friction": lambda s, j: s.qd[:, j],
    "dry friction": lambda s, j: np.sign(s.qd[:, j]),
    "torque offset": lambda s, j: np.ones(len(s.qd)),
    "motor inertia": lambda s, j: s.qdd[:, j],
    "Stribeck friction": _stribeck,
    "friction that flattens with speed": lambda s, j: s.qd[:, j] * np.abs(s.qd[:, j]),
    "friction that grows with load": lambda s, j: np.sign(s.qd[:, j]) * np.abs(s.load[:, j]),
    "friction of one direction": lambda s, j: np.abs(s.qd[:, j]),
    "spring": lambda s, j: s.q[:, j],
}
"""Effects by name."""


def physics(robot: Robot) -> tuple[Suspect, ...]:
    """All effects on every joint."""
    return tuple(
        Effect(j, name, shape, f"Add {name} to the model (--add).")
        for name, shape in SHAPES.items()
        for j in range(robot.n_coordinates)
    )
