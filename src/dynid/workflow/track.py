"""Parameters that follow a robot: a stream, or logs, through a tracker to whoever reads the records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any, Protocol

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, FileError, NotTrustworthyError
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.closed_loop.instruments import TwoStage, instrument_rows
from dynid.estimators.fit import Fit
from dynid.estimators.linear.least_squares import WLS
from dynid.estimators.recursive.prior import ParameterPrior
from dynid.estimators.recursive.recursion import Recursion
from dynid.estimators.recursive.strategies import RIV
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.problem.build import build_problem
from dynid.problem.closed_loop import at_motions, reference_motions
from dynid.problem.problem import Problem
from dynid.results.result import SavedResult
from dynid.simulation.controller import Controller
from dynid.tracking.batch_rows import RowTracker
from dynid.tracking.kept_state import KeptState
from dynid.tracking.live_records import end_of, event_of
from dynid.tracking.sample import Arrival
from dynid.tracking.tracker import Tracker, TrackOptions
from dynid.tracking.watch import WatchEvent
from dynid.workflow.fitting import preparation_of
from dynid.workflow.motion_source import MeasuredMotion
from dynid.workflow.simulated_motion import SimulatedMotion
from dynid.workflow.usable_log import logs_to_fit

Counts = Callable[[], Mapping[str, int]]


class Follower(Protocol):
    """What takes items one by one and can say how it stands."""

    @property
    def time(self) -> float:
        """Stamp of the last row [s]."""

    @property
    def recursion(self) -> Recursion | None:
        """The recursion; None while the noise is learnt."""

    def header(self) -> dict[str, Any]:
        """The first record."""

    def record(self, counts: Mapping[str, int]) -> dict[str, Any] | None:
        """The record of this moment."""

    def state(self) -> dict[str, Any]:
        """All that was learnt."""

    def findings(self) -> Sequence[Finding]:
        """Why the last values may not be trusted."""


class RecordSink(Protocol):
    """Somebody who reads records: a file, a terminal, a page."""

    def write(self, record: Mapping[str, Any]) -> bool:
        """Take a record; False when nobody reads any more."""


@dataclass(frozen=True, kw_only=True, eq=False)
class Following:
    """How a run is followed.

    Args:
        sinks: where records go.
        every_s: time between two records, by the samples' stamps [s].
        kept: where the state is kept; nowhere when None.
        counts: of the feed.
        findings: what the feed has to say at the end.
    """

    sinks: Sequence[RecordSink]
    every_s: float = 0.1
    kept: KeptState | None = None
    counts: Counts = field(default=lambda: {})
    findings: Callable[[], Sequence[Finding]] = tuple

    def write(self, record: Mapping[str, Any]) -> bool:
        """Whether everybody still reads; a reader of standard output who has left has had enough."""
        read = [sink.write(record) for sink in self.sinks]  # all of them, before any is asked
        return all(read)

    def run(
        self,
        follower: Follower,
        items: Iterable[Any],
        take: Callable[[Any], Sequence[WatchEvent] | None],
        finish: Callable[[], dict[str, Any]] = dict,
    ) -> dict[str, Any]:
        """Take all items; an interruption from the keyboard ends the run in order.

        Args:
            follower: tracker of samples or of rows.
            items: in the order of time.
            take: one item; gives what the watch says.
            finish: called at the end; further figures of the end record.

        Returns:
            The end record.
        """
        reading, outcome, shown = self.write(follower.header()), "", np.nan
        try:
            for item in items:
                for event in take(item) or ():
                    self.write(event_of(event.time, event.finding))
                if self._is_due(follower, shown):
                    reading, shown = self._record(follower), follower.time
                if self.kept is not None and self.kept.due:
                    self._keep(self.kept, follower)
                if not reading:
                    outcome = "Nobody read the records any more."
                    break
        except KeyboardInterrupt:
            outcome = "Interrupted."
        try:
            figures = finish()
        except NotTrustworthyError as error:
            self._end(follower, str(error), {})
            raise
        if np.isfinite(follower.time) and follower.time != shown:
            self._record(follower)
        end = self._end(follower, outcome, figures)
        if self.kept is not None:
            self.kept.save(follower.state())
        return end

    def _keep(self, kept: KeptState, follower: Follower) -> None:
        """Save, or say that it could not be done and try again later: a full disk does not end a run."""
        try:
            kept.save(follower.state())
        except FileError as error:
            kept.wait()
            finding = Finding(Name.STATE_NOT_KEPT, Level.CARE, str(error), "It will be tried again.")
            self.write(event_of(follower.time if np.isfinite(follower.time) else None, finding))

    def _is_due(self, follower: Follower, shown: float) -> bool:
        """Whether a record is: also the first one, and one behind a clock that was set back."""
        if follower.recursion is None or not np.isfinite(follower.time):
            return False
        return not 0 <= follower.time - shown < self.every_s

    def _record(self, follower: Follower) -> bool:
        record = follower.record(self.counts())
        return True if record is None else self.write(record)

    def _end(self, follower: Follower, outcome: str, figures: dict[str, Any]) -> dict[str, Any]:
        time = follower.time if np.isfinite(follower.time) else None
        for finding in (*self.findings(), *follower.findings()):
            if finding.level > Level.NOTE:
                self.write(event_of(time, finding))
        recursion = follower.recursion
        rows = 0 if recursion is None else recursion.rows
        said = f"{outcome} {rows} rows were used." if outcome else f"The source ended after {rows} rows."
        end = end_of(time, said, self.counts(), used=rows, **figures)
        self.write(end)
        return end


def follow_samples(tracker: Tracker, arrivals: Iterator[Arrival], following: Following) -> dict[str, Any]:
    """Follow a stream until it ends.

    Args:
        tracker: robot, filters, recursion.
        arrivals: samples in their place.
        following: where records go.

    Returns:
        The end record; ``tracker.recursion`` has the estimate.
    """

    def finish() -> dict[str, Any]:
        tracker.end_learning()
        return {}

    return following.run(tracker, arrivals, tracker.take, finish)


@dataclass(frozen=True, eq=False)
class BatchRows:
    """The rows of a fit, and what the batch finds from them.

    Args:
        problem: with its rows.
        fit: of the batch: values, weights of the joints, σ.
        instruments: per joint (rows, base), for "riv".
    """

    problem: Problem
    fit: Fit
    instruments: tuple[FloatArray, ...] | None = None

    @classmethod
    def of_logs(
        cls,
        robot: Robot,
        logs: Sequence[Log],
        plan: Preparation | None = None,
        overrides: Mapping[str, Any] = MappingProxyType({}),
        *,
        repair: bool = False,
        controller: Controller | None = None,
    ) -> BatchRows:
        """Rows as ``fit`` makes them: of weighted least squares, or, with a controller, of IV by references.

        Args:
            robot: the robot.
            logs: motor or joint side.
            plan: preparation; suggested when None.
            overrides: keys of the suggested preparation to replace.
            repair: whether repairable defects are repaired.
            controller: the law, for the sample time of its references; None for least squares.
        """
        used = logs_to_fit(robot, logs, [None] * len(logs), repair=repair)
        if controller is None:
            chosen, _ = preparation_of(robot, MeasuredMotion(), used, WLS(), plan, overrides)
            problem = build_problem(robot, [prepare(one.log, chosen) for one in used], chosen)
            return cls(problem, WLS().fit(problem))
        source = SimulatedMotion(controller, measured=True)
        chosen, _ = preparation_of(robot, source, used, RIV(), plan, overrides)
        measured = at_motions(source.problem(robot, used, chosen), "RIV")
        linear = measured.linear([e.motion for e in measured.experiments if e.motion is not None])
        rows = instrument_rows(linear, measured.linear(reference_motions(measured), masked=False))
        return cls(linear, TwoStage(sets=(rows,)).fit(linear), rows)

    def tracker(self, options: TrackOptions, *, whole: bool = False) -> RowTracker:
        """A recursion over the rows, with the weights of the batch where none are given.

        Args:
            options: method, start, forgetting.
            whole: whether an instant counts only where every joint's row does.
        """
        sigma = 1.0 / self.fit.weights if options.joint_sigma is None else options.joint_sigma
        return RowTracker(self.problem, sigma, options, self.instruments, whole=whole)

    def difference(self, tracker: RowTracker) -> float:
        """Largest distance of a value from the batch's, in classical σ of the batch."""
        sigma = np.sqrt(np.maximum(np.diag(self.fit.covariance), 0.0))
        apart = np.abs(tracker.recursion.values - self.fit.values)
        return float(np.max(apart / np.where(sigma > 0, sigma, np.inf)))


def follow_rows(rows: BatchRows, tracker: RowTracker, following: Following, done: int = 0) -> dict[str, Any]:
    """Follow the rows of a batch fit, and say how far the end is from the batch.

    Args:
        rows: of the fit.
        tracker: of these rows.
        following: where records go.
        done: instants taken before an interruption.

    Returns:
        The end record; its ``batch_difference`` is in σ of the batch.
    """

    def finish() -> dict[str, Any]:
        return {} if tracker.whole else {"batch_difference": rows.difference(tracker)}

    return following.run(tracker, tracker.instants(done), tracker.take, finish)


def prior_of_result(saved: SavedResult, base: BaseMap, widen: float = 1.0) -> ParameterPrior:
    """A start from an earlier fit: its values and σ.

    Args:
        saved: of the same robot.
        base: base parameters of the run.
        widen: factor on σ; above 1 where the robot may have changed since.
    """
    if saved.base != base:
        raise DynidError(f"The result in {saved.folder} is of another robot or other base parameters.")
    sigma = np.sqrt(np.maximum(np.diag(saved.covariance), 0.0)) * widen
    return ParameterPrior(saved.values, np.where(sigma > 0, sigma, np.inf))
