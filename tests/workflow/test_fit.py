"""The main job on simulated logs whose truth is known."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.base import find_base
from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.estimators import WLS
from dynid.logs.log import Log
from dynid.model.load import load_robot
from dynid.preparation.preparation import Preparation
from dynid.workflow.fitting import fit
from dynid.workflow.result import document_of
from dynid.workflow.usable_log import split_log
from support.motions import base_truth, fourier_motion, simulated

ROBOT = load_robot("scara")
BASE = find_base(ROBOT)
TRUTH = base_truth(BASE, np.random.default_rng(0))
PLAN = Preparation(cutoff_hz=20.0, drop_samples=60, decimation=5)


def log_of(seed: int, seconds: float = 20.0, noise: float = 0.01) -> Log:
    rng = np.random.default_rng(seed)
    motion = fourier_motion(ROBOT, rng, seconds=seconds, rate_hz=500.0, name=f"run{seed}")
    motion = simulated(BASE, TRUTH, motion, rng, noise)
    return Log(f"run{seed}", motion.time, {"position": motion.q, "torque": motion.tau})


def test_the_truth_is_found_and_confirmed_on_unseen_motion() -> None:
    told: list[str] = []
    result = fit(ROBOT, [log_of(1), log_of(2)], WLS(), plan=PLAN, validate=[log_of(3)], progress=told.append)
    error = np.abs(result.estimate.values - TRUTH) / result.estimate.sigma
    assert np.mean(error < 3) > 0.8
    assert result.unseen is not None
    assert result.unseen.judged.overall_percent < 2.0
    assert result.estimate.outcome.trustworthy
    assert result.unseen.trustworthy
    document = document_of(result, {})
    assert document["verdict"]["trustworthy"]
    assert document["cross_validation"]
    assert document["stability"]
    assert told[0] == "checking the data"
    assert told[-3:] == ["looking for suspects", "looking for a possible robot", "validating"]


def test_a_plan_is_suggested_with_its_reasons() -> None:
    result = fit(ROBOT, [log_of(1)], WLS())
    assert result.suggestion is not None
    assert result.suggestion.reasons
    assert result.plan == result.suggestion.plan
    assert result.own.judged.overall_percent < 5.0


def test_a_split_log_is_validated_on_its_rest() -> None:
    result = fit(ROBOT, [log_of(1)], WLS(), plan=PLAN, split=0.7)
    assert result.unseen is not None
    first, rest = split_log(log_of(1), 0.7)
    assert first.samples + rest.samples == log_of(1).samples
    assert first.name == "run1 (first 70%)"
    assert rest.time[0] > first.time[-1]
    with pytest.raises(DynidError, match=r"share of the log to fit is 1\.2"):
        split_log(log_of(1), 1.2)


def test_an_unusable_log_stops_the_job() -> None:
    good = log_of(1)
    frozen = replace(
        good, channels={"position": np.zeros((good.samples, 2)), "torque": good.channel("torque")}
    )
    with pytest.raises(NotTrustworthyError, match="Log 'run1' is not usable"):
        fit(ROBOT, [frozen], WLS(), plan=PLAN)
    with pytest.raises(DynidError, match="There is no log to fit"):
        fit(ROBOT, [], WLS())


def test_defects_are_repaired_only_on_request() -> None:
    good = log_of(1)
    position = good.channel("position").copy()
    position[500:503, 0] = np.nan
    broken = replace(good, channels={"position": position, "torque": good.channel("torque")})
    with pytest.raises(DynidError):
        fit(ROBOT, [broken], WLS(), plan=PLAN)
    result = fit(ROBOT, [broken], WLS(), plan=PLAN, repair=True)
    assert result.own.judged.overall_percent < 2.0
    assert any("repair" in step.name or "interpolat" in step.name for step in result.logs[0].history)


def test_single_keys_of_the_suggestion_can_be_replaced() -> None:
    suggested = fit(ROBOT, [log_of(1)], WLS()).plan
    changed = fit(ROBOT, [log_of(1)], WLS(), overrides={"decimation": 7}).plan
    assert changed == replace(suggested, decimation=7)
