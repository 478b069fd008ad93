"""Repeated work: the same answers for any number of workers, errors and progress told."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dynid.core.answer_store import AnswerStore
from dynid.core.errors import DynidError, UnknownNameError
from dynid.core.executor import LocalExecutor, executor_for
from support.repeated_work import always_killing, counted, drawn, killing, refused, runs_of, shared_drawn

posix_only = pytest.mark.skipif(os.name != "posix", reason="kills by signals of POSIX")
PLACES = [LocalExecutor(1), LocalExecutor(2), LocalExecutor(2, "processes")]


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


def test_a_task_has_the_generator_spawned_for_its_place() -> None:
    spawned = np.random.SeedSequence(7).spawn(5)
    expected = [k + float(np.random.default_rng(own).standard_normal()) for k, own in enumerate(spawned)]
    assert LocalExecutor().map(drawn, range(5), seed=7) == expected


@pytest.mark.parametrize("executor", PLACES[1:])
def test_what_is_shared_reaches_every_call(executor: LocalExecutor) -> None:
    shared = np.arange(200_000.0)
    alone = LocalExecutor().map(shared_drawn, range(12), shared=shared, seed=2)
    assert executor.map(shared_drawn, range(12), shared=shared, seed=2) == alone


def test_threads_share_the_object_itself() -> None:
    shared = object()
    assert LocalExecutor(2).map(lambda own, _: own is shared, range(4), shared=shared) == [True] * 4


def test_what_cannot_be_sent_to_processes_gets_a_sentence() -> None:
    with pytest.raises(DynidError, match=r"cannot be sent to processes .* use threads"):
        LocalExecutor(2, "processes").map(shared_drawn, range(2), shared=threading.Lock())


@posix_only
def test_a_killed_process_loses_nothing(tmp_path: Path) -> None:
    alone = LocalExecutor().map(drawn, range(20), seed=3)
    with AnswerStore(tmp_path / "answers", "a1") as store:
        executor = LocalExecutor(2, "processes")
        assert executor.map(killing, range(20), shared=str(tmp_path), seed=3, store=store) == alone
    assert {file.name for file in tmp_path.glob("killed-*")} == {"killed-5", "killed-6"}
    assert multiprocessing.active_children() == []


@posix_only
def test_processes_that_always_die_are_given_up() -> None:
    with pytest.raises(DynidError, match="ended 3 times in a row without an answer, with 2 of 2 tasks left"):
        LocalExecutor(2, "processes").map(always_killing, range(2))


@posix_only
def test_processes_end_with_a_killed_parent(tmp_path: Path) -> None:
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from support.repeated_work import told_process\n"
        "from dynid.core.executor import LocalExecutor\n"
        "if __name__ == '__main__':\n"
        "    LocalExecutor(2, 'processes').map(told_process, range(2), shared=sys.argv[2])\n"
    )
    script = tmp_path / "study.py"
    script.write_text(code)
    tests = str(Path(__file__).parents[1])
    with subprocess.Popen([sys.executable, str(script), tests, str(tmp_path)]) as study:
        assert _within(60, lambda: len(list(tmp_path.glob("pid-*"))) == 2)
        study.send_signal(signal.SIGKILL)
    workers = [int(file.name.removeprefix("pid-")) for file in tmp_path.glob("pid-*")]
    assert _within(30, lambda: not any(Path(f"/proc/{pid}").exists() for pid in workers))


def _within(seconds: float, done: Callable[[], bool]) -> bool:
    end = time.monotonic() + seconds
    while not done() and time.monotonic() < end:
        time.sleep(0.05)
    return done()


def test_an_error_in_a_process_is_raised_once() -> None:
    with pytest.raises(ValueError, match="Three is refused"):
        LocalExecutor(2, "processes").map(refused, range(50))


@pytest.mark.parametrize("executor", PLACES)
def test_an_interrupted_map_goes_on_where_it_stopped(tmp_path: Path, executor: LocalExecutor) -> None:
    runs, path = tmp_path / "runs", tmp_path / "answers"
    runs.mkdir()

    def interrupt(text: str) -> None:
        if text.startswith("8 of"):
            raise KeyboardInterrupt

    with AnswerStore(path, "a1") as store, pytest.raises(KeyboardInterrupt):
        executor.map(counted, range(30), shared=str(runs), seed=4, store=store, progress=interrupt)
    assert multiprocessing.active_children() == []
    for file in runs.iterdir():
        file.unlink()
    told: list[str] = []
    with AnswerStore(path, "a1") as store:
        kept = {k for k in range(30) if f"{k} (seed 4, number {k})" in store}
        found = executor.map(
            counted, range(30), shared=str(runs), seed=4, store=store, progress=told.append, what="runs"
        )
    assert len(kept) == 8
    assert runs_of(runs) == sorted(set(range(30)) - kept)
    assert found == LocalExecutor().map(drawn, range(30), seed=4)
    assert told[0] == "8 of 30 runs, 8 kept from before"
    assert told[-1] == "29 of 30 runs, 8 kept from before"


KILLED = """
import sys
sys.path.insert(0, sys.argv[1])
from support.repeated_work import counted_slowly
from dynid.core.answer_store import AnswerStore
from dynid.core.executor import LocalExecutor
with AnswerStore(sys.argv[2], "a1") as store:
    LocalExecutor(2).map(counted_slowly, range(40), shared=sys.argv[3], seed=4, store=store)
