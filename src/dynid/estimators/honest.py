"""The default uncertainty: classical where errors are white, else the spread between long blocks of time."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.core.kinds import require_field_kinds
from dynid.estimators.fit import Fit
from dynid.estimators.linear.least_squares import root_over_base
from dynid.estimators.uncertainty import Doubt, Uncertainty, white_rows
from dynid.problem.problem import Problem


@dataclass(frozen=True)
class BlockRules:
    """How a log is cut into blocks, and when white errors are believed.

    Args:
        fewest: blocks below which their spread says too little and the classical covariance is kept.
        samples: samples of the regression that a block must have.
        clusters: experiments from which on each is one block; fewer are cut, so that the correction for few
            blocks stays small.
        stored: stored stretches of time per block from which on they serve in place of the rows.
        leverage: share of the information in a direction that one block may hold before its pull is no
            longer scaled up: beyond, no other block can check it.
        near: share by which the variance between blocks may differ from that of white errors, over all
            directions together: a tenth of σ, and 2σ still hold 92 to 98 % of the truth.
        chance: standard deviations of that share by which it may differ in any case.
        half_way: part of the way back to the classical variance, as a power of the ratio of variances, where
            blocks differ less than white errors would: noise of positions makes such errors, and biases as
            well. On a SCARA with such noise 0 covers 90 % of the truth, 0.25 97 to 99 and 1 all of it.
        largest: ratio of variances that a single parameter may show; of 140 logs with white errors none
            showed more than 4.1, all of 70 with coloured ones more.
    """

    fewest: int = 4
    samples: int = 5
    clusters: int = 6
    stored: int = 4
    leverage: float = 0.9
    near: float = 0.25
    chance: float = 2.0
    largest: float = 5.0
    half_way: float = 0.125


RULES = BlockRules()


@dataclass(frozen=True)
class Honest(Uncertainty):
    """C = (B−1)/B Σ_b Δ_b Δ_bᵀ f², Δ_b = T (1 − H_b)⁻¹ s_b: how far the values move without block b.

    s_b is the whitened score of a block of time over all joints and H_b its share of the information, so
    that Δ_b is the delete-one-block jackknife (Shao and Wu 1989; CR3 of Bell and McCaffrey 2002), solved by
    one small system per block. Slow errors, friction that the model lacks and joints that err together all
    stay inside a block. f = t/2 widens 2σ for few blocks, t the quantile of Student's law with B − 1 degrees
    at the probability of 2σ. Where blocks differ as white errors of equal size would, the classical
    covariance σ̂² (WᵀW)⁻¹ holds and is used; ``Estimate.uncertainty`` says which.

    Args:
        blocks: blocks over all experiments together; from six experiments on each is a block of its own.
            More blocks are shorter: slow errors are then missed; fewer make σ itself uncertain. Ten covered
            the truth best on simulated arms and two motions of one robot alike (docs/uncertainty.md).
    """

    blocks: int = 10
    name = "honest"

    def __post_init__(self) -> None:
        """Refuse fewer blocks than can differ."""
        require_field_kinds(self)
        if self.blocks < RULES.fewest:
            raise DynidError(f"Honest was given {self.blocks} blocks; give at least {RULES.fewest}.")

    def doubt(self, problem: Problem, fit: Fit) -> Doubt:
        """Covariance of the fit's columns, by which way, and why."""
        cut = time_blocks(problem, fit, self.blocks)
        by_log = cut.over_experiments()
        clustered = by_log.count >= RULES.clusters
        used = by_log if clustered else cut
        if used.count < RULES.fewest or not fit.sigma > 0:
            why = f"{used.count} blocks of time are too few to tell how the errors vary"
            if not fit.sigma > 0:
                why = "nothing is left of the torques"
            return Doubt(fit.covariance, {"uncertainty_reason": why}, used="classical")
        ratio, apart = used.spread(fit), 1.0 if clustered else cut.spread_of_experiments(fit)
        what = f"{used.count} {'experiments' if clustered else 'blocks of time'}"
        facts = {
            "blocks": used.count,
            "blocks_are_experiments": clustered,
            "variance_inflation": ratio * apart,
        }
        if used.is_white(ratio * apart, fit.root, fit.covariance):
            why = f"{what} differ as white errors of equal size would"
            return Doubt(fit.covariance, {**facts, "uncertainty_reason": why}, used="classical")
        why = f"errors are not white: {what} differ {np.sqrt(ratio):.2g} times as much as white errors would"
        if apart > 1:
            why += f", and the {by_log.count} experiments {np.sqrt(apart):.2g} times as much as their blocks"
        back = 0.0 if fit.exact_columns else RULES.half_way
        meat = apart * used.jackknife() / min(1.0, ratio) ** back + fit.sigma**2 * cut.prior_share()
        covariance = fit.root @ meat @ fit.root.T
        return Doubt(covariance, {**facts, "uncertainty_reason": why}, used="blocks")


