"""Effects that the model lacks: told where they move parameters, and the advice leads nearer to the truth."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from dynid.base import BaseMap, find_base
from dynid.checks.lacking_effects import bias_of_lacking_effects
from dynid.core.finding import Finding, Level, Name
from dynid.estimators import WLS, Essential, Estimate, identify
from dynid.model.load import load_robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem import build_problem
from support.motions import base_truth, coloured, exact_torques, fourier_motion

Array = NDArray[np.float64]
ROBOTS = ("scara", "tx40", "ur10", "double_pendulum", "rx90")


@dataclass(frozen=True)
class Drawn:
    """A log with known truth, and what is wrong with it.

    Args:
        base: the robot.
        truth: its base parameters.
        motion: with the torques as logged.
        plan: its preparation.
        smooth: whether friction is Fc tanh(q̇/v_s), v_s twice the mask.
        lag: samples by which the torques are late.
    """

    base: BaseMap
    truth: Array
    motion: Motion
    plan: Preparation
    smooth: bool
    lag: float

    def estimate(self, plan: Preparation | None = None, delay: float = 0.0) -> Estimate:
        """By weighted least squares, torques taken so many seconds later."""
        tau = late(self.motion.tau, -delay * self.motion.rate_hz) if delay else self.motion.tau
        problem = build_problem(
            self.base.robot, [replace(self.motion, tau=tau)], plan or self.plan, self.base
        )
        return identify(problem, WLS())

    def errors(self, estimate: Estimate) -> Array:
        """|χ̂ − χ| in σ."""
        return np.abs(estimate.values - self.truth) / estimate.sigma


@cache
def base_of(name: str) -> BaseMap:
    return find_base(load_robot(name))


def late(tau: Array, samples: float) -> Array:
    """Torques so many samples later."""
    t = np.arange(len(tau))
    return np.column_stack([np.interp(t - samples, t, column) for column in tau.T])


def drawn(seed: int, smooth: bool | None = None, lag: float | None = None, name: str | None = None) -> Drawn:
    rng = np.random.default_rng(seed)
    base = base_of(name or str(rng.choice(ROBOTS)))
    truth = base_truth(base, rng)
    made = fourier_motion(
        base.robot, rng, seconds=rng.uniform(10, 30), rate_hz=200.0, harmonics=6, speed=rng.uniform(0.8, 2.0)
    )
    tau = exact_torques(base, truth, made)
    rms, speed = (np.sqrt(np.mean(x**2, axis=0)) for x in (tau, made.qd))
    width = np.exp(rng.uniform(np.log(0.02), np.log(0.2))) * speed
    smooth = bool(rng.random() < 0.5) if smooth is None else smooth
    lag = float(rng.choice([0.0, 0.0, -0.5, 1.0])) if lag is None else lag
    if smooth:
        values = dict(zip(base.names, truth, strict=True))
        coulomb = np.abs([values.get(f"Fc{j + 1}", 0.0) for j in range(tau.shape[1])])
        tau = tau + coulomb * (np.tanh(made.qd / width) - np.sign(made.qd))
    noise = rng.uniform(0.002, 0.03)
    slow = coloured(rng, tau.shape, rng.choice([0.0, noise]) * rms, rng.uniform(0.8, 0.98))
    tau = late(tau, lag) + noise * rms * rng.normal(size=tau.shape) + slow
    plan = Preparation(decimation=4, speed_thresholds=tuple(0.55 * width))
    return Drawn(base, truth, replace(made, tau=tau), plan, smooth, lag)


def named(findings: tuple[Finding, ...], name: Name) -> list[Finding]:
    return [finding for finding in findings if finding.name is name]


def test_a_sound_log_is_not_suspected() -> None:
    for seed in range(6):
        assert bias_of_lacking_effects(drawn(seed, smooth=False, lag=0.0).estimate()) == ()


def test_torques_of_another_moment_are_told_and_the_advice_helps() -> None:
    log = drawn(3, smooth=False, lag=-0.5, name="scara")
    before = log.estimate()
    (told,) = bias_of_lacking_effects(before)
    assert (told.name, told.level) == (Name.TORQUE_LAG, Level.CARE)
    assert told.figures["lag_s"] == pytest.approx(-0.5 / 200, rel=0.2)
    assert "samples) early against the motion" in told.sentence
    assert told.remedy.startswith("Add -0.002")
    worst = int(np.argmax(log.errors(before)))
    way = "large" if before.values[worst] > log.truth[worst] else "small"
    assert f"{before.names[worst]} comes out too {way} by" in told.sentence
    after = log.estimate(delay=told.figures["lag_s"])
    assert bias_of_lacking_effects(after) == ()
    assert log.errors(after).max() < 0.6 * log.errors(before).max()


def test_friction_near_rest_is_told_and_the_advice_helps() -> None:
    log = drawn(8, smooth=True, lag=0.0, name="scara")
    before = log.estimate()
    told = named(bias_of_lacking_effects(before), Name.FRICTION_SHAPE)
    assert told
    assert "is not Fv q̇ + Fc sign(q̇) near rest: F" in told[0].sentence
    assert "try four times as much" in told[0].remedy
    wider = replace(log.plan, speed_thresholds=tuple(4 * v for v in log.plan.speed_thresholds))
    friction = [name[:2] in ("Fv", "Fc") for name in before.names]
    gone = np.abs(log.estimate(wider).values - log.truth)[friction]
    assert np.all(gone < np.abs(before.values - log.truth)[friction])


def test_essential_parameters_are_asked_about_too() -> None:
    log = drawn(3, smooth=False, lag=-0.5, name="scara")
    problem = build_problem(log.base.robot, [log.motion], log.plan, log.base)
    kept = identify(problem, Essential(WLS()))
    assert named(bias_of_lacking_effects(kept), Name.TORQUE_LAG)
    bare = build_problem(log.base.robot, [log.motion], log.plan, log.base, budget_bytes=0)
    assert bias_of_lacking_effects(identify(bare, WLS())) == ()  # no rows to look at


@pytest.mark.slow
def test_rates_on_logs_that_the_rules_were_not_set_on() -> None:
    """Seeds from 1000 on. Prints the table of the docs."""
    wrong, lags, rests, better = [], [], [], []
    for seed in range(1000, 1200):
        log = drawn(seed)
        before = log.estimate()
        if not before.outcome.trustworthy:
            continue
        told = bias_of_lacking_effects(before)
        lag, rest = named(told, Name.TORQUE_LAG), named(told, Name.FRICTION_SHAPE)
        off = log.errors(before).max() > 4
        if not log.smooth and not log.lag:
            wrong.append(bool(told))
        if log.lag and not log.smooth and off:
            lags.append(bool(lag))
        if log.smooth and off:
            rests.append(bool(rest))
        if rest:
            wider = replace(log.plan, speed_thresholds=tuple(4 * v for v in log.plan.speed_thresholds))
            after = log.estimate(wider)
            moved = [np.linalg.norm((e.values - log.truth) / before.sigma) for e in (before, after)]
            better.append(moved[1] < moved[0])
    shares = {
        name: (float(np.mean(x)), len(x))
        for name, x in {"wrong": wrong, "lag": lags, "rest": rests, "better": better}.items()
    }
    print(f"\n{shares}")
    assert shares["wrong"][0] <= 0.03
    assert shares["lag"][0] >= 0.7
    assert shares["rest"][0] >= 0.85
    assert shares["better"][0] >= 0.9
