"""Closed loops drawn at random around the SCARA: sound ones, and ones under another law than believed."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.base import base_of
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.preparation.preparation import Preparation
from dynid.problem import LoopProblem, build_loop_problem
from dynid.simulation import (
    PID,
    Bandwidth,
    Controller,
    Disturbances,
    Sensors,
    Simulation,
    Sines,
    Velocity,
    simulate,
)
from dynid.simulation.inertia import joint_inertias
from support.motions import coloured

Array = NDArray[np.float64]
SOUND = ("white", "disturbed", "coloured", "quantised", "ripple", "stribeck")
"""Errors of the torques under the right law; ripple and Stribeck friction are not in the model."""
WRONG = ("integral", "kp", "kd", "reference speed", "delay", "feed-forward")
"""What the law that is believed in has wrong."""


@dataclass(frozen=True, eq=False)
class DrawnLoop:
    """A problem of torques alone, and its truth."""

    problem: LoopProblem
    truth: Array


def drawn_loop(kind: str, seed: int) -> DrawnLoop:
    """A robot, a motion, gains and noise by the seed; wrong gains are 10 to 35 % off."""
    rng = np.random.default_rng((99, seed))
    robot = _robot(rng)
    period, seconds = float(rng.choice([2e-3, 5e-3])), float(rng.choice([20.0, 40.0]))
    frequencies = np.column_stack([rng.uniform(0.1, 0.4, 2), rng.uniform(0.4, 1.0, 2)])
    drawn = (rng.uniform(0.3, 1.0, (2, 2)), frequencies, rng.uniform(0, 2 * np.pi, (2, 2)))
    followed = Sines(*(tuple(map(tuple, part.tolist())) for part in drawn)).sample(period, seconds)
    true, believed = _laws(kind, robot, period, rng)
    noise = Sensors(
        position_noise=float(rng.choice([0.0, 4e-5])), torque_noise_relative=float(rng.choice([0.01, 0.03]))
    )
    pushed = Disturbances(noise_relative=0.025 if kind == "disturbed" else 0.0)
    run = simulate(robot, None, true, followed, sensors=noise, disturbances=pushed, rng=rng)
    tau = _torques(kind, run, robot, rng)
    log = replace(run.log, channels={"torque": tau})
    decimation = int(np.clip(0.05 / (period * frequencies.max()), 1, 40))
    problem = build_loop_problem(robot, [log], believed, [followed], Preparation(decimation=decimation))
    return DrawnLoop(problem, base_of(robot).regroup(robot.parameters))


def _robot(rng: np.random.Generator) -> Robot:
    robot, size = load_robot("scara"), float(np.exp(rng.normal(0, 0.5)))
    friction = dict(zip(("Fv1", "Fv2", "Fc1", "Fc2"), np.exp(rng.normal(0, 0.4, 4)).tolist(), strict=True))
    return robot.with_parameters(
        {name: size * friction.get(name, 1.0) * value for name, value in robot.parameters.items()}
    )


def _laws(kind: str, robot: Robot, period: float, rng: np.random.Generator) -> tuple[Controller, Controller]:
    """The law that the robot runs under, and the one that is believed in."""
    w = 2 * np.pi * np.array([rng.uniform(1.5, 4.0), rng.uniform(3.0, 8.0)])
    probe = Controller(Bandwidth(tuple(w)), period, posture=(0.0, 0.0))
    J = np.array(joint_inertias(robot, robot.table.vector(robot.parameters), probe))
    kp, kd = w**2 * J, 2 * w * J
    ki = tuple(kp * w * rng.uniform(0.05, 0.3))
    velocity, beta = Velocity(str(rng.choice(["backward", "exact"]))), float(rng.choice([0.0, 1.0]))
    plain = PID(tuple(kp), tuple(kd), ki if rng.random() < 0.4 else 0.0, beta)
    true = believed = Controller(plain, period, velocity)
    off = float(np.exp(rng.choice([-1.0, 1.0]) * rng.uniform(0.1, 0.3)))
    if kind == "integral":
        true, believed = (replace(true, law=replace(plain, ki=k)) for k in (ki, (0.0, 0.0)))
    elif kind in ("kp", "kd"):
        gain = tuple(off * np.array(getattr(plain, kind)))
        believed = replace(true, law=replace(plain, **{kind: gain}))
    elif kind == "reference speed":
        believed = replace(true, law=replace(plain, reference_speed=0.9 if beta else 0.1))
    elif kind == "delay":
        true = replace(true, delay=1)
    elif kind == "feed-forward":
        true = replace(true, law=replace(plain, acceleration=tuple(0.5 * J)))
    return true, believed


def _torques(kind: str, run: Simulation, robot: Robot, rng: np.random.Generator) -> Array:
    tau = run.log.array("torque")
    rms = tau.std(axis=0)
    if kind == "coloured":
        pole = float(np.exp(-2 * np.pi * 1.5 / run.log.rate_hz))
        return np.asarray(tau + coloured(rng, tau.shape, 0.02 * rms, pole))
    if kind == "quantised":
        return np.asarray(0.05 * rms * np.round(tau / (0.05 * rms)))
    if kind == "ripple":
        return np.asarray(tau + 0.02 * rms * np.sin(12 * run.q))
    if kind == "stribeck":
        dry = np.array([robot.parameters["Fc1"], robot.parameters["Fc2"]])
        return np.asarray(tau + 0.2 * dry * np.sign(run.qd) * np.exp(-np.abs(run.qd) / 0.1))
    return tau
