"""Whether the joints agree on the parameters they share.

A joint's torque alone fixes most parameters that it feels (P2 §III). A wrong torque constant, gear ratio or
zero leaves each joint explained by itself and sets the joints against each other: the common fit has small
residuals, and parameters further from the truth than their σ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name, Where
from dynid.estimators.linear.least_squares import own_sigma, weights_of
from dynid.problem.problem import Problem


@dataclass(frozen=True)
class AgreementLimits:
    """When joints disagree. Higher limits miss wrong constants, lower ones blame small errors of the model.

    Args:
        rows_per_parameter: rows that a joint needs for each parameter of its own: fewer leave nothing to
            judge its error by.
        clear_f: F above which the disagreement is more than chance and the usual small errors of a model.
        visible_ratio: σ̂ of a joint in the common fit over its own from which it is worth a sentence.
    """

    rows_per_parameter: float = 1.5
    clear_f: float = 4.0
    visible_ratio: float = 1.3


LIMITS = AgreementLimits()


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
    rows = problem.row_counts.astype(float)
    left = np.array([own.residual_norm for own in problem.joint_spectra])
    ranks = np.array([own.rank for own in problem.joint_spectra], dtype=float)
    sizes = problem.torque_norms()
    if np.any(rows < LIMITS.rows_per_parameter * ranks) or np.any(left <= 0) or np.any(sizes <= 0):
        return None
    sigma = own_sigma(problem)
    common = problem.spectrum(weights_of(sigma))
    saved = float(ranks.sum()) - common.rank
    if saved < 1:
        return None
    residual = problem.residual_norms(common.solution)
    F = (common.residual_norm**2 - float(np.sum((left / sigma) ** 2))) / saved
    degrees = rows * (1.0 - common.rank / rows.sum())
    return Agreement(F, left / sizes, residual / sizes, residual / np.sqrt(degrees) / sigma)


def disagreements(problem: Problem) -> tuple[Finding, ...]:
    """A finding where joints do not agree on their parameters; none when they do.

    Args:
        problem: rows of all joints.
    """
    found = agreement(problem)
    if found is None or LIMITS.clear_f > found.F or found.ratio.max() < LIMITS.visible_ratio:
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
            where=Where(axis=j + 1),
            figures={"F": found.F},
        ),
    )
