"""Arms whose sensors are made coarser: quick logs with known truth."""

from __future__ import annotations

from functools import cache

import numpy as np

from dynid.logs.log import Log
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.preparation.preparation import Preparation
from dynid.simulation.controller import Controller, Velocity
from dynid.simulation.inertia import joint_inertias
from dynid.simulation.laws import Bandwidth
from dynid.simulation.sensors import Sensors
from dynid.simulation.simulation import simulate
from dynid.trajectories.sines import Sines

PERIOD = 1e-3
PLAN = Preparation(cutoff_hz=30.0, decimation=10, drop_samples=100)


@cache
def scara() -> Robot:
    return load_robot("scara")


@cache
def law() -> Controller:
    own = Controller(Bandwidth((60.0, 100.0)), PERIOD, Velocity("exact"), posture=(0.0, 0.0))
    return own.scaled(joint_inertias(scara(), scara().table.vector(scara().parameters), own).tolist())


@cache
def scara_log(seed: int = 0, seconds: float = 12.0, noise: float = 0.03) -> Log:
    """Sines up to 1.3 Hz, torque noise, exact encoders; the reference is in the log."""
    rng = np.random.default_rng(seed)
    phases = tuple(map(tuple, rng.uniform(0, 2 * np.pi, (2, 2)).tolist()))
    path = Sines(((0.9, 0.35), (0.8, 0.25)), ((0.3, 1.1), (0.4, 1.3)), phases).sample(PERIOD, seconds)
    sensors = Sensors(torque_noise_relative=noise)
    log = simulate(scara(), None, law(), path, sensors=sensors, rng=rng, name="sines").log
    held = log.array("torque")  # a torque that is held belongs to the middle of its sample
    channels = {
        "position": log.array("position")[1:],
        "torque": (held[:-1] + held[1:]) / 2,
        "reference": path.q[1 : len(held)],
    }
    return Log("sines", log.time[1:], channels)
