"""The search for the best motion: random starts side by side, which Ctrl-C ends with the best so far."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.core.executor import LocalExecutor, Progress
from dynid.excitation.problem import DesignProblem
from dynid.excitation.solvers import Solver
from dynid.excitation.starts import random_start


@dataclass(frozen=True, eq=False)
class DesignRun:
    """One start and what became of it.

    Args:
        first: variables of the random motion it began with.
        x: variables of the motion it led to, within all limits.
        value: of the criterion there.
        evaluations: of value and gradient.
        seconds: spent.
        outcome: "converged", "stopped early" or "interrupted".
    """

    first: FloatArray
    x: FloatArray
    value: float
    evaluations: int
    seconds: float
    outcome: str


class _EndedError(Exception):
    """The search was asked to end."""


def search(
    problem: DesignProblem,
    solver: Solver,
    starts: int,
    seed: int,
    workers: int | None,
    progress: Progress,
) -> tuple[DesignRun, ...]:
    """All starts, the best first.

    Args:
        problem: what to solve.
        solver: how.
        starts: how many; each has its own generator spawned from the seed.
        seed: of all of them.
        workers: how many run at once; None takes one per core.
        progress: told how many are done and the best criterion so far.
    """
    if starts < 1:
        raise DynidError(f"{starts} starts were asked for; give at least 1.")
    best: list[float] = []

    def tell(text: str) -> None:
        progress(f"{text}, best criterion {min(best):.4g}" if best else text)

    with ended_by_interrupt() as ended:
        run = partial(_run, problem, solver, ended, best)
        runs = LocalExecutor(workers).map(run, range(starts), seed=seed, progress=tell, what="starts")
    found = [made for made in runs if made is not None]
    if not found:
        raise DynidError("The search was interrupted before its first motion; nothing was designed.")
    return tuple(sorted(found, key=lambda made: made.value))


def _run(
    problem: DesignProblem,
    solver: Solver,
    ended: threading.Event,
    best: list[float],
    number: int,
    rng: np.random.Generator,
) -> DesignRun | None:
    if ended.is_set():
        return None
    begun = time.perf_counter()
    # Buffers of its own: starts run side by side.
    own = replace(problem, model=replace(problem.model, _buffers={}))
    first = random_start(own, rng)
    latest, count = first, 0

    def watch(x: FloatArray) -> None:
        nonlocal latest, count
        latest, count = x, count + 1
        if ended.is_set():
            raise _EndedError

    try:
        end = solver.solve(own, first, watch)
        x, count, outcome = end.x, end.evaluations, "converged" if end.converged else "stopped early"
    except _EndedError:
        x, outcome = latest, "interrupted"
    value = own.value(x)
    best.append(value)
    return DesignRun(first, x, value, count, time.perf_counter() - begun, outcome)


@contextmanager
def ended_by_interrupt() -> Iterator[threading.Event]:
    """An event that the first Ctrl-C sets; the second one interrupts as usual."""
    ended = threading.Event()
    if threading.current_thread() is not threading.main_thread():
        yield ended
        return
    before: Any = signal.getsignal(signal.SIGINT)

    def end(number: int, frame: object) -> None:
        if ended.is_set() and callable(before):
            before(number, frame)
        ended.set()

    signal.signal(signal.SIGINT, end)
    try:
        yield ended
    finally:
        signal.signal(signal.SIGINT, before)
