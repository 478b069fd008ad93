"""Beside a running robot: sample → causal filter → row → recursion and watch → record."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, ShapeError, unknown_name
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.recursive.prior import ParameterPrior
from dynid.estimators.recursive.recursion import Recursion, RecursionOptions
from dynid.estimators.recursive.riv import InstrumentRecursion
from dynid.estimators.recursive.rls import LeastSquaresRecursion
from dynid.preparation.causal_plan import CausalPlan
from dynid.tracking.gate import SampleGate
from dynid.tracking.live_records import header_of, record_of
from dynid.tracking.noise import NoiseLearning
from dynid.tracking.sample import Arrival
from dynid.tracking.stream_rows import StreamRows
from dynid.tracking.watch import Watch, WatchedInstant, WatchEvent, WatchOptions
from dynid.tracking.watch.definite import InertiaMonitor
from dynid.validation.verdict import Thresholds

RLS, RIV = "rls", "riv"
METHODS: Mapping[str, Callable[..., Recursion]] = {RLS: LeastSquaresRecursion, RIV: InstrumentRecursion}
"""Recursions by the names of their methods."""


@dataclass(frozen=True, kw_only=True, eq=False)
class TrackOptions:
    """How a stream becomes parameters.

    Args:
        method: "rls", or "riv" with instruments from the commanded position (P4 §5.4).
        prior: where it starts; nothing is known when None.
        joint_sigma: σ_j of the torques [N m or N], (joints,); learnt from the first instants when None.
        recursion: forgetting, limits, σ.
        learn: rows per joint from which σ_j are learnt; three per base parameter, 40 at least, when None:
            two thirds are then left to tell errors from.
        condition: of the robot in which the stream is taken; "" when it has none.
        watch: thresholds of the watch; None for no watch.
    """

    method: str = RLS
    prior: ParameterPrior | None = None
    joint_sigma: FloatArray | None = None
    recursion: RecursionOptions = field(default_factory=RecursionOptions)
    learn: int | None = None
    condition: str = ""
    watch: WatchOptions | None = field(default_factory=WatchOptions)

    def __post_init__(self) -> None:
        """Refuse a method that there is not, and too few instants."""
        if self.method not in METHODS:
            raise unknown_name("method", self.method, METHODS)
        if self.learn is not None and self.learn < 20:
            raise DynidError(f"The noise shall be learnt from {self.learn} rows per joint; give at least 20.")

    def start(self, base: BaseMap, joint_sigma: FloatArray) -> Recursion:
        """The recursion before the first row."""
        return METHODS[self.method](base.names, joint_sigma, self.prior, self.recursion)


class Tracker:
    """Parameters that follow a robot, sample by sample.

    ``take`` is what a driver's callback calls.

    Args:
        base: base parameters of the robot.
        plan: causal filter, decimation and speed thresholds.
        options: method, start, watch.
    """

    def __init__(self, base: BaseMap, plan: CausalPlan, options: TrackOptions | None = None) -> None:
        """Compile and take the memory."""
        self.base, self.plan, self.options = base, plan, options or TrackOptions()
        robot, n = base.robot, base.robot.n_coordinates
        watched = self.options.watch is not None
        self._instruments = self.options.method == RIV
        self.rows = StreamRows(base, plan, self._instruments, watched, self.options.condition)
        self.recursion: Recursion | None = None
        self._learning: NoiseLearning | None = None
        self.gate = SampleGate(n)
        self.instants, self.moving, self.last_sample = 0, 0, float("-inf")
        self._error, self._size, self._told, self._scratch = np.zeros((4, n))
        self._row_s = 1.0 / plan.row_rate_hz
        # A hundred rows per second tell the size of the errors; more would only cost time.
        self._every = max(1, int(plan.row_rate_hz // 100))
        self._counted = 0
        self._predicted: FloatArray | None = None
        self.watch = None
        if self.options.watch is not None:
            self.watch = Watch(base, plan.row_rate_hz, self.options.watch)
        self._inertia = InertiaMonitor(base)
        if self.options.joint_sigma is not None:
            sigma = np.asarray(self.options.joint_sigma, dtype=float)
            if sigma.shape != (n,):
                raise ShapeError(f"{sigma.size} deviations of the torques were given for {n} coordinates.")
            self._begin(sigma)
        else:
            self._learning = NoiseLearning(
                n, len(base), self.options.learn or max(40, 3 * len(base)), robot.driven
            )

    def _begin(self, joint_sigma: FloatArray) -> None:
        self.recursion = self.options.start(self.base, joint_sigma)

    def take(self, arrival: Arrival) -> list[WatchEvent]:
        """Take in one sample.

        Args:
            arrival: in its place, with whether it begins a stretch or was made up.

        Returns:
            What the watch has to say, mostly nothing.
        """
        sample = arrival.sample
        if not self.gate.takes(sample):
            return []
        if arrival.anew:
            self.rows.restart()
        self.last_sample = sample.time
        events: list[WatchEvent] = []
        ready = self.rows.push(sample, arrival.clock)
        while ready:
            self.instants += 1
            self.moving += self.rows.number > 0
            if self._learning is not None:
                self._learn()
            else:
                events += self._update()
            ready = self.rows.advance()
        return events

    @property
    def time(self) -> float:
        """Stamp of the last row [s]."""
        return self.rows.time

    def _learn(self) -> None:
        assert self._learning is not None
        rows = self.rows
        if rows.number:
            self._learning.take(rows.W, rows.y, rows.used, rows.Z)
        if self._learning.full:
            self.end_learning()

    def end_learning(self) -> None:
        """σ_j from what there is, and the recursion over it."""
        learnt, self._learning = self._learning, None
        if learnt is None:
            return
        self._begin(learnt.sigma())
        assert self.recursion is not None
        for k in range(learnt.count):
            Z = learnt.Z[k] if self._instruments else None
            self.recursion.update(learnt.W[k], learnt.y[k], Z, int(learnt.used[k].sum()))

    def _update(self) -> list[WatchEvent]:
        recursion, rows = self.recursion, self.rows
        assert recursion is not None
        self._predicted = None
        if not rows.number:
            return []
        before, events = recursion.updates, list[WatchEvent]()
        if self.watch is None:
            recursion.update(rows.W, rows.y, rows.Z, rows.number, checked=True)
        else:
            events = self._through_watch(self.watch, recursion)
        if recursion.updates == before + 1 and not self._is_loaded:
            self._predicted = recursion.predicted
        else:  # the watch keeps the recursion waiting, or has taken a payload's torque off
            self._predicted = rows.W @ recursion.working_values
            if self.watch is not None:
                self._predicted += rows.X @ self.watch.load
        if self.instants % self._every:
            return events
        self._counted += rows.number
        error = np.subtract(rows.y, self._predicted, out=self._scratch)
        self._error += np.multiply(error, error, out=error)
        self._size += np.multiply(rows.y, rows.y, out=self._scratch)
        return events

    @property
    def refusals(self) -> int:
        """Samples and rows that could not be used."""
        return self.gate.refused + self.rows.refused

    def torque_errors(self) -> FloatArray:
        """What predictions have missed of the torques since the noise was learnt, per joint [%]."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.asarray(100.0 * np.sqrt(self._error / self._size), dtype=float)

    def findings(self) -> tuple[Finding, ...]:
        """Why the last values may not be trusted."""
        found = list[Finding]()
        if self.recursion is None:
            return ()
        lost = [
            name for name, out in zip(self.base.names, self.recursion.lost_parameters(), strict=True) if out
        ]
        if lost:
            shown = ", ".join(lost[:8]) + (f" and {len(lost) - 8} more" if len(lost) > 8 else "")
            said = f"The motion has not shown {shown}: they have no value."
            found.append(
                Finding(Name.RANK_DEFICIENT, Level.CARE, said, "Let the robot move more, or give a prior.")
            )
        whole = float(100.0 * np.sqrt(self._error.sum() / self._size.sum())) if self._size.sum() > 0 else 0.0
        if whole > Thresholds().overall_percent:
            said = f"Predictions missed {whole:.0f} % of the torques over all joints and the whole run."
            remedy = (
                "Look at units, signs and zeros with dynid check on a log of the stream, at changes that the "
                "watch names, and at what the model lacks with dynid suspects."
            )
            figures = {"percent": whole, "per_joint": self.torque_errors().tolist()}
            found.append(Finding(Name.TORQUE_ERROR, Level.CARE, said, remedy, figures=figures))
        if self.refusals:
            said = f"{self.refusals} samples or rows were no possible motion or torque and were left out."
            found.append(Finding(Name.GARBAGE_VALUES, Level.NOTE, said, figures={"count": self.refusals}))
        return tuple(found)

    @property
    def _is_loaded(self) -> bool:
        return self.watch is not None and self.watch.loaded

    def _through_watch(self, watch: Watch, recursion: Recursion) -> list[WatchEvent]:
        """The row through the watch, whose clock counts motion: no rest, no gaps, no clock that is set."""
        rows, now = self.rows, self.moving * self._row_s
        own = rows.filter
        at = WatchedInstant(now, own.q, rows.speed, rows.W, rows.y, rows.X, rows.Z, rows.used)
        return [
            replace(event, time=rows.time - (now - event.time), onset=rows.time - (now - event.onset))
            for event in watch.update(recursion, at)
        ]

    def header(self) -> dict[str, Any]:
        """The first of the live records."""
        plan = self.plan.to_dict()
        return header_of(self.base, self.options.method, self.plan.rate_hz, self.rows.delay_s, plan)

    def record(self, counts: Mapping[str, int]) -> dict[str, Any] | None:
        """The live record of this moment; None before the first values.

        Args:
            counts: of the feed.
        """
        if self.recursion is None:
            return None
        estimate = self.recursion.estimate()
        squares = float((self._error - self._told) @ self.recursion.weights**2)
        innovation = squares / self._counted if self._counted else None
        self._told[:], self._counted = self._error, 0
        if self.instants:
            self._inertia.take(self.rows.filter.q, estimate.values)
        return record_of(
            self.time,
            estimate,
            self._of_moving(self.rows.y),
            self._of_moving(self._predicted),
            innovation,
            self._inertia.smallest,
            counts,
        )

    def _of_moving(self, torques: FloatArray | None) -> FloatArray:
        """Torques of the joints whose rows count; nothing is predicted of the others."""
        used = self.rows.used > 0
        return np.full(len(used), np.nan) if torques is None else np.where(used, torques, np.nan)

    def state(self) -> dict[str, Any]:
        """All that was learnt, ready to be kept: nested by part."""
        numbers = np.array([self.instants, self.moving, self.last_sample, self.time], dtype=float)
        plan = json.dumps(self.plan.to_dict())
        found: dict[str, Any] = {"plan": plan, "numbers": numbers, "rows": self.rows.state()}
        if self.recursion is not None:
            found["recursion"] = self.recursion.state()
        if self._learning is not None:
            own = self._learning
            found["learning"] = {name: getattr(own, name)[: own.count] for name in ("W", "Z", "y", "used")}
        if self.watch is not None:
            found["watch"] = self.watch.state()
        return found

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a kept state, with the very next sample; behind a gap the filters begin anew."""
        instants, moving, self.last_sample, self.rows.time = np.asarray(state["numbers"]).tolist()
        self.instants, self.moving = int(instants), int(moving)
        self.rows.restore(state["rows"])
        if "recursion" in state:
            self._learning = None
            self._begin(np.asarray(state["recursion"]["joint_sigma"]))
            assert self.recursion is not None
            self.recursion.restore(state["recursion"])
        elif self._learning is not None and "learning" in state:
            kept = state["learning"]
            for k in range(len(kept["y"])):
                self._learning.take(kept["W"][k], kept["y"][k], kept["used"][k], kept["Z"][k])
        if self.watch is not None and "watch" in state:
            self.watch.restore(state["watch"])
