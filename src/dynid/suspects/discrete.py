"""Defects that no small size describes: signs, swapped columns, units, gravity along another axis.

Each is undone on some samples of the logs and all joints are fitted together again. Where the log is right
they agree about as well as each of them agrees with itself; where a candidate mends it they do so again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.finding import Name
from dynid.model.joint import JointKind
from dynid.problem.problem import Problem
from dynid.suspects.candidate import Candidate
from dynid.suspects.gravity import gravity_candidates, is_tilt
from dynid.suspects.sampling import Sampling, sampling_of


@dataclass(frozen=True)
class DiscreteRules:
    """When candidates are tried and told.

    Args:
        poor: misfit from which on the joints do not agree, and candidates are tried: 1 is as good as each
            joint alone.
        unexplained: share of the torque that a joint leaves alone, as a median, from which on they are tried
            too: no parameters explain such torques.
        mended: part of the misfit above 1 that a candidate may leave; half of all where the joints agree.
        alike: difference of what candidates leave, over the misfit above 1 as recorded, up to which physics
            decides between them.
        drop: squares that another gravity, or friction that would drive every joint, must explain, in those
            that a joint leaves alone: on 120 sound cases of the population (setting half) none explains more
            than 18; with gravity along a wrong axis it is 350 and more, or gravity is not seen at all.
    """

    poor: float = 1.15
    unexplained: float = 0.3
    mended: float = 0.4
    alike: float = 0.1
    drop: float = 100.0


DISCRETE = DiscreteRules()


_ALL_REVERSED = Candidate(
    "reversed torques",
    (),
    Name.REVERSED_SIGN,
    "all torques or all positions have the wrong sign: friction would drive every joint",
    "Turn the signs of the torques in the mapping.",
)


def discrete_suspects(problem: Problem, sampling: Sampling | None = None) -> tuple[Candidate, ...]:
    """Candidates that make joints agree which do not, the best first; none where they agree as recorded.

    Torques that are all reversed agree as well: there only friction tells, which must not drive every joint.

    Args:
        problem: with motions.
        sampling: of it, where it was made before.
    """
    sampling = sampling or sampling_of(problem)
    weights, explained = sampling.weights
    before, driven = sampling.agreement_as_recorded
    if driven == len(weights) and sampling.friction_squares(weights) > DISCRETE.drop:
        # Every friction would drive, and more than chance would make it: all signs together are wrong.
        return (replace(_ALL_REVERSED, misfit=before, before=before),)
    agree = before < DISCRETE.poor and explained < DISCRETE.unexplained
    most = 1.0 + DISCRETE.mended * (before - 1.0) if before >= DISCRETE.poor else 0.5
    least = np.sqrt(max(before**2 - DISCRETE.drop / sampling.tau.size, 0.0))
    found = []
    for candidate, mended in gravity_candidates(sampling) if agree else _candidates(sampling):
        misfit, driven = mended.agreement(_carried(weights, candidate))
        if misfit < (least if candidate.finding is Name.GRAVITY_DIRECTION else most):
            found.append(replace(candidate, misfit=misfit, driven=driven, before=before))
    if not found or is_tilt(sampling, min(one.misfit for one in found)):
        return ()
    # Below 1e-9 misfits are rounding: the first of equals is the one that says most.
    alike = min(one.misfit for one in found) + DISCRETE.alike * (before - 1.0)
    return tuple(sorted(found, key=lambda one: (one.misfit > alike, one.driven, max(one.misfit, 1e-9))))


def _carried(weights: FloatArray, candidate: Candidate) -> FloatArray:
    """Weights of the joints; swapped torques take theirs along."""
    if not candidate.key.startswith("swapped torques"):
        return weights
    j, k = candidate.joints
    swapped = weights.copy()
    swapped[[j, k]] = weights[[k, j]]
    return swapped


def _candidates(sampling: Sampling) -> Iterator[tuple[Candidate, Sampling]]:
    """Each candidate with the samples as they would be without it."""
    yield from _signs(sampling)
    yield from _units(sampling)
    yield from _swaps(sampling)
    yield from gravity_candidates(sampling)


def _signs(sampling: Sampling) -> Iterator[tuple[Candidate, Sampling]]:
    turn = "Turn the sign of its {} in the mapping, or of its gear ratio."
    for j in range(sampling.q.shape[1]):
        sign = np.where(np.arange(sampling.q.shape[1]) == j, -1.0, 1.0)
        for what in ("torque", "position"):
            words, remedy = f"has its {what} reversed", turn.format(what)
            mended = (
                replace(sampling, tau=sampling.tau * sign)
                if what == "torque"
                else sampling.with_scale([j], -1.0)
            )
            yield _of_joint(f"reversed {what}", j, Name.REVERSED_SIGN, words, remedy), mended


def _units(sampling: Sampling) -> Iterator[tuple[Candidate, Sampling]]:
    """Degrees for radians, on one joint and on all."""
    robot = sampling.robot
    kinds = [robot.joints[c].kind for c in robot.coordinates]
    turning = [j for j, kind in enumerate(kinds) if kind is JointKind.REVOLUTE]
    remedy = 'Say unit = "deg" of the positions in the mapping.'
    for j in turning:
        candidate = _of_joint("degrees", j, Name.POSITION_UNIT, "is in degrees", remedy)
        yield candidate, sampling.with_scale([j], float(np.pi / 180.0))
    if len(turning) != 1:
        whole = Candidate("degrees", (), Name.POSITION_UNIT, "positions are in degrees", remedy)
        yield whole, sampling.with_scale(turning, float(np.pi / 180.0))


def _swaps(sampling: Sampling) -> Iterator[tuple[Candidate, Sampling]]:
    n = sampling.q.shape[1]
    for j, k in combinations(range(n), 2):
        order = list(range(n))
        order[j], order[k] = k, j
        both = f"of joint {j + 1} and joint {k + 1}"
        for what in ("torques", "positions"):
            candidate = Candidate(
                f"swapped {what}@{j + 1}-{k + 1}",
                (j, k),
                Name.SWAPPED_AXES,
                f"the {what} {both} are swapped",
                f"Swap the {what} {both} in the mapping.",
            )
            yield candidate, sampling.with_order(order, what == "positions")


def _of_joint(name: str, joint: int, finding: Name, words: str, remedy: str) -> Candidate:
    return Candidate(f"{name}@{joint + 1}", (joint,), finding, f"joint {joint + 1} {words}", remedy)
