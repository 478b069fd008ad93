"""Descent on a criterion and the barrier of its limits: Newton's method, where curvature is known.

The logarithms of slacks bend sharply near the limits, and their Hessian is known; that of the criterion is
not, and BFGS learns it from gradients. Learning both together takes several times as many evaluations.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray

Objective = Callable[[FloatArray], tuple[float, FloatArray]]
"""Value, infinite outside the limits, and gradient."""
Known = Callable[[FloatArray], tuple[FloatArray, FloatArray]]
"""Gradient (variables,) and Hessian of the part of the objective whose curvature is known."""
_ARMIJO = 1e-4
"""Share of the promised decrease that a step must bring."""
_SHORTER = 0.5
"""Factor of a step that was too long."""
_LEAST_STEP = 1e-9
_FIRST_LENGTH = 0.1
"""Length of the first step, while nothing is known of the criterion, as a share of that of the variables."""


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
    known: Known,
    reach: Callable[[FloatArray, FloatArray], float],
    x: FloatArray,
    *,
    iterations: int,
    tolerance: float,
    watch: Callable[[FloatArray], None] = lambda x: None,
) -> Descent:
    """Minimise by Newton steps and a line search that turns back at the limits (Nocedal, Wright 2006, §18).

    Args:
        objective: what to minimise.
        known: the part of it whose curvature is known and positive.
        reach: how much of a step is worth trying: steps to a limit are refused, or glide along it after.
        x: start; where it lies outside the limits it is the end too.
        iterations: at most.
        tolerance: decrease over five iterations below which it ends.
        watch: called with each accepted point.
    """
    value, gradient = objective(x)
    history, evaluations = deque([value], maxlen=6), 1
    if not value < np.inf:
        return Descent(x, value, evaluations, False)
    of_known, bend = known(x)
    learnt: FloatArray | None = None
    for _ in range(iterations):
        guess = _first_guess(gradient.ravel() - of_known, x) if learnt is None else learnt
        direction = _newton(bend + guess, gradient.ravel()).reshape(x.shape)
        slope, step = float(np.vdot(gradient, direction)), reach(x, direction)
        while step > _LEAST_STEP:
            found = objective(x + step * direction)
            evaluations += 1
            if found[0] <= value + _ARMIJO * step * slope:
                break
            step *= _SHORTER
        else:
            if learnt is None:
                return Descent(x, value, evaluations, True)
            learnt = None  # what was learnt may mislead; a steepest descent may still find a way
            continue
        moved = step * direction
        before = gradient.ravel() - of_known
        x, (value, gradient) = x + moved, found
        of_known, bend = known(x)
        learnt = _learn(learnt, moved.ravel(), gradient.ravel() - of_known - before)
        watch(x)
        history.append(value)
        if len(history) == history.maxlen and history[0] - value < tolerance:
            return Descent(x, value, evaluations, True)
    return Descent(x, value, evaluations, False)


def _first_guess(gradient: FloatArray, x: FloatArray) -> FloatArray:
    """A multiple of the identity that makes the first step of the criterion a share of x long."""
    length = _FIRST_LENGTH * max(float(np.linalg.norm(x)), 1e-3)
    return np.eye(x.size) * max(float(np.linalg.norm(gradient)) / length, 1e-9)


def _newton(hessian: FloatArray, gradient: FloatArray) -> FloatArray:
    """−H⁻¹ g through a diagonal of ones: near a limit its entries differ by 1e12."""
    from scipy.linalg import lapack

    units = 1.0 / np.sqrt(np.diag(hessian))
    scaled = hessian * np.outer(units, units)
    scaled[np.diag_indices_from(scaled)] += 1e-10  # rounding must not make it indefinite
    _, solution, _ = lapack.dposv(scaled, -units * gradient)
    return np.asarray(units * solution, dtype=float)


def _learn(hessian: FloatArray | None, moved: FloatArray, change: FloatArray) -> FloatArray:
    """BFGS with Powell's damping, which keeps the Hessian positive (Nocedal, Wright 2006, procedure 18.2)."""
    product = float(moved @ change)
    if hessian is None:
        hessian = np.eye(len(moved)) * max(float(change @ change) / max(abs(product), 1e-300), 1e-6)
    image = hessian @ moved
    length = float(moved @ image)
    if not length > 0.0:  # a step below rounding teaches nothing
        return hessian
    share = 1.0 if product >= 0.2 * length else 0.8 * length / (length - product)
    damped = share * change + (1.0 - share) * image
    return hessian - np.outer(image, image) / length + np.outer(damped, damped) / float(moved @ damped)
