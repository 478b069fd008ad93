"""Workers of a Dask cluster: the same answers as on one machine, from any number of machines.

The library is loaded when a cluster is first used. A worker that dies loses nothing: the scheduler gives its
tasks to others, and what it gives up, such as tasks whose shared object died with its last holder, is sent
again from here.
"""

from __future__ import annotations

import re
import time
from collections.abc import Generator, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from importlib import import_module
from typing import Any

import dynid
from dynid.core.disk import new_token
from dynid.core.errors import DynidError
from dynid.core.executor import MOST_LOSSES, Executor, TaskCall
from dynid.core.threads import one_blas_thread

_ADDRESS = re.compile(r"tcp://([\w.-]+|\[[0-9a-fA-F:.]+\]):(\d{1,5})", re.ASCII)
_LOOK_S = 0.01
"""Pause between two looks for answers [s]: short beside a task, long beside a look."""
_FETCH_S = 1.0
"""Time after which an answer that does not arrive is looked after [s]."""


@dataclass(frozen=True)
class DaskExecutor(Executor):
    """Workers of a Dask cluster that runs already, with this version of dynid.

    Functions, tasks, answers and what is shared must be picklable.

    Args:
        address: of the scheduler, ``tcp://host:port``.
        connect_s: how long to wait for the scheduler's answer [s].
        patience_s: how long to wait while there is no worker at all [s].
    """

    address: str
    connect_s: float = 10.0
    patience_s: float = 30.0

    def __post_init__(self) -> None:
        """Refuse what cannot be an address."""
        found = _ADDRESS.fullmatch(self.address)
        if found is None or not 0 < int(found[2]) < 1 << 16:
            raise DynidError(
                f"The address of the Dask scheduler is {self.address!r}; give it as tcp://host:port, such as "
                "tcp://127.0.0.1:8786."
            )

    def _answers(self, calls: Sequence[TaskCall], shared: Any) -> Generator[tuple[int, Any]]:
        if calls:
            with self._client() as client:
                yield from self.rounds(_Scattered(client), calls, shared)

    @contextmanager
    def kept_open(self) -> Iterator[Executor]:
        """See ``Executor``: one connection, over which the shared object goes once."""
        with self._client() as client:
            yield _ConnectedExecutor(self, _Scattered(client))

    def rounds(self, there: _Scattered, calls: Sequence[TaskCall], shared: Any) -> Generator[tuple[int, Any]]:
        """Answers as they come; what was lost is sent again.

        Args:
            there: the connection.
            calls: all tasks.
            shared: what they share.
        """
        left = {call.number: call for call in calls}
        losses = 0
        while left and losses < MOST_LOSSES:
            losses += 1
            for number, answer in self._one_round(there, list(left.values()), shared):
                del left[number]
                losses = 0
                yield number, answer
        if left:
            raise DynidError(
                f"Workers of the Dask cluster {self.address} were lost {losses} times in a row without an "
                f"answer, with {len(left)} of {len(calls)} tasks left; see the logs of the workers, which "
                "may need more memory."
            )

    @contextmanager
    def _client(self) -> Iterator[Any]:
        """A connection to the scheduler; errors of the connection become sentences."""
        try:
            distributed = import_module("distributed")
        except ImportError:
            raise DynidError(
                f"The Dask cluster {self.address} needs the library distributed; install the extra: "
                "pip install 'dynid[dask]'."
            ) from None
        try:
            client = distributed.Client(self.address, timeout=self.connect_s, set_as_default=False)
        except OSError as error:  # also what the library raises after the time is over
            raise DynidError(
                f"No Dask scheduler answers at {self.address} within {self.connect_s:g} s "
                f"({type(error).__name__}); start one with `dask scheduler`, or mend the address."
            ) from None
        try:
            self._refuse_other_versions(client)
            yield client
        finally:
            client.close()

    def _refuse_other_versions(self, client: Any) -> None:
        """Stop unless all workers have this version: others could answer differently."""
        self._wait_for_workers(client)

        def version() -> str | None:  # sent by value: a worker without dynid must be able to run it
            try:
                return str(__import__("dynid").__version__)
            except ImportError:
                return None

        for worker, found in client.run(version, on_error="ignore").items():
            if found != dynid.__version__:
                raise DynidError(
                    f"The worker {worker} of the Dask cluster {self.address} has "
                    f"{'no dynid' if found is None else f'dynid {found}'}; install dynid {dynid.__version__} "
                    "there, as it is here."
                )

    def _one_round(
        self, there: _Scattered, calls: Sequence[TaskCall], shared: Any
    ) -> Generator[tuple[int, Any]]:
        """Send all calls once: answers to all of them, or to those that were not lost."""
        distributed, client = import_module("distributed"), there.client
        self._wait_for_workers(client)
        token = new_token()  # a key that a lost task had is never used again
        try:
            held = there.held_by_workers(shared)
        except (OSError, distributed.client.CancelledError):  # a worker left during the transfer
            time.sleep(_LOOK_S)
            return
        keys = [f"dynid-{token}-{call.number}" for call in calls]
        futures = client.map(_answer_on_worker, calls, key=keys, shared=held)
        running = {future: call.number for future, call in zip(futures, calls, strict=True)}
        lost = (distributed.KilledWorker, distributed.client.CancelledError, OSError)
        try:
            for future in self._done_futures(client, running, held):
                error = future.exception() if future.status == "error" else None
                if error is not None and not isinstance(error, distributed.KilledWorker):
                    raise error
                if future.status != "finished":
                    continue
                try:
                    answer = self._fetch(future, held)
                except lost:
                    continue
                yield running[future], answer
        finally:
            with suppress(OSError, distributed.client.CancelledError):
                client.cancel(futures, force=True)

    def _done_futures(self, client: Any, running: dict[Any, int], held: Any) -> Generator[Any]:
        """Futures as they are done, well or not; ends early when the shared object is lost.

        Raises:
            DynidError: when there is no worker for too long, or the scheduler is gone.
        """
        completed = import_module("distributed").as_completed(running, loop=client.loop)
        seen = time.monotonic()
        while not completed.is_empty():
            ready = completed.next_batch(block=False)
            yield from ready
            if ready:
                seen = time.monotonic()
                continue
            if _is_lost(held):
                return
            time.sleep(_LOOK_S)
            if time.monotonic() - seen > self.patience_s:
                self._wait_for_workers(client)
                seen = time.monotonic()

    def _fetch(self, future: Any, held: Any) -> Any:
        """An answer that a worker has; where that one dies before it is fetched, it is computed once more.

        Raises:
            TimeoutError: when that cannot be, because the shared object died with it.
        """
        patience = _FETCH_S
        while True:
            try:
                return future.result(timeout=patience)
            except TimeoutError:
                patience *= 2  # the answer may be large, or the task long
                if _is_lost(held) or patience > 2 * self.patience_s:
                    raise

    def _wait_for_workers(self, client: Any) -> None:
        """Return when there is a worker.

        Raises:
            DynidError: when there is none for too long, or the scheduler is gone.
        """
        try:
            client.wait_for_workers(1, timeout=self.patience_s)
        except TimeoutError:
            raise DynidError(
                f"The Dask scheduler at {self.address} has had no workers for {self.patience_s:g} s; start "
                f"some with `dask worker {self.address}`."
            ) from None
        except OSError:
            raise DynidError(
                f"The Dask scheduler at {self.address} has gone; start it again and repeat the command."
            ) from None


