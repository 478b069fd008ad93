"""What a log holds of a plant's motion: sensors, drives and clocks, and what can be wrong with them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.signal import lfilter

from dynid.logs.log import Log
from dynid.model.robot import Robot
from population.motions import Path
from population.plant import FINE_HZ, Plant

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Sensors:
    """How a log is recorded. Arrays are (joints,), SI, joint side; neutral where nothing is wrong.

    Args:
        rate_hz: samples per second.
        encoder_step: of the positions.
        white: noise of the torques.
        coloured: slow noise of the torques, first order with the time constant ``memory_s``.
        memory_s: see there.
        hold: samples for which the drive's torque is held before it is measured anew.
        torque_step: resolution of the torques.
        speeds: whether the log holds speeds.
        position_scale: recorded over true position.
        position_zero: added to the positions.
        gain: recorded over true torque; negative where the sign is reversed.
        delay_s: of the torques against the positions.
        zero: added to the torques from the moment ``since`` on, or growing to it by the end (``ramp``).
        since: share of the log.
        ramp: whether the zero grows.
        deadband: torques below are recorded as zero.
        saturation: torques beyond are recorded as this, before noise.
        clock: recorded over true time.
        lost: share of the samples that are lost while the stamps stay even.
        order: the joint whose torque is in each column.
        degrees: whether positions are in degrees.
    """

    rate_hz: float
    encoder_step: Array
    white: Array
    coloured: Array
    memory_s: float
    hold: int
    torque_step: Array
    speeds: bool
    position_scale: Array
    position_zero: Array
    gain: Array
    delay_s: Array
    zero: Array
    deadband: Array
    saturation: Array
    order: tuple[int, ...]
    since: float = 0.0
    ramp: bool = False
    clock: float = 1.0
    lost: float = 0.0
    degrees: bool = False

    def with_joint(self, joint: int, **values: float) -> Sensors:
        """Other values on one joint."""
        changed = {}
        for key, value in values.items():
            changed[key] = getattr(self, key).copy()
            changed[key][joint] = value
        return replace(self, **changed)


@dataclass(frozen=True, eq=False)
class Experiment:
    """One log to be: a plant along a path, recorded by sensors.

    Args:
        name: of the log.
        plant: what moves.
        path: along which.
        sensors: that record it.
        seed: of its noise.
        later: what the plant becomes in time; None where it stays.
        since: share of the log at which it changes.
        ramp: whether it changes gradually from there to the end.
    """

    name: str
    plant: Plant
    path: Path
    sensors: Sensors
    seed: tuple[int, ...]
    later: Plant | None = None
    since: float = 0.5
    ramp: bool = False


def record(experiment: Experiment, robot: Robot) -> Log:
    """The log that the sensors give, on the motor side where the robot has drives."""
    rng = np.random.default_rng(experiment.seed)
    sensors = experiment.sensors
    factor = max(1, round(FINE_HZ / sensors.rate_hz))
    fine = np.arange(-20 * factor, round(experiment.path.seconds * sensors.rate_hz) * factor)
    fine = fine / (factor * sensors.rate_hz)
    (q, qd, _), tau = _motion(experiment, fine, rng)
    tau = _reported(tau, fine, sensors, rng, experiment.path.seconds)
    rows = slice(20 * factor, None, factor)
    time, q, qd, tau = fine[rows], q[rows], qd[rows], tau[rows]
    q = q * sensors.position_scale + sensors.position_zero
    if np.any(sensors.encoder_step):
        step = np.where(sensors.encoder_step > 0, sensors.encoder_step, 1e-12)
        q = np.round(q / step) * step
    qd = qd * sensors.position_scale
    kept = rng.random(len(time)) >= sensors.lost
    channels = {"position": q[kept], "torque": tau[kept][:, list(sensors.order)]}
    if sensors.speeds:
        rms = np.sqrt(np.mean(qd**2, axis=0))
        channels["velocity"] = qd[kept] + 0.003 * rms * rng.standard_normal((int(kept.sum()), len(rms)))
    stamps = time[: int(kept.sum())] * sensors.clock
    return _on_its_side(Log(experiment.name, stamps, channels), robot, sensors)


def _motion(
    experiment: Experiment, time: Array, rng: np.random.Generator
) -> tuple[tuple[Array, Array, Array], Array]:
    """Motion and torques, from one plant to the other where it changes."""
    seed = rng.integers(2**32)
    state, tau = experiment.plant.torques(experiment.path, time, np.random.default_rng(seed))
    if experiment.later is None:
        return state, tau
    after, other = experiment.later.torques(experiment.path, time, np.random.default_rng(seed))
    weight = _share(time / experiment.path.seconds, experiment.since, experiment.ramp)[:, None]
    mixed = tuple(a + weight * (b - a) for a, b in zip(state, after, strict=True))
    return mixed, tau + weight * (other - tau)


def _share(progress: Array, since: float, ramp: bool) -> Array:
    """0 before a moment of the log; 1 after it, or growing to 1 at the end."""
    if ramp:
        return np.clip((progress - since) / (1 - since), 0, 1)
    return (progress >= since).astype(float)


def _reported(tau: Array, time: Array, sensors: Sensors, rng: np.random.Generator, seconds: float) -> Array:
    """Torques as the drives report them."""
    for j in np.flatnonzero(sensors.delay_s):
        tau[:, j] = np.interp(time - sensors.delay_s[j], time, tau[:, j])
    tau = np.where(np.abs(tau) < sensors.deadband, 0.0, tau)
    tau = np.clip(tau, -sensors.saturation, sensors.saturation)
    tau = tau * sensors.gain
    tau += sensors.zero * _share(time / seconds, sensors.since, sensors.ramp)[:, None]
    pole = float(np.exp(-1 / (sensors.memory_s * len(time) / (time[-1] - time[0]))))
    slow = lfilter([np.sqrt(1 - pole**2)], [1, -pole], rng.standard_normal(tau.shape), axis=0)
    tau += sensors.white * rng.standard_normal(tau.shape) + sensors.coloured * slow
    if sensors.hold > 1:
        fine = max(1, round(FINE_HZ / sensors.rate_hz)) * sensors.hold
        tau = tau[np.arange(len(tau)) // fine * fine]
    step = np.where(sensors.torque_step > 0, sensors.torque_step, 1e-12)
    return np.asarray(np.round(tau / step) * step)


def _on_its_side(log: Log, robot: Robot, sensors: Sensors) -> Log:
    """Signals of the motors where the robot has drives; degrees where they pass for radians."""
    channels, side = dict(log.channels), "joint"
    if (drives := robot.drives) is not None:
        side = "motor"
        channels["position"] = drives.motor_position(channels["position"])
        channels["torque"] = drives.motor_torque(channels["torque"])
        if "velocity" in channels:
            channels["velocity"] = channels["velocity"] @ drives.matrix.T
    if sensors.degrees:
        channels |= {k: np.degrees(v) for k, v in channels.items() if k != "torque"}
    return replace(log, channels=channels, side=side)
