"""Wrong drive gains, noticed by joints that contradict each other about a payload: rates on drawn robots.

``python -m population.payload setting`` prints what the thresholds were set on, ``… showing`` the rates on
the other half, as docs/payload.md has them. Gains of free and loaded logs are wrong alike, as on a robot.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.calibration.joint_views import RULES
from dynid.calibration.payload import PayloadEstimate
from dynid.calibration.payload_identification import identify_payload
from dynid.compile.kernels import kernels
from dynid.core.finding import Name
from dynid.estimators import WLS, identify
from dynid.model.inertia import LinkInertia
from dynid.model.payload import LOADED, UNLOADED, attach_payload
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem import build_problem
from dynid.validation.model import as_model
from population.motions import draw_path
from population.robots import draw_bodies, draw_robot, generator
from support.motions import coloured

Array = NDArray[np.float64]
PLAN = Preparation(decimation=5)
RATE_HZ, SECONDS = 200.0, 10.0
WAYS = ("fixed", "refitted", "difference")
ERRORS = ("white", "coloured", "friction")
"""White errors of 3 %, slow ones of 3 %, and 1 % beside Stribeck friction that the model lacks."""
ARMS = tuple(k for k in range(24) if k % 12 >= 5)
"""Robots of four to seven axes: fewer see too little of a payload to contradict each other."""
SCENARIOS = ("right", "one joint", "half of the joints", "all alike")
"""Which gains are wrong by 20 %."""


@dataclass(frozen=True, eq=False)
class Case:
    """A drawn robot with free and loaded motions."""

    robot: Robot
    motions: tuple[Motion, ...]
    mass: float

    def with_gains(self, gains: Array) -> Case:
        """The same logs, read with other gains."""
        return replace(self, motions=tuple(replace(m, tau=np.asarray(m.tau) * gains) for m in self.motions))

    def estimate(self, way: str) -> PayloadEstimate:
        """The payload; the model of "fixed" comes from the free logs, read with the same gains."""
        free = [replace(m, condition="") for m in self.motions if m.condition == UNLOADED]
        loaded = [m for m in self.motions if m.condition == LOADED]
        if way == "fixed":
            model = as_model(identify(build_problem(self.robot, free, PLAN), WLS()))
            return identify_payload(self.robot, loaded, PLAN, model=model, way=way)
        return identify_payload(self.robot, [*free, *loaded], PLAN, way=way)


def draw_case(half: str, number: int, errors: str) -> Case:
    """Robot, bodies, friction, payload, motions and errors of their own."""
    rng = generator(half, 14, 10 * number + ERRORS.index(errors))
    robot = replace(draw_robot(half, ARMS[number % len(ARMS)]).robot.with_drives(None), parameters={})
    truth = draw_bodies(robot, rng)
    size = {"Ia": 0.2, "Fv": 1.0, "Fc": 1.0, "off": 0.3}
    truth |= {e.name: size[e.symbol] * rng.uniform(0.1, 1.0) for e in robot.table if e.symbol in size}
    mass, edges = rng.uniform(1.0, 5.0), rng.uniform(0.05, 0.2, 3)
    tensor = np.diag(mass / 12 * (np.sum(edges**2) - edges**2))
    payload = LinkInertia.from_com(mass, rng.uniform(-0.1, 0.1, 3), tensor, "payload")
    motions = []
    for _ in range(2):
        path = draw_path(robot, "fourier", rng.uniform(0.6, 1.2), SECONDS, rng)
        for condition in (UNLOADED, LOADED):
            motions.append(_motion(robot, truth, payload if condition == LOADED else None, path, errors, rng))
    named = tuple(replace(m, name=f"{m.condition} {k // 2}") for k, m in enumerate(motions))
    return Case(robot, named, mass)


def _motion(
    robot: Robot,
    truth: dict[str, float],
    payload: LinkInertia | None,
    path: object,
    errors: str,
    rng: np.random.Generator,
) -> Motion:
    time = np.arange(0, SECONDS, 1 / RATE_HZ)
    q, qd, qdd = path.at(time)  # type: ignore[attr-defined]
    bare = robot.with_parameters(truth)
    arm = bare if payload is None else attach_payload(bare, payload)
    tau = kernels(arm).inverse(arm.table.vector(arm.parameters), q, qd, qdd)
    rms = np.sqrt(np.mean(tau**2, axis=0))
    white = rng.normal(size=tau.shape) * rms
    if errors == "white":
        noise = 0.03 * white
    elif errors == "coloured":
        noise = coloured(rng, tau.shape, 0.03 * rms, pole=np.exp(-1 / (0.16 * RATE_HZ)))
    else:
        dry = np.array([truth.get(f"Fc{robot.joints[j].label}", 0.0) for j in robot.coordinates])
        noise = 0.01 * white + 0.5 * dry * np.sign(qd) * np.exp(-np.abs(qd) / 0.1)
    condition = UNLOADED if payload is None else LOADED
    return Motion("", time, q, qd, qdd, tau + noise, RATE_HZ, condition=condition)


def gains_of(scenario: str, joints: int, rng: np.random.Generator) -> Array:
    """Factors of the torques of each joint."""
    gains = np.ones(joints)
    count = {"right": 0, "one joint": 1, "half of the joints": joints // 2, "all alike": joints}[scenario]
    gains[rng.permutation(joints)[:count]] = rng.choice([0.8, 1.2])
    return gains


def outcomes(half: str, cases: int) -> Iterator[tuple[str, str, str, PayloadEstimate]]:
    """Errors, scenario, way and estimate of every case."""
    for number in range(cases):
        for errors in ERRORS:
            case = draw_case(half, number, errors)
            rng = generator(half, 15, number)
            for scenario in SCENARIOS:
                wrong = case.with_gains(gains_of(scenario, case.robot.n_coordinates, rng))
                for way in WAYS:
                    yield errors, scenario, way, wrong.estimate(way)


def largest(found: PayloadEstimate) -> tuple[float, float]:
    """σ and share of the joint that differs most, among those that differ enough."""
    rows = found.facts.get("joint_factors", [])
    wide = [(abs(f - 1) / s, abs(f - 1)) for _, f, s in rows if abs(f - 1) > RULES.share]
    return max(wide, default=(0.0, 0.0))


def main(half: str, cases: int) -> None:
    """Print rates as a table, and for the half that sets thresholds the largest figures of sound logs."""
    noticed: dict[tuple[str, str, str], list[bool]] = {}
    sound: list[tuple[float, float]] = []
    for errors, scenario, way, found in outcomes(half, cases):
        told = any(f.name is Name.MOTORS_CONTRADICT for f in found.findings)
        noticed.setdefault((errors, scenario, way), []).append(told)
        if scenario in ("right", "all alike"):
            sound.append(largest(found))
    print("| errors | gains wrong by 20 % | " + " | ".join(WAYS) + " |\n|---|---|" + "---|" * len(WAYS))
    for errors in ERRORS:
        for scenario in SCENARIOS:
            cells = [noticed[errors, scenario, way] for way in WAYS]
            print(f"| {errors} | {scenario} | " + " | ".join(f"{sum(c)} of {len(c)}" for c in cells) + " |")
    if half == "setting":
        print("sound logs, largest σ beyond the share:", sorted(sound, reverse=True)[:12])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 40)
