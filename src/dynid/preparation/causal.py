"""Samples one by one into filtered instants with a delay that is known exactly, without allocation."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dynid.core.arrays import BoolArray, FloatArray
from dynid.core.errors import DynidError, ShapeError, unknown_name
from dynid.logs.log import Log, Step
from dynid.logs.resample import grid
from dynid.preparation.causal_plan import CausalPlan
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import MEASURED
from dynid.preparation.prepared_motion import refuse_unprepared

EXTRA_CHANNELS = ("velocity", "reference")
"""What a sample may hold beside position and torque."""


class CausalFilter:
    """A filter of one stream: the newest L samples lie in one piece of memory, (3, L) kernels times (L, n).

    An instant is ready when ``push`` or ``advance`` says so. It is then in the arrays below, which the next
    one overwrites, and belongs to ``time``, ``delay_s`` before the newest sample.

    Args:
        plan: the filters.
        axes: n.
        channels: which of "velocity" and "reference" the samples hold.
        room: samples that are written before the newest are moved to the front, for some µs.

    Attributes:
        time: stamp of the instant [s].
        q: positions (n,) [rad or m].
        qd: speeds (n,).
        qdd: accelerations (n,).
        tau: torques (n,) [N m or N].
        reference_q: commanded positions (n,), and ``reference_qd``, ``reference_qdd``, through the same
            kernels; None without the channel.
        delay_s: seconds from an instant to the newest sample it is made of.
        warm_up: samples before the first instant.
        restarts: stretches that a gap has ended.
        ignored: samples that came at or before the one before them.
    """

    _rounding = 1e-9  # share of a step by which a stamp may lie before its grid

    def __init__(self, plan: CausalPlan, axes: int, channels: Collection[str] = (), room: int = 1024) -> None:
        """Take all memory that is ever needed."""
        for channel in channels:
            if channel not in EXTRA_CHANNELS:
                raise unknown_name("channel", channel, EXTRA_CHANNELS)
        if plan.velocity == MEASURED and "velocity" not in channels:
            raise DynidError(
                'velocity = "measured" was asked for, but the samples hold no speeds; give the channel '
                '"velocity", or velocity = "differentiated".'
            )
        self.plan, self.axes, n = plan, axes, axes
        self.delay_s = plan.delay_s
        self.warm_up = len(plan.torque_kernel)
        self._measured_speed = plan.velocity == MEASURED
        self._referenced = "reference" in channels
        width = n * (1 + self._measured_speed + self._referenced)
        size = self.warm_up + max(self.warm_up, room)
        self._states, self._torques = np.zeros((size, width)), np.zeros((size, n))
        self._position = self._states[:, :n]
        self._speed = self._states[:, n : 2 * n]
        self._reference = self._states[:, width - n :]
        self._kernels, self._made = plan.kernels.as_rows(), np.zeros((3, width))
        self._torque_span, self._torque_kernel = _without_zeros(plan.torque_kernel)
        self._before, self._torque_before = np.zeros(width), np.zeros(n)
        self._newest, self._newest_torque = np.zeros(width), np.zeros(n)
        made = self._made
        self.time = float("nan")
        self.q, self.tau = made[0, :n], np.zeros(n)
        if self._measured_speed:
            self.qd, self.qdd = made[0, n : 2 * n], made[1, n : 2 * n]
        else:
            self.qd, self.qdd = made[1, :n], made[2, :n]
        commanded: tuple[FloatArray | None, ...] = (None, None, None)
        if self._referenced:
            commanded = tuple(made[:, width - n :])
        self.reference_q, self.reference_qd, self.reference_qdd = commanded
        self.restarts = self.ignored = 0
        self._rate, self._even = plan.rate_hz, plan.stamps != MEASURED
        self.restart()

    def restart(self) -> None:
        """Begin a new stretch: what came before is forgotten, and the filter warms up anew."""
        self._end = self._count = 0
        self._due = self.warm_up
        self._open, self._steps = 0, 1
        self._last = self._start = self._now = float("nan")

    def push(
        self,
        time: float,
        q: FloatArray,
        tau: FloatArray,
        qd: FloatArray | None = None,
        reference: FloatArray | None = None,
    ) -> bool:
        """Take one sample; whether an instant is ready.

        A few missing samples are interpolated, more of them begin a new stretch, and a sample that is not
        later than the last is ignored.

        Args:
            time: its stamp [s].
            q: positions (n,).
            tau: torques (n,).
            qd: speeds (n,), where the plan takes measured ones.
            reference: commanded positions (n,), where the filter was made with that channel.
        """
        if self._referenced and reference is None:
            raise DynidError("A sample has no reference, and the filter was made with one; give it.")
        if self._measured_speed and qd is None:
            raise DynidError("A sample has no speed, and the plan takes measured ones; give it.")
        while self._open:
            self.advance()
        steps = (time - self._last) * self._rate
        if self._even and 0.5 <= steps < 1.5:  # false for the first sample, whose steps are not a number
            self._last = time
            at = self._next_place()
            self._position[at] = q
            self._torques[at] = tau
            if self._measured_speed:
                self._speed[at] = qd
            if self._referenced:
                self._reference[at] = reference
            return self._is_due(time)
        n = self.axes
        self._newest[:n], self._newest_torque[:] = q, tau
        if self._measured_speed:
            self._newest[n : 2 * n] = qd
        if self._referenced:
            self._newest[-n:] = reference
        return self._push_between(time, steps)

    def _push_between(self, time: float, steps: float) -> bool:
        """Take a sample that begins a stretch, follows a gap, or lies beside the grid of even stamps."""
        if steps <= 0 or (self._even and steps < 0.5):
            self.ignored += 1
            return False
        if not steps < self.plan.bridged_samples + 1.5:
            self.restarts += self._count > 0
            self.restart()
            self._start = self._last = time
        elif self._even:
            self._before[:] = self._states[self._end - 1]
            self._torque_before[:] = self._torques[self._end - 1]
        self._now, self._steps = time, max(1, round(steps)) if self._even and self._count else 1
        self._open = self._steps
        if not self._even:
            self._open = int((time - self._start) * self._rate + self._rounding) + 1 - self._count
        if not self._open:
            self._remember()
        return self.advance()

    def advance(self) -> bool:
        """Go on within the last sample; whether a further instant is ready.

        Only after missing or uneven samples can one sample complete more than one instant:
        ``ready = filter.push(…)``, then ``while ready: …; ready = filter.advance()``.
        """
        while self._open:
            self._open -= 1
            if self._even:
                share, time = 1.0 - self._open / self._steps, self._now - self._open / self._rate
            else:
                time = self._start + self._count / self._rate
                share = (time - self._last) / (self._now - self._last) if self._count else 1.0
            ready = self._write(share, time)
            if not self._open:
                self._remember()
            if ready:
                return True
        return False

    def _write(self, share: float, time: float) -> bool:
        """Write a sample between the one before (share 0) and the newest (share 1)."""
        at = self._next_place()
        for rows, before, newest in (
            (self._states, self._before, self._newest),
            (self._torques, self._torque_before, self._newest_torque),
        ):
            rows[at] = newest if share == 1.0 else before + share * (newest - before)
        return self._is_due(time)

    def _remember(self) -> None:
        """The newest sample is now the one before."""
        self._last = self._now
        self._before[:], self._torque_before[:] = self._newest, self._newest_torque

    def _next_place(self) -> int:
        """Row of the next sample; the newest move to the front when the room is used up."""
        at = self._end
        if at == len(self._torques):
            kept = self.warm_up - 1
            for rows in (self._states, self._torques):
                rows[:kept] = rows[at - kept :]
            at = kept
        self._end = at + 1
        return at

    def _is_due(self, time: float) -> bool:
        """Count the sample that was written; make the instant when its turn has come."""
        self._count += 1
        if self._count < self._due:
            return False
        self._due += self.plan.decimation
        self.time = time - self.delay_s
        first = self._end - self.warm_up
        np.dot(self._kernels, self._states[first : self._end], out=self._made)
        span = self._torque_span
        rows = self._torques[first + span.start : first + span.stop]
        if len(self._torque_kernel) == 1:
            self.tau[:] = rows[0]
        else:
            np.dot(self._torque_kernel, rows, out=self.tau)
        return True

    def state(self) -> dict[str, Any]:
        """All that a filter needs to go on where this one is, between two samples: arrays and numbers."""
        while self._open:
            self.advance()
        kept = slice(self._end - min(self._end, self.warm_up), self._end)
        return {
            "states": self._states[kept].copy(),
            "torques": self._torques[kept].copy(),
            "before": self._before.copy(),
            "torque_before": self._torque_before.copy(),
            "count": self._count,
            "due": self._due,
            "last": self._last,
            "start": self._start,
            "restarts": self.restarts,
            "ignored": self.ignored,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where another filter of the same plan was.

        Args:
            state: of that filter.
        """
        states = np.asarray(state["states"], dtype=float)
        if states.shape[1:] != self._states.shape[1:] or len(states) > self.warm_up:
            raise DynidError(
                f"The saved state holds {states.shape} samples and this filter keeps "
                f"{(self.warm_up, self._states.shape[1])}; restore it with the plan and channels it was "
                "saved with."
            )
        self._end = len(states)
        self._states[: self._end], self._torques[: self._end] = states, state["torques"]
        self._before[:], self._torque_before[:] = state["before"], state["torque_before"]
        self._count, self._due = int(state["count"]), int(state["due"])
        self._last, self._start = float(state["last"]), float(state["start"])
        self._open = 0
        self.restarts, self.ignored = int(state["restarts"]), int(state["ignored"])