@dataclass(frozen=True, eq=False)
class TimeBlocks:
    """Blocks of time of all joints together, in whitened directions.

    Args:
        experiment: experiment of each block, in order of time.
        share: H, Xᵀ h X per block, (blocks, rank, rank); they sum to one, less what a prior adds.
        score: Xᵀ s ρ per block, (blocks, rank).
    """

    experiment: NDArray[np.int64]
    share: FloatArray
    score: FloatArray

    @property
    def count(self) -> int:
        """Blocks."""
        return len(self.score)

    @property
    def n_experiments(self) -> int:
        """Experiments that they belong to."""
        return len(np.unique(self.experiment))

    def over_experiments(self) -> TimeBlocks:
        """The same with one block per experiment."""
        numbers, starts = np.unique(self.experiment, return_index=True)
        return TimeBlocks(numbers, np.add.reduceat(self.share, starts), np.add.reduceat(self.score, starts))

    @cached_property
    def _leverage(self) -> tuple[FloatArray, FloatArray]:
        """Eigenvalues and vectors of H per block: which share of a direction the block holds."""
        values, vectors = np.linalg.eigh(self.share)
        return np.clip(values, 0.0, RULES.leverage), vectors

    def pulls(self, power: float) -> FloatArray:
        """(1 − H_b)^−power s_b, (blocks, rank); 1 takes the block out, ½ makes white errors count as one."""
        values, vectors = self._leverage
        own = np.einsum("bki,bk->bi", vectors, self.score) / (1.0 - values) ** power
        return np.asarray(np.einsum("bki,bi->bk", vectors, own), dtype=float)

    def jackknife(self) -> FloatArray:
        """(B−1)/B Σ Δ Δᵀ in whitened directions, widened for few blocks."""
        steps = self.pulls(1.0)
        return few_blocks_factor(self.count - 1) ** 2 * (self.count - 1) / self.count * steps.T @ steps

    def spread(self, fit: Fit) -> float:
        """Variance between blocks over that of white errors, all directions together; 1 for white ones."""
        return float(np.sum(self.pulls(0.5) ** 2) / np.trace(_white_meat(fit)))

    def spread_of_experiments(self, fit: Fit) -> float:
        """How much more the variance between experiments is than that between blocks; 1 within chance.

        All directions together, because few experiments say little about any one of them.
        """
        by_log = self.over_experiments()
        if by_log.count < 2:
            return 1.0
        ratio = by_log.spread(fit) / self.spread(fit)
        chance = np.sqrt(2.0 / ((by_log.count - 1) * fit.root.shape[1]))
        return float(ratio) if ratio > 1.0 + RULES.chance * chance else 1.0

    def is_white(self, ratio: float, root: FloatArray, covariance: FloatArray) -> bool:
        """Whether blocks differ as white errors would: in all directions together, and in each parameter.

        Args:
            ratio: variance between blocks over that of white errors.
            root: T, (columns, rank).
            covariance: classical one, (columns, columns).
        """
        free = self.count - 1
        own = np.sum((self.pulls(0.5) @ root.T) ** 2, axis=0)
        white = np.diag(covariance)
        largest = float(np.max(own[white > 0] / white[white > 0], initial=0.0))
        allowed = max(RULES.near, RULES.chance * np.sqrt(2.0 / (free * root.shape[1])))
        return bool(abs(ratio - 1.0) <= allowed and largest <= RULES.largest)

    def prior_share(self) -> FloatArray:
        """1 − Σ H: what a prior adds to the information, (rank, rank); nothing without one."""
        values, vectors = np.linalg.eigh(np.eye(self.score.shape[1]) - self.share.sum(axis=0))
        return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T, dtype=float)


