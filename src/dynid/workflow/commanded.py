"""What a controller commands: torques along its reference, and how much of them is a law of each axis alone.

A law without a model makes the torque of an axis from that axis' own reference and tracking error,

    τ_j = a·[e, ė, ∫e, q_r, q̇_r, q̈_r, sign(q̇_r), 1]_j,   e = q_r − q

which holds PD, PID and cascades with feed-forward of speed, acceleration and friction. Weight that changes
with the pose, and what the other axes do, need a model. All signals go through one zero-phase low-pass, which
leaves a linear law as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid.core.arrays import BoolArray, FloatArray
from dynid.core.errors import DynidError
from dynid.logs.log import Log
from dynid.preparation.motion import SIGNALS, Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.problem.problem import Problem

FEEDBACK = 3
"""Columns of an axis' law that feed the tracking error back; the others look at the reference only."""


@dataclass(frozen=True, eq=False)
class CommandedMotion:
    """The commanded motion of one log with the commanded torques, at the rate of the regression.

    Args:
        motion: positions, speeds and accelerations of the reference, with the commanded torques.
        error: e, ė and ∫e, (3, samples, axes) [rad, rad/s, rad s]; zero where the position is not known.
        percent: largest tracking error of each axis over the range of its reference, (axes,) [%].
    """

    motion: Motion
    error: FloatArray
    percent: FloatArray

    @property
    def columns(self) -> FloatArray:
        """The law of each axis alone, (axes, samples, 8): first what feeds back, then the reference's."""
        q, qd, qdd = (np.asarray(signal) for signal in self.motion.states)
        own = np.stack([*self.error, q, qd, qdd, np.sign(qd), np.ones_like(q)])
        return np.moveaxis(own, 0, 2).transpose(1, 0, 2)


def commanded_motion(log: Log, plan: Preparation, rate_hz: float) -> CommandedMotion:
    """The commanded side of a log.

    Without a cut-off samples are picked first and differentiated then, as P4 §4.2 does; with one, filtered
    signals are differentiated at the log's own rate and picked last.

    Args:
        log: joint side, with the commanded position as reference and the commanded torque as torque.
        plan: of the preparation; the torque goes through the low-pass of the positions.
        rate_hz: about how many samples per second are kept.
    """
    for channel in ("reference", "torque"):
        if channel not in log.channels:
            raise DynidError(
                f"Log {log.name!r} has no {channel} channel (it has {', '.join(sorted(log.channels))}); the "
                "model of a controller is found from commanded positions and torques, so map their columns."
            )
    plan = replace(plan, torque_cutoff_hz=plan.cutoff_hz)
    every = max(1, round(log.rate_hz / rate_hz))
    first, last = (every, 1) if plan.cutoff_hz is None else (1, every)
    picked = log.part(slice(None, None, first))
    reference, torque = picked.array("reference"), picked.array("torque")
    error = reference - picked.array("position") if "position" in log.channels else np.zeros_like(reference)
    summed = np.cumsum(error, axis=0) / picked.rate_hz
    motion = chosen_samples(prepare(_log(picked, reference, torque), plan), slice(None, None, last))
    fed = chosen_samples(prepare(_log(picked, error, summed), plan), slice(None, None, last))
    full = np.ptp(reference, axis=0)
    percent = 100 * np.divide(np.abs(error).max(axis=0), full, out=np.zeros_like(full), where=full > 0)
    return CommandedMotion(motion, np.stack([fed.q, fed.qd, fed.tau]), percent)


def _log(log: Log, position: FloatArray, torque: FloatArray) -> Log:
    return Log(log.name, log.time, {"position": position, "torque": torque}, sources=log.sources)


def chosen_samples(motion: Motion, chosen: slice | BoolArray) -> Motion:
    """Some samples of a motion, not necessarily consecutive.

    Args:
        motion: in memory.
        chosen: evenly spaced ones, which change its rate, or any, (samples,) of bool.
    """
    q, qd, qdd, tau = (np.asarray(getattr(motion, name))[chosen] for name in SIGNALS)
    step = (chosen.step or 1) if isinstance(chosen, slice) else 1
    rate = motion.rate_hz / step
    return replace(motion, time=motion.time[chosen], q=q, qd=qd, qdd=qdd, tau=tau, rate_hz=rate)


@dataclass(frozen=True, eq=False)
class AxisLaw:
    """Commanded torques beside what laws of single axes explain, and what a model adds to that.

    Args:
        alone: what laws of single axes leave, over the torque about its mean, (axes,).
        beside: what they leave together with a model, likewise.
        gains: coefficients of the columns that were fitted beside the model, (axes, columns).
    """

    alone: FloatArray
    beside: FloatArray
    gains: FloatArray

    @classmethod
    def of(cls, problem: Problem, columns: FloatArray) -> AxisLaw:
        """Least squares on [W F]: F of each axis is projected out of its rows, then W is fitted to the rest.

        Args:
            problem: rows of all samples, without a mask.
            columns: F, (axes, samples, columns).
        """
        axes, width = len(columns), len(problem.base)
        bases = [_basis(own) for own in columns]
        rows = [problem.rows(j) for j in range(axes)]
        sizes = np.array([max(float(np.std(row.y)), 1e-300) for row in rows])
        y = [_without(basis, row.y) for basis, row in zip(bases, rows, strict=True)]
        W = [_without(basis, row.wide(width)) for basis, row in zip(bases, rows, strict=True)]
        stacked = np.vstack([own / size for own, size in zip(W, sizes, strict=True)])
        lengths = np.linalg.norm(stacked, axis=0)
        lengths[lengths == 0] = 1.0
        aim = np.concatenate([own / size for own, size in zip(y, sizes, strict=True)])
        values = np.linalg.lstsq(stacked / lengths, aim, rcond=1e-9)[0] / lengths
        left = [own - w @ values for own, w in zip(y, W, strict=True)]
        gains = [
            np.linalg.lstsq(own, row.y - row.wide(width) @ values, rcond=1e-9)[0]
            for own, row in zip(columns, rows, strict=True)
        ]
        return cls(_rms(y) / sizes, _rms(left) / sizes, np.array(gains))


def _basis(columns: FloatArray) -> FloatArray:
    """Orthonormal columns of the same span, (samples, rank)."""
    lengths = np.linalg.norm(columns, axis=0)
    seen = columns[:, lengths > 0] / lengths[lengths > 0]
    U, s, _ = np.linalg.svd(seen, full_matrices=False)
    return np.asarray(U[:, s > 1e-9 * s[0]] if s.size else U, dtype=float)


def _without(basis: FloatArray, values: FloatArray) -> FloatArray:
    return np.asarray(values - basis @ (basis.T @ values), dtype=float)


def _rms(parts: Sequence[FloatArray]) -> FloatArray:
    return np.array([np.sqrt(np.mean(part**2)) for part in parts])
