"""The solver of designs: a logarithmic barrier, and L-BFGS on the compiled gradient."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray

Objective = Callable[[FloatArray], tuple[float, FloatArray]]
"""Value, infinite outside the limits, and gradient."""
_ARMIJO = 1e-4
"""Share of the promised decrease that a step must bring."""
_SHORTER = 0.4
"""Factor of a step that was too long."""
_LEAST_STEP = 1e-9


@dataclass(frozen=True, eq=False)
class Descent:
    """Where a descent ended.

    Args:
        x: variables.
        value: of the objective.
        evaluations: of value and gradient.
        converged: whether the decrease became small, rather than the steps too many.
    """

    x: FloatArray
    value: float
    evaluations: int
    converged: bool


def descend(
    objective: Objective,
    x: FloatArray,
    *,
    iterations: int,
    tolerance: float,
    memory: int = 50,
    watch: Callable[[FloatArray, float], None] = lambda x, value: None,
) -> Descent:
    """Minimise by limited-memory BFGS with a backtracking line search that turns back at the limits.

    Args:
        objective: what to minimise.
        x: start, inside the limits.
        iterations: at most.
        tolerance: decrease over five iterations below which it ends.
        memory: pairs of steps that are remembered.
        watch: called with each accepted point and value.
    """
    value, gradient = objective(x)
    pairs: deque[tuple[FloatArray, FloatArray, float]] = deque(maxlen=memory)
    history, evaluations = deque([value], maxlen=6), 1
    for _ in range(iterations):
        direction = _direction(gradient, pairs, x)
        slope = float(np.vdot(gradient, direction))
        if not slope < 0:
            pairs.clear()
            direction = _direction(gradient, pairs, x)
            slope = float(np.vdot(gradient, direction))
        step, found = 1.0, None
        while step > _LEAST_STEP:
            found = objective(x + step * direction)
            evaluations += 1
            if found[0] <= value + _ARMIJO * step * slope:
                break
            step *= _SHORTER
        else:
            if not pairs:
                return Descent(x, value, evaluations, True)
            pairs.clear()  # a steepest descent may still find a way
            continue
        change = found[1] - gradient
        moved = step * direction
        curvature = float(np.vdot(moved, change))
        if curvature > 1e-12 * float(np.vdot(change, change)):
            pairs.append((moved, change, curvature))
        x, value, gradient = x + moved, found[0], found[1]
        watch(x, value)
        history.append(value)
        if len(history) == history.maxlen and history[0] - value < tolerance:
            return Descent(x, value, evaluations, True)
    return Descent(x, value, evaluations, False)


def _direction(
    gradient: FloatArray, pairs: deque[tuple[FloatArray, FloatArray, float]], x: FloatArray
) -> FloatArray:
    """−H g by the two-loop recursion; along the steepest descent, a twentieth of x long, at first."""
    d = -gradient
    if not pairs:
        size = 0.05 * max(float(np.linalg.norm(x)), 1e-3) / max(float(np.linalg.norm(d)), 1e-300)
        return size * d
    shares = []
    for moved, change, curvature in reversed(pairs):
        share = float(np.vdot(moved, d)) / curvature
        shares.append(share)
        d = d - share * change
    moved, change, curvature = pairs[-1]
    d = d * (curvature / float(np.vdot(change, change)))
    for (moved, change, curvature), share in zip(pairs, reversed(shares), strict=True):
        d = d + (share - float(np.vdot(change, d)) / curvature) * moved
    return d
