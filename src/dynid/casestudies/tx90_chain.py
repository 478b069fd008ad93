"""P3's way from a recorded log to parameters (§4.2, §4.3): three periods, their mean, filters, estimators."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dynid.casestudies.tx90_paper import RESOLUTION_DEG, TABLE_4
from dynid.casestudies.tx90_runs import (
    NOISE,
    RATE_HZ,
    SAMPLES,
    Tx90Runs,
    base,
    torque_rms,
    truth,
    validation_rows,
)
from dynid.compile.kernels import kernels
from dynid.core.arrays import FloatArray
from dynid.estimators.essential import Essential
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import identify
from dynid.estimators.linear.least_squares import OLS, TLS, WLS
from dynid.logs.log import Log
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.problem.build import build_problem
from dynid.problem.problem import Problem
from dynid.trajectories.trajectory import Trajectory

PERIODS = 3
PRINTED_HZ, CUTOFFS_HZ, CHOSEN_HZ = 0.5, (0.5, 1.0, 2.0, 5.0), 2.0
"""Cut-off of the positions as printed, those tried, and the one that all other rows use."""
ACCELERATION_SPAN, TORQUE_SPAN = 0.02, 0.015
"""§4.2, as shares of the samples."""
TORQUE_HZ = 5.0
"""P3's FIR filter loses 3 dB at 0.16, read as 0.16 π rad per sample: 5 Hz."""
DECIMATION = 2
STRATEGIES = {
    "OLS": OLS(uncertainty="classical"),
    "WLS": WLS(uncertainty="classical"),
    "TLS": TLS(uncertainty="classical"),
}


@dataclass(frozen=True)
class Way:
    """One way from a log to rows.

    Args:
        motion: which motion is recorded.
        cutoff_hz: of the positions.
        smoothing: "RLOESS" or "low-pass", of the torques.
        averaged: whether the three periods are averaged first, or used one after the other.
    """

    motion: str = "J2"
    cutoff_hz: float = CHOSEN_HZ
    smoothing: str = "RLOESS"
    averaged: bool = True

    @property
    def plan(self) -> Preparation:
        """The preparation."""
        robust = self.smoothing == "RLOESS"
        return Preparation(
            cutoff_hz=self.cutoff_hz,
            rloess_acceleration=ACCELERATION_SPAN,
            rloess_torque=TORQUE_SPAN if robust else 0.0,
            torque_cutoff_hz=None if robust else TORQUE_HZ,
            decimation=DECIMATION,
        )


def recorded_log(trajectory: Trajectory, rng: np.random.Generator) -> Log:
    """Three periods: positions rounded to the encoders' steps, torques with white noise."""
    time = np.arange(PERIODS * SAMPLES) / RATE_HZ
    q, qd, qdd = (trajectory.at(time, order) for order in range(3))
    torque = kernels(base().robot).inverse(base().robot.parameters, q, qd, qdd)
    torque += NOISE * rng.standard_normal(torque.shape)
    step = np.deg2rad(RESOLUTION_DEG)
    return Log("three periods", time, {"position": step * np.round(q / step), "torque": torque})


def averaged_log(log: Log) -> Log:
    """One period: the mean of all."""
    channels = {
        name: log.array(name).reshape(PERIODS, SAMPLES, -1).mean(axis=0) for name in ("position", "torque")
    }
    return Log("mean period", log.time[:SAMPLES], channels)


def predicted_torque(motion: Motion, values: FloatArray) -> FloatArray:
    """W χ along a prepared motion, (samples, joints) [N m]."""
    W = kernels(base().robot, base().columns).regressor(*(np.asarray(signal) for signal in motion.states))
    return np.asarray(W @ values, dtype=float)


def essential_names(estimate: Estimate) -> set[str]:
    """Parameters that were kept."""
    return {name for name, kept in zip(estimate.names, estimate.kept, strict=True) if kept}


def deviations(estimate: Estimate) -> dict[str, float]:
    """|estimate/truth − 1| of the parameters of table 4."""
    pairs = zip(estimate.names, estimate.values, truth(), strict=True)
    return {name: abs(value / true - 1.0) for name, value, true in pairs if name in TABLE_4}


def random_motion_error(estimate: Estimate) -> float:
    """Sum over the joints of the RMS of predicted less true torque on the ten random motions [N m]."""
    return float(torque_rms(validation_rows(full=False), (estimate.values - truth())[None]).sum())


@dataclass(frozen=True, eq=False)
class ChainRuns(Tx90Runs):
    """Logs of the designed motions of one seed, and all that P3 makes of them."""

    @cached_property
    def logs(self) -> dict[str, Log]:
        """What is recorded along each designed motion."""
        return {
            name: recorded_log(self.motions[name], np.random.default_rng((self.seed, 100 + k)))
            for k, name in enumerate(self.designs)
        }

    @cached_property
    def _problems(self) -> dict[Way, Problem]:
        return {}

    @cached_property
    def _estimates(self) -> dict[tuple[Way, str], Estimate]:
        return {}

    def log(self, way: Way) -> Log:
        """The log that a way begins with."""
        return averaged_log(self.logs[way.motion]) if way.averaged else self.logs[way.motion]

    def problem(self, way: Way) -> Problem:
        """The rows of a way, made once."""
        if way not in self._problems:
            motion = prepare(self.log(way), way.plan)
            self._problems[way] = build_problem(base().robot, [motion], way.plan, base())
        return self._problems[way]

    def estimate(self, way: Way, strategy: str = "WLS", *, essential: bool = False) -> Estimate:
        """All base parameters, or the essential ones by the 20 % rule, made once."""
        key = (way, f"{essential} {strategy}")
        if key not in self._estimates:
            chosen = STRATEGIES[strategy]
            self._estimates[key] = identify(self.problem(way), Essential(chosen) if essential else chosen)
        return self._estimates[key]

    def residual(self, way: Way, estimate: Estimate) -> FloatArray:
        """RMS of the recorded torques of all periods less those of the mean period's fit, (joints,) [N m]."""
        motions = self.problem(way).motions
        assert motions is not None
        predicted = np.tile(predicted_torque(motions[0], estimate.values), (PERIODS, 1))
        left = self.logs[way.motion].array("torque") - predicted
        return np.asarray(np.sqrt(np.mean(np.square(left), axis=0)), dtype=float)