def few_blocks_factor(free: int) -> float:
    """t/2: how much wider 2σ must be when σ rests on so many degrees of freedom.

    t is the quantile of Student's law that leaves out as much as 2 of the normal law (expansion of Fisher and
    Cornish 1960; within 1 % from three degrees on).
    """
    return 1.0 + 1.25 / free + 1.53125 / free**2 + 1.4297 / free**3


def _white_meat(fit: Fit) -> FloatArray:
    """The classical covariance in whitened directions, (rank, rank)."""
    if fit.score_weights is None:
        return fit.sigma**2 * np.eye(fit.root.shape[1])
    back = np.linalg.pinv(fit.root)
    return np.asarray(back @ fit.covariance @ back.T, dtype=float)


def time_blocks(problem: Problem, fit: Fit, count: int) -> TimeBlocks:
    """About ``count`` blocks of equal length over all experiments, at least two in each.

    Args:
        problem: rows, or stretches of time where rows are not kept.
        fit: its solution.
        count: blocks wanted.
    """
    used = used_samples(problem)
    lengths = np.array([len(samples) for samples in used])
    numbers = np.maximum(np.round(count * lengths / max(lengths.sum(), 1)).astype(int), min(2, count))
    numbers = np.maximum(np.minimum(numbers, lengths // RULES.samples), 1)
    plain = fit.score_weights is None and fit.further is None and fit.instruments is None
    if not problem.has_rows or (plain and len(problem.regression.cells) >= RULES.stored * numbers.sum()):
        return _blocks_of_stretches(problem, fit, numbers)
    first = np.concatenate([[0], np.cumsum(numbers)])
    rank = fit.root.shape[1]
    share, score = np.zeros((first[-1], rank, rank)), np.zeros((first[-1], rank))
    for j in range(len(problem.regression.joints)):
        rows = white_rows(problem, fit, j)
        where = np.concatenate([
            first[k] + np.searchsorted(samples, rows.sample[rows.experiment == k]) * numbers[k] // lengths[k]
            for k, samples in enumerate(used)
        ])  # never decreases  # fmt: skip
        edges = np.searchsorted(where, np.arange(first[-1] + 1))
        for b in range(int(first[-1])):
            X = rows.X[edges[b] : edges[b + 1]]
            share[b] += fit.row_weights[j] * X.T @ X
            score[b] += X.T @ rows.pull[edges[b] : edges[b + 1]]
    return TimeBlocks(np.repeat(np.arange(len(lengths)), numbers), share, score)


def used_samples(problem: Problem) -> list[NDArray[np.int64]]:
    """Per experiment the samples that any joint uses: a robot at rest, all masked, says nothing."""
    pieces = problem.regression.pieces
    if pieces is None:
        return [np.arange(experiment.regression_samples) for experiment in problem.experiments]
    return [np.unique(np.concatenate([rows.sample for rows in piece])) for piece in pieces]


def _blocks_of_stretches(problem: Problem, fit: Fit, numbers: NDArray[np.int64]) -> TimeBlocks:
    """Blocks from the factors kept while reading."""
    experiment, share, score = stretches_of_time(problem, fit)
    starts = np.concatenate([
        np.unique(np.flatnonzero(experiment == k)[np.arange(n) * np.sum(experiment == k) // n])
        for k, n in enumerate(numbers)
    ])  # fmt: skip
    return TimeBlocks(experiment[starts], np.add.reduceat(share, starts), np.add.reduceat(score, starts))


def stretches_of_time(problem: Problem, fit: Fit) -> tuple[NDArray[np.int64], FloatArray, FloatArray]:
    """Experiment, Xᵀ h X and Xᵀ h ρ of every stretch of time kept while reading; rows are not needed."""
    cells = problem.regression.cells
    full = root_over_base(fit.root, fit.kept)
    rank = fit.root.shape[1]
    share, score = np.zeros((len(cells), rank, rank)), np.zeros((len(cells), rank))
    for c, cell in enumerate(cells):
        for factor, weight in zip(cell.factors, fit.row_weights, strict=True):
            X = factor.R[:, :-1] @ full[list(factor.columns)]
            share[c] += weight * X.T @ X
            score[c] += weight * X.T @ factor.residual(fit.values)
    return np.array([cell.experiment for cell in cells]), share, score
