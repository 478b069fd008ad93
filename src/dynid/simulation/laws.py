"""Control laws: bandwidth-specified PD (P0), PID, cascades, computed torque, open loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.dynamics.algebra import Scalar, add, mul, sub
from dynid.dynamics.inverse import inverse_dynamics
from dynid.dynamics.operations import Operations
from dynid.model.robot import Robot
from dynid.simulation.law import Answer, Law, LawSignals, Scalars, per_axis, same_axes

Values = float | Sequence[float]


def _parts(gains: Sequence[Scalar], axes: int) -> list[Sequence[Scalar]]:
    return [gains[k : k + axes] for k in range(0, len(gains), axes)]


def _critical(stiffness: FloatArray, damping: FloatArray) -> FloatArray:
    """Inertia that a spring and a damper bring to rest without overshoot; one where it has no meaning."""
    known = (stiffness > 0) & (damping > 0)
    inertia = damping**2 / (4 * np.where(known, stiffness, 1.0))
    return np.asarray(np.where(known, inertia, 1.0), dtype=float)


def _slowest(stiffness: FloatArray, damping: FloatArray) -> float:
    known = (stiffness > 0) & (damping > 0)
    return float(np.min(2 * stiffness[known] / damping[known])) if known.any() else 1.0


@dataclass(frozen=True)
class Bandwidth(Law):
    """P0's law (eq 53): τ = k_p k_v (q_r − q) − k_v q̇, with k_p = ω_n/(2ζ), k_v = 2 ζ ω_n J (eq 57).

    Args:
        natural_frequency: ω_n of each axis [rad/s].
        damping: ζ of each axis.
        inertia: J of each axis, as the controller knows it [kg m² or kg].
    """

    natural_frequency: Values
    damping: Values = 1.0
    inertia: Values = 1.0

    def __post_init__(self) -> None:
        """One value per axis, positive."""
        same_axes(self, ("natural_frequency", "damping", "inertia"))
        for name in ("natural_frequency", "damping", "inertia"):
            if min(getattr(self, name)) <= 0:
                raise DynidError(
                    f"{name} of the bandwidth law is {getattr(self, name)}; every axis needs a positive "
                    "number."
                )

    @property
    def axes(self) -> int:
        """Coordinates it controls."""
        return np.size(self.natural_frequency)

    @property
    def gains(self) -> tuple[float, ...]:
        """k_p of all axes, then k_v."""
        w, z, J = (np.array(v) for v in (self.natural_frequency, self.damping, self.inertia))
        return (*(w / (2 * z)).tolist(), *(2 * z * w * J).tolist())

    def torque(self, signals: LawSignals, memory: Scalars, gains: Scalars, ops: Operations) -> Answer:
        """Eq 53."""
        kp, kv = _parts(gains, self.axes)
        rows = zip(kp, kv, signals.reference, signals.position, signals.speed, strict=True)
        return [v * (p * (r - q) - s) for p, v, r, q, s in rows], []

    @property
    def tuned_inertia(self) -> tuple[float, ...]:
        """J of each axis."""
        return tuple(np.atleast_1d(self.inertia).tolist())

    def slowest_frequency(self) -> float:
        """Smallest ω_n."""
        return float(np.min(self.natural_frequency))

    def scaled(self, ratio: Sequence[float]) -> Bandwidth:
        """The same poles on other inertias (eq 59)."""
        return replace(self, inertia=tuple(np.array(self.inertia) * np.array(ratio)))


@dataclass(frozen=True)
class _Gains(Law):
    """A law whose fields are gains, one per axis each; ``ki`` among them makes it remember an integral."""

    def __post_init__(self) -> None:
        """One value per axis."""
        same_axes(self, tuple(f.name for f in fields(self)))

    @property
    def axes(self) -> int:
        """Coordinates it controls."""
        return np.size(getattr(self, fields(self)[0].name))

    @property
    def gains(self) -> tuple[float, ...]:
        """All gains, kind by kind."""
        return tuple(float(g) for f in fields(self) for g in np.atleast_1d(getattr(self, f.name)))

    @property
    def memory(self) -> int:
        """An integral of every axis, where there is any."""
        return self.axes if np.any(getattr(self, "ki", 0.0)) else 0

    @property
    def key(self) -> str:
        """With or without integral."""
        return f"{type(self).__name__} {self.axes} {self.memory}"


@dataclass(frozen=True)
class PID(_Gains):
    """τ = k_p e + k_d (β q̇_r − q̇) + k_i ∫e + k_a q̈_r with e = q_r − q; zero gains leave P, PD, PI.

    Args:
        kp: [N m/rad or N/m] per axis.
        kd: [N m s/rad or N s/m] per axis.
        ki: [N m/(rad s) or N/(m s)] per axis.
        reference_speed: β per axis: 1 tracks the reference's speed, 0 damps the joint's own.
        acceleration: k_a, acceleration feed-forward [kg m² or kg] per axis.
    """

    kp: Values
    kd: Values = 0.0
    ki: Values = 0.0
    reference_speed: Values = 1.0
    acceleration: Values = 0.0

    def torque(self, signals: LawSignals, memory: Scalars, gains: Scalars, ops: Operations) -> Answer:
        """Torques and ∫e."""
        kp, kd, ki, beta, ka = _parts(gains, self.axes)
        error = [r - q for r, q in zip(signals.reference, signals.position, strict=True)]
        torques: list[Scalar] = []
        for i in range(self.axes):
            slip = beta[i] * signals.reference_speed[i] - signals.speed[i]
            ahead = ka[i] * signals.reference_acceleration[i]
            summed = mul(ki[i], memory[i]) if self.memory else 0.0
            torques.append(add(kp[i] * error[i] + kd[i] * slip + ahead, summed))
        return torques, error if self.memory else []

    def damped_inertia(self) -> FloatArray:
        """J = k_d²/(4 k_p), where both are positive."""
        return _critical(np.array(self.kp), np.array(self.kd))

    def slowest_frequency(self) -> float:
        """ω_n = 2 k_p/k_d of a critically damped axis."""
        return _slowest(np.array(self.kp), np.array(self.kd))

    def scaled(self, ratio: Sequence[float]) -> PID:
        """The same poles on other inertias: every gain that makes torque follows the inertia."""
        r = np.array(ratio)
        names = ("kp", "kd", "ki", "acceleration")
        return replace(self, **{name: tuple(np.array(getattr(self, name)) * r) for name in names})


@dataclass(frozen=True)
class Cascade(_Gains):
    """Position P around speed PI: s = k_p e + β q̇_r − q̇, τ = k_v (s + k_i ∫s) + k_a q̈_r.

    Args:
        kp: position gain per axis [1/s].
        kv: speed gain per axis [N m s/rad or N s/m].
        ki: inverse integral time of the speed loop per axis [1/s].
        reference_speed: β per axis.
        acceleration: k_a per axis.
    """

    kp: Values
    kv: Values
    ki: Values = 0.0
    reference_speed: Values = 0.0
    acceleration: Values = 0.0

    def torque(self, signals: LawSignals, memory: Scalars, gains: Scalars, ops: Operations) -> Answer:
        """Torques and ∫s."""
        kp, kv, ki, beta, ka = _parts(gains, self.axes)
        slips = []
        torques: list[Scalar] = []
        for i in range(self.axes):
            wanted = kp[i] * (signals.reference[i] - signals.position[i]) + (
                beta[i] * signals.reference_speed[i]
            )
            slip = sub(wanted, signals.speed[i])
            summed = add(slip, mul(ki[i], memory[i])) if self.memory else slip
            torques.append(kv[i] * summed + ka[i] * signals.reference_acceleration[i])
            slips.append(slip)
        return torques, slips if self.memory else []

    def damped_inertia(self) -> FloatArray:
        """J = k_v/(4 k_p)."""
        return _critical(np.array(self.kp) * np.array(self.kv), np.array(self.kv))

    def slowest_frequency(self) -> float:
        """ω_n = 2 k_p of a critically damped axis."""
        return _slowest(np.array(self.kp) * np.array(self.kv), np.array(self.kv))

    def scaled(self, ratio: Sequence[float]) -> Cascade:
        """The same poles on other inertias."""
        r = np.array(ratio)
        names = ("kv", "acceleration")
        return replace(self, **{name: tuple(np.array(getattr(self, name)) * r) for name in names})


@dataclass(frozen=True)
class ComputedTorque(Law):
    """τ = M̂(q) a + N̂(q, q̇) with a = q̈_r + k_d (q̇_r − q̇) + k_p (q_r − q) and a model of the robot.

    Args:
        robot: the robot the model belongs to; its parameters are the model.
        kp: [1/s²] per axis.
        kd: [1/s] per axis.
    """

    robot: Robot
    kp: Values
    kd: Values

    def __post_init__(self) -> None:
        """One value per axis, and a model that is not empty."""
        n = self.robot.n_coordinates
        if not any(self.robot.parameters.values()):
            raise DynidError(
                f"Robot {self.robot.name!r} has no parameters, so that computed torque has no model and "
                "gives no torque; give it some with robot.with_parameters(…), or take another law."
            )
        for name in ("kp", "kd"):
            object.__setattr__(self, name, per_axis(getattr(self, name), n, name))

    @property
    def axes(self) -> int:
        """Coordinates it controls."""
        return self.robot.n_coordinates

    @property
    def gains(self) -> tuple[float, ...]:
        """k_p, k_d, then the model's parameters in table order."""
        model = self.robot.table.vector(self.robot.parameters)
        return (*np.atleast_1d(self.kp), *np.atleast_1d(self.kd), *model.tolist())

    @property
    def key(self) -> str:
        """The robot's equations."""
        return f"ComputedTorque {self.robot.digest}"

    def torque(self, signals: LawSignals, memory: Scalars, gains: Scalars, ops: Operations) -> Answer:
        """Inverse dynamics of the model at the measured state."""
        n = self.axes
        kp, kd, model = gains[:n], gains[n : 2 * n], gains[2 * n :]
        wanted = [
            signals.reference_acceleration[i]
            + kd[i] * (signals.reference_speed[i] - signals.speed[i])
            + kp[i] * (signals.reference[i] - signals.position[i])
            for i in range(n)
        ]
        return inverse_dynamics(self.robot, model, signals.position, signals.speed, wanted, ops), []


@dataclass(frozen=True)
class OpenLoop(Law):
    """No feedback: the torque given from outside (open loop).

    Args:
        n: number of axes.
    """

    n: int

    @property
    def axes(self) -> int:
        """Coordinates it drives."""
        return self.n

    @property
    def gains(self) -> tuple[float, ...]:
        """None."""
        return ()

    @property
    def feedback(self) -> bool:
        """No."""
        return False

    def torque(self, signals: LawSignals, memory: Scalars, gains: Scalars, ops: Operations) -> Answer:
        """The controller adds the torque given from outside to the law's."""
        return [0.0] * self.n, []
