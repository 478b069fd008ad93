"""Scores of all suspects, ranked: size, doubt, what each explains alone and after the better ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.estimators.estimate import Estimate
from dynid.estimators.honest import few_blocks_factor
from dynid.suspects.changes import changes
from dynid.suspects.ledger import Ledger, open_ledger
from dynid.suspects.log_defects import log_defects
from dynid.suspects.physics import physics
from dynid.suspects.suspect import Suspect

_LEAST_SYSTEMATIC = 0.02
"""Share of ρᵀρ that is never taken for noise, so that noise estimated too large does not divide by zero."""
_IN_SPAN = 1e-6
"""Share of a column outside the span of W below which the parameters themselves take its place."""


@dataclass(frozen=True, eq=False)
class Score:
    """A suspect as the residual shows it.

    Args:
        suspect: which.
        size: θ̂, (width,).
        sigma: standard errors of θ̂ from blocks of time, (width,).
        z: √(θ̂ᵀ C⁻¹ θ̂ / width): how many standard errors it is from nothing.
        share: part of ρᵀρ that it explains alone.
        systematic: the same over what noise does not explain, at most 1 or so.
        effect: RMS of s θ̂ over that of the torques, all joints together.
        moved: by how much it moves the kept parameters, in their own units, (kept,).
        outside: part of the column's square that W cannot explain.
    """

    suspect: Suspect
    size: FloatArray
    sigma: FloatArray
    z: float
    share: float
    systematic: float
    effect: float
    moved: FloatArray
    outside: float


def score(ledger: Ledger, number: int, given: Sequence[int] = ()) -> Score | None:
    """The score of one suspect beside W and other suspects; None where these take its place.

    z = s − B (BᵀB)⁻¹ Bᵀ s, B all that is in the model; θ̂ = (zᵀz)⁻¹ zᵀρ, its covariance from the sums of
    z (ρ − z θ̂) over blocks of time.

    Args:
        ledger: the Grams.
        number: which suspect.
        given: numbers of suspects that are in the model already.
    """
    span = ledger.spans[number]
    parts = _partial_out(ledger.parts, [c for k in given for c in ledger.spans[k]], span)
    k, whole = len(span), parts.sum(axis=0)
    before = np.diag(ledger.parts.sum(axis=0))[list(span)]
    if np.any(ledger.outside[list(span)] < _IN_SPAN) or np.any(np.diag(whole)[:k] < _IN_SPAN * before):
        return None
    inverse = np.linalg.pinv(whole[:k, :k])
    size = inverse @ whole[:k, k]
    pulls = parts[:, :k, k] - parts[:, :k, :k] @ size
    used = int(np.count_nonzero(np.diagonal(parts, axis1=1, axis2=2)[:, :k].any(axis=1)))
    widened = few_blocks_factor(max(used - 1, 2)) ** 2
    covariance = widened * inverse @ (pulls.T @ pulls) @ inverse
    z = float(np.sqrt(max(size @ np.linalg.pinv(covariance) @ size, 0.0) / k))
    explained, squares = float(size @ whole[:k, k]), ledger.residual_squares
    effect = float(np.sum(size**2 @ ledger.power[list(span)])) / max(float(np.sum(ledger.torque)), 1e-300)
    return Score(
        ledger.suspects[number],
        size,
        np.sqrt(np.maximum(np.diag(covariance), 0.0)),
        z,
        explained / squares if squares > 0 else 0.0,
        explained / max(squares - ledger.noise, _LEAST_SYSTEMATIC * squares) if squares > 0 else 0.0,
        float(np.sqrt(effect)),
        -ledger.fit.root @ (ledger.inside[:, list(span)] @ size),
        float(ledger.outside[list(span)].min()),
    )


def _partial_out(parts: FloatArray, given: Sequence[int], wanted: Sequence[int]) -> FloatArray:
    """Block Grams of [z ρ] for the wanted columns with the given ones taken out of both."""
    chosen = [*wanted, parts.shape[1] - 1]
    if not given:
        return parts[:, chosen][:, :, chosen]
    whole, both = parts.sum(axis=0), [*given, *chosen]
    lift = np.zeros((len(both), len(chosen)))
    lift[len(given) :] = np.eye(len(chosen))
    lift[: len(given)] = -np.linalg.pinv(whole[np.ix_(given, given)]) @ whole[np.ix_(given, chosen)]
    return np.asarray(lift.T @ (parts[:, both][:, :, both] @ lift))


@dataclass(frozen=True, eq=False)
class SuspectTable:
    """All suspects of an estimate.

    Args:
        scores: alone, those that explain most first.
        noise_share: part of ρᵀρ that noise alone would leave.
    """

    scores: tuple[Score, ...]
    noise_share: float


def rank_suspects(estimate: Estimate) -> SuspectTable:
    """Score every suspect of an estimate.

    Args:
        estimate: by least squares on measured motion whose rows and motions were kept.
    """
    problem = estimate.problem
    robot = problem.robot
    suspects = (*log_defects(robot), *changes(robot), *physics(robot))
    ledger = open_ledger(problem, suspects, estimate.kept)
    found = [score(ledger, k) for k in range(len(suspects))]
    seen = [s for s in found if s is not None]
    return SuspectTable(
        tuple(sorted(seen, key=lambda s: -s.share)), ledger.noise / max(ledger.residual_squares, 1e-300)
    )
