"""Arms that carry drawn payloads under a control law, free and loaded, with errors as logs have them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dynid.model.inertia import LinkInertia
from dynid.model.payload import LOADED, UNLOADED, attach_payload
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.simulation import Controller, Reference, Sensors, simulate
from support import loop_arms
from support.coverage import Errors

Array = NDArray[np.float64]
SECONDS = 25.0
NOISY = Errors(encoder=2e-5, torque=0.03, colour=0.01)
"""White noise of 3 % and a slow error of 1 % of each joint's torque: fits of the measured TX40 log leave 3.7
to 5 %, of which the model's own errors are a part."""


@dataclass(frozen=True)
class PayloadArm:
    """A robot, its law and how its logs are prepared."""

    robot: Robot
    controller: Controller
    plan: Preparation
    offsets: tuple[float, ...]
    largest: float
    told: float = 0.0
    """Share of the payload that the controller was told of and feeds forward, with the arm itself; none when
    0. Without it a light wrist sags under the load, and free and loaded runs are not one motion."""

    def reference(self, seed: int, seconds: float = SECONDS) -> Reference:
        """Five sines per joint, drawn."""
        return loop_arms.sines(
            self.robot, seconds, share=0.8, seed=seed, offsets=self.offsets, largest=self.largest
        )


@cache
def arm_named(name: str) -> PayloadArm:
    """The TX40 or the iiwa of the closed-loop tests."""
    if name == "tx40":
        arm, offsets, largest, told = loop_arms.tx40(1.0), (), np.inf, 0.0
    else:
        arm, largest, told = loop_arms.iiwa(1.0), 0.65, 0.9
        offsets = tuple(np.deg2rad([0.0, 50.0, 0.0, -80.0, 0.0, 60.0, 0.0]))
    n = arm.robot.n_coordinates
    plan = Preparation(cutoff_hz=60.0, decimation=25, drop_samples=200, speed_thresholds=(0.1,) * n)
    return PayloadArm(arm.robot, arm.controller, plan, offsets, largest, told)


def drawn_payload(rng: np.random.Generator) -> LinkInertia:
    """A box of 1 to 5 kg, 5 to 15 cm wide, some way off the flange."""
    mass, edges = rng.uniform(1.0, 5.0), rng.uniform(0.05, 0.15, 3)
    centre = rng.uniform((-0.04, -0.04, 0.05), (0.04, 0.04, 0.15))
    x2, y2, z2 = edges**2
    turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    tensor = turn @ (mass / 12 * np.diag([y2 + z2, x2 + z2, x2 + y2])) @ turn.T
    return LinkInertia.from_com(mass, centre, (tensor + tensor.T) / 2, "payload")


def taken(
    arm: PayloadArm,
    payload: LinkInertia | None,
    seed: int,
    rng: np.random.Generator,
    errors: Errors = NOISY,
    gains: Sequence[float] | None = None,
    seconds: float = SECONDS,
) -> Motion:
    """A prepared motion of the arm with or without a payload; wrong gains scale the logged torques."""
    robot = arm.robot if payload is None else attach_payload(arm.robot, payload)
    told = {name: (arm.told if name.endswith("L") else 1.0) * v for name, v in robot.parameters.items()}
    made = simulate(
        robot,
        None,
        replace(arm.controller, feedforward=told) if arm.told else arm.controller,
        arm.reference(seed, seconds),
        sensors=Sensors(position_noise=errors.encoder),
        rng=rng,
    )
    log = errors.log(made, rng)
    if gains is not None:
        log = replace(log, channels={**log.channels, "torque": log.channels["torque"] * np.array(gains)})
    condition = UNLOADED if payload is None else LOADED
    return prepare(replace(log, name=f"{condition} {seed}", condition=condition), arm.plan)
