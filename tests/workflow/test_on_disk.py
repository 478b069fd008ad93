"""Long logs: read to disk, the same fit as in memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dynid.estimators import WLS
from dynid.logs.log import Log
from dynid.logs.read import read_log
from dynid.logs.save import save_log
from dynid.model.load import load_robot
from dynid.preparation.preparation import Preparation
from dynid.workflow.fitting import fit
from dynid.workflow.result import document_of
from support.workflow_logs import experiment

ROBOT = load_robot("scara")
PLAN = Preparation(cutoff_hz=20.0, drop_samples=60, decimation=5)


@pytest.fixture(scope="module")
def log() -> Log:
    motion = experiment(ROBOT, seed=1, seconds=20.0)
    return Log("run", motion.time, {"position": motion.q, "torque": motion.tau})


@pytest.fixture(params=["csv", "parquet"])
def long(request: pytest.FixtureRequest, log: Log, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Log:
    if request.param == "parquet":
        pytest.importorskip("pyarrow")
    path = tmp_path / f"log.{request.param}"
    save_log(log, path)
    monkeypatch.setattr("dynid.logs.spool.LONG", 2000)
    read = read_log(path)
    assert read.on_disk
    return read


def test_a_long_log_is_read_to_disk(log: Log, long: Log) -> None:
    assert (long.samples, long.axes) == (log.samples, log.axes)
    np.testing.assert_allclose(long.time, log.time, rtol=1e-14)
    for name in ("position", "torque"):
        np.testing.assert_allclose(long.array(name), log.array(name), rtol=1e-14)


@pytest.mark.parametrize(
    "plan",
    [
        PLAN,
        Preparation(cutoff_hz=20.0),
        Preparation(cutoff_hz=4.0, decimation=25, speed_thresholds=(0.1, 0.1)),
        replace(PLAN, convention="matlab"),
        None,
    ],
)
def test_the_fit_is_that_of_the_log_in_memory(long: Log, plan: Preparation | None) -> None:
    short = Log(long.name, long.time, {name: long.array(name) for name in long.channels})
    found, wanted = (fit(ROBOT, [x], WLS(), plan=plan, split=0.7) for x in (long, short))
    assert found.motions[0].on_disk
    assert found.plan == wanted.plan
    assert found.estimate.problem.row_counts.tolist() == wanted.estimate.problem.row_counts.tolist()
    np.testing.assert_allclose(found.estimate.values, wanted.estimate.values, rtol=1e-9)
    np.testing.assert_allclose(found.estimate.sigma, wanted.estimate.sigma, rtol=1e-9)
    for ours, theirs in ((found.own, wanted.own), (found.unseen, wanted.unseen)):
        assert ours is not None
        assert theirs is not None
        np.testing.assert_allclose(ours.judged.rms, theirs.judged.rms, rtol=1e-9)
        assert ours.verdict.grade == theirs.verdict.grade
    assert found.checks[0].verdict == wanted.checks[0].verdict
    assert [finding.name for finding in found.concerns] == [finding.name for finding in wanted.concerns]
    assert found.identities[0].data == wanted.identities[0].data
    np.testing.assert_allclose(found.trails[0].q, wanted.trails[0].q)
    ours, theirs = (document_of(result, {})["curves"][0] for result in (found, wanted))
    assert ours == theirs


def test_a_long_log_is_repaired(long: Log) -> None:
    torque = long.array("torque").copy()
    torque[4000, 1] = np.nan
    bad = replace(long, channels={**long.channels, "torque": torque})
    fitted = fit(ROBOT, [bad], WLS(), plan=PLAN, repair=True)
    assert "repair: missing values" in [step.name for step in fitted.motions[0].history]
