"""Samples from a socket: a thread receives, a bounded queue holds, the reader takes."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from threading import Condition, Event, Thread

from dynid.core.errors import DynidError
from dynid.core.finding import Finding, Name
from dynid.logs.log import Step
from dynid.logs.mapping import LogMapping
from dynid.model.robot import Robot
from dynid.tracking.message import JsonReader
from dynid.tracking.refusals import Refusal, share_finding
from dynid.tracking.sample import Sample
from dynid.tracking.sources.source import SampleSource


@dataclass(frozen=True)
class SocketLimits:
    """What a socket may cost. Chosen by hand for streams of up to some kHz.

    Args:
        message_bytes: longest message; a joint state of a thousand joints fits.
        connection_bytes: message that ends a ZeroMQ connection: memory that a sender can have taken at once,
            against robbers of it; a message between both limits is only refused.
        queue: messages that wait for the estimator, at most: one second at 1 kHz. When more come, the oldest
            are dropped and counted, so that estimates stay near the robot. It also bounds memory.
        timeout_s: silence after which the stream has ended [s]; None to wait for ever.
        patience: messages of which one at least must be understood.
    """

    message_bytes: int = 65_536
    connection_bytes: int = 16_000_000
    queue: int = 1000
    timeout_s: float | None = None
    patience: int = 100

    def __post_init__(self) -> None:
        """Refuse limits that let nothing through."""
        for name in ("message_bytes", "queue", "patience"):
            if not getattr(self, name) >= 1:
                raise DynidError(f"{name} is {getattr(self, name)}; it must be at least 1.")
        if self.timeout_s is not None and not self.timeout_s > 0:
            raise DynidError(
                f"timeout_s is {self.timeout_s}; give seconds above 0, or none to wait for ever."
            )


class Mailbox:
    """A queue between the thread that receives and the one that reads; the oldest message is dropped.

    Args:
        size: messages that wait, at most.
    """

    def __init__(self, size: int) -> None:
        """Begin empty."""
        self.dropped = 0
        self._waiting: deque[bytes | Refusal] = deque(maxlen=size)
        self._condition = Condition()
        self._closed = False

    def put(self, message: bytes | Refusal) -> None:
        """Add a message, or why one was refused."""
        with self._condition:
            self.dropped += len(self._waiting) == self._waiting.maxlen
            self._waiting.append(message)
            self._condition.notify()

    def close(self) -> None:
        """Let the reader go when it has read what is left."""
        with self._condition:
            self._closed = True
            self._condition.notify()

    def take(self, timeout_s: float | None) -> bytes | Refusal | None:
        """The oldest message; None when the box was closed, or nothing came in time."""
        end = None if timeout_s is None else time.monotonic() + timeout_s
        with self._condition:
            while not self._waiting and not self._closed:
                # In slices, so that an interrupt from the keyboard gets through on every system.
                left = 1.0 if end is None else min(end - time.monotonic(), 1.0)
                if left <= 0:
                    return None
                self._condition.wait(left)
            return self._waiting.popleft() if self._waiting else None


class SocketSource(SampleSource):
    """Samples from JSON messages of a socket, which is open from the start.

    Args:
        name: of the stream, for sentences.
        robot: which the samples are for.
        mapping: what keys mean, as for a log; None to go by common names.
        limits: what the socket may cost.
    """

    def __init__(self, name: str, robot: Robot, mapping: LogMapping | None, limits: SocketLimits) -> None:
        """Begin to receive; members open their socket before."""
        self.name, self.limits = name, limits
        self._reader = JsonReader(robot, mapping, name=name, patience=limits.patience)
        self._box = Mailbox(limits.queue)
        self._received, self._stopped = 0, Event()
        self._error: Exception | None = None
        self._thread = Thread(target=self._collect, name=f"dynid {name}", daemon=True)
        self._thread.start()

    def __iter__(self) -> Iterator[Sample]:
        """Samples until the source is closed, or nothing came for the time that its limits say."""
        while (message := self._box.take(self.limits.timeout_s)) is not None:
            if isinstance(message, Refusal):
                self._reader.refusals.add(message)
            else:
                yield from self._reader.read(message)
        if self._error is not None:
            raise DynidError(f"{self.name} ended with an error: {self._error}.")
        yield from self._reader.finish()

    @property
    def counts(self) -> dict[str, int]:
        """Messages received, refused, lost on the way by their numbers, and dropped from a full queue."""
        refused = self._reader.refusals.total
        lost = max(self._reader.lost - self._box.dropped, 0)  # what was dropped here did arrive
        return {"received": self._received, "refused": refused, "lost": lost, "dropped": self._box.dropped}

    @property
    def refused_by_reason(self) -> dict[str, int]:
        """Refused messages by reason."""
        return dict(self._reader.refusals.by_reason)

    @property
    def steps(self) -> tuple[Step, ...]:
        """What was understood of the keys."""
        return self._reader.steps

    def findings(self) -> tuple[Finding, ...]:
        """What was noticed until now."""
        counts = self.counts
        found = list(self._reader.refusals.findings())
        if counts["dropped"]:
            sentence = f"messages of {self.name} were dropped, the oldest first, because reading fell behind."
            remedy = "Send fewer, or give the estimator more of the processor."
            found.append(
                share_finding(Name.MESSAGES_LEFT_OUT, counts["dropped"], counts["received"], sentence, remedy)
            )
        if counts["lost"]:
            sentence = f"messages of {self.name} were lost on the way, by the numbers in them."
            found.append(
                share_finding(
                    Name.LOST_SAMPLES, counts["lost"], counts["lost"] + counts["received"], sentence
                )
            )
        return tuple(found)

    def close(self) -> None:
        """Stop receiving and close the socket; what has arrived can still be read."""
        self._stopped.set()
        self._thread.join()

    def _collect(self) -> None:
        """Receive until the source is closed."""
        try:
            while not self._stopped.is_set():
                message = self._receive()
                if message is not None:
                    self._received += 1
                    self._box.put(message)
        except Exception as error:  # a reader that waits must hear of whatever ended its stream
            self._error = error
        finally:
            self._hang_up()
            self._box.close()

    @abstractmethod
    def _receive(self) -> bytes | Refusal | None:
        """The next message, why it is refused, or None when none came for a moment."""

    @abstractmethod
    def _hang_up(self) -> None:
        """Close the socket."""
