"""The model as MJCF: the same torques in dynid and MuJoCo, and a user's file that stays his."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")
pytest.importorskip("pinocchio")

import mujoco

from dynid.core.errors import DynidError
from dynid.export.mjcf import to_mjcf
from dynid.export.model import Export
from dynid.model.element import ForceElement
from dynid.model.joint import Limits
from dynid.model.load import catalog, load_robot
from dynid.model.loaders.mjcf import from_mjcf_text
from dynid.model.loaders.urdf import from_urdf_text
from dynid.model.robot_source import RobotSource
from support.evaluate import relative_error
from support.export_models import model_of, mujoco_torques, our_torques
from support.mjcf_oracle import equality_residuals
from support.robots import ORACLE_ROBOTS
from support.urdf_text import joint, link, robot

ARM = """<mujoco model="arm"><!-- keep me -->
  <compiler angle="degree"   boundmass="0.1"/>
  <default>
    <joint damping="2"/>
    <default class="geared"><joint armature="0.3" stiffness="3" springref="20"/></default>
  </default>
  <worldbody>
    <body name="pedestal" pos="0 0 1"><geom size="1"/>
      <body name="upper" pos="0 0.1 0.2" euler="10 20 30">
        <joint name="shoulder" axis="1 1 0" pos="0.1 0 0.1" ref="30"/>
        <geom size="0.1 0.2" type="cylinder"/>  <!-- a geom -->
        <body name="cover"  pos="0 0 0.1"><inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/></body>
        <body name="lamp"  pos="0 0 0.4"><geom size="0.1"/></body>
        <frame euler="0 90 0">
          <body name="fore" pos="0 0.3 0">
            <joint name="slide" type="slide" class="geared" range="-1 1"/>
            <inertial mass="1" pos="0 0 0.1" diaginertia="1 1 1"/>
          </body>
        </frame>
      </body>
    </body>
  </worldbody>
  <actuator><motor joint="shoulder" gear="50"/></actuator>
