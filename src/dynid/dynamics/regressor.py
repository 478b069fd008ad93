"""Torque regressor: τ = W(q, q̇, q̈) χ over the standard parameters (P0 eq 2, P1 eq 2, P2 eq 9)."""

from __future__ import annotations

from collections.abc import Sequence

from dynid.dynamics.actuation import actuation_column
from dynid.dynamics.algebra import Scalar, Vector, add, cross, dot, mul, neg, sub
from dynid.dynamics.expansion import expand
from dynid.dynamics.kinematics import LinkMotion, motions, placements
from dynid.dynamics.operations import Operations
from dynid.dynamics.screws import Screw, chains
from dynid.model.parameters import INERTIAL, TENSOR
from dynid.model.robot import Robot


def regressor(
    robot: Robot,
    q: Sequence[Scalar],
    qd: Sequence[Scalar],
    qdd: Sequence[Scalar],
    ops: Operations,
    columns: Sequence[int] | None = None,
) -> list[list[Scalar]]:
    """Columns of the torque regressor.

    The wrench that one unit of a parameter of link k needs is formed in frame k and read by the screws of
    the joints that carry link k, so no wrench is ever carried back along the chain.

    Args:
        robot: the robot.
        q: coordinates, one scalar each [rad or m].
        qd: speeds.
        qdd: accelerations.
        ops: elementary functions of the scalar type.
        columns: indices into ``robot.table`` wanted; all when None.

    Returns:
        One list per wanted column, with the torque of each coordinate.
    """
    wanted = range(len(robot.table)) if columns is None else columns
    expansion = expand(robot, q, ops)
    frames = placements(expansion, ops)
    moving = motions(expansion, frames, qd, qdd)
    screws = list(chains(robot, frames))
    links = [_Link(motion) for motion in moving]
    result = []
    for index in wanted:
        entry = robot.table.entries[index]
        if entry.family == "inertial":
            rows: list[Scalar] = [0.0] * len(robot.joints)
            c = INERTIAL.index(entry.symbol)
            for j, screw in screws[entry.joint].items():
                rows[j] = links[entry.joint].torque(c, screw)
            result.append(expansion.torques(rows))
        else:
            result.append(actuation_column(robot, entry, q, qd, qdd, ops))
    return result


class _Link:
    """Wrenches per unit inertial parameter of one link, from its motion.

    n = J ω̇ + ω × J ω + MS × v̇,  f = M v̇ + U MS with U = [ω̇]× + [ω]×².
    """

    def __init__(self, motion: LinkMotion) -> None:
        w, dw = motion.angular_velocity, motion.angular_acceleration
        self.w, self.dw, self.dv = w, dw, motion.acceleration
        ww = {(i, k): mul(w[i], w[k]) for i, k in TENSOR}
        self.U: tuple[Vector, Vector, Vector] = (
            (neg(add(ww[1, 1], ww[2, 2])), sub(ww[0, 1], dw[2]), add(ww[0, 2], dw[1])),
            (add(ww[0, 1], dw[2]), neg(add(ww[0, 0], ww[2, 2])), sub(ww[1, 2], dw[0])),
            (sub(ww[0, 2], dw[1]), add(ww[1, 2], dw[0]), neg(add(ww[0, 0], ww[1, 1]))),
        )
        self.ww = ww
        self.moments = [self._moment(i, k) for i, k in TENSOR]

    def _moment(self, i: int, k: int) -> Vector:
        """J ω̇ + ω × J ω for the unit tensor with ones at (i, k) and (k, i)."""
        image, image_dot = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
        image[i], image_dot[i] = self.w[k], self.dw[k]
        image[k], image_dot[k] = self.w[i], self.dw[i]
        spin = cross(self.w, (image[0], image[1], image[2]))
        return (add(image_dot[0], spin[0]), add(image_dot[1], spin[1]), add(image_dot[2], spin[2]))

    def torque(self, c: int, screw: Screw) -> Scalar:
        """Torque on the joint of the screw per unit of the link's parameter number c."""
        if c < 6:
            return dot(screw.angular, self.moments[c])
        if c == 9:
            return dot(screw.linear, self.dv)
        i = c - 6
        unit = tuple(1.0 if k == i else 0.0 for k in range(3))
        force = (self.U[0][i], self.U[1][i], self.U[2][i])
        return screw.power(cross(unit, self.dv), force)  # type: ignore[arg-type]
