"""One way to run what repeats: folds, seeds, draws, starts; one by one, in threads or in processes.

Results come in the order of the tasks, and each task has a random generator of its own, so that the answer
does not depend on how many workers there are.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from multiprocessing import get_context
from typing import Any, TypeVar

from dynid.core.errors import DynidError, unknown_name
from dynid.core.threads import VARIABLES, one_blas_thread

Task = TypeVar("Task")
Answer = TypeVar("Answer")
Progress = Callable[[str], None]
"""Told in words what is being done."""
KINDS = ("threads", "processes")


def no_progress(text: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class LocalExecutor:
    """Workers of this machine.

    Args:
        workers: how many run at once; 1 runs the tasks one after the other in the caller's thread, None takes
            one per core.
        kind: "threads" (compiled kernels release Python's lock) or "processes" (tasks and functions must be
            picklable).
    """

    workers: int | None = 1
    kind: str = "threads"

    def __post_init__(self) -> None:
        """Refuse workers that could do nothing."""
        if self.kind not in KINDS:
            raise unknown_name("kind of workers", self.kind, KINDS)
        if self.workers is not None and self.workers < 1:
            raise DynidError(f"The number of workers is {self.workers}; it must be at least 1, or None.")

    def map(
        self,
        function: Callable[..., Answer],
        tasks: Iterable[Task],
        *,
        seed: int | None = None,
        progress: Progress = no_progress,
        what: str = "tasks",
    ) -> list[Answer]:
        """Answers to all tasks, in their order.

        Args:
            function: called with a task, and with its random generator when there is a seed.
            tasks: what to work on; independent of each other.
            seed: of all generators; task k gets the k-th generator spawned from it, however many workers run.
            progress: told how many tasks are done.
            what: what the tasks are, in the plural, for ``progress``.

        Raises:
            Exception: the first error of a task; tasks that have not begun are dropped.
        """
        calls = _calls(list(tasks), seed)
        workers = min(self.workers or os.cpu_count() or 1, len(calls))
        with one_blas_thread():
            if workers <= 1:
                return _one_by_one(function, calls, progress, what)
            with self._pool(workers) as pool:
                return _side_by_side(pool, function, calls, progress, what)

    def _pool(self, workers: int) -> Executor:
        if self.kind == "threads":
            return ThreadPoolExecutor(workers)
        # Not forked: threads of the caller's libraries would be lost in the middle of their work.
        return ProcessPoolExecutor(workers, mp_context=get_context("spawn"), initializer=_settle_worker)


ONE_BY_ONE = LocalExecutor()
"""Task after task in the caller's thread."""


def _calls(tasks: Sequence[Any], seed: int | None) -> list[tuple[Any, ...]]:
    if seed is None:
        return [(task,) for task in tasks]
    from numpy.random import SeedSequence, default_rng

    spawned = SeedSequence(seed).spawn(len(tasks))
    return [(task, default_rng(own)) for task, own in zip(tasks, spawned, strict=True)]


def _one_by_one(
    function: Callable[..., Answer], calls: Sequence[tuple[Any, ...]], progress: Progress, what: str
) -> list[Answer]:
    answers = []
    for done, call in enumerate(calls):
        progress(f"{done} of {len(calls)} {what}")
        answers.append(function(*call))
    return answers


def _side_by_side(
    pool: Executor,
    function: Callable[..., Answer],
    calls: Sequence[tuple[Any, ...]],
    progress: Progress,
    what: str,
) -> list[Answer]:
    running: list[Future[Answer]] = [pool.submit(function, *call) for call in calls]
    try:
        for done, finished in enumerate(as_completed(running), 1):
            finished.result()
            progress(f"{done} of {len(calls)} {what}")
    except BaseException:
        pool.shutdown(wait=False, cancel_futures=True)
        raise
    return [future.result() for future in running]


def _settle_worker() -> None:
    """One thread of BLAS in a process of its own: the variables are read when NumPy is loaded."""
    for name in VARIABLES:
        os.environ[name] = "1"
