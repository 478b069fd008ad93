"""Unit motions of the joints as seen from each link they carry."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from dynid.dynamics.algebra import ZERO, Scalar, Vector, add, cross, dot, plus, unrotate
from dynid.dynamics.placement import Z_AXIS, Placement
from dynid.model.joint import BASE, JointKind
from dynid.model.robot import Robot


@dataclass(frozen=True)
class Screw:
    """Velocity of a link's frame per unit joint speed: angular and of the origin, in the link's frame."""

    angular: Vector
    linear: Vector

    def power(self, moment: Vector, force: Vector) -> Scalar:
        """Power of a wrench at the frame's origin: a·n + v·f."""
        return add(dot(self.angular, moment), dot(self.linear, force))


def chains(robot: Robot, frames: Sequence[Placement]) -> Iterator[dict[int, Screw]]:
    """For each link k in order, the screws in frame k of every movable joint that carries it."""
    seen: list[dict[int, Screw]] = []
    for k, joint in enumerate(robot.joints):
        carried = {} if joint.antecedent == BASE else seen[joint.antecedent]
        screws = {j: _carry(screw, frames[k]) for j, screw in carried.items()}
        if joint.kind is JointKind.REVOLUTE:
            screws[k] = Screw(Z_AXIS, ZERO)
        elif joint.kind is JointKind.PRISMATIC:
            screws[k] = Screw(ZERO, Z_AXIS)
        seen.append(screws)
        yield screws


def _carry(screw: Screw, frame: Placement) -> Screw:
    linear = plus(screw.linear, cross(screw.angular, frame.position))
    return Screw(unrotate(frame.rotation, screw.angular), unrotate(frame.rotation, linear))
