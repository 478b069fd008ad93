"""Whether the joints agree on the parameters they share.

A joint's torque alone fixes most parameters that it feels (P2 §III). A wrong torque constant, gear ratio or
zero leaves each joint explained by itself and sets the joints against each other: the common fit has small
residuals, and parameters further from the truth than their σ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.finding import Finding, Level, Name
from dynid.problem.problem import Problem
from dynid.problem.spectrum import spectrum

FloatArray = NDArray[np.float64]
_ROOM = 1.5
"""Rows a joint needs over its own parameters."""
_CLEAR = 4.0
"""F above which the disagreement is more than chance and the usual small errors of a model."""
_VISIBLE = 1.3
"""How many times its own error a joint must have in the common fit before it is told."""


@dataclass(frozen=True, eq=False)
class Agreement:
    """The common fit against fits of each joint alone.

    Args:
        F: what the common parameters add to the weighted squares, per parameter they save; 1 on average when
            one set of parameters holds for all joints.
        alone: share of each joint's torque that it leaves by itself, ‖residual‖/‖torque‖.
        together: the same in the common fit, weighted by the joints' own errors.
        ratio: σ̂ of each joint in the common fit over σ̂ by itself.
    """

    F: float
    alone: FloatArray
    together: FloatArray
    ratio: FloatArray


def agreement(problem: Problem) -> Agreement | None:
    """Compare; None when a joint has too few rows, or nothing is shared.

    Args:
        problem: rows of all joints.
    """
    factors, rows = problem.regression.joints, problem.row_counts.astype(float)
    own = [spectrum(factor.R) for factor in factors]
    left = np.array([s.residual_norm for s in own])
    ranks = np.array([s.rank for s in own], dtype=float)
    sizes = problem.torque_norms()
    if np.any(rows < _ROOM * ranks) or np.any(left <= 0) or np.any(sizes <= 0):
        return None
    sigma = left / np.sqrt(rows - ranks)
    common = problem.spectrum(1.0 / sigma)
    saved = float(ranks.sum()) - common.rank
    if saved < 1:
        return None
    residual = problem.residual_norms(common.solution)
    F = (common.residual_norm**2 - float(np.sum(rows - ranks))) / saved
    degrees = rows * (1.0 - common.rank / rows.sum())
    return Agreement(F, left / sizes, residual / sizes, residual / np.sqrt(degrees) / sigma)


def disagreements(problem: Problem) -> tuple[Finding, ...]:
    """A sentence where joints do not agree on their parameters; empty when they do.

    Args:
        problem: rows of all joints.
    """
    found = agreement(problem)
    if found is None or found.F < _CLEAR or found.ratio.max() < _VISIBLE:
        return ()
    j = int(np.argmax(found.ratio))
    robot = problem.robot
    name = robot.joints[robot.coordinates[j]].name
    return (
        Finding(
            Name.JOINTS_DISAGREE,
            Level.CARE,
            f"The joints do not agree on the parameters they share (F = {found.F:.3g}): {name} by itself "
            f"leaves {100 * found.alone[j]:.2g} % of its torque, with the others "
            f"{100 * found.together[j]:.2g} %. Look for a wrong torque constant, gear ratio, zero or order "
            "of axes there and next to it, or an effect that the model lacks; parameters may be off by "
            "several of their σ.",
        ),
    )