class _Scattered:
    """What the workers of a cluster hold for all tasks.

    Args:
        client: the connection.
    """

    def __init__(self, client: Any) -> None:
        self.client = client
        self._shared: Any = None
        self._held: Any = None

    def held_by_workers(self, shared: Any) -> Any:
        """The shared object as tasks name it; sent unless the workers have it already."""
        if shared is not None and (shared is not self._shared or _is_lost(self._held)):
            # In a list: Dask takes lists and dictionaries apart and scatters what they hold.
            (self._held,) = self.client.scatter([shared], broadcast=True, hash=False)
            self._shared = shared
        return None if shared is None else self._held


@dataclass(frozen=True, eq=False)
class _ConnectedExecutor(Executor):
    """A cluster whose connection is already there."""

    cluster: DaskExecutor
    there: _Scattered

    def _answers(self, calls: Sequence[TaskCall], shared: Any) -> Generator[tuple[int, Any]]:
        yield from self.cluster.rounds(self.there, calls, shared)


def _is_lost(held: Any) -> bool:
    """Whether no worker has the shared object any more; tasks that need it would wait for ever."""
    return held is not None and held.status in ("lost", "cancelled")


def _answer_on_worker(call: TaskCall, shared: Any) -> Any:
    with one_blas_thread():
        return call.answer(shared)
