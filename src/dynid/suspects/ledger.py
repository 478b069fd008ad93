"""The ledger: Gram matrices of [Q S ρ] per block of time, from which every score is small linear algebra.

Q is an orthonormal basis of the weighted W, S the weighted columns of the suspects, ρ the weighted residual.
Since QᵀQ = 1, partialling W out of S loses no digits, and the length of the logs no longer matters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.estimators.fit import Fit
from dynid.estimators.linear.least_squares import WLS
from dynid.estimators.uncertainty import white_rows
from dynid.preparation.decimate import FILTER
from dynid.problem.problem import Problem
from dynid.suspects.anchor import Anchor
from dynid.suspects.scene import Scene, scenes_of
from dynid.suspects.suspect import Suspect

BLOCKS = 20
"""Blocks of time, about, each of one log: enough for a standard error, long enough to hold slow errors."""

_GAUSSIAN_MEDIAN = 0.6745
"""Median of |x| of a Gaussian x, over its σ."""

_HELD = 2_000_000
"""Numbers of full-rate columns that are held at once before they are decimated together."""


@dataclass(frozen=True, eq=False)
class Ledger:
    """Block Grams of a regression and its suspects.

    Args:
        suspects: in the order of their columns.
        grams: (blocks, k, k) over [Q S ρ].
        rank: columns of Q.
        left: Σ ρ² of each joint, (coordinates,).
        noise_left: what noise alone would leave of it, from the fastest part of ρ, (coordinates,).
        power: Σ s² of each column over the rows of each joint, unweighted, (columns of S, coordinates).
        torque: Σ y² of each joint, (coordinates,).
        fit: the weighted fit behind Q and ρ; where the model has added terms, Q holds their columns too.
        plain: ``grams`` of rows in torques, not divided by σ_j: what errors of a prediction are.
        logs: number of the experiment that each block is from, (blocks,).
        priors: last blocks of ``grams`` that are no time, but what is known of the parameters.
    """

    suspects: tuple[Suspect, ...]
    grams: FloatArray
    rank: int
    left: FloatArray
    noise_left: FloatArray
    power: FloatArray
    torque: FloatArray
    fit: Fit
    plain: FloatArray
    logs: NDArray[np.intp]
    priors: int = 0

    @cached_property
    def inside(self) -> FloatArray:
        """Qᵀ S: what W takes of each column, (rank, columns of S)."""
        return np.asarray(self.grams[:, : self.rank, self.rank : -1].sum(axis=0))

    @cached_property
    def parts(self) -> FloatArray:
        """Block Grams of [Z ρ] with Z = S − Q Qᵀ S, (blocks, columns + 1, columns + 1)."""
        r = self.rank
        taken = np.column_stack([self.inside, np.zeros(r)])
        half = taken.T @ (0.5 * self.grams[:, :r, :r] @ taken - self.grams[:, :r, r:])
        return np.asarray(self.grams[:, r:, r:] + half + half.transpose(0, 2, 1))

    @cached_property
    def squares_outside(self) -> FloatArray:
        """zᵀz of each column, (columns of S,)."""
        return np.asarray(np.einsum("bii->i", self.parts)[:-1])

    @cached_property
    def outside(self) -> FloatArray:
        """Part of each column's square that W cannot explain, (columns of S,)."""
        whole = np.diag(self.grams.sum(axis=0))[self.rank : -1]
        own = self.squares_outside
        return np.divide(own, whole, out=np.zeros_like(own), where=whole > 0)

    @property
    def noise(self) -> float:
        """Squares of ρ that noise alone would leave."""
        return float(self.noise_left.sum())

    @property
    def unexplained(self) -> FloatArray:
        """RMS of what is left beside noise over that of the torques, per joint; 0 without a motor."""
        beside = np.maximum(self.left - self.noise_left, 0.0) / self.fit.weights**2
        return share_of_torque(beside, self.torque)

    @cached_property
    def residual_squares(self) -> float:
        """ρᵀρ."""
        return float(self.parts[:, -1, -1].sum())

    @cached_property
    def spans(self) -> tuple[range, ...]:
        """Columns of each suspect among those of S."""
        ends = np.cumsum([0, *(suspect.width for suspect in self.suspects)]).tolist()
        return tuple(range(a, b) for a, b in pairwise(ends))


