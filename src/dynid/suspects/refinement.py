"""The true size of a large defect: mend the motions, fit again, and look what is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.estimators.linear.least_squares import weighted_fit
from dynid.problem.build import build_problem
from dynid.problem.problem import Problem
from dynid.suspects.gravity import follow_gravity
from dynid.suspects.ledger import open_ledger
from dynid.suspects.log_defects import GravityTilt
from dynid.suspects.ranking import score_alone
from dynid.suspects.sampling import sampling_of
from dynid.suspects.suspect import Suspect


@dataclass(frozen=True)
class RefinementRules:
    """How far a size is followed.

    Args:
        rounds: fits at most.
        settled: last step over the size at which it has settled.
        longest: share of the size that a step may at most be: a first order beyond its range overshoots.
    """

    rounds: int = 4
    settled: float = 0.03
    longest: float = 1.0


RULES = RefinementRules()


@dataclass(frozen=True, eq=False)
class Mended:
    """Motions without a defect.

    Args:
        size: of the defect, followed beyond the first order.
        left: weighted squares of the residual after mending over those before, with the same weights; zero
            where that was not asked.
    """

    size: FloatArray
    left: float = 0.0


def mend_motions(
    problem: Problem, suspect: Suspect, size: FloatArray, weights: FloatArray, kept: NDArray[np.bool_]
) -> Mended | None:
    """Follow the size of a suspect by mending, fitting and scoring again; None where nothing can be mended.

    Args:
        problem: with rows and motions.
        suspect: what is taken to be wrong.
        size: its first-order size.
        weights: of the joints.
        kept: base parameters in use.
    """
    assert problem.motions is not None
    before = weighted_squares(problem, weights, kept)
    best: Mended | None = None
    for _ in range(RULES.rounds):
        motions = [suspect.mend(motion, size) for motion in problem.motions]
        whole = [motion for motion in motions if motion is not None]
        if len(whole) < len(motions) or not before > 0:
            return None
        again = build_problem(problem.robot, whole, problem.plan, problem.base)
        left = weighted_squares(again, weights, kept) / before
        if best is not None and left > best.left:
            return best
        best = Mended(size, left)
        found = score_alone(open_ledger(again, (suspect,), kept))
        if found is None:
            return best
        step = np.clip(found.size, -RULES.longest * np.abs(size), RULES.longest * np.abs(size))
        if np.linalg.norm(step) <= RULES.settled * np.linalg.norm(size):
            return best
        size = suspect.combine(size, step)
    return best


def mend_gravity(problem: Problem, suspect: GravityTilt) -> Mended:
    """The tilt of gravity, followed on some samples without compiling the robot anew for each direction.

    Args:
        problem: with motions.
        suspect: gravity as the robot file has it.
    """
    sampling = sampling_of(problem)
    direction = follow_gravity(sampling, sampling.weights[0], np.array(suspect.gravity))
    return Mended(suspect.size_of(direction))


def weighted_squares(problem: Problem, weights: FloatArray, kept: NDArray[np.bool_]) -> float:
    """Σ w_j² ‖ρ_j‖² of least squares with given weights."""
    fit = weighted_fit(problem, weights, kept)
    return float(np.sum((weights * problem.residual_norms(fit.values)) ** 2))
