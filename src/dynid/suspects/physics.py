"""Physics that a model may lack: every term of the catalogue, on every joint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import option_words
from dynid.core.finding import Name
from dynid.estimators.linear.catalogue import CATALOGUE
from dynid.estimators.linear.terms import NonlinearTerm, unit_on_joint
from dynid.model.robot import Robot
from dynid.suspects.scene import Scene
from dynid.suspects.suspect import Kind, Suspect

_GROWING = {"flattening": "friction that grows faster than speed"}
"""Terms whose words hold for negative sizes only, as they are with positive ones."""
_NEAR_REST = 0.15
"""Speed at which a term that fades with speed is evaluated as a suspect, as a share of the rms speed."""

TRY_AS_TERM = (
    f"A fit by wls or ols with {option_words('--add', 'auto')} adds it where motion that was not used is "
    "predicted better."
)


@dataclass(frozen=True)
class Effect(Suspect):
    """A term on a joint that the model does not have.

    Args:
        joint: the joint.
        label: name of the term in the catalogue.
        term: its formula.
        constants: of the formula, in its order; first guesses when None.
    """

    kind = Kind.PHYSICS
    finding = Name.LACKING_PHYSICS
    joint: int
    label: str
    term: NonlinearTerm
    constants: tuple[float, ...] | None = None

    @property
    def key(self) -> str:
        """As ``--add`` takes it, such as ``load@2``."""
        return f"{self.label}@{self.joint + 1}"

    @property
    def terms(self) -> tuple[NonlinearTerm, ...]:
        """The term on this joint."""
        return (replace(self.term, joints=(self.joint,)),)

    def columns(self, scene: Scene) -> tuple[FloatArray, ...]:
        """The formula along the joint's own motion."""
        j, signals = self.joint, {"qd": scene.qd[:, self.joint]}
        signals |= {name: np.asarray(getattr(scene, name))[:, j] for name in self.term.signals}
        given = self._first_guesses(signals["qd"]) if self.constants is None else self.constants
        column = self.term.evaluate(signals, dict(zip(self.term.constants, given, strict=True)))
        return (scene.on_joint(j, self.term.require_finite(column, j)),)

    def _first_guesses(self, speed: FloatArray) -> tuple[float, ...]:
        """Those of the term; a speed at which it fades is taken from the motion."""
        slow, units = _NEAR_REST * float(np.sqrt(np.mean(speed**2))) or 1.0, self.term.constant_units
        names = self.term.constants
        return tuple(slow if units.get(n, "").endswith("/s") else self.term.start[n] for n in names)

    def words(self, size: FloatArray) -> str:
        """Name and size; what cannot be negative, and is, means something else."""
        name = self.term.words or self.term.expression
        if self.label in _GROWING and size[0] > 0:
            name = _GROWING[self.label]
        much = f"{size[0]:+.3g} {self._unit}".rstrip()
        if not self._is_opposite(size):
            return f"the model lacks {name}{self.at} ({much})"
        if self.at_rest:
            return f"friction{self.at} rises more smoothly from rest than the model's ({name} {much})"
        return f"the model takes too much for {name}{self.at} ({much})"

    def remedy(self, size: FloatArray) -> str:
        """Let it be tried, or leave out where the shape is another."""
        if self._is_opposite(size) and self.at_rest:
            return f"Leave out slower rows: {option_words('--mask')}."
        return TRY_AS_TERM

    @property
    def at_rest(self) -> bool:
        """Whether a constant of its formula is a speed at which it fades."""
        return any(unit.endswith("/s") for unit in self.term.constant_units.values())

    @property
    def _unit(self) -> str:
        """Of the coefficient on this joint; none where it has no unit."""
        return unit_on_joint(self.term.unit, self.slides).replace("^2", "²").removesuffix("1")

    def _is_opposite(self, size: FloatArray) -> bool:
        return self.term.never_negative and bool(size[0] < 0)


def physics(robot: Robot, terms: Mapping[str, NonlinearTerm] = CATALOGUE) -> tuple[Suspect, ...]:
    """All terms on every joint, or on those that a term names.

    Args:
        robot: the robot.
        terms: by name; those of the catalogue, and a user's own.
    """
    every = range(robot.n_coordinates)
    return tuple(
        Effect(j, name, term)
        for name, term in terms.items()
        for j in (every if term.joints is None else term.joints)
    )
