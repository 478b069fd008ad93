"""Random starts of a design, made to keep all limits, and poses where a motion can begin."""

from __future__ import annotations

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.excitation.problem import DesignProblem

_FIRST_SHARE = 0.6
"""Share of the limits that a random start uses at most."""
_LEAST_CLEARANCE = 1e-4
"""Room beyond the margin without which no motion about a pose could be proved [m]."""
_TRIES = 400
"""Random poses looked at where the middle of the ranges touches something."""
_SIZES = 30
"""Sizes tried of a start that touches something or asks too much, each three quarters of the last."""


def require_possible_pose(problem: DesignProblem, pose: FloatArray) -> None:
    """Refuse a start pose at which the robot could not even rest, naming the limits in conflict.

    Raises:
        DynidError: with what is passed there.
    """
    passed = conflicts_at(problem, pose)
    if passed:
        raise DynidError(
            f"The start pose {np.round(pose, 4).tolist()} cannot be reached: {'; '.join(passed)}. "
            "Give another pose, or other limits."
        )


def conflicts_at(problem: DesignProblem, pose: FloatArray) -> list[str]:
    """Limits that a robot at rest in a pose does not keep, in words."""
    limits, found = problem.limits, []
    at_pose = limits.joint_values(pose[None, :], 0)[0]
    for name, value, low, high in zip(limits.joints, at_pose, limits.low[0], limits.high[0], strict=True):
        if not low < value < high:
            found.append(f"{name} would stand at {value:.4g}, outside {low:.4g} … {high:.4g}")
    still = np.zeros((1, len(pose)))
    if problem.scene is not None:
        clear = problem.scene.clearances(pose[None, :])[0]
        for pair, distance in zip(problem.scene.names, clear, strict=True):
            if not distance > _LEAST_CLEARANCE:
                found.append(f"{pair} come {max(-distance, 0.0):.3g} m too close")
    if problem.model.values is not None:
        torques = problem.model.observe(pose[None, :], still, still).torques[:, 0]
        names = [problem.model.base.robot.joints[j].name for j in problem.model.base.robot.coordinates]
        for name, torque, most in zip(names, torques, limits.effort, strict=True):
            if not abs(torque) < most:
                found.append(f"{name} would need {abs(torque):.4g} to rest, and its limit is {most:.4g}")
    return found


def possible_pose(problem: DesignProblem, rng: np.random.Generator) -> FloatArray:
    """A pose at which the robot can rest: the middle of the ranges, or the first random one nearest to it.

    Raises:
        DynidError: where none is found, with what the middle of the ranges does not keep.
    """
    middle = problem.limits.middle
    if not conflicts_at(problem, middle):
        return middle
    half = problem.half_ranges
    for share in np.linspace(0.05, 1.0, _TRIES):
        pose: FloatArray = middle + share * half * rng.uniform(-1.0, 1.0, len(middle))
        if not conflicts_at(problem, pose):
            return pose
    raise DynidError(
        f"No pose was found at which the robot can rest within its limits; in the middle of its ranges "
        f"{'; '.join(conflicts_at(problem, middle))}. Give a start pose, or other limits."
    )


def random_start(problem: DesignProblem, rng: np.random.Generator) -> FloatArray:
    """Variables of a random motion inside all limits.

    Each axis is scaled to a share of its own limits, then the whole motion is shrunk towards its start pose
    until torques and clearances are kept too; at the pose itself they are.
    """
    x = rng.normal(size=problem.shape)
    if problem.free_start:
        x[:, -1] = 0.0
    for axis in range(len(x)):
        x[axis] *= _axis_size(problem, x, axis)
    sizes = (0.75**k for k in range(_SIZES))
    inside = (size for size in sizes if np.isfinite(problem.barrier(size * x, 1.0)[0]))
    size = next(inside, 0.0)
    if not size > 0:
        raise DynidError(
            "No motion about the start pose keeps all limits and shows all parameters; a joint may have no "
            "room there, or the motion too few coefficients. Give another start pose, more harmonics or "
            "wider limits."
        )
    return size * x


def _axis_size(problem: DesignProblem, x: FloatArray, axis: int) -> float:
    """Factor at which one axis alone uses a share of the room that its limits leave at the start pose.

    Slacks fall in proportion to the motion, those of P3's bounds nearly so: the second pass corrects it.
    """
    alone, size = np.zeros_like(x), 1.0
    rest = problem.room.slacks(alone)
    for _ in range(2):
        alone[axis] = size * x[axis] * problem.units[axis]
        used = 1.0 - problem.room.slacks(alone) / rest
        size *= _FIRST_SHARE / max(float(used.max()), 1e-12)
    return size