def causal_motion(log: Log, plan: CausalPlan) -> Motion:
    """The instants that ``CausalFilter`` makes of a log, all at once: the same numbers.

    Args:
        log: joint side, at the plan's rate, without gaps.
        plan: the filters; rows are filtered where they are made.
    """
    refuse_unprepared(log, ("velocity",) if plan.velocity == MEASURED else ())
    time, signals = _on_grid(log, plan)
    kernels, half = plan.kernels, plan.kernels.half
    if len(time) <= 2 * half:
        raise ShapeError(
            f"Log {log.name!r} has {len(time)} samples, and the filter sees {2 * half + 1} at once; raise "
            "the cut-off or use a longer log."
        )

    def through(kernel: FloatArray, name: str) -> FloatArray:
        windows = sliding_window_view(signals[name], len(kernel), axis=0)[:: plan.decimation]
        return np.ascontiguousarray(windows @ kernel)

    measured = plan.velocity == MEASURED
    source, orders = ("velocity", (0, 1)) if measured else ("position", (1, 2))
    qd, qdd = (through(kernels.as_rows()[order], source) for order in orders)
    note = f"each instant lies {plan.delay_s:.4g} s before the newest sample it is made of"
    return Motion(
        name=log.name,
        time=time[2 * half :: plan.decimation] - plan.delay_s,
        q=through(kernels.smooth, "position"),
        qd=qd,
        qdd=qdd,
        tau=through(plan.torque_kernel, "torque"),
        rate_hz=plan.rate_hz / plan.decimation,
        history=(*log.history, Step("causal filter", plan.to_dict(), note)),
        sources=log.sources,
        made_up=_made_up_instants(log, time, plan),
        condition=log.condition,
    )


