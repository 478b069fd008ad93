"""A motion beside the torques that a model gives along it, and how these change with the motion."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.compile.kernels import kernels
from dynid.core.arrays import FloatArray
from dynid.dynamics.inverse import gravity_torques
from dynid.dynamics.operations import NUMERIC
from dynid.dynamics.regressor import regressor
from dynid.estimators.estimate import Further
from dynid.estimators.linear.terms import NonlinearTerm, nonlinear_torques
from dynid.model.parameters import Parameter
from dynid.model.robot import Robot
from dynid.preparation.decimate import decimate_rows
from dynid.preparation.motion import SIGNALS, Motion
from dynid.preparation.preparation import Preparation

PAYLOAD = ("M", "MX", "MY", "MZ", "XX", "YY", "ZZ")
"""Parameters of the last link that a payload changes; the last three are what a short arm feels."""
_STEP = 1e-5
"""Step of central differences along a direction of order one: their error is 1e-10, rounding 1e-11."""
_PER_ROW = 8
"""Samples per row of the regression that columns are evaluated at, at least: the motion is smooth, and a
column need be right to a hundredth only."""


def _is_any(entry: Parameter) -> bool:
    return True


def _is_load(entry: Parameter) -> bool:
    return entry.family == "inertial"


@dataclass(frozen=True, eq=False)
class Scene:
    """One motion, thinned, with the torques f = W χ̂ of a model and its added terms.

    Args:
        robot: the robot.
        values: standard parameters that give the model's torques: base parameters at the columns of the
            base, zero elsewhere, (standard,).
        motion: the motion, thinned to some samples per row of the regression.
        number: which of the experiments it is …
        log: … and which of the logs: stretches of one log are experiments of their own.
        within: share of its log before and after it, 0 … 1.
        share: time that passed before and after it, of all experiments together, 0 … 1.
        decimation: samples of this motion per row of the regression.
        convention: of the decimation.
        further: added terms of the model with their values; None when it has none.
    """

    robot: Robot
    values: FloatArray
    motion: Motion
    number: int
    log: int
    within: tuple[float, float]
    share: tuple[float, float]
    decimation: int
    convention: str
    further: Further | None = None
    _made: dict[tuple[str, int], FloatArray] = field(default_factory=dict, repr=False)

    @property
    def joints(self) -> int:
        """Number of coordinates."""
        return self.robot.n_coordinates

    @cached_property
    def q(self) -> FloatArray:
        """Positions (samples, coordinates) [rad or m]."""
        return np.asarray(self.motion.q[:])

    @cached_property
    def qd(self) -> FloatArray:
        """Speeds."""
        return np.asarray(self.motion.qd[:])

    @cached_property
    def qdd(self) -> FloatArray:
        """Accelerations."""
        return np.asarray(self.motion.qdd[:])

    @property
    def tau(self) -> FloatArray:
        """Recorded torques [N m or N]."""
        return np.asarray(self.motion.tau[:])

    @property
    def time_share(self) -> FloatArray:
        """Time over that of all experiments, from 0 to 1, (samples,)."""
        return np.linspace(*self.share, len(self.q))

    @property
    def log_share(self) -> FloatArray:
        """Time over that of its log, from 0 to 1, (samples,)."""
        return np.linspace(*self.within, len(self.q))

    @cached_property
    def torque(self) -> FloatArray:
        """f, the model's torques along the motion (samples, coordinates) [N m or N]."""
        return self._whole(self._state)

    @cached_property
    def load(self) -> FloatArray:
        """Torques of the links' inertia and weight alone, without friction and offsets."""
        return self._load(self._state)

    def friction(self, joint: int) -> FloatArray:
        """Friction of a joint by the model, added terms that hold the speed too, no offset, (samples,)."""
        return self._friction[:, joint]

    @cached_property
    def _friction(self) -> FloatArray:
        own = self._inverse(self._state, lambda entry: entry.family == "friction" and entry.symbol != "off")
        return own + self._term_torques(self._state, lambda term: "qd" in term.signals)

    def along(self, name: str, joint: int) -> FloatArray:
        """∂f/∂q_j, ∂f/∂q̇_j or ∂f/∂q̈_j along the motion, (samples, coordinates).

        Args:
            name: "q", "qd" or "qdd".
            joint: j.
        """
        return self._once(name, joint, lambda: self._difference(name, joint, self._whole))

    def load_along(self, name: str, joint: int) -> FloatArray:
        """The same of the links' inertia and weight alone."""
        if name == "q" and self.further is None and not self._has_elements:
            return self.along(name, joint)  # nothing else depends on the position
        return self._once(f"load {name}", joint, lambda: self._difference(name, joint, self._load))

    def of_last_link(self, symbol: str) -> FloatArray:
        """Torques per unit of a parameter of the last link, such as "M", (samples, coordinates)."""
        group = PAYLOAD[:4] if symbol in PAYLOAD[:4] else PAYLOAD[4:]  # the last three are asked rarely
        made = self._once(f"link {group[0]}", -1, lambda: self._of_last_link(group))
        return np.asarray(made[group.index(symbol)])

    def _of_last_link(self, symbols: Sequence[str]) -> FloatArray:
        wanted = self.robot.table.indices(symbol + self.robot.joints[-1].label for symbol in symbols)
        q, qd, qdd = (list(x.T) for x in (self.q, self.qd, self.qdd))
        made = np.zeros((len(symbols), *self.q.shape))
        for k, column in enumerate(regressor(self.robot, q, qd, qdd, NUMERIC, wanted)):
            for j, torque in enumerate(column):
                made[k, :, j] = np.asarray(torque, dtype=float)
        return made

    def rate(self, values: FloatArray) -> FloatArray:
        """Time derivative of a signal over the samples."""
        return np.asarray(np.gradient(values, 1.0 / self.motion.rate_hz, axis=0, edge_order=2))

    def gravity(self, direction: Sequence[float]) -> FloatArray:
        """Torques of gravity along a direction of the base (samples, coordinates) per m/s²."""
        tilted = self.robot.with_gravity(*direction)
        torques = gravity_torques(tilted, list(self.values), list(self.q.T), NUMERIC)
        return np.stack([np.broadcast_to(np.asarray(t, dtype=float), len(self.q)) for t in torques], axis=1)

    def on_joint(self, joint: int, column: FloatArray) -> FloatArray:
        """A column that one joint alone feels, (samples, coordinates)."""
        made = np.zeros(self.q.shape)
        made[:, joint] = column
        return made

    def rows(self, columns: FloatArray, joints: Sequence[int]) -> FloatArray:
        """Columns (any, samples) of some joints as the regression has them: (any, regression samples)."""
        known = self.motion.counted_values(slice(0, self.motion.samples), columns, joints)
        return known if self.decimation == 1 else decimate_rows(known, self.decimation, self.convention)

    def _once(self, name: str, joint: int, make: Callable[[], FloatArray]) -> FloatArray:
        if (name, joint) not in self._made:
            self._made[name, joint] = make()
        return self._made[name, joint]

    @property
    def _has_elements(self) -> bool:
        return any(entry.family == "element" for entry in self.robot.table)

    def _difference(
        self, name: str, joint: int, torques: Callable[[Mapping[str, FloatArray]], FloatArray]
    ) -> FloatArray:
        """Central differences; without added terms torques are linear in q̈, where one step is exact."""
        step = np.zeros(self.joints)
        if name == "qdd" and self.further is None:
            step[joint] = 1.0
            here = self.load if torques == self._load else self.torque
            return torques({**self._state, name: self.qdd + step}) - here
        step[joint] = _STEP
        ahead, behind = (
            torques({**self._state, name: self._state[name] + sign * step}) for sign in (1.0, -1.0)
        )
        return np.asarray((ahead - behind) / (2.0 * _STEP))

    @property
    def _state(self) -> dict[str, FloatArray]:
        return {"q": self.q, "qd": self.qd, "qdd": self.qdd}

    def _whole(self, state: Mapping[str, FloatArray]) -> FloatArray:
        """f at some states."""
        return self._inverse(state) + self._term_torques(state)

    def _term_torques(
        self,
        state: Mapping[str, FloatArray],
        counted: Callable[[NonlinearTerm], bool] = lambda term: True,
    ) -> FloatArray | float:
        """Torques of the added terms that count."""
        if self.further is None:
            return 0.0
        terms, values, load = self.further.terms, self.further.values, self._load(state)
        motion = replace(self.motion, q=state["q"], qd=state["qd"], qdd=state["qdd"])
        return nonlinear_torques(self.robot, terms, values, motion, load, counted)

    def _load(self, state: Mapping[str, FloatArray]) -> FloatArray:
        return self._inverse(state, _is_load)

    def _inverse(
        self, state: Mapping[str, FloatArray], counted: Callable[[Parameter], bool] = _is_any
    ) -> FloatArray:
        """Torques of the parameters that count."""
        used = [counted(entry) for entry in self.robot.table.entries]
        return kernels(self.robot).inverse(np.where(used, self.values, 0.0), **state)


