"""Repeated work: the same answers for any number of workers, errors and progress told."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from dynid.core.errors import DynidError, UnknownNameError
from dynid.core.executor import LocalExecutor


def drawn(task: int, rng: np.random.Generator) -> float:
    return task + float(rng.standard_normal())


def squared(task: int) -> int:
    if task == 3:
        raise DynidError("Three is refused.")
    return task**2


@pytest.mark.parametrize("executor", [LocalExecutor(2), LocalExecutor(4), LocalExecutor(None)])
def test_answers_do_not_depend_on_the_number_of_workers(executor: LocalExecutor) -> None:
    alone = LocalExecutor().map(drawn, range(20), seed=7)
    assert executor.map(drawn, range(20), seed=7) == alone
    assert executor.map(drawn, range(20), seed=8) != alone
    assert len(set(alone)) == 20


def test_processes_give_the_same_answers() -> None:
    alone = LocalExecutor().map(np.sqrt, range(6))
    assert LocalExecutor(2, "processes").map(np.sqrt, range(6)) == alone


def test_threads_work_side_by_side() -> None:
    both = threading.Barrier(2, timeout=20)
    assert len(LocalExecutor(2).map(lambda _: both.wait(), range(2))) == 2


@pytest.mark.parametrize("workers", [1, 3])
def test_the_first_error_reaches_the_caller(workers: int) -> None:
    with pytest.raises(DynidError, match="Three is refused"):
        LocalExecutor(workers).map(squared, range(50))


@pytest.mark.parametrize("workers", [1, 2])
def test_progress_counts_the_tasks(workers: int) -> None:
    told: list[str] = []
    LocalExecutor(workers).map(lambda task: task, range(4), progress=told.append, what="folds")
    assert len(told) == 4
    assert all(text.endswith("of 4 folds") for text in told)


def test_no_task_gives_no_answer() -> None:
    assert LocalExecutor(3).map(squared, []) == []


def test_bad_workers_are_refused() -> None:
    with pytest.raises(DynidError, match="number of workers is 0; it must be at least 1"):
        LocalExecutor(0)
    with pytest.raises(UnknownNameError, match=r"Unknown kind of workers 'thread'\. Did you mean 'threads'"):
        LocalExecutor(1, "thread")
