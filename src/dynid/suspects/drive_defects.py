"""What lies between motor and link: joints that give, gears with play."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.suspects.scene import Scene
from dynid.suspects.suspect import Kind, Suspect

_PLAY_CLOSES = 0.3
"""Torque at which three quarters of a gear's play are taken up, as a share of the rms load: the moment of
changing sides is not known better, and a jump would be all noise."""


@dataclass(frozen=True)
class Yielding(Suspect):
    """A link that lags behind its motor by θ g, the encoder being on the motor.

    The links feel q − θ g e_j, so that s = −(∂ℓ/∂q_j g + ∂ℓ/∂q̇_j ġ + ∂ℓ/∂q̈_j g̈), ℓ the torques of the
    links' inertia and weight.
    """

    kind = Kind.PHYSICS
    joint: int

    def lag(self, scene: Scene) -> FloatArray:
        """g, (samples,)."""
        raise NotImplementedError

    def columns(self, scene: Scene) -> tuple[FloatArray, ...]:
        """−(∂ℓ/∂q_j g + ∂ℓ/∂q̇_j ġ + ∂ℓ/∂q̈_j g̈)."""
        made, g = np.zeros(scene.q.shape), self.lag(scene)
        for name in ("q", "qd", "qdd"):
            made -= scene.load_along(name, self.joint) * g[:, None]
            g = scene.rate(g)
        return (made,)


@dataclass(frozen=True)
class Elasticity(Yielding):
    """A joint that gives like a spring: g = ℓ_j, θ = 1/k."""

    name = "elasticity"
    unit = "rad/(N m) or m/N"

    def lag(self, scene: Scene) -> FloatArray:
        """ℓ_j."""
        return scene.load[:, self.joint]

    def words(self, size: FloatArray) -> str:
        """The stiffness."""
        if size[0] <= 0:
            return f"the motion{self.at} leads its torque as no spring would ({size[0]:.3g} {self.unit})"
        return f"joint {self.joint + 1} gives: its stiffness is {1 / size[0]:.3g} N m/rad or N/m"

    def remedy(self, size: FloatArray) -> str:
        """Slower motion, or encoders of the links."""
        return "Move more slowly, or log positions of the links: a rigid model holds well below its resonance."


@dataclass(frozen=True)
class Backlash(Yielding):
    """A gear with play: g = ½ tanh(ℓ_j / ℓ₀), θ the play, ℓ₀ a share of the rms load."""

    name = "backlash"
    unit = "rad or m"

    def lag(self, scene: Scene) -> FloatArray:
        """½ tanh(ℓ_j / ℓ₀)."""
        load = scene.load[:, self.joint]
        scale = _PLAY_CLOSES * float(np.sqrt(np.mean(load**2))) or 1.0
        return np.asarray(0.5 * np.tanh(load / scale))

    def words(self, size: FloatArray) -> str:
        """The play."""
        return f"joint {self.joint + 1} has play of {size[0]:.3g} ({np.degrees(size[0]):.3g}° if revolute)"

    def remedy(self, size: FloatArray) -> str:
        """Keep the gear on one side."""
        return "Move so that the gear stays on one side, or leave out what lies around changes of the load's sign."


def drive_defects(robot: Robot) -> tuple[Suspect, ...]:
    """Springs and play of every joint."""
    return tuple(kind(j) for kind in (Elasticity, Backlash) for j in range(robot.n_coordinates))
