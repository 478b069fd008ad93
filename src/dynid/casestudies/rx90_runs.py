"""The RX-90 of P2, simulated: free and loaded motions of one seed, gains, and payloads with them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np

from dynid.calibration.gains import DriveGains, calibrate_gains
from dynid.calibration.knowledge import PayloadKnowledge
from dynid.casestudies.rx90_paper import MASS, MASS_SIGMA, MZ, OTHER_MASS, TABLE_3
from dynid.compile.kernels import kernels
from dynid.core.arrays import FloatArray
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import identify
from dynid.estimators.linear.least_squares import OLS, WLS
from dynid.model.inertia import LinkInertia
from dynid.model.load import load_robot
from dynid.model.payload import LABEL, LOADED, UNLOADED, free_and_loaded
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem.build import build_problem

GAINS = np.array([*TABLE_3, 1.0, 1.0])
"""True gains over those of the controller: table 3; 1 for motors 5 and 6, of which P2 has none."""
NOISE = 0.03
"""Noise of a motor's signal, as a share of its RMS."""
SAMPLES, SECONDS, HARMONICS = 1200, 24.0, 40
MOTION_SEED = 160
"""Of 400 seeds the one whose free and loaded motion show the mass best to the motor that sees it worst."""
SPEEDS = np.array([4.1, 3.5, 5.0, 7.0, 5.6, 10.0])
"""Largest speeds [rad/s]; motions use nine tenths of them."""
MIDDLE = np.array([0.0, -1.2, 1.2, 0.0, 0.6, 0.0])
"""Middle of the motions: the arm stretched out before its base [rad]."""
PLAN = Preparation(decimation=1)
PAPERS = WLS(uncertainty="classical")
"""The σ that P2 prints."""
WEIGHED = PayloadKnowledge.of_mass(MASS, MASS_SIGMA)
_GYRATION = 0.053
"""Radius of gyration of the payloads about their centre, assumed: a steel cylinder of this mass [m]."""


@lru_cache(maxsize=1)
def arm() -> Robot:
    """The arm with a payload in its loaded condition."""
    return free_and_loaded(load_robot("rx90"))


def payload_of(mass: float) -> LinkInertia:
    """A payload of P2's shape: MZ grows with the mass."""
    return LinkInertia.from_com(mass, [0.0, 0.0, MZ / MASS], mass * _GYRATION**2 * np.eye(3), "payload")


def random_motion(condition: str, rng: np.random.Generator) -> Motion:
    """A Fourier series with equal shares of the speed in all harmonics; torques are zero."""
    t = np.arange(SAMPLES) * SECONDS / SAMPLES
    w = 2 * np.pi / SECONDS * np.arange(1, HARMONICS + 1)
    sine, cosine = np.sin(np.outer(t, w)), np.cos(np.outer(t, w))
    a, b = rng.normal(size=(2, len(SPEEDS), HARMONICS))
    size = 0.9 * SPEEDS / np.abs(cosine @ a.T + sine @ b.T).max(axis=0)
    a, b = a * size[:, None], b * size[:, None]
    q = (sine / w) @ a.T - (cosine / w) @ b.T + MIDDLE
    qd, qdd = cosine @ a.T + sine @ b.T, (cosine * w) @ b.T - (sine * w) @ a.T
    return Motion(condition, t, q, qd, qdd, np.zeros_like(q), SAMPLES / SECONDS, condition=condition)


def signals(motion: Motion, load: LinkInertia | None) -> FloatArray:
    """Torques of the motors over their true gains, without noise: what an exact log would hold."""
    robot = arm()
    values = {**robot.parameters, **({} if load is None else load.by_name(LABEL))}
    tau = kernels(robot).inverse(robot.table.vector(values), motion.q, motion.qd, motion.qdd)
    assert robot.drives is not None
    return np.asarray(robot.drives.motor_torque(tau) / GAINS, dtype=float)


def with_gains(motions: Sequence[Motion], gains: FloatArray) -> list[Motion]:
    """Motions whose torques come from other gains than the controller's."""
    drives = arm().drives
    assert drives is not None
    return [replace(m, tau=drives.joint_torque(drives.motor_torque(m.tau) * gains)) for m in motions]


@dataclass(frozen=True, eq=False)
class Rx90Runs:
    """Logs of one seed, and what is found of them.

    Args:
        seed: of the noise; the motions are always the same.
        noise: as a share of each signal's RMS.
    """

    seed: int
    noise: float = NOISE

    @cached_property
    def logs(self) -> dict[str, Motion]:
        """Free, with the payload, with the other payload, and a motion of its own to predict."""
        motions, rng = (np.random.default_rng((s, 90)) for s in (MOTION_SEED, self.seed))
        loads = {"free": None, "loaded": payload_of(MASS), "other": payload_of(OTHER_MASS)}
        loads |= {"unseen": payload_of(MASS)}
        drives = arm().drives
        assert drives is not None
        made = {}
        for name, load in loads.items():
            motion = random_motion(UNLOADED if load is None else LOADED, motions)
            exact = signals(motion, load)
            size = self.noise * np.sqrt(np.mean(exact**2, axis=0))
            noisy = exact + size * rng.standard_normal(exact.shape)
            made[name] = replace(motion, name=name, tau=drives.joint_torque(noisy))
        return made

    def gains(self, method: str, knowledge: PayloadKnowledge = WEIGHED) -> DriveGains:
        """Gains from the free and the loaded log, with P2's σ."""
        pair = [self.logs["free"], self.logs["loaded"]]
        return calibrate_gains(
            arm(), pair, PLAN, knowledge, method=method, strategy=OLS(uncertainty="classical")
        )

    @cached_property
    def sequential(self) -> DriveGains:
        """P2's sequence."""
        return self.gains("sequential")

    @cached_property
    def together(self) -> DriveGains:
        """All motors at once."""
        return self.gains("global")

    @cached_property
    def used_gains(self) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Gains of the three cases of table 2: P2 changes those of motors 1 to 4 only."""
        found = np.array([*self.sequential.relative[:4], 1.0, 1.0])
        return np.ones(6), found, found * np.array([1.2, 1.2, 1.2, 1.2, 1.0, 1.0])

    def payload(self, gains: FloatArray, loaded: str = "loaded") -> Estimate:
        """Arm and payload by weighted least squares on all joints, with torques from given gains."""
        motions = with_gains([self.logs["free"], self.logs[loaded]], gains)
        return identify(build_problem(arm(), motions, PLAN), PAPERS)

    @cached_property
    def cases(self) -> tuple[Estimate, Estimate, Estimate]:
        """The three identifications of tables 2 and 4."""
        first, second, third = (self.payload(gains) for gains in self.used_gains)
        return first, second, third


def value_of(estimate: Estimate, name: str) -> tuple[float, float]:
    """A parameter and its σ."""
    k = estimate.names.index(name)
    return float(estimate.values[k]), float(estimate.sigma[k])
