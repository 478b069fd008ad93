"""Replays: a log's rows as samples, from memory or disk, in its own time or as fast as possible."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dynid.core.errors import DynidError
from dynid.logs.convert import to_joint_side
from dynid.model.load import load_robot
from dynid.tracking import Feed, Sample
from dynid.tracking.sources import Replay, open_source
from support.logs import robot_log
from support.robots import skew_robot
from support.spooled import log_on_disk

ROBOT = load_robot("double_pendulum")


@pytest.mark.parametrize("spooled", [False, True])
@pytest.mark.parametrize("block", [1, 7, 8192])
def test_every_row_is_a_sample(spooled: bool, block: int) -> None:
    robot = skew_robot(np.random.default_rng(1))
    log = robot_log(robot, seconds=0.4)
    source = Replay(log_on_disk(log) if spooled else log, robot, block=block)
    samples = list(source)
    assert source.counts == {"received": 100, "refused": 0}
    np.testing.assert_array_equal([s.time for s in samples], log.time)
    for channel, name in (("position", "q"), ("torque", "tau"), ("velocity", "qd")):
        np.testing.assert_array_equal([getattr(s, name) for s in samples], log.array(channel))
    assert all(s.reference is None for s in samples)


def test_a_log_of_the_motors_is_brought_to_the_joints() -> None:
    robot = load_robot("tx40_log")
    log = replace(robot_log(robot, seconds=0.2), side="motor")
    wanted = to_joint_side(log, robot)
    source = Replay(log, robot)
    np.testing.assert_array_equal([s.tau for s in source], wanted.array("torque"))
    assert source.steps[-1].name == "to joint side"


def test_rows_that_are_lost_are_refused_and_counted() -> None:
    log = robot_log(ROBOT, seconds=1.0)
    q, time = log.array("position").copy(), log.time.copy()
    q[10, 1] = np.nan
    time[20:22] = np.nan
    source = Replay(replace(log, time=time, channels={**log.channels, "position": q}), ROBOT, block=16)
    feed = Feed()
    arrivals = list(feed.in_order(source))
    assert source.refused_by_reason == {"not finite or huge": 1, "impossible stamp": 2}
    assert source.counts == {"received": 250, "refused": 3}
    assert feed.counts["missing"] == 3
    assert [a.anew for a in arrivals].count(True) == 2
    assert "3 of 250 (1.2 %)" in source.findings()[0].sentence


@pytest.mark.parametrize("speed", [1.0, 4.0])
def test_real_time_waits_for_each_stamp_and_no_longer(speed: float) -> None:
    """By a clock that only sleeping and using samples moves."""
    now = [100.0]
    log = robot_log(ROBOT, seconds=0.5)
    log = replace(log, time=log.time + 7.0)
    source = Replay(log, ROBOT, speed, clock=lambda: now[0], sleep=lambda s: now.__setitem__(0, now[0] + s))
    for k, sample in enumerate(source):
        assert now[0] >= 100.0 + (sample.time - 7.0) / speed - 1e-9
        late = 0.1 / speed if k == 50 else 0.0  # once the user is slow; it is caught up
        if not 50 < k < 80:
            assert now[0] == pytest.approx(100.0 + (sample.time - 7.0) / speed, abs=1e-9)
        now[0] += late
    assert now[0] == pytest.approx(100.0 + (log.time[-1] - 7.0) / speed)


def test_without_a_speed_nothing_sleeps() -> None:
    def sleep(_: float) -> None:
        raise AssertionError

    assert len(list(Replay(robot_log(ROBOT, seconds=0.2), ROBOT, sleep=sleep))) == 50


def test_a_file_is_a_source(tmp_path: Path) -> None:
    file = tmp_path / "run.csv"
    file.write_text("t,q1,q2,tau1,tau2\n" + "".join(f"{k / 100},1,2,3,{k}\n" for k in range(30)))
    samples: list[Sample] = list(open_source(str(file), ROBOT))
    assert [s.tau[1] for s in samples] == list(range(30))


def test_what_cannot_be_replayed_is_refused() -> None:
    log = robot_log(ROBOT, seconds=0.2)
    with pytest.raises(DynidError, match="speed is 0"):
        Replay(log, ROBOT, 0.0)
    with pytest.raises(DynidError, match="has 2 axes, but robot"):
        Replay(log, load_robot("ur10"))
    with pytest.raises(DynidError, match="torque"):
        Replay(replace(log, channels={"position": log.channels["position"]}), ROBOT)
