"""Measured arms with a robot file and a mapping as a user would write them."""

from __future__ import annotations

from pathlib import Path

import pytest

from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log
from dynid.logs.mapping import mapping_from_table
from dynid.logs.read import read_log
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.workflow import fit
from support.datasets import dataset
from support.kr300 import KR300, RECORD


@pytest.fixture(scope="module")
def kr300(tmp_path_factory: pytest.TempPathFactory) -> tuple[Robot, dict[str, Log]]:
    file = tmp_path_factory.mktemp("robot") / "kr300.toml"
    file.write_text(KR300, encoding="utf-8")
    paths: dict[str, Path] = {name: dataset("kr300", f"trajectory_{name}.mat") for name in "ABC"}
    mapping = mapping_from_table(RECORD)
    return load_robot(file), {name: read_log(path, mapping) for name, path in paths.items()}


def test_the_kr300_is_read_as_it_is(kr300: tuple[Robot, dict[str, Log]]) -> None:
    """Two of its motions predict the third; one alone excites too little for least squares, and the verdict
    says so; held to possible robots it predicts the others, with care."""
    robot, logs = kr300
    joint = to_joint_side(logs["A"], robot)
    assert joint.array("torque")[:, 1].max() == pytest.approx(267.429 * logs["A"].array("torque")[:, 1].max())
    both = fit(robot, [logs["A"], logs["B"]], validate=logs["C"])
    assert both.unseen is not None
    assert both.unseen.judged.overall_percent < 8
    assert both.unseen.trustworthy
    alone = fit(robot, logs["A"], validate=[logs["B"], logs["C"]], consistent="never")
    assert alone.unseen is not None
    assert not alone.unseen.trustworthy
    first = alone.unseen.verdict.findings[0]
    assert first.name == "excitation"
    assert "excites too little" in first.sentence
    held = fit(robot, logs["A"], validate=[logs["B"], logs["C"]])
    assert held.possibility is not None
    assert held.possibility.is_recommended
    assert held.unseen is not None
    assert held.unseen.judged.overall_percent < 12
    assert any(finding.name == "excitation" for finding in held.unseen.verdict.findings)


def test_the_med_7_has_torques_of_the_other_sign() -> None:
    """No robot that can exist makes them; reversed, as the finding says, they are predicted better."""
    robot = load_robot(dataset("lbr_med7", "med7dock.urdf"))
    path = dataset("lbr_med7", "measurements.csv")
    as_it_is, advised = (
        fit(robot, read_log(path, mapping_from_table({"rate_hz": 100, **more})), split=0.7)
        for more in ({}, {"torque": {"sign": -1}})
    )
    told = next(f for f in as_it_is.concerns if f.name == "reversed torques")
    assert "sign = -1 under [torque]" in told.remedy
    assert not any(f.name == "reversed torques" for f in advised.concerns)
    assert as_it_is.unseen is not None
    assert advised.unseen is not None
    assert advised.unseen.judged.overall_percent < 0.75 * as_it_is.unseen.judged.overall_percent


def test_enough_rows_come_before_a_narrow_band_on_the_med_7() -> None:
    """Sixteen seconds, of which six at rest: the band of the spectrum alone would leave 35 rows per joint."""
    robot = load_robot(dataset("lbr_med7", "med7dock.urdf"))
    log = read_log(dataset("lbr_med7", "measurements.csv"), mapping_from_table({"rate_hz": 100}))
    found = fit(robot, log, split=0.7)
    assert found.unseen is not None
    assert found.unseen.judged.overall_percent < 12
    assert found.estimate.problem.row_counts.min() > 350
    assert any(finding.name == "few rows" for finding in found.concerns)  # 387 for 46 parameters of joint 1
