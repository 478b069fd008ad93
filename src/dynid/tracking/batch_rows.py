"""The rows of a batch fit, instant by instant: the same records, and an end that equals the batch."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding
from dynid.estimators.recursive.instants import Instant, instants_of
from dynid.estimators.recursive.recursion import Recursion
from dynid.problem.problem import Problem
from dynid.tracking.live_records import header_of, record_of
from dynid.tracking.tracker import TrackOptions
from dynid.tracking.watch.definite import InertiaMonitor


class RowTracker:
    """Parameters over the rows of a problem: logs prepared as a fit prepares them.

    Args:
        problem: with its rows.
        joint_sigma: σ_j, as the batch weights its joints, (joints,).
        options: method, start, forgetting.
        instruments: per joint (rows, base), for "riv".
        whole: whether an instant counts only where every joint's row does, as P4 drops rows.
    """

    def __init__(
        self,
        problem: Problem,
        joint_sigma: FloatArray,
        options: TrackOptions,
        instruments: Sequence[FloatArray] | None = None,
        *,
        whole: bool = False,
    ) -> None:
        """Begin."""
        self.problem, self.options, self._instruments = problem, options, instruments
        self.whole, self._seen = whole, 0
        self.recursion: Recursion = options.start(problem.base, joint_sigma)
        self._inertia = InertiaMonitor(problem.base)
        self.time, self._ends = 0.0, 0.0
        self._last: Instant | None = None
        self._squares, self._counted = 0.0, 0
        self._predicted = np.full(len(joint_sigma), np.nan)

    def instants(self, done: int = 0) -> Iterator[Instant]:
        """All of them, one experiment behind the other in time.

        Args:
            done: instants at the beginning that were taken before.
        """
        everything = np.ones(len(self.problem.base), dtype=bool)
        for number, instant in enumerate(instants_of(self.problem, everything, self._instruments)):
            self._seen = number + 1
            if number >= done and (not self.whole or instant.used.all()):
                yield instant

    def take(self, instant: Instant) -> None:
        """Take in one instant."""
        if self._last is not None and instant.experiment != self._last.experiment:
            self._ends = self.time
        self.time, self._last = self._ends + instant.time, instant
        self._predicted = instant.W @ self.recursion.working_values
        weighted = (instant.y - self._predicted) * self.recursion.weights
        rows = int(instant.used.sum())
        self._squares += float(weighted @ weighted)
        self._counted += rows
        self.recursion.update(instant.W, instant.y, instant.Z, rows)

    @property
    def seen(self) -> int:
        """Instants that have been looked at: where a kept state goes on."""
        return self._seen

    def header(self) -> dict[str, Any]:
        """The first of the live records."""
        rates = [1.0 / experiment.step_s for experiment in self.problem.experiments]
        return header_of(self.problem.base, self.options.method, float(np.median(rates)), 0.0)

    def record(self, counts: Mapping[str, int]) -> dict[str, Any] | None:
        """The live record of this moment; None before the first instant."""
        if self._last is None:
            return None
        estimate = self.recursion.estimate()
        position = self._position()
        if position is not None:
            self._inertia.take(position, estimate.values)
        measured = np.where(self._last.used, self._last.y, np.nan)
        predicted = np.where(self._last.used, self._predicted, np.nan)
        innovation = self._squares / self._counted if self._counted else None
        self._squares, self._counted = 0.0, 0
        return record_of(self.time, estimate, measured, predicted, innovation, self._inertia.smallest, counts)

    def _position(self) -> FloatArray | None:
        """Where the robot is, from the motions where they were kept."""
        motions, last = self.problem.motions, self._last
        if motions is None or last is None:
            return None
        motion = motions[last.experiment]
        k = min(int(np.searchsorted(motion.time, last.time)), motion.samples - 1)
        position: FloatArray = np.asarray(motion.q[k : k + 1], dtype=float)[0]
        return position

    def state(self) -> dict[str, Any]:
        """All that was learnt."""
        numbers = np.array([self.time, self._ends, self._seen])
        return {"recursion": self.recursion.state(), "numbers": numbers}

    def findings(self) -> tuple[Finding, ...]:
        """None: ``dynid fit`` judges these rows."""
        return ()

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a kept state."""
        self.recursion.restore(state["recursion"])
        self.time, self._ends, seen = np.asarray(state["numbers"], dtype=float).tolist()
        self._seen = int(seen)
