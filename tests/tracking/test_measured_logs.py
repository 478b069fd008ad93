"""Measured logs through a recursion: the batch on identical rows, causal filters within the doubt of both."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dynid
from dynid.base.find import base_of
from dynid.casestudies.case import packaged_mapping
from dynid.core.finding import Name
from dynid.estimators.recursive import RecursionOptions
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.tracking import Feed
from dynid.tracking.sources import Replay
from dynid.tracking.tracker import Tracker, TrackOptions
from dynid.workflow.live_plan import live_plan
from dynid.workflow.track import BatchRows, Following, follow_rows, follow_samples
from support.datasets import dataset


class Kept:
    """A reader that keeps all records."""

    def __init__(self) -> None:
        self.records: list[Mapping[str, Any]] = []

    def write(self, record: Mapping[str, Any]) -> bool:
        self.records.append(record)
        return True

    def of(self, kind: str) -> list[Mapping[str, Any]]:
        return [r for r in self.records if r["kind"] == kind]


def mapped(name: str, path: Path) -> Log:
    with packaged_mapping(name) as mapping:
        return dynid.read_log(path, mapping)


def emps() -> tuple[Robot, Log]:
    return dynid.load_robot("emps"), mapped("emps", dataset("emps") / "DATA_EMPS.mat")


def tx40() -> tuple[Robot, Log]:
    return dynid.load_robot("tx40_log"), mapped("tx40", dataset("tx40"))


def pendulum() -> tuple[Robot, Log]:
    path = sorted(dataset("double_pendulum").glob("*trajectory_*.csv"))[0]
    return dynid.load_robot("double_pendulum"), mapped("double_pendulum", path)


LOGS: dict[str, Callable[[], tuple[Robot, Log]]] = {"emps": emps, "tx40": tx40, "pendulum": pendulum}


@pytest.mark.parametrize("name", LOGS)
def test_identical_rows_and_weights_end_at_the_batch(name: str) -> None:
    """RLS = WLS to 1e-6 σ, through the whole run, and the honest σ of the batch."""
    robot, log = LOGS[name]()
    rows = BatchRows.of_logs(robot, [log], repair=True)
    tracker, kept = rows.tracker(TrackOptions()), Kept()
    end = follow_rows(rows, tracker, Following(sinks=[kept], every_s=1.0))
    assert end["batch_difference"] < 1e-6
    batch = dynid.identify(rows.problem, dynid.WLS())
    assert np.allclose(tracker.recursion.values, batch.values, rtol=1e-7, atol=1e-7 * batch.sigma.max())
    assert 0.5 < np.median(tracker.recursion.sigma() / batch.sigma) < 2.0
    assert len(kept.of("record")) > 5


def test_riv_of_emps_is_iv_with_instruments_of_its_reference() -> None:
    robot, log = emps()
    rows = BatchRows.of_logs(robot, [log], controller=dynid.load_controller("emps", robot))
    tracker = rows.tracker(TrackOptions(method="riv"))
    assert follow_rows(rows, tracker, Following(sinks=[]))["batch_difference"] < 1e-6


@pytest.mark.parametrize("watched", [True, False])
@pytest.mark.parametrize("name", LOGS)
def test_causal_filters_stay_within_the_doubt_of_both(name: str, watched: bool) -> None:
    """Sample by sample through causal filters, within 2σ of the batch; the watch sees nothing."""
    robot, log = LOGS[name]()
    found = dynid.fit(robot, log, repair=True)
    log, base = found.logs[0], base_of(robot)
    plan = live_plan(robot, log, "rls", {})
    options = TrackOptions(recursion=RecursionOptions(), **({} if watched else {"watch": None}))
    tracker, feed, kept = Tracker(base, plan, options), Feed(), Kept()
    follow_samples(tracker, feed.in_order(Replay(log, robot)), Following(sinks=[kept]))
    assert tracker.recursion is not None
    estimate = tracker.recursion.estimate()
    apart = np.abs(estimate.values - found.estimate.values)
    assert np.max(apart / np.hypot(estimate.sigma, found.estimate.sigma)) < 2.0
    told = {event["name"] for event in kept.of("event")}
    alarms = {Name.PAYLOAD_PICKED_UP, Name.PAYLOAD_PUT_DOWN, Name.FRICTION_DRIFT, Name.COLLISION}
    assert not told & {*alarms, Name.UNEXPLAINED_CHANGE}
