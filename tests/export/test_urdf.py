"""The model as URDF: the same torques in dynid, Pinocchio and MuJoCo, and a user's file that stays his."""

from __future__ import annotations

import json
import re
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("pinocchio")
pytest.importorskip("mujoco")

from dynid.core.errors import DynidError
from dynid.export.bodies import first_difference
from dynid.export.urdf import to_urdf
from dynid.model.joint import JointKind, Limits
from dynid.model.load import catalog, load_robot
from dynid.model.loaders.tree import SPRING
from dynid.model.loaders.urdf import from_urdf, from_urdf_text
from dynid.model.payload import attach_payload
from dynid.model.robot import EARTH_GRAVITY
from dynid.model.robot_source import RobotSource
from support.datasets import dataset
from support.evaluate import relative_error
from support.export_models import model_of, mujoco_torques, our_torques, pinocchio_torques
from support.robots import ORACLE_ROBOTS
from support.urdf_text import joint, link, robot

FRICTION = '<dynamics damping="1.5" friction="0.25"/>'
FOLLOWS = '<mimic joint="lead" multiplier="-2" offset="0.4"/>'
ARM = robot(
    "<!-- an arm; keep me: -->",
    '<material name="grey"><color rgba="0.7 0.7 0.7 1"/></material>',
    link("base", "box"),
    link("column", "rod"),
    '<link name="upper"   >\n  <visual><geometry><mesh filename="package://arm/upper.stl"/></geometry></visual>\n'
    '  <inertial>\n    <!-- from CAD -->\n    <origin rpy="0.3 0 1.2" xyz="0 0 0.1"/><mass value="2"/>\n'
    '    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.05"/>\n  </inertial>\n</link>',
    link("cover", "ball"),
    link("screw", "box"),
    '<link name="fore"/>',
    "<link name='tool'><!-- no mass yet --></link>",
    link("flange", "rod"),
    joint("to_column", "base", "column", "fixed", xyz="0 0 0.2", rpy="0 0.1 0"),
    joint("shoulder", "column", "upper", xyz="0 0.1 0.3", rpy="1.5708 0 0.4", axis="1 2 -0.5", more=FRICTION),
    joint("to_cover", "upper", "cover", "fixed", xyz="0.1 0 0", rpy="0.4 0 1"),
    joint("to_screw", "cover", "screw", "fixed", xyz="0 0.02 0", rpy="0 0.7 0"),
    joint("elbow", "cover", "fore", "continuous", xyz="0.3 0 0", rpy="0 1.2 0", axis="0 -1 0"),
    joint("slide", "fore", "tool", "prismatic", xyz="0 0 0.2", rpy="0 0 0.2", axis="0 0.5 1"),
    joint("to_flange", "tool", "flange", "fixed", xyz="0 0 0.1"),
    '<transmission name="t"><type>transmission_interface/SimpleTransmission</type><joint name="elbow"/>'
    '<actuator name="m"><mechanicalReduction>80</mechanicalReduction></actuator></transmission>',
    '<gazebo reference="elbow"><provideFeedback>true</provideFeedback></gazebo>',
)
MIMIC = robot(
    link("base", ""),
    *(link(name) for name in ("a", "b", "c")),
    joint("lead", "base", "a", xyz="0 0 0.1", rpy="0.3 0.2 0.1"),
    joint(
        "follow",
        "a",
        "b",
        xyz="0.2 0 0",
        more=f'{FRICTION}<mimic joint="lead" multiplier="-2" offset="0.4"/>',
    ),
    joint("own", "b", "c", xyz="0.2 0 0", axis="0 1 0"),
)
REPLACED = re.compile(r"\s*(<!-- its inertia.*?-->|<inertial>.*?</inertial>|<dynamics[^>]*>)", re.S)


def written(export: object) -> str:
    return export.files[0].content.decode()  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", [*catalog(), *(n for n in ORACLE_ROBOTS if n not in catalog())])
