"""The true size of a large defect: mend the motions, fit again, and look what is left."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.lazy import later
from dynid.estimators.fit import Fit
from dynid.estimators.linear.least_squares import weighted_fit
from dynid.problem.build import build_problem
from dynid.problem.problem import Problem
from dynid.suspects.gravity import follow_gravity
from dynid.suspects.ledger import open_ledger
from dynid.suspects.log_defects import GravityTilt
from dynid.suspects.ranking import score_alone
from dynid.suspects.sampling import sampling_of
from dynid.suspects.suspect import Suspect

_beside_terms = later("dynid.estimators.linear.separable", "fit_beside_terms")


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


def mend_motions(problem: Problem, suspect: Suspect, size: FloatArray, fit: Fit) -> Mended | None:
    """Follow the size of a suspect by mending, fitting and scoring again; None where nothing can be mended.

    Args:
        problem: with rows and motions.
        suspect: what is taken to be wrong.
        size: its first-order size.
        fit: weighted least squares of the problem, with its added terms.
    """
    assert problem.motions is not None
    before = fit.spectrum.residual_norm**2
    best: Mended | None = None
    for _ in range(RULES.rounds):
        motions = [suspect.mend(motion, size) for motion in problem.motions]
        whole = [motion for motion in motions if motion is not None]
        if len(whole) < len(motions) or not before > 0:
            return None
        again = build_problem(problem.robot, whole, problem.plan, problem.base)
        mended = fit_again(again, fit)
        left = mended.spectrum.residual_norm**2 / before
        if best is not None and left > best.left:
            return best
        best = Mended(size, left)
        beside = None if fit.further is None else mended
        found = score_alone(open_ledger(again, (suspect,), fit.kept, fit=beside))
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


def fit_again(problem: Problem, fit: Fit) -> Fit:
    """Least squares with the weights and terms of another fit.

    Args:
        problem: with other rows.
        fit: of rows that have a defect.
    """
    if fit.further is None:
        return weighted_fit(problem, fit.weights, fit.kept)
    again: Fit = _beside_terms(problem, fit.kept, fit.values, fit.further.parameters, fit.weights)
    return again
