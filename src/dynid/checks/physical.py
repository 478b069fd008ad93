"""Parameters that no robot can have: negative masses, inertia matrices not positive, friction that drives.

Noise in the regressor, a wrong sign or a missing term can make a fit with small residuals and impossible
values; the torques of such a model must not be used away from the motion of the fit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.compile.kernels import RobotKernels, kernels
from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.estimate import Estimate
from dynid.estimators.linear.terms import friction_beside_terms
from dynid.model.condition import FREE
from dynid.model.parameters import INERTIAL, NEVER_NEGATIVE
from dynid.preparation.motion import Motion


@dataclass(frozen=True)
class PhysicalLimits:
    """What shows that values are impossible.

    Args:
        sure: standard deviations below zero: with dozens of parameters, two happen by chance.
        poses: poses at which the inertia matrix is looked at, at least; more take time and find the same.
    """

    sure: float = 3.0
    poses: int = 200


LIMITS = PhysicalLimits()


def impossible_values(estimate: Estimate, motions: Sequence[Motion]) -> tuple[Finding, ...]:
    """Findings on values that no robot can have; none when there are none.

    Args:
        estimate: what was identified.
        motions: the motions of the fit, whose poses are looked at.
    """
    return (
        *_negative_masses(estimate),
        *_negative_values(estimate),
        *_negative_inertia(estimate, motions),
    )


def _negative_masses(estimate: Estimate) -> list[Finding]:
    """Links whose own mass, not a sum with others, is below zero beyond doubt."""
    base = estimate.problem.base
    robot = base.robot
    alone = np.count_nonzero(base.matrix, axis=1) == 1
    findings = []
    for i, column in enumerate(base.columns):
        entry = robot.table.entries[column]
        value, sigma = float(estimate.values[i]), float(estimate.sigma[i])
        if entry.symbol != INERTIAL[-1] or not alone[i] or value >= -LIMITS.sure * sigma:
            continue
        where, remedy = "", "Look for torques or positions of the wrong sign."
        if not robot.lives_in(FREE)[column]:
            own = [repr(one.name) for one in robot.conditions if robot.lives_in(one.name)[column]]
            where = f", which is there only in logs of the condition{'s' * (len(own) > 1)} {', '.join(own)},"
            remedy = "Check which logs are in which condition (--condition): they may be swapped."
        sentence = (
            f"The link {robot.joints[entry.joint].name!r}{where} comes out with a negative mass: "
            f"{base.names[i]} = {value:.3g} ± {sigma:.2g} {base.units[i]}."
        )
        findings.append(Finding(Name.IMPOSSIBLE_VALUES, Level.FAIL, sentence, remedy))
    return findings


def _negative_values(estimate: Estimate) -> list[Finding]:
    base = estimate.problem.base
    table = base.robot.table
    beside = friction_beside_terms(base.robot, () if estimate.further is None else estimate.further.terms)
    alone = (np.count_nonzero(base.matrix, axis=1) == 1) & ~np.isin(base.columns, beside)
    listed = []
    for i, column in enumerate(base.columns):
        value, sigma = float(estimate.values[i]), float(estimate.sigma[i])
        if table.entries[column].symbol in NEVER_NEGATIVE and alone[i] and value < -LIMITS.sure * sigma:
            listed.append(f"{base.names[i]} = {value:.3g} ± {sigma:.2g} {base.units[i]}")
    if not listed:
        return []
    shown = ", ".join(listed[:5]) + (f" and {len(listed) - 5} more" if len(listed) > 5 else "")
    return [
        Finding(
            Name.IMPOSSIBLE_VALUES,
            Level.CARE,
            f"Values that no robot has: {shown}. Friction takes power and inertia is positive; look for a "
            "wrong sign or gear ratio, noise in the accelerations, or terms that the motion cannot separate.",
        )
    ]


def _negative_inertia(estimate: Estimate, motions: Sequence[Motion]) -> list[Finding]:
    base = estimate.problem.base
    poses = _poses(motions)
    compiled = kernels(base.robot, base.columns)
    rows = _inertia_rows(compiled, poses)
    M = np.einsum("kjcs,c->sjk", rows, estimate.values)
    sizes, vectors = np.linalg.eigh((M + M.transpose(0, 2, 1)) / 2)
    worst = int(np.argmin(sizes[:, 0]))
    least, direction = float(sizes[worst, 0]), vectors[worst, :, 0]
    gradient = np.einsum("kjc,j,k->c", rows[:, :, :, worst], direction, direction)
    doubt = float(np.sqrt(max(gradient @ estimate.covariance @ gradient, 0.0)))
    # Rounding leaves zero inertias (a parameter that was removed) a little below zero.
    rounding = 1e-9 * float(np.max(np.abs(sizes[worst])))
    if least >= -max(LIMITS.sure * doubt, rounding):
        return []
    joint = _joint_name(base, int(np.argmax(np.abs(direction))))
    share = float(np.mean(sizes[:, 0] < -rounding))
    return [
        Finding(
            Name.IMPOSSIBLE_VALUES,
            Level.CARE,
            f"The inertia matrix is not positive definite in {100 * share:.0f} % of the motion (least "
            f"eigenvalue {least:.3g} ± {doubt:.2g}, mostly {joint}): no robot has such inertias. Noise in "
            "the accelerations pulls them down (lower the cut-off, excite more), or signs, gear ratios or "
            "terms are wrong; do not simulate with this model.",
        )
    ]


def _poses(motions: Sequence[Motion]) -> FloatArray:
    """Positions spread evenly over all motions, (poses, coordinates)."""
    step = max(1, sum(motion.samples for motion in motions) // LIMITS.poses)
    firsts = np.cumsum([0, *(motion.samples for motion in motions)])
    pairs = zip(firsts, motions, strict=False)
    return np.concatenate([motion.q[int(-first % step) :: step] for first, motion in pairs])


def _inertia_rows(compiled: RobotKernels, poses: FloatArray) -> FloatArray:
    """∂M/∂χ (coordinates k, coordinates j, base, poses): W(q, 0, e_k) − W(q, 0, 0), the torques that unit
    accelerations add."""
    rest = np.zeros_like(poses)
    still = compiled.regressor_blocks(poses, rest, rest)
    columns = []
    for k in range(poses.shape[1]):
        unit = rest.copy()
        unit[:, k] = 1.0
        columns.append(compiled.regressor_blocks(poses, rest, unit) - still)
    return np.stack(columns)


def _joint_name(base: BaseMap, coordinate: int) -> str:
    return base.robot.joints[base.robot.coordinates[coordinate]].name
