"""Torques of a saved model along logs: on disk as in memory, of motors as of joints, and without torques."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.core.errors import DynidError
from dynid.logs.log import Log
from dynid.model.drives import Drives
from dynid.model.load import load_robot
from dynid.preparation.preparation import Preparation
from dynid.workflow.prediction import predict_logs
from support.exported import STRIBECK, result_of
from support.motions import fourier_motion
from support.spooled import log_on_disk

ROBOT = load_robot("scara")
# Differences are wrong at the ends of a log.
RESULT = replace(result_of(ROBOT, STRIBECK), plan=Preparation(drop_samples=20))


def log_of(**channels: np.ndarray) -> Log:
    motion = fourier_motion(ROBOT, np.random.default_rng(1), seconds=6.0, rate_hz=200.0, name="run")
    torques = RESULT.predict(motion.q, motion.qd, motion.qdd)
    return Log("run", motion.time, {"position": motion.q, "torque": torques, **channels})


def without_torques(log: Log) -> Log:
    return replace(log, channels={"position": log.channels["position"]})


def test_the_model_s_own_torques_are_predicted() -> None:
    (found,) = predict_logs(RESULT, [log_of()])
    assert found.errors is not None
    assert found.errors.overall_percent < 0.2
    (bare,) = predict_logs(replace(RESULT, further=None), [log_of()])
    assert bare.errors is not None
    assert bare.errors.overall_percent > 2 * found.errors.overall_percent


def test_a_log_on_disk_gives_the_same_torques() -> None:
    for log in (log_of(), without_torques(log_of())):
        (near,), (far,) = predict_logs(RESULT, [log]), predict_logs(RESULT, [log_on_disk(log)])
        assert np.allclose(np.asarray(far.torques), near.torques, rtol=1e-12, atol=1e-12)
        assert np.allclose(np.asarray(far.sigma), near.sigma, rtol=1e-9, atol=1e-12)


def test_torques_in_the_log_do_not_change_the_prediction() -> None:
    with_them, without = predict_logs(RESULT, [log_of(), without_torques(log_of())])
    assert np.array_equal(with_them.torques, without.torques)
    assert without.errors is None


def test_positions_of_motors_go_through_the_drives() -> None:
    driven = replace(ROBOT, drives=Drives(((50.0, 0.0), (0.0, 80.0)), (0.0, 0.0), (1.0, 1.0)))
    log = without_torques(log_of())
    turned = replace(log, side="motor", channels={"position": log.channels["position"] * [50.0, 80.0]})
    (joint,) = predict_logs(RESULT, [log])
    (motor,) = predict_logs(replace(RESULT, robot=driven), [turned])
    assert np.allclose(motor.torques, joint.torques, rtol=1e-6, atol=1e-6)


def test_a_log_without_positions_gets_a_sentence() -> None:
    log = replace(log_of(), channels={"reference": log_of().channels["position"]})
    with pytest.raises(
        DynidError, match="Log 'run' has no positions, along which torques could be predicted"
    ):
        predict_logs(RESULT, [log])
