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
from dynid.model.parameters import Parameter
from dynid.model.robot import Robot
from dynid.preparation.decimate import decimate_rows
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation

PAYLOAD = ("M", "MX", "MY", "MZ")
"""Parameters of the last link that a payload changes most …"""
PAYLOAD_INERTIA = ("XX", "YY", "ZZ")
"""… and those that a short arm feels instead."""
_STEP = 1e-5
"""Step of central differences along a direction of order one: their error is 1e-10, rounding 1e-11."""
_KEPT_PER_ROW = 8
"""Full-rate samples per row of the regression that columns are evaluated at, at least: the motion is smooth,
and a column need be right to a hundredth only."""


@dataclass(frozen=True, eq=False)
class Scene:
    """One motion, thinned, with the torques f = W χ̂ of a model.

    Args:
        robot: the robot.
        values: standard parameters that give the model's torques: base parameters at the columns of the
            base, zero elsewhere, (standard,).
        motion: the motion, every ``thinning``-th sample.
        number: which of the experiments it is …
        log: … and which of the logs: stretches of one log are experiments of their own.
        within: share of its log before and after it, 0 … 1.
        share: time that passed before and after it, of all experiments together, 0 … 1.
        decimation: samples of this motion per row of the regression.
        convention: of the decimation.
        further: torques beside f, of added terms, (samples, coordinates); zero when none.
        further_friction: those of them that depend on the speed.
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
    further: FloatArray | float = 0.0
    further_friction: FloatArray | float = 0.0
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

    @cached_property
    def time_share(self) -> FloatArray:
        """Time over that of all experiments, from 0 to 1, (samples,)."""
        first, last = self.share
        return np.asarray(first + (last - first) * np.arange(len(self.q)) / max(len(self.q) - 1, 1))

    @cached_property
    def log_share(self) -> FloatArray:
        """Time over that of its log, from 0 to 1, (samples,)."""
        first, last = self.within
        return np.asarray(first + (last - first) * np.arange(len(self.q)) / max(len(self.q) - 1, 1))

    @cached_property
    def torque(self) -> FloatArray:
        """f, the model's torques along the motion (samples, coordinates) [N m or N]."""
        return self._inverse(self._state) + self.further

    @cached_property
    def load(self) -> FloatArray:
        """Torques of the links' inertia and weight alone, without friction and offsets."""
        return self._inverse(self._state, _is_load)

    def friction(self, joint: int) -> FloatArray:
        """Friction of a joint by the model, offset left out, (samples,)."""
        return self._friction[:, joint]

    @cached_property
    def _friction(self) -> FloatArray:
        own = self._inverse(self._state, lambda entry: entry.family == "friction" and entry.symbol != "off")
        return own + self.further_friction

    def along(self, name: str, joint: int) -> FloatArray:
        """∂f/∂q_j, ∂f/∂q̇_j or ∂f/∂q̈_j along the motion, (samples, coordinates).

        Args:
            name: "q", "qd" or "qdd".
            joint: j.
        """
        return self._once(name, joint, lambda: self._central_difference(name, joint, lambda entry: True))

    def load_along(self, name: str, joint: int) -> FloatArray:
        """The same of the links' inertia and weight alone."""
        return self._once(f"load {name}", joint, lambda: self._central_difference(name, joint, _is_load))

    @cached_property
    def payload(self) -> FloatArray:
        """Torques per unit of M, MX, MY, MZ of the last link, (4, samples, coordinates)."""
        return self._of_last_link(PAYLOAD)

    @cached_property
    def payload_inertia(self) -> FloatArray:
        """Torques per unit of XX, YY, ZZ of the last link, (3, samples, coordinates)."""
        return self._of_last_link(PAYLOAD_INERTIA)

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

    def rows(self, columns: FloatArray) -> FloatArray:
        """Columns (any · coordinates, samples) as the regression has them: (…, regression samples)."""
        owner = np.arange(len(columns)) % self.joints
        known = self.motion.counted_values(slice(0, self.motion.samples), columns, owner)
        return known if self.decimation == 1 else decimate_rows(known, self.decimation, self.convention)

    def _once(self, name: str, joint: int, make: Callable[[], FloatArray]) -> FloatArray:
        if (name, joint) not in self._made:
            self._made[name, joint] = make()
        return self._made[name, joint]

    def _central_difference(self, name: str, joint: int, counted: Callable[[Parameter], bool]) -> FloatArray:
        step = np.zeros(self.joints)
        step[joint] = _STEP
        ahead, behind = (
            self._inverse({**self._state, name: self._state[name] + sign * step}, counted)
            for sign in (1.0, -1.0)
        )
        return np.asarray((ahead - behind) / (2.0 * _STEP))

    @property
    def _state(self) -> dict[str, FloatArray]:
        return {"q": self.q, "qd": self.qd, "qdd": self.qdd}

    def _inverse(
        self, state: Mapping[str, FloatArray], counted: Callable[[Parameter], bool] = lambda entry: True
    ) -> FloatArray:
        """Torques of the parameters that count."""
        used = [counted(entry) for entry in self.robot.table.entries]
        return kernels(self.robot).inverse(np.where(used, self.values, 0.0), **state)


def _is_load(entry: Parameter) -> bool:
    return entry.family == "inertial"


def scenes_of(
    base: BaseMap, values: FloatArray, motions: Sequence[Motion], plan: Preparation
) -> tuple[Scene, ...]:
    """Scenes of all experiments of a problem.

    Args:
        base: base parameters of the robot.
        values: their values, (base,).
        motions: at full rate.
        plan: its decimation is what rows went through.
    """
    standard = np.zeros(len(base.robot.table))
    standard[list(base.columns)] = values
    thinning = _thinning_factor(plan.decimation) if plan.convention == "scipy" else 1
    lengths = np.cumsum([0, *(motion.samples for motion in motions)]) / sum(m.samples for m in motions)
    logs = logs_of(motions)
    return tuple(
        Scene(
            base.robot,
            standard,
            _thin(motion, thinning),
            k,
            logs[k][0],
            logs[k][1],
            (float(lengths[k]), float(lengths[k + 1])),
            plan.decimation // thinning,
            plan.convention,
        )
        for k, motion in enumerate(motions)
    )


def logs_of(motions: Sequence[Motion]) -> list[tuple[int, tuple[float, float]]]:
    """Number of the log of each motion, and its share of that log: stretches of a log share name and clock.

    Args:
        motions: whole ones, or stretches of them.
    """
    groups: list[list[Motion]] = []
    for motion in motions:
        last = groups[-1][-1] if groups else None
        if last is not None and last.name == motion.name and motion.time[0] > last.time[-1]:
            groups[-1].append(motion)
        else:
            groups.append([motion])
    found = []
    for number, group in enumerate(groups):
        first, seconds = group[0].time[0], float(group[-1].time[-1] - group[0].time[0]) or 1.0
        spans = [(float(m.time[0] - first) / seconds, float(m.time[-1] - first) / seconds) for m in group]
        found += [(number, span) for span in spans]
    return found


def _thinning_factor(decimation: int) -> int:
    """The largest divisor that leaves enough samples per row."""
    most = max(1, decimation // _KEPT_PER_ROW)
    return max(m for m in range(1, most + 1) if decimation % m == 0)


def _thin(motion: Motion, factor: int) -> Motion:
    if factor == 1:
        return motion
    return replace(motion.part(slice(None, None, factor)), rate_hz=motion.rate_hz / factor)
