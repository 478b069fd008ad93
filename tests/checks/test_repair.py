"""Repairs: what was asked for and nothing else, recorded, and good afterwards."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dynid.checks import check_log, repair_log
from dynid.core.errors import NotTrustworthyError, UnknownNameError
from dynid.estimators import OLS, identify
from dynid.logs.log import Log
from dynid.logs.read import read_log
from dynid.logs.save import save_log
from dynid.model.load import load_robot
from dynid.preparation import Preparation, prepare
from dynid.preparation.repair import REPAIRS
from dynid.problem import build_problem
from support.logs import pendulum_log, with_channel, with_rows

LOG = pendulum_log()


def broken() -> Log:
    """Everything at once: bad stamps, a gap, NaN, garbage, jitter."""
    rng = np.random.default_rng(2)
    log = with_rows(LOG, np.delete(np.arange(LOG.samples), range(900, 906)))
    time = log.time + rng.uniform(-0.0008, 0.0008, log.samples)
    time[[100, 1200]] = time[[99, 1199]]
    time[1500] -= 0.1
    time[1800] = np.nan
    q, tau = log.channels["position"].copy(), log.channels["torque"].copy()
    q[300:308, 0] = np.nan
    tau[77, 1], tau[78, 1], tau[400, 0] = 1e300, -1e12, np.inf
    return with_channel(replace(log, time=time), position=q, torque=tau)


def test_everything_repairable_is_repaired_and_recorded() -> None:
    log = broken()
    before = check_log(log)
    assert before.verdict == "usable with repairs"
    assert set(before.defects) == {
        "lost stamps",
        "backward stamps",
        "repeated stamps",
        "garbage values",
        "missing values",
        "short gaps",
        "jitter",
    }
    mended = repair_log(log)
    assert check_log(mended).verdict == "good"
    assert all(step.note for step in mended.history)
    names = [step.name for step in mended.history]
    assert "repair: garbage values" in names
    assert "repair: missing values" in names
    at = np.stack([np.interp(mended.time, LOG.time, x) for x in LOG.channels["position"].T], axis=1)
    assert np.max(np.abs(mended.channels["position"] - at)) < 0.02


def test_only_what_is_asked_for_is_touched() -> None:
    log = broken()
    mended = repair_log(log, ["garbage values"])
    assert [step.name for step in mended.history] == ["repair: garbage values"]
    assert mended.history[0].options == {"torque 2": 2}
    assert np.array_equal(mended.time, log.time, equal_nan=True)
    same = ~np.isin(np.arange(log.samples), [77, 78])
    assert np.array_equal(mended.channels["torque"][same], log.channels["torque"][same], equal_nan=True)
    assert np.array_equal(mended.channels["position"], log.channels["position"], equal_nan=True)
    assert np.isinf(mended.channels["torque"][400, 0])
    assert "garbage values" not in check_log(mended).defects


@pytest.mark.parametrize("name", REPAIRS)
def test_a_good_log_is_left_alone(name: str) -> None:
    assert repair_log(LOG, [name]) is LOG
    assert repair_log(LOG) is LOG


def test_long_gaps_keep_the_longest_stretch() -> None:
    mended = repair_log(with_rows(LOG, np.delete(np.arange(LOG.samples), range(300, 700))))
    assert np.array_equal(mended.time, LOG.time[700:])
    assert (
        mended.history[-1].note
        == "Only the longest stretch without a long gap was kept: 1800 of 2100 samples."
    )


def test_what_cannot_be_repaired_is_told() -> None:
    tau = LOG.channels["torque"].copy()
    tau[500:2100, 0] = np.nan
    lost = with_channel(LOG, torque=tau)
    with pytest.raises(
        NotTrustworthyError, match=r"cannot be repaired: 1600 of 2500 values of torque on axis 1"
    ):
        repair_log(lost, ["missing values"])
    assert repair_log(lost) is lost
    with pytest.raises(UnknownNameError, match=r"Unknown repair 'jitters'\. Did you mean 'jitter'"):
        repair_log(LOG, ["jitters"])


def test_resampling_is_at_the_constant_rate() -> None:
    rng = np.random.default_rng(1)
    jittered = replace(LOG, time=LOG.time + rng.uniform(-0.001, 0.001, LOG.samples))
    values = np.stack([np.interp(jittered.time, LOG.time, x) for x in LOG.channels["position"].T], axis=1)
    mended = repair_log(with_channel(jittered, position=values), ["jitter"])
    steps = np.diff(mended.time)
    assert np.ptp(steps) < 1e-9
    truth = np.stack([np.interp(mended.time, LOG.time, x) for x in LOG.channels["position"].T], axis=1)
    assert np.max(np.abs(mended.channels["position"] - truth)) < 1e-3
    assert mended.history[-1].options["rate_hz"] == pytest.approx(250, rel=0.01)


def test_torques_that_were_made_up_weigh_nothing(tmp_path: Path) -> None:
    """Whatever stands in such rows, in memory or in a file, the parameters are the same."""
    robot = load_robot("double_pendulum")
    made_up = np.zeros(LOG.samples, dtype=bool)
    made_up[700:720] = made_up[1500] = True
    tau = LOG.array("torque").copy()
    tau[made_up] = 50.0
    plan = Preparation(cutoff_hz=20.0, decimation=8, drop_samples=30)
    wild = replace(with_channel(LOG, torque=tau), made_up=made_up)
    save_log(wild, tmp_path / "wild.npz")
    tau[made_up] = -3.0
    other = replace(with_channel(LOG, torque=tau), made_up=made_up)
    values = [
        identify(build_problem(robot, [prepare(log, plan)], plan), OLS()).values
        for log in (wild, other, read_log(tmp_path / "wild.npz"))
    ]
    assert np.allclose(values[0], values[1], rtol=1e-10)
    assert np.allclose(values[0], values[2], rtol=1e-10)
    bare = identify(build_problem(robot, [prepare(replace(wild, made_up=None), plan)], plan), OLS()).values
    assert not np.allclose(bare, values[0], rtol=1e-2)


def test_repairs_say_which_torques_they_made_up() -> None:
    tau = LOG.array("torque").copy()
    tau[300:304, 1] = np.nan
    mended = repair_log(with_channel(LOG, torque=tau))
    assert mended.made_up is not None
    assert np.flatnonzero(mended.made_up).tolist() == [300, 301, 302, 303]
    gap = repair_log(with_rows(LOG, np.delete(np.arange(LOG.samples), [800, 1200, 1201])))
    assert gap.made_up is not None
    assert np.flatnonzero(gap.made_up).tolist() == [800, 1200, 1201]
    assert gap.samples == LOG.samples
    measured = ~gap.made_up
    assert np.array_equal(gap.array("position")[measured], LOG.array("position")[measured])
    assert np.abs(gap.array("position") - LOG.array("position")).max() < 1e-4
    assert gap.part(slice(790, 810)).made_up is not None
