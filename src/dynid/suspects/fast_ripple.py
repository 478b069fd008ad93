"""Ripple that is too fast for the rows of a fit: torque over position, sought at the full rate of the logs.

A filter that suits the motion takes away what repeats many times per turn. Parameters are none the worse for
it, but the model misses that torque wherever it is asked for a single instant. Σ ρ e^{iNq} for all N at once
is a Fourier transform of ρ summed in bins of q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.problem.problem import Problem
from dynid.suspects.position_effects import Ripple
from dynid.suspects.scene import Scene


@dataclass(frozen=True)
class FastRippleRules:
    """When a fast ripple is told.

    Args:
        band: share of half the logs' rate that N q̇ may reach at rms speed.
        most: bins of the positions at most, four for a period.
        padding: length of the transform over the number of bins: N is found to a quarter of its peak.
        moving: share of the rms speed below which a sample does not count: dry friction holds what it likes.
        share: part of what is left at the full rate that it must explain.
        z: blocks of time agree on it with so many standard errors.
        blocks: of time.
    """

    band: float = 0.5
    most: int = 1 << 16
    padding: int = 4
    moving: float = 0.1
    share: float = 0.1
    z: float = 8.0
    blocks: int = 20


RULES = FastRippleRules()


@dataclass(frozen=True, eq=False)
class FastRipple:
    """A ripple at the full rate.

    Args:
        ripple: joint and N.
        size: of sine and cosine, (2,) [N m or N].
        z: standard errors from nothing, by blocks of time.
        share: part of what is left of the joint's torque at the full rate that it explains.
        missed: its rms over that of the joint's torque.
    """

    ripple: Ripple
    size: FloatArray
    z: float
    share: float
    missed: float


def fast_ripples(problem: Problem, scenes: Sequence[Scene]) -> tuple[FastRipple, ...]:
    """Ripples of all joints that rows of the regression are too slow for, those that are clear.

    Args:
        problem: the rows.
        scenes: of its fit at the full rate: they know the torques of the model, added terms included.
    """
    plan = problem.plan
    if plan.decimation == 1 and plan.cutoff_hz is None:
        return ()
    rate = min(scene.motion.rate_hz for scene in scenes)
    q, qd, tau, f = (
        np.concatenate([getattr(scene, name) for scene in scenes]) for name in ("q", "qd", "tau", "torque")
    )
    found = list[FastRipple]()
    for j in range(q.shape[1]):
        rates = (rate / plan.decimation, rate)
        one = _fast_ripple(j, q[:, j], qd[:, j], tau[:, j], tau[:, j] - f[:, j], rates)
        found += [] if one is None else [one]
    return tuple(found)


def _fast_ripple(
    joint: int, q: FloatArray, qd: FloatArray, tau: FloatArray, left: FloatArray, rates: tuple[float, float]
) -> FastRipple | None:
    """The clearest N between what rows hold and what samples do; None where none is clear."""
    rms = float(np.sqrt(np.mean(qd**2)))
    used = np.abs(qd) > RULES.moving * rms
    size = float(np.sqrt(np.mean(tau**2)))
    if not (rms > 0 and size > 0) or np.count_nonzero(used) < 10 * RULES.blocks:
        return None
    q, left = q[used], left[used] - np.mean(left[used])
    low, high = (RULES.band * np.pi * rate / rms for rate in rates)
    waves = _clearest_wave(q, left, low, high)
    if waves is None:
        return None
    basis = np.stack([np.sin(waves * q), np.cos(waves * q)])
    sizes = np.linalg.solve(basis @ basis.T, basis @ left)
    shape = sizes @ basis
    share = float(shape @ left / (left @ left))
    z = _agreement(shape, left)
    missed = float(np.sqrt(np.mean(shape**2))) / size
    if share < RULES.share or z < RULES.z:
        return None
    return FastRipple(Ripple(joint, waves), sizes, z, share, missed)


def _clearest_wave(q: FloatArray, left: FloatArray, low: float, high: float) -> float | None:
    """N with the largest |Σ ρ e^{iNq}| between two bounds; None where the positions span no period."""
    reach = float(np.ptp(q))
    bins = int(min(RULES.most, 2 ** np.ceil(np.log2(max(4.0 * high * reach / (2.0 * np.pi), 8.0)))))
    if not reach > 0:
        return None
    at = np.minimum(((q - q.min()) / reach * bins).astype(np.intp), bins - 1)
    power = np.abs(np.fft.rfft(np.bincount(at, left, bins), RULES.padding * bins))
    waves = 2.0 * np.pi * np.arange(len(power)) / (RULES.padding * reach)
    allowed = (waves > low) & (waves < high)
    if not np.any(allowed):
        return None
    return float(waves[int(np.argmax(np.where(allowed, power, 0.0)))])


def _agreement(shape: FloatArray, left: FloatArray) -> float:
    """Standard errors from nothing of the shape's size, by blocks of time."""
    parts = zip(np.array_split(shape, RULES.blocks), np.array_split(left, RULES.blocks), strict=True)
    power, pull = np.array([(s @ s, s @ r) for s, r in parts]).T
    size = pull.sum() / power.sum()
    error = np.sqrt(np.sum((pull - size * power) ** 2)) / power.sum()
    return float(size / error) if error > 0 else 0.0