def test_a_urdf_of_any_tree_has_the_models_torques(name: str) -> None:
    model = model_of(load_robot(name) if name in catalog() else ORACLE_ROBOTS[name])
    export = to_urdf(model)
    text = written(export)
    assert export.figures["largest_difference"] < 1e-12
    free, x, torques = our_torques(model)
    assert relative_error(pinocchio_torques(text, free, x), torques) < 1e-9
    free, x, torques = our_torques(model, "Fv", "Fc")
    assert relative_error(mujoco_torques(text, free, x), torques) < 1e-9


@pytest.mark.parametrize(("text", "name"), [(ARM, "arm"), (MIMIC, "mimic")])
def test_the_users_own_file_has_the_models_torques(text: str, name: str) -> None:
    model = model_of(from_urdf_text(text, snap_rad=0.0))
    new = written(to_urdf(model))
    free, x, torques = our_torques(model)
    assert relative_error(pinocchio_torques(new, free, x), torques) < 1e-9
    free, x, torques = our_torques(model, "Fv", "Fc")
    assert relative_error(mujoco_torques(re.sub("<visual>.*?</visual>", "", new), free, x), torques) < 1e-9


def test_angles_that_are_read_as_right_angles_give_the_same_torques_again() -> None:
    model = model_of(from_urdf_text(ARM))
    assert to_urdf(model).figures["largest_difference"] < 1e-12
    assert first_difference(model.robot, from_urdf_text(ARM, snap_rad=0.0))


def test_nothing_outside_the_replaced_elements_changes() -> None:
    model = model_of(from_urdf_text(ARM.replace("\n", "\r\n")))
    new = written(to_urdf(model))
    kept = REPLACED.sub("", new).replace('<link name="fore">\r\n</link>', '<link name="fore"/>')
    assert kept == REPLACED.sub("", ARM.replace("\n", "\r\n"))
    assert "\n" not in new.replace("\r\n", "")
    assert "<!-- an arm; keep me: -->" in new
    assert new.count("<inertial>") == 5  # base and column keep theirs; upper, fore and tool have the model's


def test_fixed_links_hand_their_inertia_to_the_link_that_carries_them() -> None:
    new = written(to_urdf(model_of(from_urdf_text(ARM))))
    assert "<!-- with the inertia of what is fixed to it: cover, screw -->" in new
    assert new.count("<!-- its inertia is in the link of joint shoulder, which carries it -->") == 2
    base = new[new.index('<link name="base"') : new.index('<link name="upper"')]
    assert base == ARM[ARM.index('<link name="base"') : ARM.index('<link name="upper"')]


def test_an_attribute_that_is_right_already_stays_as_it_is_written() -> None:
    text = ARM.replace('damping="1.5"', "damping='1.50' ")
    model = model_of(from_urdf_text(text), Fv1=1.5, Fc1=0.3)
    assert "<dynamics damping='1.50'  friction=\"0.3\"/>" in written(to_urdf(model))


def test_the_friction_of_a_follower_is_in_its_leaders() -> None:
    export = to_urdf(model_of(from_urdf_text(MIMIC)))
    again = from_urdf_text(written(export))
    assert '<dynamics damping="0.0" friction="0.0"/><mimic' in written(export)
    assert again.parameters["Fv1"] == model_of(again).by_name["Fv1"]
    assert "The friction of joint 'follow', which follows another joint, is in that joint's." in export.lost


def test_limits_are_added_where_the_file_has_none_and_kept_where_it_has() -> None:
    text = ARM.replace('velocity="5"', 'velocity="0"')
    loaded = from_urdf_text(text)
    ours = Limits(lower=-9.0, upper=9.0, velocity=2.5, effort=9.0)
    known = replace(loaded, joints=tuple(replace(j, limits=ours) for j in loaded.joints))
    again = from_urdf_text(written(to_urdf(model_of(known))))
    assert again.joints[0].limits == Limits(-2.0, 3.0, 2.5, effort=40.0)
    assert again.joints[1].limits == Limits(velocity=2.5, effort=40.0)  # it turns without end


