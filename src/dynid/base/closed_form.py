"""Base parameters of any tree in closed form: the Gautier–Khalil rules, carried to all joints and gravities.

From the tips to the base, what link j may hold without its joint feeling it (T_j) goes to its antecedent.
Inertias of coupled motors that links can replace go first.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.base.conditions import LinkConditions, link_conditions, motor_crossings
from dynid.base.features import carry
from dynid.base.forms import (
    Form,
    Grouping,
    Polynomial,
    joint_length,
    matrix_of,
    polynomial,
    require_clear,
)
from dynid.base.subspaces import last_echelon, null_space
from dynid.core.arrays import FloatArray
from dynid.dynamics.algebra import Scalar, constants, plus, rotate
from dynid.model.geometry import rotation_x, rotation_z
from dynid.model.joint import BASE, JointKind
from dynid.model.robot import Robot


@dataclass(frozen=True)
class MotorRegrouping:
    """A motor parameter that others can replace.

    Args:
        index: its table index.
        others: coefficients of the motor parameters that take its place.
        composites: per link, the composite c_j (own columns) that balances one unit of it.
    """

    index: int
    others: dict[int, float]
    composites: tuple[FloatArray, ...]


def motor_regroupings(robot: Robot, conditions: Sequence[LinkConditions]) -> list[MotorRegrouping]:
    """All motor parameters that the un-pivoted order would drop.

    An Iam direction x is unseen when some composites balance it on every joint: own · c_j + motors · x = 0;
    an Fvm direction only when the motors' patterns cancel; Fcm never, as the speeds of motors differ.
    """
    result: list[MotorRegrouping] = []
    crossings = motor_crossings(robot)
    for symbol in ("Iam", "Fvm"):
        indices = [i for i, e in enumerate(robot.table) if e.symbol == symbol and e.family == "motor"]
        if not indices:
            continue
        if symbol == "Iam":
            rows = np.vstack(
                [
                    _across_branches(robot, crossings),
                    *(_unbalanced_rows(link) for link in conditions),
                ]
            )
        else:
            rows = crossings.reshape(len(crossings), -1).T
        free = last_echelon(null_space(rows)[0])
        for x, pivot in zip(free.rows, free.pivots, strict=True):
            others = {indices[k]: -float(x[k]) for k in range(len(x)) if k != pivot and x[k] != 0}
            balance = tuple(_composite(link, x if symbol == "Iam" else 0 * x) for link in conditions)
            result.append(MotorRegrouping(indices[pivot], others, balance))
    return result


def _unbalanced_rows(link: LinkConditions) -> FloatArray:
    """What is left of the motors' part of the conditions when the link's own parameters do their best."""
    left, _ = null_space(link.own.T) if link.own.size else (np.eye(len(link.own)), 0.0)
    return left @ link.motors


def _across_branches(robot: Robot, crossings: FloatArray) -> FloatArray:
    """No link feels two joints of different branches, so nothing can balance a motor across them."""
    n = len(robot.joints)
    related = np.zeros((n, n), dtype=bool)
    for j in range(n):
        i = j
        while i != BASE:
            related[i, j] = related[j, i] = True
            i = robot.joints[i].antecedent
    return crossings[:, ~related].T


def _composite(link: LinkConditions, x: FloatArray) -> FloatArray:
    """The composite over the kept parameters that balances the motors' inertias x."""
    c = np.zeros(len(link.columns))
    kept = [k for k in range(len(c)) if k not in link.free.pivots]
    if link.own.size and np.any(link.motors @ x):
        c[kept] = np.linalg.lstsq(link.own[:, kept], -link.motors @ x, rcond=None)[0]
    whole = np.round(c)
    return np.where(np.abs(c - whole) < 1e-10, whole, c) + 0.0


def closed_form(robot: Robot) -> Grouping:
    """Base parameters without random states (generalises Gautier–Khalil 1990).

    Args:
        robot: a tree without couplings.
    """
    conditions = link_conditions(robot)
    forms = {i: {i: Polynomial.constant(1.0)} for i in range(len(robot.table))}
    own = [link.columns for link in conditions]
    for motor in motor_regroupings(robot, conditions):
        form = forms.pop(motor.index)
        for index, share in motor.others.items():
            _add(forms[index], form, share)
        for j, composite in enumerate(motor.composites):
            _hand_over(robot, j, composite, form, own, forms)
    for j in reversed(range(len(robot.joints))):
        free = conditions[j].free
        for t, pivot in zip(free.rows, free.pivots, strict=True):
            form = forms.pop(own[j][pivot])
            rest = np.where(np.arange(len(t)) == pivot, 0.0, t)
            _hand_over(robot, j, t, form, own, forms, removed=rest)
    gap = min(link.gap for link in conditions)
    require_clear(robot, gap)
    columns = tuple(sorted(forms))
    kept = tuple(forms[i] for i in columns)
    return Grouping(columns, matrix_of(kept, len(robot.table), robot.lengths), gap, kept)


def _hand_over(
    robot: Robot,
    j: int,
    t: np.ndarray,
    form: Form,
    own: Sequence[tuple[int, ...]],
    forms: dict[int, Form],
    removed: np.ndarray | None = None,
) -> None:
    """Take t × form off link j and add it, as a body, to the antecedent: X_j −= t, X_a += λ_j t."""
    if not np.any(t):
        return
    for k, value in enumerate(t if removed is None else removed):
        if value:
            _add(forms[own[j][k]], form, -float(value))
    antecedent = robot.joints[j].antecedent
    if antecedent == BASE:
        return
    for k, value in enumerate(_in_antecedent(robot, j, constants(t[:10]))):
        _add(forms[own[antecedent][k]], form, value)


def _in_antecedent(robot: Robot, j: int, X: Sequence[Scalar]) -> list[Scalar]:
    """λ_j X with named lengths; any q_j serves for X in T_j, and θ = 0 or r = 0 makes plain formulas."""
    joint = robot.joints[j]
    b, d, r = (joint_length(robot, joint, name) for name in ("b", "d", "r"))
    theta = 0.0 if joint.kind is JointKind.REVOLUTE else joint.theta
    if joint.kind is JointKind.PRISMATIC:
        r = 0.0
    first = rotation_z(joint.gamma)
    before = first @ rotation_x(joint.alpha)
    p = plus(rotate(constants(first), (d, 0.0, b)), rotate(constants(before), (0.0, 0.0, r)))
    return carry(X, constants(before @ rotation_z(theta)), p)


def _add(target: Form, source: Form, factor: Scalar) -> None:
    """target += factor × source, linear forms over the standard parameters."""
    factor = polynomial(factor)
    if not factor:
        return
    for index, coefficient in source.items():
        total = target.get(index, Polynomial({})) + factor * coefficient
        if total:
            target[index] = total
        else:
            target.pop(index, None)
