"""Base parameters of any tree in closed form: the Gautier–Khalil rules, carried to all joints and gravities.

From the tips to the base, what link j may hold without its joint feeling it (T_j) goes to its antecedent.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid.base.conditions import link_conditions
from dynid.base.features import carry
from dynid.base.grouping import Form, Grouping, require_clear
from dynid.base.lengths import joint_length, used_lengths, with_lengths
from dynid.base.motors import motor_regroupings
from dynid.base.polynomial import Polynomial, polynomial
from dynid.dynamics.algebra import Scalar, constants, plus, rotate
from dynid.model.geometry import rotation_x, rotation_z
from dynid.model.joint import BASE, JointKind
from dynid.model.robot import Robot


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
    K = np.zeros((len(columns), len(robot.table)))
    for row, index in enumerate(columns):
        for standard, coefficient in forms[index].items():
            K[row, standard] = coefficient.evaluate(robot.lengths)
    return Grouping(columns, K, gap, tuple(forms[i] for i in columns))


def holds_for_all_lengths(robot: Robot) -> bool:
    """Whether the rules T_j are the same for other values of the named lengths.

    They are on usual robots. Without gravity T_j can hold a length, as XZ3 − d3 MX3 of an iiwa; the forms of
    ``closed_form`` then mix its name with its number, and the formulas have to be recognised from numbers.
    """
    names = used_lengths(robot)
    if not names:
        return True
    other = {name: robot.lengths[name] * (1.13 + 0.07 * i) for i, name in enumerate(names)}
    pairs = zip(link_conditions(robot), link_conditions(with_lengths(robot, other)), strict=True)
    return all(
        here.free.pivots == there.free.pivots and np.allclose(here.free.rows, there.free.rows, atol=1e-9)
        for here, there in pairs
    )


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
