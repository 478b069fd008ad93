"""How far a control law misses the logged torques, and how much of that goes with the motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.problem.closed_loop import LoopExperiment, LoopProblem
from dynid.problem.law_torques import LawTorques

_SETTLING = 0.02
"""Share of a log left out at its start, where the speeds the law remembers are not known."""
_MOVING = 0.02
"""Share of its largest speed from which on a joint moves."""
_FOLDS = 8
"""Stretches of a log; each is predicted from the others."""
_SINGULAR = 1e-6
"""Relative singular value below which signals beside the error count as dependent."""


@dataclass(frozen=True, eq=False)
class LawErrors:
    """What a law misses of the low-passed torques L τ while the robot moves, per joint.

    Args:
        error: ‖L(τ − law)‖ / ‖L τ‖.
        noise: what white noise leaves of it.
        systematic: the part that goes with the motion: what a linear function of positions, speeds,
            accelerations and torques, fitted on the rest of the log, predicts. Noise and quantisation cannot
            be predicted.
    """

    error: FloatArray
    noise: FloatArray
    systematic: FloatArray


def law_errors(problem: LoopProblem, checked: Sequence[tuple[LoopExperiment, LawTorques]]) -> LawErrors:
    """Compare logged torques with those of the law.

    Args:
        problem: robot and plan; where a joint has an offset among its parameters, means count for nothing,
            because the offset takes them up.
        checked: experiments and the torques that the law makes of their positions.
    """
    coarse, fine = [], []
    for experiment, law in checked:
        rate = 1.0 / float(np.median(np.diff(experiment.time)))
        width = smoothing_width(rate, problem.plan.decimation)
        coarse.append(_Series.of(experiment, law.tau, width, alone=True))
        # Noise cannot be predicted, so what goes with the motion need not be smoothed as much.
        fine.append(_Series.of(experiment, law.tau, smoothing_width(rate)))
    n = problem.robot.n_coordinates
    error, noise, systematic = np.zeros((3, n))
    for j in range(n):
        centred = has_offset(problem, j)
        off, tau = _stack_signal(coarse, "off", j, centred), _stack_signal(coarse, "tau", j, centred)
        off_fine, tau_fine = _stack_signal(fine, "off", j, centred), _stack_signal(fine, "tau", j, centred)
        size, size_fine = float(tau @ tau), float(tau_fine @ tau_fine)
        if size <= 0 or size_fine <= 0:
            continue
        error[j] = np.sqrt(float(off @ off) / size)
        noise[j] = np.sqrt(sum(float(s.white[j]) * len(s.off) for s in coarse) / size)
        predicted = _predicted_squares(off_fine, np.vstack([s.columns(j) for s in fine]))
        systematic[j] = np.sqrt(max(predicted, 0.0) / size_fine)
    return LawErrors(error, noise, systematic)


def has_offset(problem: LoopProblem, j: int) -> bool:
    """Whether a constant torque of coordinate j is among the base parameters."""
    label = problem.robot.joints[problem.robot.coordinates[j]].label
    return f"off{label}" in problem.base.names


def smoothing_width(rate_hz: float, least: int = 1) -> int:
    """Samples of a running mean: a fiftieth of a second, so that noise hides nothing, and not fewer."""
    return max(least, int(rate_hz / 50), 1)


def running_mean(values: FloatArray, width: int) -> FloatArray:
    """Running mean over ``width`` samples; a series shorter than two widths stays as it is."""
    if width == 1 or len(values) < 2 * width:
        return values
    sums = np.concatenate([[0.0], np.cumsum(values - values.mean())])
    return np.asarray((sums[width:] - sums[:-width]) / width + values.mean(), dtype=float)


def _stack_signal(series: Sequence[_Series], name: str, j: int, centred: bool) -> FloatArray:
    """One signal of a joint over all experiments, without its mean where that counts for nothing."""
    whole = np.concatenate([getattr(s, name)[:, j] for s in series])
    return np.asarray(whole - whole.mean() if centred and len(whole) else whole, dtype=float)


def _predicted_squares(off: FloatArray, columns: FloatArray) -> float:
    """Squares of ``off`` that a linear function of the columns, fitted elsewhere, predicts: Σ 2 r r̂ − r̂².

    Without anything to predict it is negative: a fit of noise predicts nothing of other noise.
    """
    folds = np.array_split(np.arange(len(off)), _FOLDS)
    if len(folds[-1]) <= columns.shape[1]:
        return 0.0
    scale = np.linalg.norm(columns, axis=0)
    X = columns[:, scale > 0] / scale[scale > 0]
    # R of [X off] of each fold is all that the others need of it; rows of zeros make all folds equally long.
    stack = np.zeros((_FOLDS, len(folds[0]), X.shape[1] + 1))
    for k, own in enumerate(folds):
        stack[k, : len(own)] = np.column_stack([X[own], off[own]])
    R = np.asarray(np.linalg.qr(stack, mode="r"), dtype=float)
    rest = np.stack([np.delete(R, k, axis=0).reshape(-1, R.shape[2]) for k in range(_FOLDS)])
    fits = np.linalg.pinv(rest[..., :-1], rcond=_SINGULAR) @ rest[..., -1:]
    guess = np.concatenate([X[own] @ fit[:, 0] for own, fit in zip(folds, fits, strict=True)])
    return float(2 * off @ guess - guess @ guess)


@dataclass(frozen=True, eq=False)
class _Series:
    """One experiment's low-passed signals while it moves, (samples, coordinates) each.

    Args:
        off: logged torques less those of the law.
        tau: logged torques.
        beside: tracking error, speeds, acceleration, the law's torque and its rate, a little before and after
            each sample, (signals, samples, coordinates): wrong gains, inertias and delays show in them, and
            their noise is not that of ``off``, because the running means do not overlap.
        white: variance that white noise leaves in ``off``.
    """

    off: FloatArray
    tau: FloatArray
    beside: FloatArray
    white: FloatArray

    @classmethod
    def of(cls, experiment: LoopExperiment, law: FloatArray, width: int, *, alone: bool = False) -> _Series:
        """Low-pass the signals; ``alone`` without those beside each sample."""
        first = min(max(int(_SETTLING * len(law)), 5), len(law) // 2)
        r, q = experiment.reference, experiment.position
        assert q is not None
        assert r.qd is not None
        step = float(np.median(np.diff(experiment.time)))
        own, q, tau = experiment.samples[first:], q[first:], experiment.tau[first:]
        off, speed = tau - law[first:], np.gradient(q, step, axis=0)
        parts = (off, tau, r.q[own] - q, r.qd[own], speed, law[first:])
        smooth = [np.column_stack([running_mean(column, width) for column in part.T]) for part in parts]
        signals = [] if alone else [*smooth[2:], *(np.gradient(smooth[k], step, axis=0) for k in (4, 5))]
        beside = min(width + 6, (len(smooth[0]) - 1) // 2)
        inner = slice(beside, len(smooth[0]) - beside)
        moves = _moving_samples(smooth[3][inner], smooth[4][inner])
        # Neighbours of a running mean say the same: some of them will do.
        moves &= np.arange(len(moves)) % max(1, width // 2) == 0
        aside = [part[at : at + len(moves)] for part in signals for at in (0, 2 * beside)]
        white = np.mean(np.diff(off, axis=0) ** 2, axis=0) / (2 * width)
        stacked = np.stack([a[moves] for a in aside]) if aside else np.zeros((0, 0, 0))
        return cls(smooth[0][inner][moves], smooth[1][inner][moves], stacked, white)

    def columns(self, j: int) -> FloatArray:
        """What a wrong law's error may be made of, and a constant, (samples, columns)."""
        return np.column_stack([*self.beside[:, :, j], np.ones(len(self.off))])


def _moving_samples(reference_speed: FloatArray, speed: FloatArray) -> NDArray[np.bool_]:
    """Samples at which some joint moves; all of them where none ever does."""
    moves = np.zeros(len(speed), dtype=bool)
    for part in (reference_speed, speed):
        moves |= np.any(np.abs(part) > _MOVING * np.maximum(np.abs(part).max(axis=0), 1e-12), axis=1)
    return moves if moves.any() else ~moves