"""


@posix_only
def test_a_killed_study_goes_on_where_it_stopped(tmp_path: Path) -> None:
    runs, path = tmp_path / "runs", tmp_path / "answers"
    runs.mkdir()
    tests = str(Path(__file__).parents[1])
    with subprocess.Popen([sys.executable, "-c", KILLED, tests, str(path), str(runs)]) as study:
        end = time.monotonic() + 60
        while len(runs_of(runs)) < 8 and time.monotonic() < end:
            time.sleep(0.01)
        study.send_signal(signal.SIGKILL)
    begun = len(runs_of(runs))
    with AnswerStore(path, "a1") as store:
        kept = len(store)
        found = LocalExecutor(2).map(counted, range(40), shared=str(runs), seed=4, store=store)
    assert 8 <= begun < 40
    assert begun - 2 <= kept <= begun  # at most the tasks of the two threads are lost
    assert len(runs_of(runs)) == begun + 40 - kept
    assert found == LocalExecutor().map(drawn, range(40), seed=4)


def test_all_kept_runs_nothing_and_answers_are_as_json_has_them(tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "a", "a1") as store:
        first = LocalExecutor(2).map(lambda task: (task, np.ones(2)), range(4), store=store)
        told: list[str] = []
        again = LocalExecutor(2).map(squared, range(4), store=store, progress=told.append, what="runs")
    assert first == again == [[task, [1.0, 1.0]] for task in range(4)]
    assert told == ["4 of 4 runs, 4 kept from before"]


def test_tasks_without_a_key_of_their_own_are_refused(tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "a", "a1") as store:
        with pytest.raises(DynidError, match="Two tasks have the key '1'; each task needs its own"):
            LocalExecutor().map(squared, [1, 2, 1], store=store)
        assert len(set(LocalExecutor().map(drawn, [1, 1], seed=1, store=store))) == 2
        other = LocalExecutor().map(drawn, [1, 1], seed=2, store=store)
    assert other == LocalExecutor().map(drawn, [1, 1], seed=2)


def test_options_choose_the_executor() -> None:
    assert executor_for(None, 3) == LocalExecutor(3)
    assert executor_for(None, None, "processes") == LocalExecutor(None, "processes")
    with pytest.raises(DynidError, match=r"Both the Dask scheduler tcp://a:1 and 2 workers are given"):
        executor_for("tcp://a:1", 2)
