"""The watch beside a recursion: payloads, friction, collisions, M(q), and who learns what meanwhile."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.compile.kernels import RobotKernels
from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding
from dynid.model.payload import attach_payload
from dynid.tracking.watch.alarm import WatchEvent, WatchOptions
from dynid.tracking.watch.collision import Push, ResidualLevel
from dynid.tracking.watch.definite import InertiaMonitor
from dynid.tracking.watch.friction_change import FrictionWatch
from dynid.tracking.watch.innovation import Excess, ResidualScale
from dynid.tracking.watch.memory import DelayLine, Followed, LearntState, RecentRows, State
from dynid.tracking.watch.payload_change import PayloadWindow, WeighedPayload, fit_payload, onset_of
from dynid.tracking.watch.sentences import Sentences, torque_unit


@dataclass(frozen=True, eq=False, slots=True)
class WatchedInstant:
    """One filtered sample as the recursion and the watch take it, joint side, SI.

    Args:
        time: [s].
        q: positions (n,).
        qd: speeds (n,).
        W: rows of the base parameters (n, base), zero where masked.
        y: torques (n,), zero where masked.
        X: rows of a payload's ten parameters (n, 10), as ``PayloadColumns`` gives them.
        Z: instruments (n, base), where the recursion takes some.
        rows: which rows count (n,); all when None.
    """

    time: float
    q: FloatArray
    qd: FloatArray
    W: FloatArray
    y: FloatArray
    X: FloatArray
    Z: FloatArray | None = None
    rows: FloatArray | None = None


class PayloadColumns:
    """Rows of the ten parameters of a payload on the last link: X of τ = W χ + X θ."""

    def __init__(self, base: BaseMap, carrier: str | None = None) -> None:
        """Compile the columns.

        Args:
            base: base parameters of the robot.
            carrier: name of the joint whose link carries it; the last joint when None.
        """
        loaded = attach_payload(base.robot, carrier=carrier)
        last = len(loaded.joints) - 1
        own = (i for i, e in enumerate(loaded.table) if e.joint == last and e.family == "inertial")
        self._kernels = RobotKernels(loaded, tuple(own))
        self._rows = list(base.rows)

    def of(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
        """X (n, 10) of one sample, or (samples, n, 10) of many."""
        X = self._kernels.regressor(np.atleast_2d(q), np.atleast_2d(qd), np.atleast_2d(qdd))
        X = np.ascontiguousarray(X[:, self._rows])
        return X[0] if np.ndim(q) == 1 else X


class Watch(LearntState):
    """Lets a recursion learn while nothing happens, and says when something does.

    Residuals are taken against parameters of some seconds ago, which a change has not spoilt yet. When they
    do not look usual, the recursion waits. A push ends by itself. A payload stays and moves the torques along
    its own columns: the recursion then goes back to before it came, the payload is weighed by a recursion of
    its own while the arm's waits, and from then on the arm's recursion gets the torques less the payload's.

    Args:
        base: base parameters of the robot.
        rate_hz: updates per second.
        options: thresholds and times.
    """

    def __init__(self, base: BaseMap, rate_hz: float, options: WatchOptions | None = None) -> None:
        """Nothing learnt yet."""
        o = self._options = options or WatchOptions()
        robot, n = base.robot, len(base.rows)
        joints = [robot.joints[robot.coordinates[row]] for row in base.rows]
        self._say = Sentences(tuple(joint.name for joint in joints), tuple(torque_unit(j) for j in joints))
        samples = {name: max(1, round(getattr(o, name) * rate_hz)) for name in _TIMES}
        self._every, self._settle, self._rest = samples["every_s"], samples["settle_s"], samples["rest_s"]
        self._memory = samples["memory_s"]
        self._weighing, self._inertia_every = samples["weighing_s"], samples["inertia_s"]
        block, blocks = samples["block_s"], max(2, round(o.memory_s / o.block_s))
        looks = max(1, round(o.block_s / o.every_s))
        self.scale = ResidualScale(n, rate_hz, o.decide_s, o.memory_s)
        self.windows = tuple(PayloadWindow(1.0 - 1.0 / samples[w]) for w in ("short_s", "long_s"))
        self.short, self.long = self.windows
        self.usual = Excess(len(self.windows), looks, blocks)
        self.fast_level = ResidualLevel(n, o.collision_s * rate_hz, block, blocks)
        self.level = ResidualLevel(n, 2.0 * o.collision_s * rate_hz, block, blocks)
        self.friction = FrictionWatch(n, samples["friction_block_s"], o.friction_blocks)
        self.inertia = InertiaMonitor(base)
        self.recent = RecentRows(samples["long_s"] + samples["give_up_s"], n)
        self.push = Push(n)
        self.weight = PayloadWindow()
        self._line = DelayLine(o.long_s + o.give_up_s)
        self.sigma = self.fast_sigma = self.long_run = np.ones(n)
        self.values = np.full(len(base), np.nan)
        self.anchor = np.full(len(base), np.nan)
        self.load, self.load_before = np.zeros(10), np.zeros(10)
        self.load_sigma, self.first_mass = np.inf, 0.0
        self.updates, self.quiet, self.weighed = 0, 0, -1
        self.suspect_since = math.nan
        self.loaded = False
        self.time = -math.inf

    @property
    def suspicious(self) -> bool:
        """Whether something goes on that has no name yet."""
        return not math.isnan(self.suspect_since)

    @property
    def is_weighing(self) -> bool:
        """Whether a payload is being weighed."""
        return self.weighed >= 0

    @property
    def learns(self) -> bool:
        """Whether the arm's recursion takes the samples."""
        return not (self.suspicious or self.is_weighing)

    @property
    def is_armed(self) -> bool:
        """Whether enough is learnt for alarms."""
        return self.level.usual.ready and self.usual.ready

    @property
    def mass(self) -> float:
        """Of the payload that is carried [kg]."""
        return float(self.load[9])

    @property
    def mass_sigma(self) -> float:
        """Its deviation, with what the arm's own model lacks under load [kg]."""
        return math.hypot(self.load_sigma, self._options.mass_share * self.mass)

    def update(self, recursion: Followed, at: WatchedInstant) -> list[WatchEvent]:
        """Give one sample to the recursion, unless it has to wait, and say what happened.

        Args:
            recursion: of the arm's parameters; it may be set back.
            at: the sample.
        """
        rows = np.ones(len(at.y)) if at.rows is None else np.asarray(at.rows, dtype=float)
        load = self.load
        y = at.y - rows * (at.X @ load) if self.loaded else at.y
        self._follow(recursion, at.time)
        events = self._see(recursion, at, y, rows) if rows.any() else []
        count = None if at.rows is None else int(rows.sum())
        if not self._options.acts:
            recursion.update(at.W, at.y, at.Z, count)
        elif self.learns and self.load is load:
            recursion.update(at.W, y, at.Z, count)
        return events

    def _follow(self, recursion: Followed, time: float) -> None:
        """Take the parameters to compare with: those of some seconds ago."""
        self.time = time
        if not self.learns:
            return
        self._line.keep(time, recursion)
        reference = self._line.before(time - self._options.long_s)
        if reference is not None:
            self.values = reference[0]

    def _see(
        self, recursion: Followed, at: WatchedInstant, y: FloatArray, rows: FloatArray
    ) -> list[WatchEvent]:
        self.updates += 1
        events: list[WatchEvent] = []
        if self.updates % self._inertia_every == 0 and self.inertia.take(at.q, np.asarray(recursion.values)):
            events.append(self._event(at.time, self._say.inertia(self.inertia)))
        if self.updates <= self._settle:
            return events
        residual = y - at.W @ self.values
        if not self.loaded:
            events += self._watch_friction(y - at.W @ self._friction_reference(), at, rows)
        looks_usual = self.learns
        self.scale.take(residual, rows, looks_usual)
        if self.updates <= self._memory and self.updates % self._settle == 0:
            self._learn_anew()
        fast = self.fast_level.take(rows * self.scale.fast / self.fast_sigma, looks_usual)
        self.level.take(residual / self.sigma, looks_usual)
        weights = rows / self.long_run
        self.recent.put(at.time, residual * weights, at.X * weights[:, None])
        if self.updates % self._every == 0:
            events += self._take_rows(at.time)
        if self.suspicious:
            beyond = self.level.at_once(residual / self.sigma) > self._options.calm_excess
            self.push.take(at.time, fast, self.scale.fast, beyond)
            return events + (self._decide(recursion, at.time) if self.updates % self._every == 0 else [])
        self._suspect(at.time, fast)
        return events

    def _take_rows(self, time: float) -> list[WatchEvent]:
        """Give the weighted rows since the last look to the windows and to the scales."""
        X, r = self.recent.last(self._every)
        squares, products = X.T @ X, X.T @ r
        for window in self.windows:
            window.take(squares, products, self._every)
        self._refresh()
        if not self.is_weighing:
            return []
        self._weigh(squares, products + squares @ (self.load - self.load_before))
        return [self._end_weighing(time)] if self.weighed >= self._weighing else []

    def _refresh(self) -> None:
        """Take over what the scales have learnt."""
        self.sigma, self.fast_sigma = self.scale.sigma, self.scale.fast_sigma
        self.long_run = self.scale.long_run_sigma

    def _learn_anew(self) -> None:
        """Forget what was learnt while the recursion converged, as soon as residuals are far smaller."""
        if not (self.learns and self.scale.has_shrunk()):
            return
        self._refresh()
        for usual in (self.usual, self.level.usual, self.fast_level.usual):
            usual.forget()

    def _friction_reference(self) -> FloatArray:
        """Parameters of when the watch was armed: friction is compared with that moment."""
        return self.anchor if np.isfinite(self.anchor[0]) else self.values

    def _suspect(self, time: float, fast: float) -> None:
        """Look whether anything is unusual; learn from it when not."""
        o = self._options
        if self.is_armed and not np.isfinite(self.anchor[0]):
            self.anchor = self.values.copy()
        self.quiet += 1
        may = self.is_armed and self.quiet > self._rest
        if may and fast > o.collision_excess:
            self._begin(time - 2.0 * o.collision_s, fast)
            return
        if self.updates % self._every:
            return
        gains = [fit_payload(window.A, window.b, o.length_m).gain for window in self.windows]
        logarithm = np.log(np.maximum(gains, 1e-12))
        short, long = self.usual.of(logarithm)
        if self.learns:
            self.usual.learn(logarithm)
        if may and not self.is_weighing and (short > o.payload_short_excess or long > o.payload_long_excess):
            rows = self.recent.since(time - o.long_s)
            self._begin(onset_of(*rows, o.length_m), fast)

    def _begin(self, onset: float, fast: float) -> None:
        """Suspect that something began."""
        self.suspect_since = onset
        self.push.begin(onset, self.time, fast)

    def _end(self) -> None:
        """The suspicion is over."""
        self.suspect_since = math.nan
        self.quiet = 0
        for window in self.windows:
            window.clear()

    def _decide(self, recursion: Followed, time: float) -> list[WatchEvent]:
        """Name what goes on, as soon as it can be named."""
        o, onset = self._options, self.suspect_since
        calm_for, lasted = time - self.push.last, time - onset
        if lasted < o.decide_s:
            return []
        if calm_for > 2.0 * o.collision_s and self.push.excess > o.collision_excess:
            found = self._say.collision(self.push)
            self._end()
            return [self._event(time, found, onset)]
        fit = self._payload_since(onset)
        if fit is not None:
            self._go_back(recursion, onset)
            self._end()
            return [self._event(time, self._take_payload(fit, onset), onset)]
        if lasted < o.give_up_s:
            return []
        told = [] if self.push.excess < o.collision_excess else [self._say.lasting_change(self.push)]
        self._end()
        return [self._event(time, finding, onset) for finding in told]

    def _payload_since(self, onset: float) -> WeighedPayload | None:
        """The payload that came, or went, at the onset; None where none explains what is seen since then."""
        o = self._options
        _, residual, columns = self.recent.since(onset + 2.0 * o.collision_s)
        if not len(residual):
            return None
        X, r = columns.reshape(-1, 10), residual.ravel()
        A, b = X.T @ X, X.T @ r
        fit = fit_payload(A, b, o.length_m)
        mass, sigma = self.mass + fit.mass, fit.mass_sigma
        possible = mass > -max(3.0 * sigma, o.empty_share * self.mass)
        clear = fit.gain > max(o.payload_sigmas**2, o.payload_share * float(r @ r))
        return fit if possible and clear else None

    def _take_payload(self, fit: WeighedPayload, onset: float) -> Finding:
        """Carry what was found from now on, and weigh it; nothing where it was put down."""
        before = self.mass
        if self.loaded and self._empty(before, before + fit.mass, fit.mass_sigma):
            self._unload()
            return self._say.put_down(before)
        _, residual, columns = self.recent.since(onset + 2.0 * self._options.collision_s)
        X, r = columns.reshape(-1, 10), residual.ravel()
        self.load_before = self.load
        self.weight.clear()
        self.weight.take(X.T @ X, X.T @ r)
        self.load = self.load_before + fit.values
        self.loaded, self.weighed, self.load_sigma = True, 0, fit.mass_sigma
        self.first_mass = self.mass
        return self._say.pick_up(before, self.load, self.mass_sigma)

    def _weigh(self, squares: FloatArray, products: FloatArray) -> None:
        """The next samples of the payload's own recursion."""
        self.weight.take(squares, products, self._every)
        self.weighed += self._every
        fit = fit_payload(self.weight.A, self.weight.b, self._options.length_m)
        self.load, self.load_sigma = self.load_before + fit.values, fit.mass_sigma

    def _empty(self, before: float, mass: float, sigma: float) -> bool:
        """Whether so little is left of a payload that it has been put down."""
        return mass < before and abs(mass) < max(3.0 * sigma, self._options.empty_share * before)

    def _unload(self) -> None:
        """Nothing is carried any more."""
        self.load, self.load_before = np.zeros(10), np.zeros(10)
        self.loaded, self.weighed = False, -1
        self.recent.forget()

    def _end_weighing(self, time: float) -> WatchEvent:
        """The arm's recursion goes on, with the torques less the payload's."""
        self.weighed, self.quiet = -1, 0
        before = float(self.load_before[9]) or self.first_mass
        if self._empty(before, self.mass, self.load_sigma):
            self._unload()
            return self._event(time, self._say.put_down(before))
        return self._event(time, self._say.weight(self.load, self.mass_sigma))

    def _go_back(self, recursion: Followed, onset: float) -> None:
        """Set the recursion back to before the onset, and do not learn from what came after it."""
        for usual in (self.usual, self.level.usual, self.fast_level.usual):
            usual.drop_block()
        found = self._line.before(onset)
        if found is not None and self._options.acts:
            recursion.restore(found[1])
            self._line.drop_after(onset)

    def _watch_friction(self, residual: FloatArray, at: WatchedInstant, rows: FloatArray) -> list[WatchEvent]:
        if not np.isfinite(self.anchor[0]) or not self.learns:
            return []
        if not self.friction.take(residual, at.qd, at.y, rows):
            return []
        self.friction.close()
        change, sigma = self.friction.change()
        o = self._options
        least = o.friction_share * self.friction.rms_torque()
        with np.errstate(invalid="ignore"):
            drifted = np.flatnonzero((np.abs(change) > o.friction_sigmas * sigma) & (np.abs(change) > least))
        events = [
            self._event(at.time, self._say.friction(int(j), float(change[j]), float(sigma[j])))
            for j in drifted
        ]
        for j in drifted:
            self.friction.accept(int(j))
        return events

    def _event(self, time: float, finding: Finding, onset: float | None = None) -> WatchEvent:
        return WatchEvent(time, time if onset is None else onset, finding)

    def state(self) -> State:
        """Everything but the delay line: after a restart the recursion goes back no further than that."""
        return super().state()


_TIMES = (
    "every_s", "settle_s", "rest_s", "weighing_s", "inertia_s", "block_s", "short_s", "long_s",
    "give_up_s", "memory_s", "friction_block_s",
)  # fmt: skip
