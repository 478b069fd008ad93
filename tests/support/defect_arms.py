"""Small random arms with logs whose defect is known: what a suspect must find."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dynid.base import BaseMap, find_base
from dynid.compile.kernels import kernels
from dynid.estimators import WLS, Estimate, identify
from dynid.model.joint import Joint, JointKind
from dynid.model.robot import Robot
from dynid.preparation import Preparation
from dynid.preparation.motion import Motion
from dynid.problem import build_problem
from dynid.suspects import SuspectTable, rank_suspects
from support.motions import fourier_motion
from support.robots import random_link

Array = NDArray[np.float64]
AXES = (2, 1, 3, 4, 6, 7)
NOISE = 0.02


@dataclass(frozen=True, eq=False)
class DefectArm:
    """A random serial arm, revolute and prismatic, with all its parameters known.

    Args:
        base: its base parameters.
        values: standard parameters by name.
    """

    base: BaseMap
    values: dict[str, float]

    @property
    def robot(self) -> Robot:
        """The robot."""
        return self.base.robot

    def torques(self, q: Array, qd: Array, qdd: Array, **changed: float) -> Array:
        """Torques along a motion, some parameters having other values."""
        return kernels(self.robot).inverse(self.values | changed, q, qd, qdd)

    def motions(self, seed: int, logs: int = 1, seconds: float = 20.0, harmonics: int = 5) -> list[Motion]:
        """Motions with exact torques."""
        found = []
        for k in range(logs):
            rng, name = np.random.default_rng([seed, k]), f"log{k + 1}"
            drawn = fourier_motion(
                self.robot, rng, seconds=seconds, rate_hz=200.0, harmonics=harmonics, name=name
            )
            found.append(replace(drawn, tau=self.torques(drawn.q, drawn.qd, drawn.qdd)))
        return found

    def fit(self, motions: Sequence[Motion], seed: int, noise: float = NOISE) -> Estimate:
        """Least squares on the motions, their torques with white noise."""
        rng = np.random.default_rng([seed, 99])
        plan = Preparation(cutoff_hz=20.0, decimation=5)
        noisy = [
            replace(
                m, tau=m.tau[:] + noise * np.sqrt(np.mean(m.tau[:] ** 2, axis=0)) * rng.normal(size=m.q.shape)
            )
            for m in motions
        ]
        return identify(build_problem(self.robot, noisy, plan, self.base), WLS())

    def hidden(self, motions: Sequence[Motion]) -> bool:
        """Whether what the model misses is below the noise in every joint."""
        problem = (found := self.fit(motions, 0, 1e-9)).problem
        left = problem.residual_norms(found.values) / problem.torque_norms()
        # Noise is white at the rate of the log, and a fifth of it is left at that of the rows.
        return bool(np.all(left < NOISE / np.sqrt(5)))

    def suspects(self, motions: Sequence[Motion], seed: int) -> SuspectTable:
        """The suspects of such a fit."""
        return rank_suspects(self.fit(motions, seed))


@cache
def defect_arm(seed: int) -> DefectArm:
    """The arm of a seed: 1 to 7 axes, every fourth one prismatic."""
    rng = np.random.default_rng([2027, seed])
    joints = [
        Joint(
            f"joint{i + 1}",
            i - 1,
            JointKind.PRISMATIC if rng.random() < 0.25 else JointKind.REVOLUTE,
            alpha=float(rng.choice([0.0, math.pi / 2, -math.pi / 2])) if i else 0.0,
            d=float(rng.uniform(0.1, 0.5)) if i else 0.0,
            r=float(rng.uniform(-0.4, 0.4)),
        )
        for i in range(AXES[seed % len(AXES)])
    ]
    tilted = replace(Robot("defects", tuple(joints)), gravity=(4.0, 0.0, -8.9))
    arm = tilted.with_terms("Ia", "Fv", "Fc", "off")
    values: dict[str, float] = {}
    for joint in arm.joints:
        values |= random_link(rng).by_name(joint.label)
    scale = {"Ia": 0.3, "Fv": 2.0, "Fc": 2.0, "off": 0.5}
    for entry in arm.table:
        if entry.family != "inertial":
            values[entry.name] = scale[entry.symbol] * float(rng.uniform(0.5, 1.5))
    return DefectArm(find_base(arm), values)


def with_torque(motion: Motion, tau: Array) -> Motion:
    """The motion with other torques."""
    return replace(motion, tau=tau)