def test_a_limit_element_is_made_where_there_is_none() -> None:
    text = ARM.replace('<limit lower="-2" upper="3" effort="40" velocity="5"/>', "")
    loaded = from_urdf_text(text)
    known = replace(loaded, joints=tuple(replace(j, limits=Limits(effort=9.0)) for j in loaded.joints))
    again = from_urdf_text(written(to_urdf(model_of(known))))
    assert [j.limits.effort for j in again.joints] == [9.0, 9.0, 9.0]
    assert to_urdf(model_of(loaded)).files[0].content.count(b"<limit") == 0


def test_a_payload_of_the_result_is_part_of_the_link_that_carries_it() -> None:
    loaded = attach_payload(from_urdf_text(ARM))
    export = to_urdf(model_of(loaded))
    assert "<!-- with the inertia of what is fixed to it: flange, payload -->" in written(export)
    assert export.figures["largest_difference"] < 1e-12


def test_a_spring_is_written_for_gazebo_where_the_file_speaks_to_gazebo() -> None:
    loaded = from_urdf_text(ARM)
    sprung = replace(loaded, terms=(*loaded.terms, "Ks"), friction=(SPRING,))
    export = to_urdf(model_of(sprung, Ks2=4.0, off2=2.0))
    assert (
        "<springStiffness>4.0</springStiffness><springReference>-0.5</springReference></gazebo>"
        in written(export)
    )
    lost = "URDF does not hold Ks (friction law q) of shoulder, elbow, slide: it is in robot.urdf.dynid.json."
    assert lost in export.lost


def test_what_urdf_does_not_hold_is_named_and_lies_beside_it() -> None:
    model = model_of(from_urdf_text(ARM).with_gravity(0.0, 0.0, 0.0))
    export = to_urdf(model)
    assert export.lost == (
        "URDF does not hold Ia (drive inertia) of shoulder, elbow, slide: it is in robot.urdf.dynid.json.",
        "URDF does not hold off (constant torque) of shoulder, elbow, slide: it is in robot.urdf.dynid.json.",
        "URDF does not hold gravity, which is (0, 0, 0) m/s² in the base frame: set it in the simulator.",
    )
    beside = json.loads(export.files[1].content)
    assert export.files[1].name == "robot.urdf.dynid.json"
    terms = {term["name"]: term for joint in beside["joints"] for term in joint["terms"]}
    assert terms["Ia1"] == {
        "name": "Ia1",
        "value": model.by_name["Ia1"],
        "unit": "kg m^2",
        "expression": "qdd",
        "in_model_file": False,
    }
    assert terms["Fv3"]["in_model_file"]


def test_a_model_that_urdf_holds_whole_has_no_file_beside() -> None:
    export = to_urdf(model_of(load_robot("scara").with_gravity(*EARTH_GRAVITY)))
    assert ([file.name for file in export.files], export.lost) == (["scara.urdf"], ())


def test_negative_friction_is_not_written() -> None:
    model = model_of(load_robot("scara").with_gravity(*EARTH_GRAVITY), Fv1=-0.1)
    export = to_urdf(model)
    again = from_urdf_text(written(export))
    assert again.parameters.get("Fv1") == 0.0
    assert any(
        sentence.startswith("URDF does not hold Fv (viscous friction) of ") for sentence in export.lost
    )


def test_a_robot_without_right_angles_is_read_with_its_digits() -> None:
    arm = load_robot("scara")
    crooked = replace(arm, joints=(arm.joints[0], replace(arm.joints[1], theta=5e-5)))
    export = to_urdf(model_of(crooked))
    assert export.lost[-2] == (
        "Angles of the URDF near right angles are meant: dynid reads them so with snap_rad=0."
    )


# ── files of other robots, and models that are no bodies ──────────────────────────────────────────────────

