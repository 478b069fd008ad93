"""What lies between motor and link: joints that give, gears with play."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.finding import Name
from dynid.suspects.row_view import RowView
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
    finding = Name.LACKING_PHYSICS
    joint: int

    def plausible(self, size: FloatArray) -> bool:
        """Springs and play follow the load."""
        return bool(size[0] > 0)

    @abstractmethod
    def lag(self, scene: Scene) -> FloatArray:
        """g, (samples,)."""

    def columns(self, scene: Scene) -> tuple[FloatArray, ...]:
        """−(∂ℓ/∂q_j g + ∂ℓ/∂q̇_j ġ + ∂ℓ/∂q̈_j g̈)."""
        made, g = np.zeros(scene.q.shape), self.lag(scene)
        for name in ("q", "qd", "qdd"):
            made -= scene.load_along(name, self.joint) * g[:, None]
            g = scene.rate(g)
        return (made,)


@dataclass(frozen=True)
class Elasticity(Yielding):
    """A joint that gives like a spring: g = ℓ_j, θ = 1/k.

    Args:
        joint: the joint.
        inertia: about it, mean over the motion, its drive included [kg m² or kg].
    """

    name = "elasticity"
    unit = "rad/(N m) or m/N"
    inertia: float = 0.0

    def lag(self, scene: Scene) -> FloatArray:
        """ℓ_j."""
        return scene.load[:, self.joint]

    def resonance(self, size: FloatArray) -> float:
        """√(k / M_jj) / 2π: where the link swings while the motor stands, less its drive's share [Hz]."""
        return float(np.sqrt(1.0 / (self.inertia * size[0])) / (2.0 * np.pi))

    def words(self, size: FloatArray) -> str:
        """Stiffness and resonance."""
        if size[0] <= 0 or self.inertia <= 0:
            much = f"{size[0]:.3g} {self.in_unit(self.unit)}"
            return f"joint {self.joint + 1} yields as no spring would ({much})"
        stiffness = f"{1.0 / size[0]:.3g} {self.in_unit('N m/rad or N/m')}"
        hertz = f"{self.resonance(size):.3g} Hz"
        return f"joint {self.joint + 1} gives: {stiffness}, a resonance at {hertz} or above"

    def remedy(self, size: FloatArray) -> str:
        """Slower motion, or encoders of the links."""
        return "Move well below the resonance, where a rigid model holds, or log positions of the links."


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
        return f"joint {self.joint + 1} has play of {self.angle_or_way(float(size[0]))}"

    def remedy(self, size: FloatArray) -> str:
        """Keep the gear on one side."""
        return "Move so that the load keeps its sign, or leave out what lies around its changes of sign."


def drive_defects(view: RowView) -> tuple[Suspect, ...]:
    """Springs and play of every joint."""
    every = range(len(view.joints))
    inertia = [np.mean([np.mean(s.along("qdd", j)[:, j]) for s in view.scenes]) for j in every]
    return (*(Elasticity(j, float(inertia[j])) for j in every), *(Backlash(j) for j in every))
