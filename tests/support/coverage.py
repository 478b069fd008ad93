"""How often the truth lies within 2σ: simulated robots, kinds of error, and the share over many runs.

``coverage(scara_world(), ERRORS["coloured"], {"wls": WLS()}, runs=50)`` simulates 50 closed-loop logs with
drawn phases, fits each, and gives the shares. A strategy that simulates the loop gets the law and the
reference of the log.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dynid.base import BaseMap, find_base
from dynid.checks.accelerations import acceleration_findings
from dynid.core.finding import Level
from dynid.estimators import Estimate, Strategy, identify
from dynid.logs.log import Log
from dynid.model.load import load_robot
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.preparation.spectrum import spectrum_of_log
from dynid.problem import build_loop_problem, build_problem
from dynid.simulation import (
    Bandwidth,
    Controller,
    Disturbances,
    Reference,
    Sensors,
    Simulation,
    Sines,
    Velocity,
    simulate,
)
from dynid.simulation.inertia import joint_inertias
from dynid.suspects.judgement import judge_suspects
from support import loop_arms
from support.motions import coloured

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Errors:
    """What is wrong with a simulated log.

    Args:
        encoder: rms noise of the positions [rad or m]; the controller sees it too.
        step: of the encoder [rad or m].
        disturbance: torque inside the loop, drawn at every sample, as a share of the rms torque.
        torque: white noise of the logged torque as a share of its rms.
        colour: first-order recursive error of the logged torque, likewise.
        torque_step: step of the logged torque, likewise.
        memory_s: time constant of that recursion [s].
        held: whether the torque logged is the one that the controller holds from its sample on; otherwise
            the mean over one period around the sample.
    """

    encoder: float = 0.0
    step: float = 0.0
    disturbance: float = 0.0
    torque: float = 0.0
    colour: float = 0.0
    torque_step: float = 0.0
    memory_s: float = 0.16
    held: bool = False

    def log(self, made: Simulation, rng: np.random.Generator) -> Log:
        """The log of a simulation whose torques were not disturbed yet."""
        tau = np.asarray(made.log.channels["torque"])
        if not self.held:
            tau = np.vstack([tau[:1], (tau[1:] + tau[:-1]) / 2])
        rms = np.sqrt(np.mean(tau**2, axis=0))
        pole = np.exp(-1 / (self.memory_s * made.log.rate_hz))
        tau = tau + rms * self.torque * rng.normal(size=tau.shape)
        if self.colour:
            tau = tau + coloured(rng, tau.shape, self.colour * rms, pole)
        if self.torque_step:
            tau = self.torque_step * rms * np.round(tau / (self.torque_step * rms))
        return replace(made.log, channels={**made.log.channels, "torque": tau})


ERRORS = {
    "white": Errors(torque=0.05),
    "coloured": Errors(torque=0.01, colour=0.04),
    "quantised": Errors(step=1e-4, torque=0.01, torque_step=0.05),
    "position": Errors(encoder=2e-4, torque=0.02),
    "in loop": Errors(disturbance=0.05, torque=0.02),
    "held torque": Errors(torque=0.05, held=True),
}
"""Kinds of error by name."""


@dataclass(frozen=True, eq=False)
class World:
    """A robot whose parameters are known, under a law.

    Args:
        base: the robot and its base parameters.
        controller: the law.
        plan: how its logs are prepared.
        seconds: length of a log.
    """

    base: BaseMap
    controller: Controller
    plan: Preparation
    seconds: float

    @property
    def truth(self) -> Array:
        """True base parameters."""
        return self.base.regroup(self.base.robot.parameters)

    def reference(self, rng: np.random.Generator) -> Reference:
        """Sums of sines with drawn phases."""
        if self.base.robot.name == "scara":
            phases = tuple(map(tuple, rng.uniform(0, 2 * np.pi, (2, 3)).tolist()))
            amplitudes = ((1.2, 0.8, 0.2), (0.8, 0.5, 0.2))
            sines = Sines(amplitudes, ((0.11, 0.23, 0.61), (0.17, 0.37, 0.83)), phases)
            return sines.sample(self.controller.sample_time, self.seconds)
        seed = int(rng.integers(1 << 30))
        return loop_arms.sines(self.base.robot, self.seconds, share=0.8, seed=seed)

    def runs(self, errors: Errors, count: int, seed: int = 0) -> Iterator[tuple[Log, Reference]]:
        """Logs of experiments with other phases and other errors, and what they followed."""
        for k in range(count):
            rng = np.random.default_rng((seed, k))
            reference = self.reference(rng)
            made = simulate(
                self.base.robot,
                None,
                self.controller,
                reference,
                sensors=Sensors(position_noise=errors.encoder, resolution=errors.step),
                disturbances=Disturbances(noise_relative=errors.disturbance),
                rng=rng,
            )
            yield errors.log(made, rng), reference

    def estimate(self, log: Log, reference: Reference, strategy: Strategy) -> Estimate:
        """Prepare and identify."""
        robot, base = self.base.robot, self.base
        motions = [prepare(log, self.plan)]
        if not strategy.simulates:
            return identify(build_problem(robot, motions, self.plan, base), strategy)
        loop = build_loop_problem(
            robot, [log], self.controller, [reference], self.plan, motions=motions, base=base
        )
        return identify(loop, strategy)


@cache
def scara_world() -> World:
    """The SCARA of P0 at 1 and 10 Hz, 200 Hz, 30 s."""
    robot = load_robot("scara")
    law = Controller(Bandwidth((4 * np.pi, 20 * np.pi)), 5e-3, Velocity("exact"), posture=(0.0, 0.0))
    law = law.scaled(tuple(joint_inertias(robot, robot.table.vector(robot.parameters), law)))
    plan = Preparation(cutoff_hz=30.0, decimation=10, drop_samples=100, speed_thresholds=(0.1, 0.1))
    return World(find_base(robot), law, plan, 30.0)


@cache
def tx40_world() -> World:
    """A TX40 with links that can exist, 1 kHz, 12 s."""
    arm = loop_arms.tx40(1.0)
    plan = Preparation(cutoff_hz=60.0, decimation=25, drop_samples=200, speed_thresholds=(0.1,) * 6)
    return World(find_base(arm.robot), arm.controller, plan, 12.0)


ASKED = 5
"""One run of so many is asked for findings of bias."""


@dataclass(frozen=True)
class Coverage:
    """What many runs gave.

    Args:
        share: estimates within 2σ, pooled over parameters and runs; removed parameters do not count.
        lowest: the same of the worst parameter that half of the runs kept.
        bias: largest |mean error| of such a parameter over its mean σ.
        worst: name of that parameter.
        width: median over the parameters of σ over their scatter.
        told: share of the runs asked with a finding that says that values are biased, and which way.
    """

    share: float
    lowest: float
    bias: float
    worst: str
    width: float
    told: float

    @property
    def cells(self) -> str:
        """As the docs show it."""
        told = f", told {100 * self.told:.0f} %" if self.told >= 0.5 else ""
        return f"{100 * self.share:.1f} %{told}"

    @property
    def honest(self) -> bool:
        """Whether 2σ hold 90 to 98 % of the truth, or most runs say that they are biased."""
        return 0.90 <= round(self.share, 3) <= 0.98 or self.told >= 0.5  # as precise as it is printed


def coverage(
    world: World, errors: Errors, strategies: Mapping[str, Strategy], runs: int, seed: int = 0
) -> dict[str, Coverage]:
    """Fit many runs by several strategies and count."""
    found: dict[str, list[Estimate]] = {name: [] for name in strategies}
    told: dict[str, list[bool]] = {name: [] for name in strategies}
    for k, (log, reference) in enumerate(world.runs(errors, runs, seed)):
        for name, strategy in strategies.items():
            made = world.estimate(log, reference, strategy)
            found[name].append(made)
            if k % ASKED == 0:  # asking takes longer than fitting
                told[name].append(not strategy.simulates and is_told_to_be_biased(made, log))
    return {name: counted(found[name], world.truth, float(np.mean(told[name]))) for name in strategies}


def is_told_to_be_biased(estimate: Estimate, log: Log) -> bool:
    """Whether a fit by least squares says that noise, filters or effects that the model lacks move values."""
    spectrum = spectrum_of_log(log, estimate.problem.plan)
    found = (*acceleration_findings(estimate, spectrum),)
    judged = judge_suspects(estimate)
    return bool(found) or (judged is not None and any(f.level >= Level.CARE for f in judged.findings))


def counted(estimates: list[Estimate], truth: Array, told: float = 0.0) -> Coverage:
    """Shares and biases over many runs."""
    values, sigma = (np.array([getattr(e, what) for e in estimates]) for what in ("values", "sigma"))
    known = sigma > 0
    error = np.where(known, values - truth, 0.0)
    hits = known & (np.abs(error) <= 2 * sigma)
    counts = np.maximum(known.sum(axis=0), 1)
    bias = np.abs(error.sum(axis=0)) / np.maximum(sigma.sum(axis=0), 1e-300)
    often = known.mean(axis=0) >= 0.5
    worst = int(np.argmax(np.where(often, bias, -1.0)))
    lowest = float(np.min((hits.sum(axis=0) / counts)[often]))
    width = float(np.median(np.median(sigma[:, often], axis=0) / np.std(values[:, often], axis=0)))
    share = float(hits.sum() / known.sum())
    return Coverage(share, lowest, float(bias[worst]), estimates[0].names[worst], width, told)
