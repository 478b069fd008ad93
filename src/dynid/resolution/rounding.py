"""Rounding modes: how a sensor of a coarser step would have read what was measured (P1 eq 15, 28)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import unknown_name

Reading = Callable[[FloatArray, FloatArray, np.random.Generator], FloatArray]


@dataclass(frozen=True)
class RoundingMode:
    """One way to make readings coarser.

    Args:
        name: as on the command line.
        words: what it does.
        variance: of its error, over Δ².
        read: values (samples, axes), steps Δ (axes,) and a generator to coarser values.
        white: whether errors of different samples are independent, as the law of the bias assumes.
    """

    name: str
    words: str
    variance: float
    read: Reading
    white: bool = True


def _binary(values: FloatArray, steps: FloatArray, rng: np.random.Generator) -> FloatArray:
    return np.asarray(values + steps * np.where(rng.random(values.shape) < 0.5, -1.0, 1.0), dtype=float)


def _uniform(values: FloatArray, steps: FloatArray, rng: np.random.Generator) -> FloatArray:
    return np.asarray(values + steps * rng.uniform(-1.0, 1.0, values.shape), dtype=float)


def _gaussian(values: FloatArray, steps: FloatArray, rng: np.random.Generator) -> FloatArray:
    return np.asarray(values + steps * rng.standard_normal(values.shape), dtype=float)


def _nearest_count(values: FloatArray, steps: FloatArray, rng: np.random.Generator) -> FloatArray:
    """The nearest count of a sensor whose zero is drawn: runs differ in where the counts lie."""
    zero = steps * rng.uniform(-0.5, 0.5, len(steps))
    counts = np.round(np.divide(values + zero, steps, out=np.zeros_like(values), where=steps > 0))
    return np.where(steps > 0, steps * counts - zero, values)


MODES = {
    mode.name: mode
    for mode in (
        RoundingMode("binary", "q + Δ or q − Δ, each with probability ½ (P1 eq 15)", 1.0, _binary),
        RoundingMode("uniform", "q + Δ u, u uniform in [−1, 1]", 1.0 / 3.0, _uniform),
        RoundingMode("gaussian", "q + N(0, Δ²) (P1 eq 28)", 1.0, _gaussian),
        RoundingMode("rounding", "the nearest multiple of Δ", 1.0 / 12.0, _nearest_count, white=False),
    )
}
"""Rounding modes by name."""


def mode_of(name: str) -> RoundingMode:
    """The rounding mode of a name.

    Raises:
        UnknownNameError: for any other name.
    """
    if name not in MODES:
        raise unknown_name("rounding mode", name, MODES)
    return MODES[name]
