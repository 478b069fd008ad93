"""A case: what a user has (a robot file and logs) and what he cannot know (the plant and a clean motion)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid.logs.log import Log
from dynid.model.joint import JointKind
from dynid.model.robot import Robot
from population.motions import Path, draw_path
from population.plant import Drive, Plant
from population.robots import HALVES, ROBOTS, SEED, draw_bodies, draw_robot, generator
from population.sensors import Experiment, Sensors, record

Array = NDArray[np.float64]
_CLEAN_HZ = 250.0
_MOST_SAMPLES = 45_000
"""Samples of all logs of a case together: what keeps a fit near a second."""


@dataclass(frozen=True, eq=False)
class Clean:
    """A motion that no log shows, as it truly is: q, q̇, q̈, τ (samples, joints), and rows that count."""

    q: Array
    qd: Array
    qdd: Array
    tau: Array

    @cached_property
    def counted(self) -> NDArray[np.bool_]:
        """Rows in which a joint is faster than a twentieth of its top speed."""
        return np.asarray(np.abs(self.qd) > 0.05 * np.max(np.abs(self.qd), axis=0))

    def errors(self, predicted: Array) -> tuple[float, Array]:
        """‖τ − τ̂‖ / ‖τ‖ over all joints, and per joint, over the rows that count."""
        wrong = np.sum(((self.tau - predicted) * self.counted) ** 2, axis=0)
        size = np.sum((self.tau * self.counted) ** 2, axis=0)
        return float(np.sqrt(wrong.sum() / size.sum())), np.sqrt(wrong / size)


@dataclass(frozen=True, eq=False)
class Case:
    """A robot, its logs and its truth.

    Args:
        half: "setting" or "showing".
        index: number of the case in it.
        robot: as the user's file has it.
        plant: the truth.
        experiments: the logs to be.
        unseen: path of the clean motion.
        torque: rms torque of each joint along the first path, (joints,).
        speed: its top speed.
        defect: name of what is wrong; "sound" where nothing is.
        grade: size of the defect as it is listed, such as 5 (degrees).
        size: the same in SI, as a judge should tell it; None where there is none to tell.
        joint: the axis concerned, from 0; None where all are.
    """

    half: str
    index: int
    robot: Robot
    plant: Plant
    experiments: tuple[Experiment, ...]
    unseen: Path
    torque: Array
    speed: Array
    defect: str = "sound"
    grade: float = 0.0
    size: float | None = None
    joint: int | None = None

    @property
    def axes(self) -> int:
        """Number of joints."""
        return self.robot.n_coordinates

    @cached_property
    def logs(self) -> tuple[Log, ...]:
        """What was recorded."""
        drives = self.plant.robot.drives
        return tuple(record(e, self.robot.with_drives(drives)) for e in self.experiments)

    @cached_property
    def clean(self) -> Clean:
        """The motion that no log shows; differences behind springs are cut off at its ends."""
        time = np.arange(0, self.unseen.seconds, 1 / _CLEAN_HZ)
        state, tau = self.plant.torques(self.unseen, time, np.random.default_rng(0))
        return Clean(*(part[5:-5] for part in (*state, tau)))


def draw_case(half: str, index: int) -> Case:
    """The sound case of a number: what real logs carry is in it, mildly and at random."""
    rng = generator(half, 2, index)
    robot = draw_robot(half, index % ROBOTS).robot
    kind = "fourier" if rng.random() < 0.6 else "moves"
    speed = float(np.exp(rng.uniform(np.log(0.3), np.log(1.5))))
    n_logs = int(rng.choice([1, 1, 2, 3, 4, 5]))
    shortest = 8.0 if kind == "fourier" and robot.n_coordinates < 5 else 16.0
    seconds = np.exp(rng.uniform(np.log(shortest), np.log(60.0 / np.sqrt(n_logs)), n_logs))
    paths = [draw_path(robot, kind, speed, float(s), rng) for s in seconds]
    unseen = draw_path(robot, kind, speed, 12.0, rng)
    bodies = draw_bodies(robot, rng)
    bare = replace(robot, parameters={})
    plant = Plant(bare, bodies, _no_drive(robot.n_coordinates))
    state = paths[0].at(np.arange(0, paths[0].seconds, 0.01))
    top = np.max(np.abs(state[1]), axis=0)
    drive = _drawn_drive(bare, plant.link_torques(state), state, top, rng)
    plant = replace(plant, drive=drive)
    along = plant.torques(paths[0], np.arange(0, paths[0].seconds, 0.01), rng)[1]
    torque = np.sqrt(np.mean(along**2, axis=0))
    sensors = _draw_sensors(bare, torque, float(seconds.sum()), rng)
    key = (SEED, HALVES.index(half), 3, index)
    experiments = tuple(
        Experiment(f"log{i + 1}", plant, path, sensors, (*key, i)) for i, path in enumerate(paths)
    )
    return Case(half, index, robot.with_parameters({}), plant, experiments, unseen, torque, top)


def _no_drive(n: int) -> Drive:
    ones = {"stribeck_speed": np.ones(n), "presliding": np.ones(n)}
    names = [name for name in Drive.__dataclass_fields__ if name not in ones]
    return Drive(**{name: np.zeros(n) for name in names}, **ones)


def _drawn_drive(
    robot: Robot, link: Array, state: tuple[Array, Array, Array], top: Array, rng: np.random.Generator
) -> Drive:
    """Drives sized by what their links ask for, with a little of what linear models lack."""
    n = len(top)

    def some(low: float, high: float, chance: float = 1.0) -> Array:
        return rng.uniform(low, high, n) * (rng.random(n) < chance)

    accelerations = np.sqrt(np.mean(state[2] ** 2, axis=0))
    asked = np.sqrt(np.mean(link**2, axis=0))
    strength = float(np.exp(rng.uniform(np.log(0.4), np.log(4.0))))  # how much of all this there is
    Fc = asked * some(0.1, 0.5)
    Fv = asked * some(0.1, 0.5) / top
    total = np.sqrt(asked**2 + Fc**2 + (0.5 * Fv * top) ** 2)
    prismatic = np.array([robot.joints[c].kind is JointKind.PRISMATIC for c in robot.coordinates])
    return replace(
        _no_drive(n),
        Ia=asked / accelerations * some(0.1, 0.5),
        Fv=Fv,
        Fc=Fc,
        off=total * some(-0.03, 0.03),
        stribeck=strength * Fc * some(0, 0.3, 0.6),
        stribeck_speed=top * some(0.02, 0.08),
        flattening=strength * Fv / top * some(0, 0.25, 0.6),
        load=strength * some(0, 0.03, 0.5),
        asymmetry=strength * Fv * some(0, 0.08, 0.5),
        ripple=strength * total * some(0, 0.03, 0.7),
        ripple_turns=np.where(prismatic, 4.0, 1.0) * rng.integers(5, 60, n),
        compliance=1 / (asked / accelerations * 1.5 * (2 * np.pi * some(18, 50)) ** 2),
        presliding=top * some(0.002, 0.01),
    )


def _draw_sensors(robot: Robot, torque: Array, seconds: float, rng: np.random.Generator) -> Sensors:
    """Encoders, drives and clocks that are as good as they usually are; long logs have lower rates."""
    n = len(torque)
    rates = np.array([50, 100, 125, 200, 250, 500, 500, 1000, 1000])
    rate = float(rng.choice(rates[rates * seconds < _MOST_SAMPLES]))
    prismatic = np.array([robot.joints[c].kind is JointKind.PRISMATIC for c in robot.coordinates])
    step = 2 * np.pi / 2.0 ** rng.integers(14, 23) * np.where(prismatic, 0.05, 1.0)
    return Sensors(
        rate_hz=rate,
        encoder_step=step,
        white=torque * float(np.exp(rng.uniform(np.log(0.003), np.log(0.05)))) * rng.uniform(0.7, 1.4, n),
        coloured=torque * float(np.exp(rng.uniform(np.log(0.003), np.log(0.03)))) * rng.uniform(0.7, 1.4, n),
        memory_s=float(np.exp(rng.uniform(np.log(0.01), np.log(1.0)))),
        hold=int(rng.choice([1, 1, 2, 4]))
        if rate == 1000
        else int(rng.choice([1, 1, 2]))
        if rate == 500
        else 1,
        torque_step=torque * float(rng.choice([0.0, 0.002, 0.01])),
        speeds=bool(rng.random() < 0.25),
        position_scale=np.ones(n),
        position_zero=np.zeros(n),
        gain=np.ones(n),
        delay_s=np.zeros(n),
        zero=np.zeros(n),
        deadband=np.zeros(n),
        saturation=np.full(n, np.inf),
        order=tuple(range(n)),
    )