</mujoco>
"""
UNIVERSAL = """<mujoco><worldbody><body><joint name="a" axis="1 0 0"/><joint name="b" axis="0 1 0"/>
<geom type="box" size="0.1 0.2 0.3"/></body></worldbody></mujoco>"""
NO_GRAVITY = '<option><flag gravity="disable"/></option>'
HELD = ("Ia", "Fv", "Fc", "Ks", "off")


def written(export: Export) -> str:
    return export.files[0].content.decode()


@pytest.mark.parametrize("name", [*catalog(), *(n for n in ORACLE_ROBOTS if n not in catalog())])
def test_an_mjcf_of_any_tree_has_the_models_torques(name: str) -> None:
    model = model_of(load_robot(name) if name in catalog() else ORACLE_ROBOTS[name])
    export = to_mjcf(model)
    assert export.figures["largest_difference"] < 1e-12
    free, x, torques = our_torques(model, "Ia", "Fv", "Fc")
    assert relative_error(mujoco_torques(written(export), free, x), torques) < 1e-9
    gravity = mujoco.MjModel.from_xml_string(written(export)).opt.gravity
    assert tuple(gravity) == model.robot.gravity


def test_motors_drive_the_driven_coordinates() -> None:
    text = written(to_mjcf(model_of(load_robot("pendubot"))))
    compiled = mujoco.MjModel.from_xml_string(text)
    assert compiled.nu == 1
    assert from_mjcf_text(text).driven == load_robot("pendubot").driven


def test_springs_and_constant_torques_are_held_by_springs_that_rest_elsewhere() -> None:
    arm = load_robot("double_pendulum")
    springs = (
        ForceElement("K1", {arm.joints[0].name: 2.0}),
        ForceElement("D1", {arm.joints[1].name: -3.0}, "qd"),
    )
    model = model_of(replace(arm, elements=springs), off2=0.0)
    export = to_mjcf(model)
    free, x, torques = our_torques(model, "Ia", "Fv", "Fc", "off", "K1", "D1")
    assert relative_error(mujoco_torques(written(export), free, x), torques) < 1e-9
    assert not any("does not hold off" in s or "force law" in s for s in export.lost)


def test_a_constant_torque_without_a_spring_is_lost() -> None:
    export = to_mjcf(model_of(load_robot("double_pendulum")))
    joints = ", ".join(j.name for j in load_robot("double_pendulum").joints)
    beside = "double_pendulum.xml.dynid.json"
    assert export.lost[0] == f"MJCF does not hold off (constant torque) of {joints}: it is in {beside}."


def test_a_spring_between_two_joints_is_lost() -> None:
    export = to_mjcf(model_of(load_robot("elastic_drive")))
    sentence = "MJCF does not hold K1 (force law q) of motor, load: it is in elastic_drive.xml.dynid.json."
    assert sentence in export.lost


def test_followers_of_one_joint_are_equalities_and_others_are_told() -> None:
    robot = load_robot("haptic")
    export = to_mjcf(model_of(robot))
    rng = np.random.default_rng(5)
    q = rng.normal(size=(4, len(robot.movable)))
    q[:, 3] = np.pi - q[:, 4]  # joint4 follows joint5
    assert (
        np.abs(equality_residuals(written(export), replace(robot, coupling=None, closure=None), q)).max()
        < 1e-12
    )
    assert "MuJoCo holds the equations of joint4 by soft constraints." in export.lost
    assert any("joint 'joint3' follows joint2 and joint5, so it moves freely" in s for s in export.lost)


def test_a_urdf_becomes_mjcf_with_its_mimic_joints_and_limits() -> None:
    text = robot(
        link("base", ""),
        link("a"),
        link("b"),
        joint("lead", "base", "a", rpy="0.3 0.2 0.1", axis="1 0 1"),
        joint("follow", "a", "b", xyz="0.2 0 0", more='<mimic joint="lead" multiplier="-2" offset="0.4"/>'),
    )
    export = to_mjcf(model_of(from_urdf_text(text)))
    again = from_mjcf_text(written(export))
    assert again.coupling == from_urdf_text(text).coupling
    assert again.joints[0].limits == Limits(-2.0, 3.0, effort=40.0)
    assert (
        "MJCF does not hold the limits of velocity of lead, follow: they are in arm.xml.dynid.json."
        in export.lost
    )


# ── the user's own file ───────────────────────────────────────────────────────────────────────────────────


def test_the_users_own_file_has_the_models_torques() -> None:
    model = model_of(from_mjcf_text(ARM))
    export = to_mjcf(model)
    assert export.figures["largest_difference"] < 1e-12
    free, x, torques = our_torques(model, *HELD)
    assert relative_error(mujoco_torques(written(export), free, x), torques) < 1e-9
    assert (export.files[0].name, export.lost) == ("robot.xml", ())


def test_nothing_outside_the_changed_attributes_and_inertias_changes() -> None:
    new = written(to_mjcf(model_of(from_mjcf_text(ARM))))
    replaced = re.compile(r"\s*(<!-- (its|with the) inertia.*?-->|<inertial[^>]*>)")
    keys = "armature|damping|frictionloss|stiffness|springref|inertiafromgeom|boundmass|boundinertia"
    changed = re.compile(rf' ({keys})="[^"]*"')
    start, end = (text.index("<default>") for text in (ARM, new))
    defaults = ARM[start : ARM.index("<worldbody>")]
    assert new[end : new.index("<worldbody>")] == defaults
    assert changed.sub("", replaced.sub("", new)) == changed.sub("", replaced.sub("", ARM))
    assert '<compiler angle="degree"   boundmass="0" inertiafromgeom="false" boundinertia="0"/>' in new
    assert "<!-- its inertia is in the body of joint shoulder, which carries it --></body>" in new


def test_gravity_and_limits_of_the_result_come_into_the_file() -> None:
    loaded = from_mjcf_text(ARM).with_gravity(1.0, 2.0, 3.0)
    joints = tuple(replace(j, limits=Limits(-0.5, 0.5, effort=7.0)) for j in loaded.joints)
    again = from_mjcf_text(written(to_mjcf(model_of(replace(loaded, joints=joints)))))
    assert again.gravity == (1.0, 2.0, 3.0)
    assert again.joints[0].limits.upper == pytest.approx(0.5, rel=1e-14)
    assert again.joints[0].limits.effort == 7.0
    assert again.joints[1].limits == Limits(-1.0, 1.0, effort=7.0)


def test_a_body_with_two_joints_keeps_its_file_while_the_first_link_is_empty() -> None:
    loaded = from_mjcf_text(UNIVERSAL)
    empty = {entry.name: 0.0 for entry in loaded.table if entry.joint == 0 and entry.family == "inertial"}
    export = to_mjcf(model_of(loaded, **empty))
    assert export.files[0].name == "robot.xml"
    assert 'size="0.1 0.2 0.3"' in written(export)
    new = to_mjcf(model_of(loaded))
    assert 'size="0.1 0.2 0.3"' not in written(new)
    start = "The file robot.xml was not used, and a new one was made: the link of joint 'a' has an inertia"
    assert any(sentence.startswith(start) for sentence in new.lost)
    free, x, torques = our_torques(model_of(loaded), "Ia", "Fv", "Fc")
    assert relative_error(mujoco_torques(written(new), free, x), torques) < 1e-9


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (ARM.replace('gear="50"', 'gear="50" armature="0.01"'), "its actuators have armature or damping"),
        (
            ARM.replace("<actuator>", '<option><flag gravity="disable"/></option><actuator>'),
            "cannot be read back",
        ),
    ],
)
def test_a_file_that_cannot_hold_the_model_exactly_gives_way_to_a_new_one(text: str, reason: str) -> None:
    model = model_of(from_mjcf_text(text).with_gravity(0.0, 0.0, -9.81))
    export = to_mjcf(model)
    assert export.files[0].name == "arm.xml"
    assert any("a new one was made" in sentence and reason in sentence for sentence in export.lost)


def test_the_mjcf_of_another_robot_is_refused() -> None:
    model = model_of(from_mjcf_text(ARM))
    other = ARM.replace('pos="0 0.3 0"', 'pos="0 0.4 0"')
    with pytest.raises(DynidError, match=r"^other\.xml is not the MJCF of the result's robot: joint 'slide'"):
        to_mjcf(model, RobotSource("other.xml", "mjcf", other))
    with pytest.raises(DynidError, match=r"^a\.urdf is a file of the form 'urdf'; give a file of form MJCF"):
        to_mjcf(model, RobotSource("a.urdf", "urdf", "<robot/>"))


def test_a_link_that_is_no_body_is_refused() -> None:
    with pytest.raises(DynidError, match="The link of joint 'slide' has the mass 0 kg; a body has"):
        to_mjcf(model_of(from_mjcf_text(ARM), M2=0.0))
