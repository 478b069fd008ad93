"""Lengths of a robot file that the torques do not bear out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.finding import Name
from dynid.dynamics.closure import loop_groups
from dynid.dynamics.inverse import inverse_dynamics
from dynid.dynamics.operations import NUMERIC
from dynid.model.joint import JointKind
from dynid.model.robot import Robot
from dynid.suspects.scene import Scene
from dynid.suspects.suspect import Kind, Suspect

LENGTHS = ("b", "d", "r")
_LONGEST = 0.6, 0.15
"""Share of a length, and metres, by which a robot file is wrong at most; the larger counts."""
_STEP_M = 1e-3
"""Step of central differences [m]: torques are quadratic in a length, so they are exact but for rounding."""


@dataclass(frozen=True)
class LinkLength(Suspect):
    """A length of the robot file that is wrong: the true one is longer by θ, s = ∂f/∂ℓ.

    Args:
        joint: the joint.
        length: "b", "d" or "r" of its frame.
        given: as the robot file has it [m].
    """

    kind = Kind.LOG
    finding = Name.LINK_LENGTH
    unit = "m"
    joint: int
    length: str
    given: float

    @property
    def key(self) -> str:
        """Which length, and the joint."""
        return f"length {self.length}@{self.joint + 1}"

    def plausible(self, size: FloatArray) -> bool:
        """A length does not turn round, and a part is not invented."""
        share, metres = _LONGEST
        return bool(abs(size[0]) <= max(share * abs(self.given), metres))

    def columns(self, scene: Scene) -> tuple[FloatArray, ...]:
        """(f(ℓ + h) − f(ℓ − h)) / 2h."""
        ahead, behind = (self._torques(scene, sign * _STEP_M) for sign in (1.0, -1.0))
        return ((ahead - behind) / (2.0 * _STEP_M),)

    def _torques(self, scene: Scene, longer: float) -> FloatArray:
        robot = with_length(scene.robot, self.joint, self.length, longer)
        q, qd, qdd = (list(x.T) for x in (scene.q, scene.qd, scene.qdd))
        torques = inverse_dynamics(robot, list(scene.values), q, qd, qdd, NUMERIC)
        return np.stack([np.broadcast_to(np.asarray(t, dtype=float), len(scene.q)) for t in torques], axis=1)

    def words(self, size: FloatArray) -> str:
        """Both lengths."""
        given, fits = self.given, self.given + size[0]
        return f"the length {self.length}{self.at} is {given:.3g} m in the robot file, and {fits:.3g} m fits"

    def remedy(self, size: FloatArray) -> str:
        """The drawing."""
        where = "along the common normal before its axis" if self.length == "d" else "along an axis"
        return f"Measure where joint {self.joint + 1} sits ({where}), and correct the robot file."


def with_length(robot: Robot, joint: int, length: str, longer: float) -> Robot:
    """The robot with one length of a joint changed.

    Args:
        robot: the robot.
        joint: coordinate whose frame it is.
        length: "b", "d" or "r".
        longer: by how much [m].
    """
    at = robot.coordinates[joint]
    old = robot.joints[at]
    new = replace(old, **{length: getattr(old, length) + longer, "symbols": {}})
    joints = (*robot.joints[:at], new, *robot.joints[at + 1 :])
    # A coupling found from loops is held; loops that are no coupling have no joint of this kind.
    return replace(robot, joints=joints, closure=None if robot.coupling else robot.closure)


def link_lengths(robot: Robot) -> tuple[Suspect, ...]:
    """Lengths between the joints; that along a slide is its zero, and one inside a loop would open it."""
    found = list[Suspect]()
    looped = set[int]()
    if robot.closure is not None and robot.coupling is None:
        groups = loop_groups(robot.joints, robot.closure)
        looped = {j for group in groups for chains in group.chains for chain in chains for j in chain}
    for j, at in enumerate(robot.coordinates):
        if at in looped:
            continue
        joint = robot.joints[at]
        for length in LENGTHS:
            given = float(getattr(joint, length))
            is_zero = length == "r" and joint.kind is JointKind.PRISMATIC
            if not is_zero and (given or length != "b"):
                found.append(LinkLength(j, length, given))
    return tuple(found)