def scenes_of(
    base: BaseMap,
    values: FloatArray,
    motions: Sequence[Motion],
    plan: Preparation,
    further: Further | None = None,
) -> tuple[Scene, ...]:
    """Scenes of all experiments of a problem.

    Args:
        base: base parameters of the robot.
        values: their values, (base,).
        motions: at full rate.
        plan: its decimation is what rows went through.
        further: added terms of the model; None when it has none.
    """
    standard = np.zeros(len(base.robot.table))
    standard[list(base.columns)] = values
    per_row = _samples_per_row(plan.decimation) if plan.convention == "scipy" else plan.decimation
    lengths = np.cumsum([0, *(motion.samples for motion in motions)]) / sum(m.samples for m in motions)
    logs = logs_of(motions)
    return tuple(
        Scene(
            base.robot,
            np.where(base.robot.lives_in(motion.condition), standard, 0.0),
            _thin(motion, plan.decimation, per_row),
            k,
            logs[k][0],
            logs[k][1],
            (float(lengths[k]), float(lengths[k + 1])),
            per_row,
            plan.convention,
            further,
        )
        for k, motion in enumerate(motions)
    )


def logs_of(motions: Sequence[Motion]) -> list[tuple[int, tuple[float, float]]]:
    """Number of the log of each motion, and its share of that log's time: stretches of a log share both.

    Args:
        motions: whole ones, or stretches of them.
    """
    own = [k if motion.stretch_of is None else motion.stretch_of for k, motion in enumerate(motions)]
    numbers = np.unique(own, return_inverse=True)[1].tolist()  # a log too short for a stretch leaves a gap
    found = []
    for number, motion in zip(numbers, motions, strict=True):
        group = [other.time for k, other in zip(numbers, motions, strict=True) if k == number]
        first, seconds = group[0][0], float(group[-1][-1] - group[0][0]) or 1.0
        ends = motion.time[[0, -1]] - first
        found.append((number, (float(ends[0]) / seconds, float(ends[1]) / seconds)))
    return found


