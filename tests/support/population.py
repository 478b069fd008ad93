"""A population of arms, motions, noises and frictions, drawn from a seed, on which choices are measured.

Torques are exact along exact derivatives; positions, speeds and torques are then spoiled as sensors do. What
is asked of a preparation: how far the parameters it leads to are off, as torque along a clean motion that was
not used, and how well they predict the torque there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.base import BaseMap, find_base
from dynid.compile.kernels import kernels
from dynid.estimators import WLS
from dynid.logs.log import Log
from dynid.model.joint import Joint
from dynid.model.robot import Robot
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.problem import build_problem
from support.motions import coloured
from support.robots import random_link

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Drawn:
    """One robot with one log and one clean motion that was not used.

    Args:
        base: base parameters of the robot.
        truth: their values.
        log: joint side, as a sensor gives it.
        clean: regressor of the unseen motion, (joints, base, samples).
        speed: along it, (joints, samples).
        lacking: torque along it that the model does not have, (joints, samples).
        kind: what was drawn, in words.
    """

    base: BaseMap
    truth: Array
    log: Log
    clean: Array
    speed: Array
    lacking: Array
    kind: dict[str, object]

    def errors(self, plan: Preparation) -> Array:
        """Torque errors of a fit under a plan along the clean motion, over the torque, (3,).

        Those of the parameters alone, then those of the prediction: where a joint is faster than a twentieth
        of its largest speed, and everywhere.
        """
        problem = build_problem(self.base.robot, [prepare(self.log, plan)], plan, self.base)
        off = np.einsum("jcs,c->js", self.clean, WLS().fit(problem).values - self.truth)
        size = np.mean(np.einsum("jcs,c->js", self.clean, self.truth) ** 2, axis=1)
        fast = np.abs(self.speed) > 0.05 * np.max(np.abs(self.speed), axis=1)[:, None]
        wrong = (off - self.lacking) ** 2
        shares = (
            np.mean(off**2, axis=1) / size,
            np.sum(wrong * fast, axis=1) / np.sum(fast, axis=1) / size,
            np.mean(wrong, axis=1) / size,
        )
        return np.sqrt(np.mean(shares, axis=1))


def draw(seed: int) -> Drawn:
    """The robot, log and clean motion of a seed."""
    rng = np.random.default_rng([2026, seed])
    base, truth = _arm(rng)
    n = base.robot.n_coordinates
    rate = float(rng.choice([100, 250, 500, 1000]))
    seconds, top = float(rng.uniform(8, 40)), float(np.exp(rng.uniform(np.log(0.3), np.log(2.0))))
    rests = bool(rng.random() < 0.3)
    motions = [_motion(rng, n, rate, s, top, rests) for s in (seconds, 15.0)]
    friction = str(rng.choice(["coulomb", "coulomb", "smooth", "stribeck", "flat"]))
    shape = rng.uniform(0.005, 0.04), rng.uniform(0.2, 0.8)
    lacking = [_lacking(base, truth, qd, friction, *shape) for _, qd, _ in motions]
    regressors = [kernels(base.robot, base.columns).regressor_blocks(*motion) for motion in motions]
    tau = np.einsum("jcs,c->sj", regressors[0], truth) + lacking[0].T
    size = np.sqrt(np.mean(tau**2, axis=0))
    noisy = tau + rng.uniform(0.005, 0.08) * size * rng.standard_normal(tau.shape)
    noisy += coloured(rng, tau.shape, rng.uniform(0.0, 0.04) * size, float(rng.uniform(0.8, 0.99)))
    (q, qd, _), noise = motions[0], float(np.exp(rng.uniform(np.log(1e-6), np.log(3e-3))))
    channels = {"position": q + noise * rng.standard_normal(q.shape), "torque": noisy}
    speeds = str(rng.choice(["none", "sharp", "rough", "late", "differences"]))
    if speeds != "none":
        channels["velocity"] = _logged_speed(rng, qd, channels["position"], rate, speeds)
    log = Log(f"drawn {seed}", np.arange(len(q)) / rate, channels)
    kind: dict[str, object] = {
        "axes": n,
        "rate": rate,
        "seconds": seconds,
        "top": top,
        "rests": rests,
        "friction": friction,
    }
    return Drawn(
        base,
        truth,
        log,
        regressors[1],
        motions[1][1].T,
        lacking[1],
        kind | {"noise": noise, "speeds": speeds},
    )


def _arm(rng: np.random.Generator) -> tuple[BaseMap, Array]:
    """A random serial arm with bodies that can exist, drive inertias and friction."""
    n = int(rng.choice([1, 2, 3, 4, 6]))
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
    values: dict[str, float] = {}
    for i, joint in enumerate(arm.joints):
        values |= {k: v * (n - i) for k, v in random_link(rng).by_name(joint.label).items()}
    for entry in arm.table:
        if entry.family != "inertial":
            scale = {"Ia": 0.3, "Fv": 1.0, "Fc": 2.0, "off": 0.5}[entry.symbol]
            values[entry.name] = scale * float(rng.uniform(0.3, 1.5))
    arm = arm.with_parameters(values)
    base = find_base(arm)
    return base, base.regroup(arm.parameters)


def _motion(
    rng: np.random.Generator, n: int, rate: float, seconds: float, top: float, rests: bool
) -> tuple[Array, Array, Array]:
    """Sines below ``top``, at rest now and then: q, q̇, q̈, exact but for rests, each (samples, axes)."""
    t = np.arange(round(seconds * rate)) / rate
    w = 2 * np.pi * rng.uniform(0.1 * top, top, (5, n))
    size, phase = rng.uniform(0.3, 1.0, (5, n)) * rng.uniform(0.3, 1.0), rng.uniform(0, 2 * np.pi, (5, n))
    if rests:  # time itself stands still and goes on smoothly: s = t − sin(ωt)/ω
        pause = 2 * np.pi / rng.uniform(2.0, 6.0)
        s, ds, dds = t - np.sin(pause * t) / pause, 1 - np.cos(pause * t), pause * np.sin(pause * t)
    else:
        s, ds, dds = t, np.ones_like(t), np.zeros_like(t)
    angle = s[:, None, None] * w + phase
    slope = np.sum(size * np.cos(angle), axis=1)
    q = np.sum(size / w * np.sin(angle), axis=1)
    qdd = np.sum(-size * w * np.sin(angle), axis=1) * ds[:, None] ** 2 + slope * dds[:, None]
    return q, slope * ds[:, None], qdd


def _lacking(base: BaseMap, truth: Array, qd: Array, friction: str, width: float, size: float) -> Array:
    """Friction beside Fv q̇ + Fc sign(q̇), (joints, samples)."""
    known = dict(zip(base.names, truth, strict=True))
    labels = [base.robot.joints[c].label for c in base.robot.coordinates]
    Fc = np.array([known[f"Fc{label}"] for label in labels])
    largest = np.max(np.abs(qd), axis=0)
    v = qd / (width * largest)
    if friction == "smooth":
        return np.asarray((Fc * (np.tanh(v) - np.sign(qd))).T)
    if friction == "stribeck":
        return np.asarray((size * Fc * np.sign(qd) * np.exp(-(v**2))).T)
    if friction == "flat":
        return np.asarray((-0.5 * size * Fc * qd * np.abs(qd) / largest**2).T)
    return np.zeros(qd.T.shape)


def _logged_speed(rng: np.random.Generator, qd: Array, q: Array, rate: float, kind: str) -> Array:
    """Speeds as logs hold them: of a good or bad tachometer, late by a filter, or differences."""
    rms = np.sqrt(np.mean(qd**2, axis=0))
    if kind == "differences":
        return np.gradient(q, 1 / rate, axis=0)
    if kind == "late":
        return np.roll(qd, int(rng.integers(1, 6)), axis=0)
    return qd + (1e-3 if kind == "sharp" else 0.1) * rms * rng.standard_normal(qd.shape)
