"""A Dask cluster gives the same answers as this machine, also when its workers die; what is wrong is said."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dynid
from dynid.core.answer_store import AnswerStore
from dynid.core.dask_executor import DaskExecutor
from dynid.core.errors import DynidError
from dynid.core.executor import LocalExecutor, executor_for
from support.repeated_work import always_killing, counted, drawn, killing, refused, runs_of, shared_drawn

distributed = pytest.importorskip("distributed", reason="the extra dynid[dask] is not installed")
posix_only = pytest.mark.skipif(os.name != "posix", reason="kills by signals of POSIX")


def local_cluster(workers: int) -> Any:
    """Processes of this machine that only this machine can reach."""
    return distributed.LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        silence_logs=50,
    )


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    with local_cluster(2) as cluster:
        yield cluster.scheduler_address


@pytest.fixture
def doomed() -> Iterator[DaskExecutor]:
    """A cluster of its own: one whose workers were killed may never be whole again."""
    with local_cluster(2) as cluster:
        yield DaskExecutor(cluster.scheduler_address, patience_s=120.0)


def test_the_answers_are_those_of_this_machine(address: str) -> None:
    shared = np.arange(300_000.0)
    alone = LocalExecutor().map(shared_drawn, range(30), shared=shared, seed=2)
    places = [LocalExecutor(2), LocalExecutor(2, "processes"), executor_for(address, None)]
    assert [place.map(shared_drawn, range(30), shared=shared, seed=2) == alone for place in places] == [
        True
    ] * 3
    assert DaskExecutor(address).map(drawn, range(9), seed=7) == LocalExecutor().map(drawn, range(9), seed=7)
    assert DaskExecutor(address).map(drawn, []) == []


@pytest.mark.parametrize("shared", [{0: 2.0, 1: 3.0}, [2.0, 3.0], (2.0, 3.0)])
def test_a_collection_is_shared_whole(address: str, shared: Any) -> None:
    tasks = [0, 1, 0]
    assert DaskExecutor(address).map(shared_drawn, tasks, shared=shared, seed=1) == LocalExecutor().map(
        shared_drawn, tasks, shared=shared, seed=1
    )


@posix_only
def test_killed_workers_lose_nothing(doomed: DaskExecutor, tmp_path: Path) -> None:
    """Both workers die, so that also the shared object is lost."""
    with AnswerStore(tmp_path / "answers", "a1") as store:
        found = doomed.map(killing, range(20), shared=str(tmp_path), seed=3, store=store)
        assert len(store) == 20
    assert found == LocalExecutor().map(drawn, range(20), seed=3)
    assert len(list(tmp_path.glob("killed-*"))) == 2


@posix_only
def test_workers_that_always_die_are_given_up(doomed: DaskExecutor) -> None:
    with pytest.raises(
        DynidError, match=f"{doomed.address} were lost 3 times in a row .* with 1 of 1 tasks left"
    ):
        doomed.map(always_killing, range(1))


def test_an_error_of_a_task_is_raised_and_the_rest_dropped(address: str) -> None:
    with pytest.raises(ValueError, match="Three is refused"):
        DaskExecutor(address).map(refused, range(200))
    assert DaskExecutor(address).map(drawn, range(2), seed=1) == LocalExecutor().map(drawn, range(2), seed=1)


def test_an_interrupted_study_goes_on_elsewhere(address: str, tmp_path: Path) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    second.mkdir()

    def interrupt(text: str) -> None:
        if text.startswith("8 of"):
            raise KeyboardInterrupt

    with AnswerStore(tmp_path / "answers", "a1") as store, pytest.raises(KeyboardInterrupt):
        DaskExecutor(address).map(
            counted, range(100), shared=str(first), seed=4, store=store, progress=interrupt
        )
    with AnswerStore(tmp_path / "answers", "a1") as store:
        assert len(store) == 8
        found = LocalExecutor(2).map(counted, range(100), shared=str(second), seed=4, store=store)
    assert len(runs_of(first)) < 100
    assert len(runs_of(second)) == 92
    assert found == LocalExecutor().map(drawn, range(100), seed=4)


def test_another_version_on_the_workers_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    there = dynid.__version__
    monkeypatch.setattr(dynid, "__version__", "9.9")
    with pytest.raises(DynidError, match=rf"{address} has dynid {there}; install dynid 9\.9 there"):
        DaskExecutor(address).map(drawn, range(2), seed=1)


def test_a_scheduler_without_workers_is_told() -> None:
    with local_cluster(0) as cluster:
        executor = DaskExecutor(cluster.scheduler_address, patience_s=0.5)
        with pytest.raises(DynidError, match=r"at tcp://127.0.0.1:\d+ has had no workers for 0.5 s; start"):
            executor.map(drawn, range(2), seed=1)


def test_workers_that_leave_and_do_not_return_are_told(tmp_path: Path) -> None:
    with local_cluster(1) as cluster:
        executor = DaskExecutor(cluster.scheduler_address, patience_s=1.0)
        leave = threading.Timer(0.5, cluster.scale, (0,))
        leave.start()
        with pytest.raises(DynidError, match=r"has had no workers for 1 s"):
            executor.map(counted, range(5000), shared=str(tmp_path), seed=1)
        leave.join()


def test_a_scheduler_that_dies_is_told(tmp_path: Path) -> None:
    cluster = local_cluster(1)
    executor = DaskExecutor(cluster.scheduler_address, connect_s=2.0, patience_s=1.0)
    end = threading.Timer(0.5, cluster.close)
    end.start()
    with pytest.raises(DynidError, match=r"The Dask scheduler at .* has (gone|had no workers)"):
        executor.map(counted, range(5000), shared=str(tmp_path), seed=1)
    end.join()


def test_an_address_where_nobody_answers_is_told() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))  # taken, but nobody listens
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"
        with pytest.raises(DynidError, match=f"No Dask scheduler answers at {address} within 1 s"):
            DaskExecutor(address, connect_s=1.0).map(drawn, range(2), seed=1)


@pytest.mark.parametrize(
    "address",
    ["", "localhost:8786", "tcp://host", "tcp://host:99999", "http://a:1", "tcp://a b:1", "tcp://a:0"],
)
def test_a_bad_address_is_refused(address: str) -> None:
    with pytest.raises(DynidError, match=r"address of the Dask scheduler is .* give it as tcp://host:port"):
        DaskExecutor(address)


def test_without_the_extra_the_sentence_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(DynidError, match=r"install the extra: pip install 'dynid\[dask\]'"):
        DaskExecutor("tcp://127.0.0.1:1").map(drawn, range(2), seed=1)


def test_dask_is_loaded_only_when_used() -> None:
    code = "import sys, dynid, dynid.core.executor; print({'distributed', 'dask'} & set(sys.modules))"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout == "set()\n"
