"""How far a control law misses the logged torques, and how much of that goes with the motion."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.problem.closed_loop import LoopExperiment, LoopProblem
from dynid.problem.law_torques import LawTorques

FloatArray = NDArray[np.float64]
_SETTLING = 0.02
"""Share of a log left out at its start, where the speeds the law remembers are not known."""
_MOVING = 0.02
"""Share of its largest speed from which on a joint moves."""
_BLOCKS = 8
"""Stretches of a log: each is foretold by the others."""


@dataclass(frozen=True, eq=False)
class LawErrors:
    """What a law misses of the low-passed torques L τ while the robot moves, per joint.

    Args:
        error: ‖L(τ − law)‖ / ‖L τ‖.
        noise: what white noise leaves of it.
        systematic: the part that goes with the motion: foretold, from positions, speeds, accelerations and
            torques, by the rest of the log. Noise and quantisation cannot be foretold.
    """

    error: FloatArray
    noise: FloatArray
    systematic: FloatArray


def law_errors(problem: LoopProblem, told: Sequence[tuple[LoopExperiment, LawTorques]]) -> LawErrors:
    """Compare logged torques with those of the law.

    Args:
        problem: robot and plan; where every joint has an offset among its parameters, means count for
            nothing, because the offset takes them up.
        told: experiments and what the law makes of their positions.
    """
    widths = [averaged(problem, 1.0 / float(np.median(np.diff(e.time)))) for e, _ in told]
    series = [_Series.of(e, t.tau, width, alone=True) for (e, t), width in zip(told, widths, strict=True)]
    # Noise cannot be foretold, so what goes with the motion need not be smoothed as much.
    fine = [_Series.of(e, t.tau, averaged(None, 1.0 / float(np.median(np.diff(e.time))))) for e, t in told]
    n = problem.robot.n_coordinates
    error, noise, systematic = np.zeros((3, n))
    for j in range(n):
        offset = has_offset(problem, j)
        off, size = _joined(series, "off", j, offset), _joined(series, "tau", j, offset)
        whole, swift = float(size @ size), float(np.sum(_joined(fine, "tau", j, offset) ** 2))
        if whole <= 0 or swift <= 0:
            continue
        error[j] = np.sqrt(float(off @ off) / whole)
        noise[j] = np.sqrt(sum(float(s.white[j]) * len(s.off) for s in series) / whole)
        columns = np.vstack([s.columns(j) for s in fine])
        systematic[j] = np.sqrt(max(_foretold(_joined(fine, "off", j, offset), columns), 0.0) / swift)
    return LawErrors(error, noise, systematic)


def has_offset(problem: LoopProblem, j: int) -> bool:
    """Whether a constant torque of coordinate j is among the base parameters."""
    label = problem.robot.joints[problem.robot.coordinates[j]].label
    return f"off{label}" in problem.base.names


def _joined(series: Sequence[_Series], name: str, j: int, centred: bool) -> FloatArray:
    whole = np.concatenate([getattr(s, name)[:, j] for s in series])
    return np.asarray(whole - whole.mean() if centred and len(whole) else whole, dtype=float)


def _foretold(off: FloatArray, columns: FloatArray) -> float:
    """Squares of ``off`` that a linear law of the columns, fitted elsewhere, explains: Σ 2 r r̂ − r̂².

    Without anything to explain it is negative: a fit of noise foretells nothing of other noise.
    """
    stretches = np.array_split(np.arange(len(off)), _BLOCKS)
    if len(stretches[-1]) <= columns.shape[1]:
        return 0.0
    scale = np.linalg.norm(columns, axis=0)
    X = columns[:, scale > 0] / scale[scale > 0]
    # R of [X off] of each stretch is all that the others need of it.
    whole = np.column_stack([X, off])
    factors = [np.asarray(np.linalg.qr(whole[own], mode="r")) for own in stretches]
    won = 0.0
    for k, own in enumerate(stretches):
        rest = np.vstack(factors[:k] + factors[k + 1 :])
        law = np.linalg.lstsq(rest[:, :-1], rest[:, -1], rcond=1e-6)[0]
        guess = X[own] @ law
        won += float(2 * off[own] @ guess - guess @ guess)
    return won


@dataclass(frozen=True, eq=False)
class _Series:
    """One experiment's low-passed signals while it moves, (samples, coordinates) each.

    Args:
        off: logged less told torques.
        tau: logged torques.
        beside: tracking error, speeds, acceleration, told torque and its rate, a little before and after each
            sample, (signals, samples, coordinates): wrong gains, inertias and delays show in them, and their
            noise is not that of ``off``, because the running means do not overlap.
        white: variance that white noise leaves in ``off``.
    """

    off: FloatArray
    tau: FloatArray
    beside: FloatArray
    white: FloatArray

    @classmethod
    def of(cls, experiment: LoopExperiment, told: FloatArray, width: int, *, alone: bool = False) -> _Series:
        """Low-pass the signals; ``alone`` without those beside each sample."""
        first = min(max(int(_SETTLING * len(told)), 5), len(told) // 2)
        r, q = experiment.reference, experiment.position
        assert q is not None
        assert r.qd is not None
        step = float(np.median(np.diff(experiment.time)))
        own, q, tau = experiment.samples[first:], q[first:], experiment.tau[first:]
        off, speed = tau - told[first:], np.gradient(q, step, axis=0)
        parts = (off, tau, r.q[own] - q, r.qd[own], speed, told[first:])
        smooth = [_running_means(part, width) for part in parts]
        signals = [] if alone else [*smooth[2:], *(np.gradient(smooth[k], step, axis=0) for k in (4, 5))]
        beside = min(width + 6, (len(smooth[0]) - 1) // 2)
        inner = slice(beside, len(smooth[0]) - beside)
        moves = _moving(smooth[3][inner], smooth[4][inner])
        # Neighbours of a running mean say the same: some of them will do.
        moves &= np.arange(len(moves)) % max(1, width // 2) == 0
        aside = [part[at : at + len(moves)] for part in signals for at in (0, 2 * beside)]
        white = np.mean(np.diff(off, axis=0) ** 2, axis=0) / (2 * width)
        stacked = np.stack([a[moves] for a in aside]) if aside else np.zeros((0, 0, 0))
        return cls(smooth[0][inner][moves], smooth[1][inner][moves], stacked, white)

    def columns(self, j: int) -> FloatArray:
        """What a wrong law's error may be made of, and a constant, (samples, columns)."""
        return np.column_stack([*self.beside[:, :, j], np.ones(len(self.off))])


def _moving(reference_speed: FloatArray, speed: FloatArray) -> NDArray[np.bool_]:
    """Samples at which some joint moves; all of them where none ever does."""
    moves = np.zeros(len(speed), dtype=bool)
    for part in (reference_speed, speed):
        moves |= np.any(np.abs(part) > _MOVING * np.maximum(np.abs(part).max(axis=0), 1e-12), axis=1)
    return moves if moves.any() else ~moves


def averaged(problem: LoopProblem | None, rate_hz: float) -> int:
    """Samples that are averaged: at least a fiftieth of a second, so that noise hides nothing.

    Args:
        problem: as many as its plan decimates by, at least.
        rate_hz: of the log.
    """
    return max(1 if problem is None else problem.plan.decimation, int(rate_hz / 50), 1)


def _running_means(values: FloatArray, width: int) -> FloatArray:
    return np.column_stack([running_mean(column, width) for column in values.T])


def running_mean(values: FloatArray, width: int) -> FloatArray:
    """Running mean over ``width`` samples."""
    if width == 1 or len(values) < 2 * width:
        return values
    sums = np.concatenate([[0.0], np.cumsum(values - values.mean())])
    return np.asarray((sums[width:] - sums[:-width]) / width + values.mean(), dtype=float)
