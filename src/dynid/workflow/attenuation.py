"""Are the estimates pulled towards zero by noise in the regressor?

Least squares assumes an exact observation matrix. Noise on positions, differentiated twice, makes it noisy,
and inertial parameters shrink by 1/(1 + κ), κ being the noise-to-signal power of the acceleration. A higher
cut-off lets more noise through, so estimates that shrink as it rises tell attenuation from a wrong model.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import DynidError
from dynid.estimators.identify import identify
from dynid.estimators.strategy import Strategy
from dynid.model.robot import Robot
from dynid.preparation.prepare import prepare
from dynid.problem.build import build_problem
from dynid.workflow.fit import FitResult

FloatArray = NDArray[np.float64]
FACTORS = (1.0, 2.0, 4.0)
SHRUNK = 0.9
"""A median ratio below this, at twice the cut-off or more, is taken as attenuation."""


@dataclass(frozen=True, eq=False)
class Attenuation:
    """Estimates at rising cut-offs.

    Args:
        cutoffs_hz: cut-offs tried.
        ratios: estimates relative to those at the first cut-off, (cut-offs, base).
        inertial: which base parameters carry inertia or first moments, and are well known.
        present: whether they shrink.
        sentence: the finding for people.
    """

    cutoffs_hz: tuple[float, ...]
    ratios: FloatArray
    inertial: NDArray[np.bool_]
    present: bool
    sentence: str


def attenuation(
    robot: Robot, result: FitResult, strategy: Strategy, factors: Sequence[float] = FACTORS
) -> Attenuation:
    """Fit again at higher cut-offs and see whether inertial parameters shrink.

    Args:
        robot: the robot.
        result: a finished fit whose plan has a cut-off.
        strategy: the estimator.
        factors: multiples of the plan's cut-off, the first being 1.
    """
    cutoff = result.plan.cutoff_hz
    if cutoff is None:
        raise DynidError("The preparation has no cut-off to vary.")
    tried, values = [], []
    for factor in factors:
        if factor * cutoff >= 0.45 * min(log.rate_hz for log in result.logs):
            break
        plan = replace(result.plan, cutoff_hz=factor * cutoff)
        motions = [prepare(log, plan) for log in result.logs]
        values.append(
            identify(build_problem(robot, motions, plan, result.estimate.problem.base), strategy).values
        )
        tried.append(factor * cutoff)
    table = result.estimate.problem.base.robot.table
    families = [table.entries[c].family for c in result.estimate.problem.base.columns]
    inertial = np.array([f == "inertial" for f in families]) & (result.estimate.relative_sigma < 5.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.array(values) / values[0]
    median = float(np.median(ratios[-1, inertial])) if inertial.any() and len(tried) > 1 else 1.0
    present = median < SHRUNK
    return Attenuation(tuple(tried), ratios, inertial, present, _sentence(median, tried, present))


def _sentence(median: float, tried: list[float], present: bool) -> str:
    span = f"from {tried[0]:g} to {tried[-1]:g} Hz"
    if present:
        return (
            f"Inertial parameters shrink to {100 * median:.0f} % when the cut-off rises {span}: noise in the "
            "regressor attenuates least squares; lower the cut-off, excite more, or use an instrumental "
            "variable."
        )
    share = f"{100 * median:.0f} %"
    return f"Inertial parameters stay at {share} when the cut-off rises {span}: no attenuation seen."
