"""Loaded and free runs of one motion: brought together in time, the loaded one cleared of model errors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.preparation.motion import Motion
from dynid.validation.model import IdentifiedModel, predictions

MOST_APART = 0.05
"""Largest RMS distance of two runs of one motion, as a share of a joint's travel (its standard deviation):
what a model misses at one place is then still nearly that at the other."""
_STILL = 0.1
"""Share of the largest travel of a joint that a joint at rest counts as having."""
_LEAST_OVERLAP = 0.5
"""Share of the shorter run that both must have in common."""
_SAME_RATE = 1e-4
"""Share by which the rates of two runs may differ: a sample of difference after ten thousand."""


@dataclass(frozen=True, eq=False)
class RunPair:
    """A loaded run and the free run of the same motion.

    Args:
        cleared: the loaded run where both were taken, its torques less what the model misses in the free run.
        free: the free run, likewise.
        delay_s: by how much the free run is late [s].
        apart: largest RMS distance of a joint, as a share of its travel.
        correction: RMS of the torques that differ because the paths do, over that of the whole difference;
            without the samples in which a joint turns round in one run and not yet in the other.
    """

    cleared: Motion
    free: Motion
    delay_s: float
    apart: float
    correction: float


def runs_of_one_motion(model: IdentifiedModel, loaded: Motion, free: Sequence[Motion]) -> RunPair:
    """The free run that is the same motion as a loaded one, and the loaded one cleared by it.

    τ' = τ_l − (τ_f − W_f χ): with W_l χ held, what is left is (τ_l − τ_f) − (W_l − W_f) χ.

    Args:
        model: of the arm without payload.
        loaded: the loaded run.
        free: free runs to choose from.

    Raises:
        DynidError: when no free run is the same motion.
    """
    same_rate = [m for m in free if abs(m.rate_hz / loaded.rate_hz - 1) < _SAME_RATE]
    if not same_rate:
        rates = ", ".join(f"{motion.rate_hz:g}" for motion in free)
        raise DynidError(
            f"The loaded motion {loaded.name!r} is sampled at {loaded.rate_hz:g} Hz and the free ones at "
            f"{rates} Hz; prepare all of them at one rate, or refit the arm, which needs no equal motions."
        )
    q = np.asarray(loaded.q[:])
    # A joint at rest is compared with how far the others go: noise and sag are large beside no travel at all.
    travel = np.maximum(q.std(axis=0), max(_STILL * float(q.std(axis=0).max()), 1e-12))
    shifts = [_delay(q / travel, np.asarray(motion.q[:]) / travel) for motion in same_rate]
    k = int(np.argmin([apart for _, apart in shifts]))
    motion, shift = same_rate[k], shifts[k][0]
    first, last = max(0, -shift), min(len(q), motion.samples - shift)
    part, other = loaded.part(slice(first, last)), motion.part(slice(first + shift, last + shift))
    distance = np.sqrt(np.mean((np.asarray(part.q[:]) - np.asarray(other.q[:])) ** 2, axis=0)) / travel
    if distance.max() > MOST_APART:
        j = int(np.argmax(distance))
        raise DynidError(
            f"No free motion is the same as the loaded motion {loaded.name!r}: the nearest, {motion.name!r}, "
            f"is {100 * distance[j]:.0f} % of its travel away on joint {j + 1} (at most "
            f"{100 * MOST_APART:.0f} % are taken). Run the same program free and loaded, or refit the arm, "
            "which needs no equal motions."
        )
    return _cleared_pair(model, part, other, shift / loaded.rate_hz, float(distance.max()))


def _cleared_pair(
    model: IdentifiedModel, loaded: Motion, free: Motion, delay_s: float, apart: float
) -> RunPair:
    bare = [replace(motion, condition="") for motion in (loaded, free)]
    along_loaded, along_free = (np.asarray(predictions(model, motion)[0][:]) for motion in bare)
    tau, own = np.asarray(loaded.tau[:]), np.asarray(free.tau[:])
    difference, correction = tau - own, along_loaded - along_free
    # Added terms of the model are not columns, so they are taken off here.
    nonlinear = along_loaded - _linear_part(model, bare[0])
    masks = [m for m in (loaded.made_up, free.made_up) if m is not None]
    cleared = replace(
        loaded,
        tau=tau - (own - along_free) - nonlinear,
        made_up=np.any(masks, axis=0) if masks else None,
    )
    # Where one run still goes up and the other down, friction differs by all of itself, for a few samples.
    together = np.sign(loaded.qd[:]) == np.sign(free.qd[:])
    size = float(np.linalg.norm(difference * together))
    share = float(np.linalg.norm(correction * together)) / size if size > 0 else 0.0
    return RunPair(cleared, free, delay_s, apart, share)


def _linear_part(model: IdentifiedModel, motion: Motion) -> FloatArray:
    """Torques of the base parameters alone."""
    return np.asarray(predictions(replace(model, further=None), motion)[0][:], dtype=float)


def _delay(q: FloatArray, other: FloatArray) -> tuple[int, float]:
    """Samples s by which another run is late, other[k + s] ≈ q[k], and how far both are then apart.

    The mean square of the distance over all shifts, Σ(q² + q'² − 2 q q') over the common samples, by FFT.
    """
    n, m = len(q), len(other)
    middle = q.mean(axis=0)
    a, b = q - middle, other - middle
    size = 1 << (n + m).bit_length()
    product = np.fft.irfft(np.conj(np.fft.rfft(a, size, axis=0)) * np.fft.rfft(b, size, axis=0), size, axis=0)
    shifts = np.arange(-(n - 1), m)
    cross = product.sum(axis=1)[shifts]
    first, last = np.maximum(0, -shifts), np.minimum(n, m - shifts)
    sums = [np.concatenate([[0.0], np.cumsum(np.sum(x**2, axis=1))]) for x in (a, b)]
    count = last - first
    squares = sums[0][last] - sums[0][first] + sums[1][last + shifts] - sums[1][first + shifts] - 2 * cross
    mean = np.where(count >= _LEAST_OVERLAP * min(n, m), squares / np.maximum(count, 1), np.inf)
    best = int(np.argmin(mean))
    return int(shifts[best]), float(np.sqrt(max(mean[best], 0.0)))
