"""One way to run what repeats: folds, seeds, draws, starts; one by one, side by side or on a cluster.

Results come in the order of the tasks, and each task has a random generator of its own, so that the answer
does not depend on how many workers there are or where they run. With an ``AnswerStore``, work that was cut
short goes on where it stopped.
"""

from __future__ import annotations

import os
import pickle
import signal
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from concurrent.futures import Future, ProcessPoolExecutor, ThreadPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from threading import Thread
from typing import Any, TypeVar

from dynid.core.answer_store import AnswerStore
from dynid.core.errors import DynidError, unknown_name
from dynid.core.lazy import later
from dynid.core.threads import VARIABLES, one_blas_thread

Task = TypeVar("Task")
Answer = TypeVar("Answer")
Progress = Callable[[str], None]
"""Told in words what is being done."""
KINDS = ("threads", "processes")
MOST_LOSSES = 3
"""Times in a row that workers may be lost without one answer: a task that kills them would do so for ever."""
_KEEP_MEMORY = {"MALLOC_TRIM_THRESHOLD_": str(1 << 30), "MALLOC_MMAP_THRESHOLD_": str(1 << 25)}
"""For glibc: a worker keeps what it has freed. A young process gives it back after each task, and to get it
again takes a third of the time of short tasks."""
_in_worker: dict[str, Any] = {}
"""In a worker process: the object that all its tasks share."""


def no_progress(text: str) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class TaskCall:
    """One task as it goes to a worker.

    Args:
        function: what answers it.
        task: its argument.
        number: its place among all tasks.
        seed: of all generators; None gives the function none.
        sharing: whether the function also takes the shared object.
    """

    function: Callable[..., Any]
    task: Any
    number: int
    seed: int | None
    sharing: bool

    def answer(self, shared: Any) -> Any:
        """Call the function; the generator is made here, so that a second try begins with the same draws."""
        given = (shared, self.task) if self.sharing else (self.task,)
        if self.seed is None:
            return self.function(*given)
        from numpy.random import SeedSequence, default_rng

        own = SeedSequence(self.seed, spawn_key=(self.number,))  # what SeedSequence(seed).spawn gives to it
        return self.function(*given, default_rng(own))


class Executor(ABC):
    """Workers somewhere, and the one verb that gives them work."""

    def map(
        self,
        function: Callable[..., Answer],
        tasks: Iterable[Task],
        *,
        shared: Any = None,
        seed: int | None = None,
        progress: Progress = no_progress,
        what: str = "tasks",
        store: AnswerStore | None = None,
    ) -> list[Answer]:
        """Answers to all tasks, in their order.

        Args:
            function: called with the shared object if there is one, a task, and the task's random generator
                if there is a seed.
            tasks: what to work on; independent of each other.
            shared: what every call needs, such as logs of several MB; sent to each worker once.
            seed: of all generators; task k gets the k-th generator spawned from it, however many workers run.
            progress: told how many tasks are done, before each answer that is waited for.
            what: what the tasks are, in the plural, for ``progress``.
            store: keeps each answer at once; tasks whose answers it has are not run. Answers are then as JSON
                holds them, also those that were computed now: lists instead of tuples and arrays.

        Raises:
            Exception: the first error of a task; tasks that have not begun are dropped.
            DynidError: when workers are lost again and again without an answer.
        """
        listed = list(tasks)
        calls = [TaskCall(function, task, k, seed, shared is not None) for k, task in enumerate(listed)]
        keys = [] if store is None else _keys(store, calls)
        kept = {} if store is None else {k: store[key] for k, key in enumerate(keys) if key in store}
        answers: dict[int, Any] = dict(kept)
        before = f", {len(kept)} kept from before" if kept else ""
        with closing(self._answers([call for call in calls if call.number not in kept], shared)) as found:
            progress(f"{len(answers)} of {len(calls)} {what}{before}")
            for number, answer in found:
                answers[number] = answer if store is None else store.keep(keys[number], answer)
                if len(answers) < len(calls):
                    progress(f"{len(answers)} of {len(calls)} {what}{before}")
        return [answers[number] for number in range(len(calls))]

    @contextmanager
    def kept_open(self) -> Iterator[Executor]:
        """An executor for several calls of ``map`` that share one object: workers start and get it once."""
        yield self

    @abstractmethod
    def _answers(self, calls: Sequence[TaskCall], shared: Any) -> Generator[tuple[int, Any]]:
        """Numbers of tasks with their answers, as they come; closing it drops what has not begun."""


@dataclass(frozen=True)
class LocalExecutor(Executor):
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

    def _answers(self, calls: Sequence[TaskCall], shared: Any) -> Generator[tuple[int, Any]]:
        workers = min(self.workers or os.cpu_count() or 1, len(calls))
        with one_blas_thread():
            if workers <= 1:
                yield from ((call.number, call.answer(shared)) for call in calls)
            elif self.kind == "threads":
                yield from _from_threads(calls, shared, workers)
            else:
                with closing(_Processes(workers)) as processes:
                    yield from processes.answers(calls, shared)

    @contextmanager
    def kept_open(self) -> Iterator[Executor]:
        """See ``Executor``; threads cost nothing to start."""
        workers = self.workers or os.cpu_count() or 1
        if self.kind == "threads" or workers == 1:
            yield self
            return
        with closing(_Processes(workers)) as processes, one_blas_thread():
            yield _StandingExecutor(processes)


ONE_BY_ONE = LocalExecutor()
"""Task after task in the caller's thread."""

