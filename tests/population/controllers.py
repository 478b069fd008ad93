"""Controllers with and without a model inside: what is said of them, and what is found in them.

``python -m population.controllers setting`` prints what the threshold was set on, ``… showing`` the rates on
the other half, as docs/online.md has them.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.compile.kernels import kernels
from dynid.core.finding import Level
from dynid.logs.log import Log
from dynid.model.joint import Joint
from dynid.model.robot import Robot
from dynid.simulation.controller import Controller, Velocity
from dynid.simulation.law import Law
from dynid.simulation.laws import PID, Cascade, ComputedTorque
from dynid.simulation.sensors import Sensors
from dynid.simulation.simulation import simulate
from dynid.trajectories.point_to_point import PointToPoint, random_poses
from dynid.trajectories.reference import Reference
from dynid.workflow.controller_model import ControllerModel, identify_controller_model
from population.robots import generator
from support.robots import random_link

Array = NDArray[np.float64]
WITHOUT = ("PD", "stiff PD", "PID", "cascade", "PD with acceleration")
WITH = ("PD with model", "PD with wrong model", "PD with weight", "computed torque")
ARMS = 24


@dataclass(frozen=True, eq=False)
class DrawnController:
    """One arm under one controller, with what it logged.

    Args:
        robot: the arm, with friction.
        kind: one of WITHOUT and WITH.
        log: commanded and measured positions, commanded torques.
        model: parameters that the controller has; empty where it has none.
    """

    robot: Robot
    kind: str
    log: Log
    model: Mapping[str, float]

    def found(self, **options: bool) -> ControllerModel:
        """What is found inside it."""
        return identify_controller_model(self.robot, self.log, **options)  # type: ignore[arg-type]

    def model_error(self, found: ControllerModel) -> float:
        """Torque of the found model less the controller's along the reference, rms over joints [%]."""
        reference = Reference(1e-3, self.log.array("reference"))
        assert reference.qd is not None
        assert reference.qdd is not None
        states = (x[::50] for x in (reference.q, reference.qd, reference.qdd))
        W = kernels(self.robot, found.base.columns).regressor(*states)
        symbols = [self.robot.table.entries[c].family for c in found.base.columns]
        bodies = np.array([family != "friction" for family in symbols])
        own, true = (W * bodies) @ found.values, W @ found.base.regroup(self.model)
        share = np.mean((own - true) ** 2, axis=0) / np.maximum(np.mean(true**2, axis=0), 1e-12)
        return 100 * float(np.sqrt(np.mean(share)))


def draw_controller(half: str, number: int, kind: str) -> DrawnController | None:
    """A random arm of 2 to 6 axes under a controller of a kind; None where the loop is not stable.

    Stiffness of 2 to 8 Hz (stiff: 8 to 20), friction of 5 % to 150 % of the usual, encoders of 1e-6 to 1e-4
    rad with speeds of three kinds, torque noise up to 1 %, a log that reads the encoders another time, models
    that are exact or off by up to 30 % per link.
    """
    rng = generator(half, 16, number)
    robot = _arm(rng)
    n = robot.n_coordinates
    top = float(np.exp(rng.uniform(np.log(0.4), np.log(2.5))))
    poses = random_poses(np.full(n, -2.0), np.full(n, 2.0), 40, rng)
    fastest, dwell = np.full(n, top * rng.uniform(1, 4)), float(rng.choice([0, 0.3]))
    whole = PointToPoint(poses, np.full(n, top), fastest, cruise=0.2, dwell=dwell).sample(1e-3)
    assert whole.qd is not None
    assert whole.qdd is not None
    reference = replace(whole, q=whole.q[:14000], qd=whole.qd[:14000], qdd=whole.qdd[:14000])
    wrong, again = float(rng.choice([0.1, 0.3])), float(rng.choice([0.0, 1e-5, 5e-5]))
    velocity = (Velocity("exact"), Velocity("backward"), Velocity("filtered", 50.0))[int(rng.integers(3))]
    sensors = Sensors(
        position_noise=float(np.exp(rng.uniform(np.log(1e-6), np.log(1e-4)))),
        torque_noise_relative=float(rng.choice([0.0, 0.002, 0.01])),
    )
    own = np.random.default_rng([*rng.integers(2**31, size=2), (*WITHOUT, *WITH).index(kind)])
    model = _believed(robot, own, 0.0 if kind in ("PD with model", *WITHOUT) else wrong)
    if kind == "PD with weight":
        model = {name: value if name[0] == "M" else 0.0 for name, value in model.items()}
        if np.ptp(kernels(robot).gravity(model, reference.q)) == 0:
            return None  # all axes upright: there is no weight to feed forward
    law = _law(robot, reference, kind, model, own)
    fed = model if kind.startswith("PD with") and kind != WITHOUT[-1] else None
    controller = Controller(law, 1e-3, velocity, feedforward=fed)
    done = simulate(robot, None, controller, reference, sensors=sensors, rng=own)
    if done.outcome.level is Level.FAIL:
        return None
    channels = dict(done.log.channels)
    channels["position"] = done.log.array("position") + again * own.standard_normal(reference.q.shape)
    return DrawnController(robot, kind, replace(done.log, channels=channels), model if kind in WITH else {})