def _on_grid(log: Log, plan: CausalPlan) -> tuple[FloatArray, dict[str, FloatArray]]:
    """Stamps and signals as the filter takes them: as they are, or read between uneven stamps."""
    steps = np.diff(log.time) * plan.rate_hz
    least, most = (0.0, plan.bridged_samples + 1.5) if plan.stamps == MEASURED else (0.5, 1.5)
    if np.any(steps < least) or np.any(steps >= most):
        raise DynidError(
            f"Steps of log {log.name!r} last from {steps.min():.3g} to {steps.max():.3g} times "
            f"1/{plan.rate_hz:g} s; a causal filter takes {least:g} to {most:g} at once. Cut the log at its "
            'gaps, give its rate, or stamps = "measured".'
        )
    names = [name for name in ("position", "torque", "velocity") if name in log.channels]
    signals = {name: log.array(name) for name in names}
    if plan.stamps != MEASURED:
        return log.time, signals
    time = grid(float(log.time[0]), float(log.time[-1]), plan.rate_hz)
    after = np.clip(
        np.searchsorted(log.time, time - CausalFilter._rounding / plan.rate_hz), 1, log.samples - 1
    )
    start = log.time[after - 1]
    share = ((time - start) / (log.time[after] - start))[:, None]
    return time, {name: x[after - 1] + share * (x[after] - x[after - 1]) for name, x in signals.items()}


def _made_up_instants(log: Log, time: FloatArray, plan: CausalPlan) -> BoolArray | None:
    """Instants with a torque under their kernel that a repair has made up."""
    if log.made_up is None:
        return None
    made_up = np.interp(time, log.time, log.made_up.astype(float)) > 0
    under = sliding_window_view(made_up, len(plan.torque_kernel))[:: plan.decimation]
    return np.asarray(np.any(under[:, plan.torque_kernel != 0], axis=1))


def _without_zeros(kernel: FloatArray) -> tuple[slice, FloatArray]:
    """Where a kernel is not zero, and what it is there."""
    first, last = np.flatnonzero(kernel)[[0, -1]]
    span = slice(int(first), int(last) + 1)
    return span, np.ascontiguousarray(kernel[span])
