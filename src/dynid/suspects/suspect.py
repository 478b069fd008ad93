"""A suspect: a defect of a log or an effect that a model lacks, as columns of the regression.

To first order a suspect changes the torques by s θ: y = W χ + s θ. Its column s is evaluated along the motion
at the estimate, its size θ comes out of the regression.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import ClassVar

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.finding import Name
from dynid.estimators.linear.terms import NonlinearTerm
from dynid.model.joint import JointKind
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.suspects.scene import Scene


class Kind(StrEnum):
    """What a suspect blames."""

    LOG = "log"
    """The recording: its clock, zeros, scales and signs; mended in the mapping or the robot file."""
    CHANGE = "change"
    """Something changed while or between the logs were taken; mended by fitting them apart."""
    PHYSICS = "physics"
    """The model lacks an effect; mended by adding it."""


@dataclass(frozen=True)
class Suspect(ABC):
    """One thing that may be wrong or missing.

    Args:
        joint: the coordinate concerned; None where it is all of them.
        slides: whether that joint is prismatic, for the units of its sentence.
    """

    joint: int | None
    slides: bool = field(default=False, kw_only=True)
    name: ClassVar[str]
    kind: ClassVar[Kind]
    finding: ClassVar[Name]
    unit: ClassVar[str] = ""

    @property
    def of_torque(self) -> bool:
        """Whether it is about a torque that was recorded, which a joint without a motor has not."""
        return False

    @property
    def since_model(self) -> bool:
        """Whether it is a change between a model that was known before and all rows."""
        return False

    @property
    def at_rest(self) -> bool:
        """Whether it acts near standstill only."""
        return False

    @property
    def trials(self) -> int:
        """Constants that were tried to find this one: the best of many explains something by chance."""
        return 1

    @property
    def width(self) -> int:
        """Number of columns and sizes."""
        return 1

    @property
    def key(self) -> str:
        """Name and joint, such as ``zero@3``: joints are counted from 1."""
        return self.name if self.joint is None else f"{self.name}@{self.joint + 1}"

    @abstractmethod
    def columns(self, scene: Scene) -> tuple[FloatArray, ...]:
        """s along a motion, ``width`` of them, each (samples, coordinates) in N m or N per unit of θ."""

    def amount(self, size: FloatArray) -> float:
        """The one number that is told, in ``unit``: θ itself, or the constant that is meant by it."""
        return float(size[0])

    @abstractmethod
    def words(self, size: FloatArray) -> str:
        """What it means at this size, as a clause: "the zero of joint 3 is off by 4.9°"."""

    def words_in_doubt(self, size: FloatArray, sigma: FloatArray) -> str:
        """The same where the standard errors of the sizes are known."""
        return self.words(size)

    @abstractmethod
    def remedy(self, size: FloatArray) -> str:
        """What to do about it, in a sentence."""

    @property
    def terms(self) -> tuple[NonlinearTerm, ...]:
        """Formulas that add it to a model, one per column; none where it is not added."""
        return ()

    def plausible(self, size: FloatArray) -> bool:
        """Whether it can have this size at all: what looks like it otherwise has another cause."""
        return True

    def mend(self, motion: Motion, size: FloatArray) -> Motion | None:
        """The motion as it would be without the defect; None where a motion cannot show that."""
        return None

    def finding_of(self, size: FloatArray) -> Name:
        """Name of the finding that tells it."""
        return self.finding

    def is_same_change(self, other: Suspect) -> bool:
        """Whether another suspect is the same change along another course of time."""
        return False

    def combine(self, size: FloatArray, more: FloatArray) -> FloatArray:
        """One size for mending by ``size`` and then by ``more``."""
        return size + more

    def on_robot(self, robot: Robot) -> Suspect:
        """The suspect in the units of its joint."""
        kinds = [robot.joints[c].kind for c in robot.coordinates]
        slides = self.joint is not None and kinds[self.joint] is JointKind.PRISMATIC
        return replace(self, slides=True) if slides else self

    def in_unit(self, both: str) -> str:
        """The unit of this joint of a pair such as "N m or N", for turning and for sliding."""
        turning, _, sliding = both.partition(" or ")
        return sliding if self.slides and sliding else turning

    def angle_or_way(self, size: float) -> str:
        """A position in degrees and radians, or in metres."""
        return f"{size:.3g} m" if self.slides else f"{np.degrees(size):.3g}° ({size:.3g} rad)"

    @property
    def at(self) -> str:
        """ " of joint 3", or nothing."""
        return "" if self.joint is None else f" of joint {self.joint + 1}"


def unit_vector(length: int, joint: int | None) -> FloatArray:
    """e_j, or ones for all joints."""
    return np.ones(length) if joint is None else np.eye(length)[joint]
