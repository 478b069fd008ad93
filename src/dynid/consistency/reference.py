"""A body for every link to measure others by: that of the robot file, or one of the robot's own geometry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.consistency.pseudo_inertia import link_columns, pseudo_inertias, standard_values
from dynid.consistency.system import DataRows
from dynid.core.arrays import FloatArray
from dynid.model.geometry import placement
from dynid.model.joint import BASE
from dynid.model.robot import Robot

_THICKNESS = 0.35
"""Standard deviation of a link's mass across its length, over the usual length of a link."""
_LEAST_EIGENVALUE = 1e-9
"""Least eigenvalue of a pseudo-inertia over its largest from which a robot file's body is believed."""
_ALIKE = 3.0
"""Factor by which the masses of a robot file may miss those that the torques ask for."""
_LIGHTEST = 1e-6
"""Least density [kg per usual length of a link]: torques of friction alone would leave no body at all."""
_SHARE = 0.1
"""Share of the torque that a drive or friction parameter of usual size makes."""
_NO_LENGTH = 0.1
"""Length of a link where the robot file has none [m]."""


@dataclass(frozen=True, eq=False)
class ReferenceBodies:
    """What parameters are usual.

    Args:
        bodies: pseudo-inertia of every link, positive definite, (links, 4, 4).
        scales: usual size of every standard parameter that belongs to no body, in table order, SI.
        words: where the bodies come from.
    """

    bodies: FloatArray
    scales: FloatArray
    words: str


def find_reference(robot: Robot, rows: DataRows) -> ReferenceBodies:
    """The bodies of the robot file where they can exist and resemble the torques, else links of one density.

    Args:
        robot: the robot.
        rows: what the log says; it gives the density.
    """
    scales = _usual_sizes(rows)
    own = pseudo_inertias(robot, robot.table.vector(robot.parameters))
    if not robot.inverse_only and _all_possible(own):
        density = _density(robot, own, rows)
        if 1.0 / _ALIKE < density < _ALIKE:
            return ReferenceBodies(own, scales, "the robot file")
    bodies = uniform_bodies(robot)
    density = abs(_density(robot, bodies, rows))
    return ReferenceBodies(max(density, _LIGHTEST) * bodies, scales, "links of one density")


def uniform_bodies(robot: Robot) -> FloatArray:
    """Links of one density along the robot's own geometry, (links, 4, 4); 1 kg per usual length of a link.

    A link reaches from its frame to those of the joints it carries, and along its axis to where its joint is
    placed. Its mass is spread evenly along these lines, with some thickness.
    """
    ends: list[list[FloatArray]] = [[np.zeros(3)] for _ in robot.joints]
    for joint, own in zip(robot.joints, ends, strict=True):
        if joint.r:
            own.append(np.array([0.0, 0.0, -joint.r]))
        if joint.antecedent != BASE:
            ends[joint.antecedent].append(placement(joint)[1])
    lengths = [float(np.linalg.norm(end)) for own in ends for end in own]
    usual = float(np.median([length for length in lengths if length > 0] or [_NO_LENGTH]))
    return np.array([sum(_rod(end, usual) for end in own) for own in ends])


def _rod(end: FloatArray, usual: float) -> FloatArray:
    """Pseudo-inertia of a thick rod from the origin to a point."""
    P = np.empty((4, 4))
    P[:3, :3] = np.outer(end, end) / 3 + (_THICKNESS * usual) ** 2 * np.eye(3)
    P[:3, 3] = P[3, :3] = end / 2
    P[3, 3] = 1.0
    return np.asarray((1.0 + float(np.linalg.norm(end)) / usual) * P)


def _all_possible(bodies: FloatArray) -> bool:
    sizes = np.linalg.eigvalsh(bodies)
    return bool(np.all(sizes[:, 0] > _LEAST_EIGENVALUE * sizes[:, -1]) and np.all(sizes[:, -1] > 0))


def _density(robot: Robot, bodies: FloatArray, rows: DataRows) -> float:
    """Factor by which bodies explain the torques best, beside any friction and drives."""
    table, base = robot.table, rows.base
    standard = np.zeros(len(table))
    for columns, body in zip(link_columns(robot), bodies, strict=True):
        standard[columns] = standard_values(body)
    free = [k for k, column in enumerate(base.columns) if table.entries[column].family != "inertial"]
    W = np.column_stack([rows.standard @ standard, rows.A[:, free]])
    lengths = np.linalg.norm(W, axis=0)
    found = np.linalg.lstsq(W / np.where(lengths > 0, lengths, 1.0), rows.b, rcond=None)[0]
    return float(found[0] / lengths[0]) if lengths[0] > 0 else 0.0


def _usual_sizes(rows: DataRows) -> FloatArray:
    """Size at which a parameter alone makes a tenth of the torque; one where nothing shows it."""
    lengths = np.linalg.norm(rows.standard, axis=0)
    torque = float(np.linalg.norm(rows.b)) or 1.0
    seen = lengths > 1e-12 * lengths.max(initial=0.0)
    return np.where(seen, _SHARE * torque / np.where(seen, lengths, 1.0), 1.0)
