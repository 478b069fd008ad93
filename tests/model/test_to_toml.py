"""A robot written as a TOML robot file and loaded again is the same robot, to the last digit."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

import dynid
from dynid.core.errors import ModelError
from dynid.core.files import toml_key, toml_value
from dynid.model.coupling import Coupling
from dynid.model.drives import Drives
from dynid.model.friction import FrictionTerm
from dynid.model.joint import Joint, JointKind, Limits
from dynid.model.load import catalog, load_robot
from dynid.model.loaders.mdh import robot_to_toml
from dynid.model.loaders.mjcf import from_mjcf_text
from dynid.model.loaders.urdf import from_urdf_text
from dynid.model.payload import attach_payload
from dynid.model.robot import Robot
from support.urdf_text import joint, link, robot as urdf

MJCF = """<mujoco model="hand &quot;x&quot;"><option gravity="0 1.5 -9.7"/><worldbody>
  <body name="a" pos="0.1 0.2 0.3" euler="13 7 -40"><joint name="tilt 1" axis="1 2 3" stiffness="3"
    springref="20" range="-20 50" armature="0.01"/>
    <inertial pos="0.1 0 0.2" mass="2" diaginertia="0.1 0.1 0.05"/>
    <body name="b" pos="0 0 0.4">
      <joint name="slide" type="slide" axis="0 1 0" damping="2" frictionloss="0.3"/>
      <inertial pos="0 0 0.1" mass="1" diaginertia="0.01 0.02 0.02"/>
      <body name="c"><joint name="ü" axis="0 0 1"/><inertial pos="0 0 0" mass="1" diaginertia="1 1 1"/></body>
    </body></body></worldbody>
  <equality><joint joint1="ü" joint2="slide" polycoef="0.3 -1.7 0 0 0"/></equality>
  <actuator><motor joint="slide"/></actuator></mujoco>"""
URDF = urdf(
    link("a"), link("b"), link("c", "rod"), link("d", "ball"),
    joint("first", "a", "b", xyz="0.1 0.3 -0.2", rpy="0.1 1.5708 0.3", axis="0 -1 0"),
    joint("second one", "b", "c", "prismatic", rpy="0.2 0 1", more='<dynamics damping="0.5" friction="1"/>'),
    joint("third", "b", "d", "continuous", axis="1 1 0", more='<limit effort="0" velocity="3"/>'),
    *(
        f'<transmission name="{name}"><type>SimpleTransmission</type><joint name="{name}">'
        f'<offset>0.1</offset></joint><actuator name="m"><mechanicalReduction>{n}</mechanicalReduction>'
        "</actuator></transmission>"
        for name, n in (("first", 51), ("second one", -0.3), ("third", 100 / 3))
    ),
)  # fmt: skip


def again(robot: Robot, folder: Path) -> Robot:
    path = folder / "robot.toml"
    path.write_text(robot_to_toml(robot), encoding="utf-8")
    return load_robot(path)


def assert_same(robot: Robot, other: Robot) -> None:
    assert other == robot
    assert other.digest == robot.digest
    assert other.table.names == robot.table.names
    assert dict(other.parameters) == dict(robot.parameters)
    assert [j.limits for j in other.joints] == [j.limits for j in robot.joints]
    assert (other.drives, other.coupling) == (robot.drives, robot.coupling)
    assert (other.gravity, other.lengths) == (robot.gravity, robot.lengths)
    assert (other.terms, other.friction) == (robot.terms, robot.friction)
    assert (other.name, other.title, other.source) == (robot.name, robot.title, robot.source)


@pytest.mark.parametrize("name", catalog())
def test_catalog_robots_come_back(name: str, tmp_path: Path) -> None:
    robot = attach_payload(load_robot(name))
    assert_same(robot, again(robot, tmp_path))


def test_a_urdf_comes_back_with_limits_and_drives(tmp_path: Path) -> None:
    robot = from_urdf_text(URDF)
    assert robot.drives is not None
    assert robot.joints[2].antecedent == 0
    assert_same(robot, again(robot, tmp_path))


def test_an_mjcf_comes_back_with_coupling_spring_and_gravity(tmp_path: Path) -> None:
    robot = from_mjcf_text(MJCF)
    assert robot.coupling is not None
    assert robot.joints[0].name == "tilt 1"
    assert not robot.joints[0].actuated
    assert "Ks1" in robot.parameters
    assert_same(robot, again(robot, tmp_path))


def test_what_is_taken_for_granted_is_left_out() -> None:
    content = tomllib.loads(dynid.model.robot_to_toml(load_robot("tx40")))
    assert content["joint"][2]["d"] == "D3"
    assert set(content["joint"][0]) == {"name", "limits", "shapes"}
    assert set(content["joint"][4]["shapes"][0]) == {"start", "radius"}  # a sphere
    assert content["lengths"] == {"D3": 0.225, "RL4": 0.225}
    assert "coupling" not in content
    assert content["drives"]["ratio"][5] == [0, 0, 0, 0, 32, 32]
    emps = tomllib.loads(robot_to_toml(load_robot("emps")))
    assert not isinstance(emps["drives"]["ratio"][0], list)


def test_names_of_strangers_and_a_negative_zero(tmp_path: Path) -> None:
    joints = (
        Joint('a"b\\c\n\t\x7f', -1, theta=-0.0, limits=Limits(upper=2.0), label="α"),
        Joint("[x]", -1, JointKind.PRISMATIC, b=-0.0, actuated=False),
        Joint("base", 1, d=1e-17, r=1e5),
    )
    coupling = Coupling((0, 1), ((1.0, 0.0), (0.0, 1.0), (0.1, -1 / 3)), (0.0, 0.0, 1e-9))
    term = FrictionTerm("Fs", "sign(qd)*exp(-(qd/0.1)^2)", "N m", "N")
    drives = Drives(((3.0, -0.0), (1e-3, -2.0)), (0.1, 0.2), (1.0, 7.0))
    robot = Robot("n = 1 # ''", joints, terms=("Fs",), friction=(term,), coupling=coupling, drives=drives)
    assert_same(robot, again(robot, tmp_path))


def test_what_robot_files_do_not_hold_is_refused() -> None:
    with pytest.raises(
        ModelError, match="Robot 'scara' cannot be written as a robot file; smooth signs have no"
    ):
        robot_to_toml(load_robot("scara").with_sign_width(0.1))
    one, two = load_robot("scara").joints
    coupling = Coupling((0,), ((1.0,), (2.0,)), (0.0, 0.5))
    robot = Robot("odd", (replace(one, name="offset"), two), coupling=coupling, lengths={"L": 0.5})
    with pytest.raises(ModelError, match="coupled joints cannot be named 'coordinates', 'offset'"):
        robot_to_toml(robot)


TEXT = st.text(st.characters(exclude_categories=("Cs",)), max_size=20)
NUMBER = st.floats(allow_nan=False, allow_infinity=False)
VALUE = st.recursive(
    st.booleans() | TEXT | NUMBER | st.integers(-(2**62), 2**62),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(TEXT, VALUE, max_size=4))
def test_whatever_is_written_is_read_back(content: dict[str, object]) -> None:
    lines = [f"{toml_key(key)} = {toml_value(value)}" for key, value in content.items()]
    assert tomllib.loads("\n".join(lines)) == content
