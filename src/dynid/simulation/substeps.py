"""How many integration steps a sample needs: step doubling on the first samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from dynid.simulation.accuracy import MAX_SUBSTEPS, Accuracy
from dynid.simulation.inertia import friction_rate
from dynid.simulation.programs import SMOOTH
from dynid.simulation.setup import Setup
from dynid.simulation.simulator import Paths

FloatArray = NDArray[np.float64]
_PILOT = 2000
"""Samples on which the number is chosen: feedback keeps errors from growing beyond them."""
_STABLE = 2.0
"""Step × rate of the friction that Runge–Kutta still follows (it is stable to 2.78)."""
_ORDER = 2
"""Lowest order met: joints that turn, and kinks of the smooth sign."""
RunOne = Callable[[int, int], Paths]
RunSome = Callable[[list[int], int, int], Paths]


def choose_substeps(setup: Setup, accuracy: Accuracy, run: RunOne) -> tuple[int, float]:
    """Substeps per sample by step doubling on the first samples, and the error left [rad or m].

    Args:
        setup: the loop.
        accuracy: tolerance and friction model.
        run: simulates the first samples, ``run(samples, substeps)``.

    Returns:
        Substeps: more than ``MAX_SUBSTEPS`` when no allowed number follows the friction. Error: above the
        tolerance when even the largest number, or the given one, does not reach it.
    """
    return choose_each([setup], accuracy, lambda _, samples, substeps: run(samples, substeps))[0]


def choose_each(setups: Sequence[Setup], accuracy: Accuracy, run: RunSome) -> list[tuple[int, float]]:
    """The same for many simulations of one compiled loop, each with a number of its own.

    Args:
        setups: the loops.
        accuracy: tolerance and friction model.
        run: simulates some of them, ``run(indices, samples, substeps)``.
    """
    samples = pilot_samples(setups[0])
    if accuracy.substeps is not None:
        return [(accuracy.substeps, error) for error in _errors(len(setups), samples, accuracy.substeps, run)]
    level = [least_substeps(setup, accuracy) for setup in setups]
    found = {i: (s, float("inf")) for i, s in enumerate(level) if s > MAX_SUBSTEPS}
    waiting = [i for i in range(len(setups)) if i not in found]
    coarse: dict[int, FloatArray] = {}
    for substeps, some in _by_level(waiting, level):
        coarse |= dict(zip(some, run(some, samples, substeps).q, strict=True))
    while waiting:
        for substeps, some in _by_level(waiting, level):
            # The first number is always compared; later ones stay within what is allowed.
            for i, fine in zip(some, run(some, samples, 2 * substeps).q, strict=True):
                with np.errstate(invalid="ignore", over="ignore"):
                    change = float(np.abs(fine - coarse[i]).max())
                if change * 2**_ORDER / (2**_ORDER - 1) <= accuracy.tolerance:
                    found[i] = substeps, change * 2**_ORDER / (2**_ORDER - 1)
                elif 4 * substeps > MAX_SUBSTEPS:
                    found[i] = min(2 * substeps, MAX_SUBSTEPS), change / (2**_ORDER - 1)
                level[i], coarse[i] = 2 * substeps, fine
        waiting = [i for i in waiting if i not in found]
    return [found[i] for i in range(len(setups))]


def _errors(count: int, samples: int, substeps: int, run: RunSome) -> list[float]:
    """What a given number of substeps leaves, by one doubling; infinite where paths are lost."""
    every = list(range(count))
    with np.errstate(invalid="ignore", over="ignore"):
        change = np.abs(run(every, samples, 2 * substeps).q - run(every, samples, substeps).q)
    error = change.max(axis=(1, 2)) * 2**_ORDER / (2**_ORDER - 1)
    return [float(e) if np.isfinite(e) else float("inf") for e in error]


def pilot_samples(setup: Setup) -> int:
    """Samples to compare: without feedback errors add up, so that all of them count."""
    samples = setup.reference.samples
    return min(_PILOT, samples) if setup.controller.law.feedback else samples


def _by_level(indices: Sequence[int], level: Sequence[int]) -> list[tuple[int, list[int]]]:
    return [(s, [i for i in indices if level[i] == s]) for s in sorted({level[i] for i in indices})]


def least_substeps(setup: Setup, accuracy: Accuracy) -> int:
    """The least number that is stable."""
    if accuracy.friction != SMOOTH:
        return 1
    rows = np.linspace(0, setup.reference.samples - 1, 16).astype(int)
    rate = friction_rate(setup.robot, setup.standard, setup.reference.q[rows])
    return max(1, int(np.ceil(setup.step * rate / _STABLE)))
