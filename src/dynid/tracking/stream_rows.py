"""Samples to regression rows: causal filter, regressor, and the low-pass of torques and columns alike."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.compile.one_sample import OneSample
from dynid.compile.trace import describe
from dynid.model.payload import attach_payload
from dynid.model.robot import Robot
from dynid.preparation.causal import CausalFilter
from dynid.preparation.causal_plan import CausalPlan
from dynid.preparation.causal_rows import CausalRows
from dynid.preparation.preparation import MEASURED
from dynid.tracking.sample import Sample


class StreamRows:
    """Rows of a stream: filtered instants, their regressor, and the low-pass of torques and columns alike.

    Columns of a payload on the last link go through the same low-pass where somebody watches for one.

    Args:
        base: base parameters of the robot.
        plan: filters and speed thresholds.
        instruments: whether the reference gives some.
        watched: whether columns of a payload are wanted.
        condition: of the robot; parameters that do not live in it have no column.
    """

    def __init__(
        self, base: BaseMap, plan: CausalPlan, instruments: bool, watched: bool, condition: str
    ) -> None:
        """Compile the regressor."""
        robot, n, p = base.robot, base.robot.n_coordinates, len(base)
        loaded, columns = _with_payload(base) if watched else (robot, base.columns)
        channels = ["velocity"] if plan.velocity == MEASURED else []
        self.filter = CausalFilter(plan, n, [*channels, "reference"] if instruments else channels)
        regressor = describe(loaded, "regressor", columns)
        self._regressor = OneSample(regressor)
        self._commanded = OneSample(regressor) if instruments else None
        self._width = len(columns)
        self._rows = CausalRows(plan, n, len(columns), instruments=instruments)
        living = (
            np.array(robot.lives_in(condition)) if robot.conditions else np.ones(len(robot.table), dtype=bool)
        )
        self._absent = np.flatnonzero(~living[list(base.columns)])
        self.W, self.X = self._rows.W[:, :p], self._rows.W[:, p:]
        self.Z = None if self._rows.Z is None else self._rows.Z[:, :p]
        self.y, self.speed = self._rows.y, self._rows.speed
        self.used, self.number, self.time = np.ones(n), n, float("-inf")
        self._masked = bool(plan.speed_thresholds)
        self._measured_stamps = plan.stamps == MEASURED
        # The gate lets numbers through only; of loops that do not close it knows nothing.
        self._may_fail = robot.closure is not None
        self.delay_s, self.refused = plan.row_delay_s, 0

    def restart(self) -> None:
        """Begin a new stretch."""
        self.filter.restart()
        self._rows.restart()

    def push(self, sample: Sample, clock: float | None = None) -> bool:
        """Take one sample; whether rows are ready, in ``W``, ``y``, ``Z``, ``X`` and ``used``.

        After missing or uneven samples more may be ready at once: ask ``advance`` until it says no.

        Args:
            sample: in its place.
            clock: its stamp without the jitter of the sender, for filters that take samples as even.
        """
        time = sample.time if clock is None or self._measured_stamps else clock
        restarts = self.filter.restarts
        due = self.filter.push(time, sample.q, sample.tau, sample.qd, sample.reference)
        if self.filter.restarts != restarts:
            self._rows.restart()
        return self._next(due)

    def advance(self) -> bool:
        """Whether further rows of the last sample are ready."""
        return self._next(self.filter.advance())

    def _next(self, due: bool) -> bool:
        """Take instants until rows are ready."""
        while due:
            if self._take_instant():
                return True
            due = self.filter.advance()
        return False

    def _take_instant(self) -> bool:
        own, given, Z = self.filter, self._regressor.inputs, None
        given["q"][:], given["qd"][:], given["qdd"][:] = own.q, own.qd, own.qdd
        W = self._regressor()["W"].reshape(-1, self._width)
        if self._commanded is not None:
            there = self._commanded.inputs
            there["q"][:], there["qd"][:], there["qdd"][:] = (
                own.reference_q,
                own.reference_qd,
                own.reference_qdd,
            )
            Z = self._commanded()["W"].reshape(-1, self._width)
        if not self._rows.push(W, own.tau, own.qd, Z):
            return False
        self.time = own.time - self._rows.delay_s
        self._mask()
        return True

    def _mask(self) -> None:
        """Rows of slow joints, and columns that do not live here, are zero."""
        if self._masked or self.refused:
            self.used[:] = self._rows.moving
            self.number = int(np.count_nonzero(self._rows.moving))
        whole = self._rows.W
        if self._may_fail and not math.isfinite(float(np.vdot(whole, whole)) + float(self.y @ self.y)):
            self._refuse()
        elif self.number < len(self.used):
            self._rows.W[...] *= self.used[:, None]
            self.y[...] *= self.used
            if self.Z is not None:
                self.Z[...] *= self.used[:, None]
        if self._absent.size:
            self.W[:, self._absent] = 0.0

    def _refuse(self) -> None:
        """No row counts: a loop that does not close, or a glitch, gives what is no number."""
        self.refused += 1
        self.number = 0
        for array in (self.used, self._rows.W, self.y):
            array[...] = 0.0

    def state(self) -> dict[str, Any]:
        """What the filters hold."""
        return {"filter": self.filter.state(), "rows": self._rows.state()}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where others of the same plan were."""
        self.filter.restore(state["filter"])
        self._rows.restore(state["rows"])


def _with_payload(base: BaseMap) -> tuple[Robot, tuple[int, ...]]:
    """The robot with a payload on its last link, and the columns of its base and of the payload there."""
    loaded = attach_payload(base.robot)
    names, last = base.robot.table.names, len(loaded.joints) - 1
    own = [i for i, e in enumerate(loaded.table) if e.joint == last and e.family == "inertial"]
    return loaded, (*(loaded.table.index(names[c]) for c in base.columns), *own)
