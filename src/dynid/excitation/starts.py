"""Random starts of a design, made to keep all limits, and poses where a motion can begin."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.excitation.problem import DesignProblem
from dynid.excitation.room import AmplitudeRoom

_FIRST_SHARE = 0.6
"""Share of the limits that a random start uses at most."""
_TRIES = 400
"""Random poses looked at where the middle of the ranges touches something."""
_SIZES = 80
"""Sizes of a start that are tried, each 3/4 of the last: down to 1e-9, because a coefficient of a motion that
is brought to rest by quintics may move an axis hundreds of times as far as one of a Fourier series."""


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
            if not distance > 0:
                found.append(f"{pair} come {-distance:.3g} m too close")
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
        x[axis] *= _largest(partial(_axis_inside, problem, x, axis), 16.0)
    inside = _largest(lambda size: np.isfinite(problem.barrier(size * x, 1.0, problem.criterion)[0]), 1.0)
    if not inside > 0:
        raise DynidError(
            "No motion about the start pose keeps all limits and shows all parameters; a joint may have no "
            "room there, or the motion too few coefficients. Give another start pose, more harmonics or "
            "wider limits."
        )
    return inside * x


def _largest(holds: Callable[[float], bool], most: float) -> float:
    """The largest tried factor at which a condition holds: most, ¾ most, …; 0 where none does."""
    size = most
    for _ in range(_SIZES):
        if holds(size):
            return size
        size *= 0.75
    return 0.0


def _axis_inside(problem: DesignProblem, x: FloatArray, axis: int, size: float) -> bool:
    """Whether one axis alone, the others at rest, keeps to a share of its limits."""
    alone = np.zeros_like(x)
    alone[axis] = size * x[axis]
    room = problem.room
    free = 1.0 - _FIRST_SHARE
    if isinstance(room, AmplitudeRoom):
        return bool(np.all(room.slacks(*problem.split(alone))[:, axis] > free))
    rest = room.slacks([part[:1] for part in problem.motion(np.zeros_like(x))])
    slacks = room.slacks(problem.motion(alone))
    pairs = zip(slacks, rest, strict=True)
    return all(
        bool(np.all((side > free * at_rest) | np.isinf(side)))
        for sides, rests in pairs
        for side, at_rest in zip(sides, rests, strict=True)
    )