DIFFERENCES = {
    "two joints": (
        ARM.replace('name="slide" type="prismatic"', 'name="slide" type="fixed"'),
        "it has 2 moving joints and the result's robot 3",
    ),
    "another name": (ARM.replace('"elbow"', '"knee"'), "it has no joint 'elbow' that moves"),
    "another length": (
        ARM.replace('xyz="0.3 0 0" rpy="0 1.2 0"', 'xyz="0.31 0 0" rpy="0 1.2 0"'),
        "joint 'elbow' is at (",
    ),
    "another angle": (
        ARM.replace('rpy="0 0 0.2"', 'rpy="0 0 0.25"'),
        "joint 'slide' is turned by 0.05 rad against that of the result's robot",
    ),
    "another kind": (
        ARM.replace('name="slide" type="prismatic"', 'name="slide" type="revolute"'),
        "joint 'slide' is revolute and that of the result's robot prismatic",
    ),
    "a follower": (
        ARM.replace('<axis xyz="0 0.5 1"/>', '<axis xyz="0 0.5 1"/><mimic joint="elbow"/>'),
        "joint 'slide' follows other joints, or otherwise, than that of the result's robot",
    ),
}


@pytest.mark.parametrize("case", DIFFERENCES)
def test_the_urdf_of_another_robot_is_refused_with_the_first_difference(case: str) -> None:
    text, difference = DIFFERENCES[case]
    model = model_of(from_urdf_text(ARM))
    start = f"other.urdf is not the URDF of the result's robot: {difference}"
    with pytest.raises(DynidError, match=re.escape(start)):
        to_urdf(model, RobotSource("other.urdf", "urdf", text))


def test_a_file_of_another_form_is_refused() -> None:
    with pytest.raises(DynidError, match=r"arm\.xml is a file of the form 'mjcf'; give a file of form URDF"):
        to_urdf(model_of(from_urdf_text(ARM)), RobotSource("arm.xml", "mjcf", "<mujoco/>"))


def test_a_robot_that_was_changed_since_it_was_read_gets_a_new_file() -> None:
    loaded = from_urdf_text(ARM)
    longer = replace(loaded, joints=(loaded.joints[0], replace(loaded.joints[1], b=1.0), loaded.joints[2]))
    export = to_urdf(model_of(longer))
    assert export.files[0].name == "arm.urdf"
    assert any(
        s.startswith("The file robot.urdf was not used, and a new one was made: joint 'elbow'")
        for s in export.lost
    )


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"M2": 0.0}, "The link of joint 'elbow' has the mass 0 kg; a body has a positive mass"),
        ({"M2": -1.0}, "The link of joint 'elbow' has the mass -1 kg; a body has a positive mass"),
        ({"XX2": -1.0}, "The link of joint 'elbow': the inertia tensor has the negative principal moment"),
        ({"XX2": 9.0}, "The link of joint 'elbow' has the principal moments "),
    ],
)
def test_a_link_that_is_no_body_is_refused(values: dict[str, float], sentence: str) -> None:
    with pytest.raises(DynidError, match=re.escape(sentence)) as caught:
        to_urdf(model_of(from_urdf_text(ARM), **values))
    assert "so the model cannot be written as bodies; fit again" in str(caught.value)


def test_a_link_without_anything_needs_no_inertial() -> None:
    loaded = from_urdf_text(ARM)
    nothing = {entry.name: 0.0 for entry in loaded.table if entry.joint == 1 and entry.family == "inertial"}
    export = to_urdf(model_of(loaded, **nothing))
    assert '<link name="fore"/>' in written(export)
    assert "The link of joint 'elbow' has no mass, which MuJoCo does not take." in export.lost


@pytest.mark.parametrize("parts", [("lbr_med7", "med7dock.urdf"), ("tx40", "tx40_mdh_modified.urdf")])
def test_urdfs_of_real_arms_change_only_where_they_must(parts: tuple[str, str]) -> None:
    path = dataset(*parts)
    loaded = from_urdf(path)
    model = model_of(loaded)
    export = to_urdf(model)
    old, new = path.read_bytes().decode(), written(export)
    assert (export.files[0].name, export.figures["largest_difference"] < 1e-12) == (path.name, True)
    assert REPLACED.sub("", new) == REPLACED.sub("", old)
    free, x, torques = our_torques(model)
    assert relative_error(pinocchio_torques(new, free, x), torques) < 1e-4  # its angles have few decimals
    assert all(j.kind is not JointKind.FIXED for j in loaded.joints)
    assert np.all([len(file.content) for file in export.files])