_dask_executor = later("dynid.core.dask_executor", "DaskExecutor")  # Dask takes half a second to load


def executor_for(scheduler: str | None, workers: int | None, kind: str = "threads") -> Executor:
    """The executor that options of a command ask for.

    Args:
        scheduler: address of a Dask scheduler, such as ``tcp://10.0.0.7:8786``; None stays on this machine.
        workers: how many run at once on this machine; None takes one per core.
        kind: "threads" or "processes" of this machine.

    Raises:
        DynidError: when both a scheduler and a number of workers are given.
    """
    if scheduler is None:
        return LocalExecutor(workers, kind)
    if workers is not None:
        raise DynidError(
            f"Both the Dask scheduler {scheduler} and {workers} workers are given; a cluster has its own "
            "number of workers, so leave one of the two away."
        )
    executor: Executor = _dask_executor(scheduler)
    return executor


def _keys(store: AnswerStore, calls: Sequence[TaskCall]) -> list[str]:
    """Keys of the tasks; with a seed, an answer also belongs to the seed and to the place among the tasks."""
    keys = [
        store.key(call.task) + ("" if call.seed is None else f" (seed {call.seed}, number {call.number})")
        for call in calls
    ]
    if len(set(keys)) < len(keys):
        twice = next(key for key in keys if keys.count(key) > 1)
        raise DynidError(
            f"Two tasks have the key {twice!r}; each task needs its own to be kept in {store.path}."
        )
    return keys


def _from_threads(calls: Sequence[TaskCall], shared: Any, workers: int) -> Generator[tuple[int, Any]]:
    """Answers as they come; after an error, what has not begun is dropped."""
    pool = ThreadPoolExecutor(workers)
    try:
        running = {pool.submit(call.answer, shared): call.number for call in calls}
        yield from ((running[future], future.result()) for future in as_completed(running))
    finally:
        pool.shutdown(cancel_futures=True)


class _Processes:
    """Worker processes that stay between calls, as long as the tasks share the same object.

    Args:
        workers: how many.
    """

    def __init__(self, workers: int) -> None:
        self._workers = workers
        self._pool: ProcessPoolExecutor | None = None
        self._shared: Any = None

    def answers(self, calls: Sequence[TaskCall], shared: Any) -> Generator[tuple[int, Any]]:
        """Answers as they come; those that a killed process has not given are asked for again."""
        left = {call.number: call for call in calls}
        losses = 0
        while left and losses < MOST_LOSSES:
            losses += 1
            for number, answer in self._until_broken(list(left.values()), shared):
                del left[number]
                losses = 0
                yield number, answer
        if left:
            raise DynidError(
                f"Worker processes ended {losses} times in a row without an answer, with {len(left)} of "
                f"{len(calls)} tasks left; they may need more memory than there is: give fewer workers."
            )

    def _until_broken(self, calls: Sequence[TaskCall], shared: Any) -> Generator[tuple[int, Any]]:
        """All answers, or those that came before a process was killed."""
        pool = self._pool_with(shared)
        running: dict[Future[Any], int] = {}
        done = False
        try:
            with suppress(BrokenProcessPool), _worker_environment():  # the first task starts the processes
                running.update((pool.submit(_answer_in_worker, call), call.number) for call in calls)
            for future in as_completed(running):
                if not isinstance(future.exception(), BrokenProcessPool):
                    yield running[future], future.result()
            done = len(running) == len(calls) and not any(future.exception() for future in running)
        except (KeyboardInterrupt, GeneratorExit):  # nobody waits for what is being computed
            for process in list((pool._processes or {}).values()):
                process.terminate()
            raise
        finally:
            if not done:
                self.close()

    def _pool_with(self, shared: Any) -> ProcessPoolExecutor:
        if self._pool is None or shared is not self._shared:
            self.close()
            # Not forked: threads of the caller's libraries would be lost in the middle of their work.
            settled = (get_context("spawn"), _settle_worker, (_pickle_of(shared),))
            self._pool, self._shared = ProcessPoolExecutor(self._workers, *settled), shared
        return self._pool

    def close(self) -> None:
        """End the processes; tasks that have not begun are dropped."""
        pool, self._pool, self._shared = self._pool, None, None
        if pool is not None:
            pool.shutdown(cancel_futures=True)


@dataclass(frozen=True, eq=False)
class _StandingExecutor(Executor):
    """Processes that are already there."""

    processes: _Processes

    def _answers(self, calls: Sequence[TaskCall], shared: Any) -> Generator[tuple[int, Any]]:
        yield from self.processes.answers(calls, shared)


@contextmanager
def _worker_environment() -> Iterator[None]:
    """Variables that a new process reads before anything else, set in this one while processes start."""
    forced = dict.fromkeys(VARIABLES, "1")
    new = {**forced, **{name: value for name, value in _KEEP_MEMORY.items() if name not in os.environ}}
    before = {name: os.environ.get(name) for name in new}
    os.environ.update(new)
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _pickle_of(shared: Any) -> bytes:
    try:
        return pickle.dumps(shared)
    except (pickle.PicklingError, AttributeError, TypeError) as error:
        raise DynidError(
            f"What the tasks share cannot be sent to processes ({error}); use threads, or share plain data."
        ) from None


def _settle_worker(packed: bytes) -> None:
    """Prepare a process: the shared object, Ctrl-C left to the parent, an end when the parent is killed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    Thread(target=_end_with_parent, daemon=True).start()
    _in_worker["shared"] = pickle.loads(packed)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _answer_in_worker(call: TaskCall) -> Any:
    return call.answer(_in_worker["shared"])
