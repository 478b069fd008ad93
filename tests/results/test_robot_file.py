"""A result folder keeps the robot file that the user gave, byte by byte."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from dynid.core.errors import FileError
from dynid.estimators import Estimate
from dynid.model.loaders.mjcf import from_mjcf, from_mjcf_text
from dynid.model.loaders.urdf import from_urdf
from dynid.model.robot_source import RobotSource
from dynid.results.load import load_result
from dynid.results.save import save_result
from support.urdf_text import chain

MJCF = '<mujoco><worldbody><body><joint name="a"/><geom size="0.1"/></body></worldbody></mujoco>'


def with_origin(estimate: Estimate, origin: RobotSource | None) -> Estimate:
    problem = estimate.problem
    return replace(estimate, problem=replace(problem, robot=replace(problem.robot, origin=origin)))


def test_a_robot_keeps_the_bytes_of_its_urdf(tmp_path: Path) -> None:
    content = b"\xef\xbb\xbf" + chain().replace("\n", "\r\n").encode()
    (tmp_path / "arm.urdf").write_bytes(content)
    robot = from_urdf(tmp_path / "arm.urdf")
    assert robot.origin is not None
    assert (robot.origin.name, robot.origin.form) == ("arm.urdf", "urdf")
    assert robot.origin.text.encode() == content
    changed = robot.with_terms("Ia").with_gravity(1.0, 0.0, 0.0).with_parameters({})
    assert changed.origin is robot.origin


def test_the_origin_is_no_part_of_what_a_robot_is(tmp_path: Path) -> None:
    robot = from_mjcf_text(MJCF)
    other = replace(robot, origin=None)
    assert robot.origin == RobotSource("robot.xml", "mjcf", MJCF)
    assert (robot, hash(robot), robot.digest, repr(robot)) == (other, hash(other), other.digest, repr(other))


def test_included_files_become_part_of_the_origin(tmp_path: Path) -> None:
    (tmp_path / "part.xml").write_text('<mujoco><option gravity="0 0 -1"/></mujoco>')
    (tmp_path / "arm.xml").write_text(MJCF.replace("<mujoco>", '<mujoco><include file="part.xml"/>'))
    robot = from_mjcf(tmp_path / "arm.xml")
    assert robot.origin is not None
    assert "include" not in robot.origin.text
    assert from_mjcf_text(robot.origin.text).gravity == (0.0, 0.0, -1.0)


@pytest.mark.parametrize(("form", "file"), [("urdf", "robot.urdf"), ("mjcf", "robot.xml")])
def test_a_result_folder_gives_the_robot_file_back(
    form: str, file: str, tmp_path: Path, estimate: Estimate
) -> None:
    origin = RobotSource("mein Arm.urdf", form, "<robot>\r\n<!-- ü --></robot>")
    folder = save_result(tmp_path / "out", with_origin(estimate, origin), {}, "")
    assert (folder / file).read_bytes() == origin.text.encode()
    content = json.loads((folder / "result.json").read_text())
    assert content["files"][file]["sha256"] == origin.sha256
    assert load_result(folder).robot.origin == origin


def test_a_robot_file_that_was_changed_is_not_taken(tmp_path: Path, estimate: Estimate) -> None:
    folder = save_result(tmp_path / "a", with_origin(estimate, RobotSource("a.urdf", "urdf", "x")), {}, "")
    (folder / "robot.urdf").write_text("y")
    assert load_result(folder).robot.origin is None


def test_a_folder_of_an_earlier_version_has_no_robot_file(tmp_path: Path, estimate: Estimate) -> None:
    folder = save_result(tmp_path / "a", estimate, {}, "")
    content = json.loads((folder / "result.json").read_text())
    assert content.pop("robot_origin") is None
    (folder / "result.json").write_text(json.dumps(content))
    assert load_result(folder).robot.origin is None


def test_a_form_that_is_not_known_is_damage(tmp_path: Path, estimate: Estimate) -> None:
    folder = save_result(tmp_path / "a", with_origin(estimate, RobotSource("a.urdf", "urdf", "x")), {}, "")
    text = (folder / "result.json").read_text()
    (folder / "result.json").write_text(text.replace('"form": "urdf"', '"form": "sdf"'))
    with pytest.raises(FileError, match=r"is damaged \(result\.json lacks 'sdf'\)"):
        load_result(folder)
