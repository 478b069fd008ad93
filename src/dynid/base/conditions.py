"""What a composite link may hold without its joint feeling it: the linear conditions of the closed form.

T_j is the set of parameters of link j, its drive and its friction whose energy depends neither on q_j nor on
q̇_j, whatever the antecedents do; such parameters can be handed over to the antecedent, and only those.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dynid.base.features import (
    SCREW,
    Attainable,
    Passage,
    at_base,
    at_link,
    carried_twists,
    kinetic_features,
    passage,
)
from dynid.base.subspaces import Echelon, last_echelon, null_space, unit_rows
from dynid.core.arrays import FloatArray
from dynid.core.errors import ModelError
from dynid.dynamics.operations import NUMERIC
from dynid.model.joint import BASE, JointKind
from dynid.model.parameters import DRIVE_INERTIA
from dynid.model.robot import Robot

_POSITIONS = 1.6 * np.sin(1.3 + 2.4 * np.arange(36))
_SPEEDS = np.tile(np.array([1.0, -1.0]), 18) * np.repeat(10.0 ** np.linspace(-3, 0.5, 18), 2)
"""Positions [rad or m] and speeds [rad/s or m/s] at which friction laws are compared: speeds down to 1e-3
tell tanh(qd/0.01) from sign(qd)."""


@dataclass(frozen=True)
class LinkConditions:
    """Conditions own · x + motors · Iam = 0 on the composite of link j.

    Args:
        columns: indices into the table of the link's own parameters x: ten inertial ones, Ia, friction.
        own: (·, len(columns)) conditions on x.
        motors: (·, coupled motors) what the motor inertias Iam add to the same conditions.
        free: T_j, the null space of ``own``, by its latest pivots.
        gap: ratio of singular values across the rank decision that gave T_j.
    """

    columns: tuple[int, ...]
    own: FloatArray
    motors: FloatArray
    free: Echelon
    gap: float


def link_conditions(robot: Robot) -> tuple[LinkConditions, ...]:
    """Conditions of every link, base to tips, with the attainable spans carried along."""
    crossings = motor_crossings(robot)
    spans: list[Attainable] = []
    result = []
    for j, joint in enumerate(robot.joints):
        before = at_base(robot) if joint.antecedent == BASE else spans[joint.antecedent]
        through = passage(joint)
        spans.append(at_link(before, j, through))
        columns = own_columns(robot, j)
        blocks = list(_blocks(robot, j, before, through, columns, crossings))
        rows = np.vstack([np.zeros((0, len(columns) + len(crossings))), *blocks])
        rows = unit_rows(rows)
        own = rows[:, : len(columns)]
        basis, gap = null_space(own)
        result.append(LinkConditions(columns, own, rows[:, len(columns) :], last_echelon(basis), gap))
    return tuple(result)


def own_columns(robot: Robot, j: int) -> tuple[int, ...]:
    """Table indices of the parameters of link j, its drive and its friction."""
    shared = ("motor", "element")
    return tuple(i for i, entry in enumerate(robot.table) if entry.joint == j and entry.family not in shared)


def motor_crossings(robot: Robot) -> FloatArray:
    """C_m (motors, joints, joints) with the energy ½ q̇ᵀ C_m q̇ per unit Iam_m of each coupled motor.

    Only the cross part ρ_j ρ_k, j ≠ k, is there: the rest is inside Ia, as in the regressor.
    """
    n = len(robot.joints)
    if robot.drives is None:
        return np.zeros((0, n, n))
    result = []
    for motor in robot.drives.coupled_motors():
        rho = np.zeros(n)
        rho[list(robot.coordinates)] = robot.drives.shares[motor]
        cross = np.outer(rho, rho)
        np.fill_diagonal(cross, 0.0)
        result.append(cross)
    return np.array(result).reshape(len(result), n, n)


def _blocks(
    robot: Robot,
    j: int,
    before: Attainable,
    through: Passage,
    columns: tuple[int, ...],
    crossings: FloatArray,
) -> Iterator[FloatArray]:
    """Rows over (own columns, motors): terms in q̇_j², in q̇_j V_a, in V_a² and in gravity."""
    if through.kind is JointKind.FIXED:
        return
    screw = SCREW[through.kind]
    n_own, n_motors = len(columns), len(crossings)
    drive = np.zeros((1, n_own + n_motors))
    drive[:, :10] = 2 * kinetic_features(screw, screw[None])
    for k, index in enumerate(columns):
        drive[0, k] += robot.table.entries[index].symbol == DRIVE_INERTIA
    yield drive
    for m, A in enumerate(through.velocities):
        twists = carried_twists(before.twists, A, m == 0)
        rows = np.zeros((len(twists), n_own + n_motors))
        rows[:, :10] = 2 * kinetic_features(screw, twists[:, :6])
        rows[:, n_own:] = twists[:, 6:] @ crossings[:, j, :].T
        yield rows
    for body in through.bodies[1:]:
        yield np.pad(before.kinetic @ body, ((0, 0), (0, n_own + n_motors - 10)))
    yield np.pad(_gravity_rows(robot, before, through, columns), ((0, 0), (0, n_motors)))


def _gravity_rows(robot: Robot, before: Attainable, through: Passage, columns: tuple[int, ...]) -> FloatArray:
    """∂U/∂q_j plus the friction of joint j vanish at every sampled (q_j, q̇_j), for all attainable gravity."""
    laws = _friction_laws(robot, columns)
    slopes = np.array([through.slopes(q) for q in _POSITIONS])
    weights = np.array(through.weights)
    rows = []
    for feature in before.gravity:
        block = np.zeros((len(_POSITIONS), len(columns)))
        block[:, 6:10] = -slopes @ (weights @ feature[:4])
        block[:, 10:] = feature[4] * laws
        rows.append(block)
    return np.vstack(rows)


def _friction_laws(robot: Robot, columns: tuple[int, ...]) -> FloatArray:
    """(samples, columns after the ten inertial ones) torque per unit friction coefficient; 0 for Ia."""
    values = np.zeros((len(_POSITIONS), len(columns) - 10))
    terms = {term.name: term for term in robot.friction_terms}
    for k, index in enumerate(columns[10:]):
        entry = robot.table.entries[index]
        if entry.family != "friction":
            continue
        with np.errstate(all="ignore"):
            values[:, k] = NUMERIC.evaluate(terms[entry.symbol].expression, _POSITIONS, _SPEEDS, entry.symbol)
        if not np.all(np.isfinite(values[:, k])):
            raise ModelError(
                f"The friction law of {entry.name}, {terms[entry.symbol].expression!r}, is not finite for "
                "positions within ±1.6 and speeds within ±3; give a law that is."
            )
    return values