def _arm(rng: np.random.Generator) -> Robot:
    n = int(rng.choice([2, 3, 4, 5, 6]))
    joints = [
        Joint(
            f"joint{i + 1}",
            i - 1,
            alpha=float(rng.choice([0.0, math.pi / 2, -math.pi / 2])) if i else 0.0,
            d=float(rng.choice([0.0, rng.uniform(0.1, 0.5)])) if i else 0.0,
            r=float(rng.choice([0.0, rng.uniform(-0.4, 0.4)])),
        )
        for i in range(n)
    ]
    tilt = (float(rng.choice([0.0, 9.81])), 0.0, -9.81)
    arm = replace(Robot("drawn", tuple(joints)).with_terms("Ia", "Fv", "Fc", "off"), gravity=tilt)
    friction = float(np.exp(rng.uniform(np.log(0.05), np.log(1.5))))
    values: dict[str, float] = {}
    for i, joint in enumerate(arm.joints):
        values |= {k: v * (n - i) for k, v in random_link(rng).by_name(joint.label).items()}
    for entry in arm.table:
        if entry.family != "inertial":
            scale = {"Ia": 0.3, "Fv": friction, "Fc": 2 * friction, "off": 0.3 * friction}[entry.symbol]
            values[entry.name] = scale * float(rng.uniform(0.3, 1.5))
    return arm.with_parameters(values)


def _believed(robot: Robot, rng: np.random.Generator, wrong: float) -> dict[str, float]:
    """The arm without friction, each link too light or too heavy."""
    scale = {joint.label: 1 + wrong * rng.uniform(-1, 1) for joint in robot.joints}
    factors = {"friction": 0.0, "drive": 1.0}
    return {
        entry.name: factors.get(entry.family, scale[entry.name.removeprefix(entry.symbol)])
        * robot.parameters[entry.name]
        for entry in robot.table
    }


def _law(
    robot: Robot, reference: Reference, kind: str, model: Mapping[str, float], rng: np.random.Generator
) -> Law:
    """Critically damped on the least inertia that a joint has when the others are free."""
    hertz = rng.uniform(8, 20) if kind == "stiff PD" else np.exp(rng.uniform(np.log(2), np.log(8)))
    w = 2 * math.pi * float(hertz)
    M = kernels(robot).inertia_matrix(robot.parameters, reference.q[::200])
    free = 1 / np.einsum("kii->ki", np.linalg.inv(M))
    kp, kd = tuple(free.min(axis=0) * w**2), tuple(2 * free.min(axis=0) * w)
    if kind == "PID":
        return PID(kp, kd, tuple(np.array(kp) * rng.uniform(0.3, 1.5)))
    if kind == "cascade":
        beta = float(rng.choice([0.0, 0.7, 1.0]))
        return Cascade(w / 2, kd, float(rng.uniform(0.5, 3.0)), reference_speed=beta)
    if kind == "PD with acceleration":
        return PID(kp, kd, acceleration=tuple(np.median(free, axis=0)))
    if kind == "computed torque":
        return ComputedTorque(robot.with_parameters(model), w**2, 2 * w)
    return PID(kp, kd)


def tell(half: str) -> None:
    """Rates and figures by kind."""
    for kind in (*WITHOUT, *WITH):
        drawn = [one for k in range(ARMS) if (one := draw_controller(half, k, kind)) is not None]
        found = [one.found() for one in drawn]
        alone = [model.verdict.figures["own_axis_percent"] for model in found]
        counts = [sum(model.verdict.level is level for model in found) for level in Level]
        levels = ", ".join(f"{n} {level.word}" for n, level in zip(counts, Level, strict=True) if n)
        line = f"{kind:20} {len(drawn):3} loops; left {min(alone):.2g} … {max(alone):.2g} %; {levels}"
        if kind in WITH:
            errors = [
                [one.model_error(model) for one, model in zip(drawn, models, strict=True)]
                for models in (found, [one.found(feedback=False) for one in drawn])
            ]
            shown = (f"{np.median(own):.2g} % ({np.percentile(own, 90):.2g})" for own in errors)
            line += "; model off by {} with feedback told apart, {} without".format(*shown)
        print(line, flush=True)


if __name__ == "__main__":
    tell(sys.argv[1])
