"""Samples from a log: as fast as they can be used, or in the time in which they were taken."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import numpy as np

from dynid.core.errors import DynidError
from dynid.core.finding import Finding
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log, Step
from dynid.model.robot import Robot
from dynid.tracking.refusals import Refusal, Refusals
from dynid.tracking.row_meaning import CHANNELS, SANE
from dynid.tracking.sample import Sample
from dynid.tracking.sources.source import SampleSource


class Replay(SampleSource):
    """Samples of a log, in the order of its rows; rows with values or stamps that are lost are refused.

    Args:
        log: as ``read_log`` gives it, in memory or on disk; repaired beforehand where it needs to be.
        robot: which the samples are for.
        speed: 1 for the time in which they were taken, 2 for half of it; None for as fast as they are used.
        block: rows read at once: 8192 of seven axes with four channels are 2 MB.
        clock: seconds that pass, and
        sleep: how to let some of them pass; other ones for tests.
    """

    def __init__(
        self,
        log: Log,
        robot: Robot,
        speed: float | None = None,
        *,
        block: int = 8192,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        """Bring the log to the joint side."""
        if speed is not None and not 0 < speed < float("inf"):
            raise DynidError(f"speed is {speed}; give a factor above 0, or none for as fast as possible.")
        self.log, self.name, self.speed, self._block = to_joint_side(log, robot), log.name, speed, block
        for channel in CHANNELS[:2]:
            self.log.channel(channel)
        # Rows that a repair made up stay in: filters need them, and Feed cannot tell them.
        self._refusals = Refusals(f"log {log.name!r}", patience=len(log.time) + 1)
        self._clock, self._sleep = clock, sleep

    def __iter__(self) -> Iterator[Sample]:
        """Samples from the first row to the last."""
        start, first = self._clock(), float("nan")
        for stamp, row in self._rows():
            if self.speed is not None:
                first = stamp if np.isnan(first) else first
                wait = start + (stamp - first) / self.speed - self._clock()
                if wait > 0:
                    self._sleep(wait)
            self._refusals.accepted += 1
            yield row

    @property
    def counts(self) -> dict[str, int]:
        """Rows read and refused."""
        refused = self._refusals.total
        return {"received": refused + self._refusals.accepted, "refused": refused}

    @property
    def refused_by_reason(self) -> dict[str, int]:
        """Refused rows by reason."""
        return dict(self._refusals.by_reason)

    @property
    def steps(self) -> tuple[Step, ...]:
        """History of the log."""
        return self.log.history

    def findings(self) -> tuple[Finding, ...]:
        """What was noticed until now."""
        return self._refusals.findings()

    def _rows(self) -> Iterator[tuple[float, Sample]]:
        """Good rows with their stamps, block by block."""
        present = [channel for channel in CHANNELS if channel in self.log.channels]
        for begin in range(0, len(self.log.time), self._block):
            rows = slice(begin, begin + self._block)
            stamps = self.log.time[rows]
            values = {channel: np.asarray(self.log.channels[channel][rows]) for channel in present}
            timed = np.isfinite(stamps)
            good = timed & np.all([(np.abs(x) < SANE.largest).all(axis=1) for x in values.values()], axis=0)
            if not good.all():
                self._refuse(Refusal.STAMP, int(np.count_nonzero(~timed)))
                self._refuse(Refusal.NOT_FINITE, int(np.count_nonzero(timed & ~good)))
                stamps, values = stamps[good], {channel: x[good] for channel, x in values.items()}
            others = [values.get(channel, [None] * len(stamps)) for channel in CHANNELS[2:]]
            parts = zip(stamps.tolist(), values["position"], values["torque"], *others, strict=True)
            for stamp, q, tau, qd, reference in parts:
                yield stamp, Sample(stamp, q, tau, qd, reference)

    def _refuse(self, reason: Refusal, count: int) -> None:
        if count:
            self._refusals.add(reason, count=count)