def open_ledger(
    problem: Problem,
    suspects: Sequence[Suspect],
    kept: NDArray[np.bool_],
    scenes: Sequence[Scene] | None = None,
    anchor: Anchor | None = None,
    fit: Fit | None = None,
) -> Ledger:
    """Evaluate all columns along the motions and fold them with the rows.

    Args:
        problem: with rows and motions.
        suspects: what may be wrong.
        kept: base parameters in use, (base,).
        scenes: of weighted least squares, where they were made before.
        anchor: a model that was known before and is not fitted again.
        fit: weighted least squares of the problem, with its added terms; without any where not given.
    """
    if anchor is not None:
        fit = anchor.fit
    elif fit is None:
        fit = WLS().fit(problem, kept)
    if scenes is None:
        scenes = scenes_of_fit(problem, fit)
    suspects = [suspect.on_robot(problem.robot) for suspect in suspects]
    columns = [columns_along(scene, suspects) for scene in scenes]
    lengths = np.array([e.regression_samples for e in problem.experiments])
    blocks = np.maximum(1, np.rint(BLOCKS * lengths / lengths.sum())).astype(np.intp)  # none in two logs
    logs, firsts = np.repeat(np.arange(len(blocks)), blocks), np.cumsum(blocks) - blocks
    rank, count = fit.root.shape[1], columns[0].shape[1]
    grams, plain = np.zeros((2, len(logs), rank + count + 1, rank + count + 1))
    power, (left, noise) = np.zeros((count, len(fit.weights))), np.zeros((2, len(fit.weights)))
    for j, w in enumerate(fit.weights):
        rows = white_rows(problem, fit, j)
        parts = [columns[k][j][:, rows.sample[rows.experiment == k]] for k in range(len(scenes))]
        S, residual = np.concatenate(parts, axis=1), w * rows.residual
        power[:, j] = np.einsum("ks,ks->k", S, S)
        stack = np.column_stack([w * rows.X, w * S.T, residual])
        k = rows.experiment
        where = firsts[k] + rows.sample * blocks[k] // lengths[k]
        edges = np.searchsorted(where, np.arange(len(logs) + 1))
        for b, (first, last) in enumerate(pairwise(edges)):
            gram = stack[first:last].T @ stack[first:last]
            grams[b] += gram
            plain[b] += gram / w**2 if w > 0 else 0.0
        left[j] = residual @ residual
        noise[j] = _noise_squares(residual, rows.sample, problem.plan.decimation)
    torque = problem.torque_norms() ** 2
    if anchor is not None:
        known = np.column_stack(
            [anchor.rows[:, :-1], np.zeros((len(anchor.rows), count)), anchor.rows[:, -1]]
        )
        grams = np.concatenate([grams, (known.T @ known)[None]])
    priors = len(grams) - len(logs)
    return Ledger(tuple(suspects), grams, rank, left, noise, power, torque, fit, plain, logs, priors)


def scenes_of_fit(problem: Problem, fit: Fit, full_rate: bool = False) -> tuple[Scene, ...]:
    """The motions of a problem with the torques of a fit.

    Args:
        problem: with motions.
        fit: of it.
        full_rate: whether all samples are wanted, and not those that rows need.
    """
    assert problem.motions is not None
    further = None if fit.further is None else fit.further.parameters
    plan = replace(problem.plan, decimation=1) if full_rate else problem.plan
    return scenes_of(problem.base, fit.values, problem.motions, plan, further)


def columns_along(scene: Scene, suspects: Sequence[Suspect]) -> FloatArray:
    """All columns of a motion at the regression's rate, (coordinates, columns, samples)."""
    width = sum(suspect.width for suspect in suspects) * scene.joints
    rows, held, first = np.zeros((width, 0)), dict[int, FloatArray](), 0
    for number, suspect in enumerate(suspects):
        for column in suspect.columns(scene):
            held |= {first + j: s for j, s in enumerate(column.T) if s.any()}  # most concern one joint
            first += scene.joints
        if len(held) * len(scene.q) >= _HELD or number == len(suspects) - 1:
            columns, owners = np.array(list(held.values())), [at % scene.joints for at in held]
            made = scene.rows(columns.reshape(-1, len(scene.q)), owners)
            rows = rows if rows.size else np.zeros((width, made.shape[1]))
            rows[list(held)] = made
            held = {}
    return rows.reshape(-1, scene.joints, rows.shape[1]).transpose(1, 0, 2)


def share_of_torque(power: FloatArray, torque: FloatArray) -> FloatArray:
    """RMS over that of the torques, per joint; nothing on a joint that no motor drives."""
    return np.sqrt(np.divide(power, torque, out=np.zeros_like(power), where=torque > 0))


def _noise_squares(residual: FloatArray, sample: NDArray[np.int64], decimation: int) -> float:
    """Squares that white noise as large as second differences show would leave in all rows, at most ρᵀρ.

    Of white noise, E (ρ₊ − 2ρ + ρ₋)² = 6 σ²; of noise that a decimation limits to a band β of half the rate,
    (6 − 8 sin(πβ)/(πβ) + sin(2πβ)/(πβ)) σ². Their median stands for them: where friction turns or a gear
    changes sides, a residual jumps, and that is no noise.
    """
    near = (sample[1:-1] - sample[:-2] == 1) & (sample[2:] - sample[1:-1] == 1)
    bends = (residual[2:] - 2.0 * residual[1:-1] + residual[:-2])[near]
    edge = np.pi * (FILTER.band if decimation > 1 else 1.0)
    gain = 6.0 - (8.0 * np.sin(edge) - np.sin(2.0 * edge)) / edge
    if not len(bends):
        return 0.0
    square = (float(np.median(np.abs(bends))) / _GAUSSIAN_MEDIAN) ** 2
    return float(min(square / gain * len(residual), residual @ residual))