def _samples_per_row(decimation: int) -> int:
    """The fewest that are enough and divide a decimation, or are not twice as many as needed."""
    few = range(_PER_ROW, 2 * _PER_ROW)
    return next((k for k in few if decimation % k == 0), min(decimation, _PER_ROW))


def _thin(motion: Motion, decimation: int, per_row: int) -> Motion:
    """Every ``decimation / per_row``-th sample, between samples where that is no whole number."""
    if decimation == per_row:
        return motion
    steps = np.arange((motion.samples - 1) * per_row // decimation + 1) * decimation
    at, part = steps // per_row, (steps % per_row / per_row)[:, None]
    after = np.minimum(at + 1, motion.samples - 1)

    def between(values: FloatArray) -> FloatArray:
        return values[at] + part * (values[after] - values[at]) if part.any() else values[at]

    q, qd, qdd, tau = (between(np.asarray(getattr(motion, name)[:])) for name in SIGNALS)
    made_up, at_rest = (None if mask is None else mask[at] for mask in (motion.made_up, motion.at_rest))
    time, rate = between(motion.time[:, None])[:, 0], motion.rate_hz * per_row / decimation
    thin = replace(motion, time=time, q=q, qd=qd, qdd=qdd, tau=tau, rate_hz=rate)
    return replace(thin, made_up=made_up, at_rest=at_rest)
