"""The preparation of closed-loop methods: what it is suggested from, and that IV is not biased by it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest

from dynid.base import base_of
from dynid.estimators import DIDIM, IV, Essential, OutputError
from dynid.estimators.strategy import Strategy
from dynid.logs.log import Log
from dynid.model.load import load_robot
from dynid.preparation.preparation import Preparation
from dynid.preparation.suggestion import Suggestion, suggest, suggest_for_instruments
from dynid.simulation import Sensors, load_controller, load_reference, simulate_many
from dynid.workflow.fitting import fit
from dynid.workflow.simulated_motion import SimulatedMotion
from dynid.workflow.usable_log import UsableLog, identity_of

ROBOT = load_robot("scara")
CONTROLLER = load_controller("scara", ROBOT)
WHOLE = load_reference("scara", ROBOT, CONTROLLER.sample_time)
SAMPLES = 6000
REFERENCE = replace(WHOLE, **{name: getattr(WHOLE, name)[:SAMPLES] for name in ("q", "qd", "qdd")})
NOISE = 4e-5


@cache
def logs(noise: float = NOISE, count: int = 8) -> tuple[Log, ...]:
    """The SCARA on its reference, with noise of positions and torques."""
    sensors = Sensors(position_noise=noise, torque_noise_relative=0.03)
    runs = simulate_many(
        ROBOT,
        [ROBOT.parameters] * count,
        CONTROLLER,
        REFERENCE,
        sensors=sensors,
        rng=np.random.default_rng(4),
    )
    return tuple(run.log for run in runs)


def scores(**overrides: object) -> np.ndarray:
    """(χ̂ − χ)/σ̂ of IV on every log, (logs, base)."""
    truth = base_of(ROBOT).regroup(ROBOT.parameters)
    found = [
        fit(
            ROBOT,
            [log],
            IV(uncertainty="classical"),
            controller=CONTROLLER,
            references=[REFERENCE],
            overrides=overrides,
        ).estimate
        for log in logs()
    ]
    return np.array([(e.values - truth) / e.sigma for e in found])


def test_the_suggested_preparation_does_not_bias_iv() -> None:
    own = scores()
    assert np.all(np.abs(own.mean(axis=0)) < 1.5), own.mean(axis=0)
    assert np.mean(np.abs(own) < 2) > 0.9
    # What the spectrum of the motion alone suggests blurs the reversals of friction.
    narrow = suggest(logs()[0]).plan
    blurred = scores(
        cutoff_hz=narrow.cutoff_hz, decimation=narrow.decimation, speed_thresholds=narrow.speed_thresholds
    )
    assert np.max(np.abs(blurred.mean(axis=0))) > 3
    assert np.mean(np.abs(blurred) < 2) < 0.85


def test_longer_differences_get_centred_torques_too() -> None:
    short, longer = (
        fit(
            ROBOT,
            logs()[:1],
            IV(),
            controller=CONTROLLER,
            references=[REFERENCE],
            overrides={"difference_points": points},
        ).estimate
        for points in (3, 7)
    )
    assert np.all(np.abs(short.values - longer.values) < 0.2 * short.sigma)


def test_the_cut_off_goes_up_as_far_as_noise_lets_it() -> None:
    rate, found = 1 / REFERENCE.sample_time, {}
    for noise in (0.0, NOISE, 5 * NOISE):
        log = logs(noise, 1)[0]
        found[noise] = suggest_for_instruments(log)
        plain, own = suggest(log).plan, found[noise].plan
        largest = np.max(np.abs(np.diff(REFERENCE.q, axis=0)), axis=0) / REFERENCE.sample_time
        np.testing.assert_allclose(own.speed_thresholds, 0.06 * largest, rtol=0.1)
        # The decimation does not reach over the time that speeds are below them.
        assert own.decimation <= plain.decimation
        assert own.decimation * REFERENCE.sample_time < 0.15
    cutoffs = [s.plan.cutoff_hz for s in found.values()]
    assert cutoffs[0] == rate / 4
    assert cutoffs[0] > cutoffs[1] > cutoffs[2] > 5
    assert "a quarter of the rate: instruments keep" in found[0.0].reasons[0]
    assert "as far as noise leaves the speeds that are used their sign" in found[NOISE].reasons[0]
    # σ = 2π √(S f³/3) of white noise is a fifth of the least speed at the cut-off.
    density, least = 2 * NOISE**2 / rate, min(suggest(logs(NOISE, 1)[0]).plan.speed_thresholds)
    assert 2 * np.pi * np.sqrt(density * cutoffs[1] ** 3 / 3) == pytest.approx(least / 5, rel=0.2)


def suggested(log: Log, strategy: Strategy) -> Suggestion:
    used = UsableLog(log, identity_of(log), reference=REFERENCE)
    return SimulatedMotion(CONTROLLER).suggestion([used], strategy)


@pytest.mark.parametrize("strategy", [DIDIM(), OutputError()])
def test_methods_that_simulate_the_motion_keep_the_band_of_the_reference(
    strategy: DIDIM | OutputError,
) -> None:
    log = logs()[0]
    followed = replace(log, channels={**log.channels, "position": REFERENCE.q})
    plan = suggested(log, strategy).plan
    assert plan == suggest(followed).plan
    torques = replace(log, channels={"torque": log.channel("torque")})
    alone = suggested(torques, strategy)
    kept = {"decimation": plan.decimation, "speed_thresholds": plan.speed_thresholds}
    assert alone.plan == Preparation(**kept)
    # Where no position is filtered, nothing is said about filters, differences and their ends.
    assert set(alone.why) == {"decimation", "speed_thresholds"}
    assert not any(word in " ".join(alone.reasons) for word in ("filter", "cut-off", "ifferences"))


def test_the_user_s_plan_and_keys_come_first() -> None:
    log = logs()[0]
    wide = suggested(log, Essential(IV())).plan
    assert wide == suggest_for_instruments(log).plan
    given = {"controller": CONTROLLER, "references": [REFERENCE]}
    found = fit(ROBOT, [log], IV(), overrides={"cutoff_hz": 12.0}, **given)
    assert found.plan == suggested(log, IV()).with_keys({"cutoff_hz": 12.0}).plan
    assert found.plan.cutoff_hz == 12.0
    suggestion = found.suggestion
    assert suggestion is not None
    assert suggestion.why["cutoff_hz"] == f"cutoff_hz is 12 Hz as given (suggested: {wide.cutoff_hz:g} Hz)."
    assert not any("The cut-off is" in reason for reason in suggestion.reasons)
    whole = fit(ROBOT, [log], IV(), plan=wide, **given)
    assert (whole.plan, whole.suggestion) == (wide, None)
