"""Every way a URDF can be wrong has its sentence, with the name and the value."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from dynid.core.errors import DynidError, ModelError
from dynid.model.joint import Limits
from dynid.model.loaders.urdf import from_urdf_text
from dynid.model.orientation import from_axis_angle
from dynid.simulation import PID, Controller, Reference, simulate
from support.urdf_text import chain, joint, link, robot

TWO = chain()


def inertial(mass: str = "1", rest: str = "", **tensor: str) -> str:
    values = {"ixx": "1", "iyy": "1", "izz": "1", "ixy": "0", "ixz": "0", "iyz": "0"} | tensor
    attributes = " ".join(f'{key}="{value}"' for key, value in values.items())
    body = f'<inertial>{rest}<mass value="{mass}"/><inertia {attributes}/></inertial>'
    return robot(link("base", ""), f'<link name="l1">{body}</link>', joint("j1", "base", "l1"))


def one(**change: str) -> str:
    """One joint between two links, with parts of it changed."""
    return robot(link("base", ""), link("l1"), joint("j1", "base", "l1", **change))  # type: ignore[arg-type]


CASES = {
    "other root": ("<sdf/>", r"The root element is <sdf>; a URDF has <robot>\."),
    "xacro": (robot('<xacro:macro name="x"/>', link("a")), "expand it with xacro first"),
    "no links": (robot(), "The file has no <link>"),
    "only a link": (robot(link("a")), "Robot 'arm' has no joints"),
    "only fixed joints": (chain(["fixed", "fixed"]), "has no joints"),
    "link without name": (robot("<link/>"), "A <link> has no name"),
    "joint without name": (robot(link("a"), "<joint/>"), "A <joint> has no name"),
    "two links of one name": (robot(link("a"), link("a")), "Two links are named 'a'; names must be unique"),
    "two joints of one name": (TWO.replace('"j2"', '"j1"'), "Two joints are named 'j1'"),
    "no parent": (TWO.replace('<parent link="l1"/>', ""), "Joint 'j2' has no <parent>; give <parent link="),
    "no child": (TWO.replace('<child link="l2"/>', ""), "Joint 'j2' has no <child>"),
    "parent without link": (
        TWO.replace('<parent link="l1"/>', "<parent/>"),
        "The <parent> of joint 'j2' has no link",
    ),
    "unknown parent": (
        TWO.replace('<parent link="l1"/>', '<parent link="l11"/>'),
        r"Unknown parent link of joint 'j2' 'l11'\. Did you mean 'l1'",
    ),
    "unknown child": (
        TWO.replace('<child link="l2"/>', '<child link="hand"/>'),
        "Unknown child link of joint 'j2' 'hand'",
    ),
    "two parents": (
        robot(link("a"), link("b"), link("c"), joint("j", "a", "c"), joint("k", "b", "c")),
        "Link 'c' is the child of both joint 'j' and joint 'k'",
    ),
    "two roots": (
        robot(*map(link, "abcd"), joint("j", "a", "b"), joint("k", "c", "d")),
        "The links 'a', 'c' hang on no joint",
    ),
    "pure cycle": (
        robot(link("a"), link("b"), joint("j", "a", "b"), joint("k", "b", "a")),
        "The joints 'j', 'k' form a circle",
    ),
    "self loop": (robot(link("a"), joint("j", "a", "a")), "The joints 'j' form a circle"),
    "cycle beside the tree": (
        robot(
            link("r"),
            link("s"),
            link("a"),
            link("b"),
            joint("t", "r", "s"),
            joint("j", "a", "b"),
            joint("k", "b", "a"),
        ),
        "The joints 'j', 'k' form a circle",
    ),
    "no type": (TWO.replace(' type="revolute"', "", 1), "Unknown type of joint 'j1' ''"),
    "unknown type": (one(kind="revolut"), r"Unknown type of joint 'j1' 'revolut'\. Did you mean 'revolute'"),
    "floating": (one(kind="floating"), "Joint 'j1' is floating; only joints of one degree of freedom"),
    "planar": (one(kind="planar"), "Joint 'j1' is planar;"),
    "zero axis": (one(axis="0 0 0"), r"Joint 'j1': axis: \[0.0, 0.0, 0.0\] has no direction"),
    "axis of two": (one(axis="0 1"), "Joint 'j1': <axis>: xyz='0 1' must be 3 finite numbers"),
    "axis nan": (one(axis="0 nan 1"), "xyz='0 nan 1' must be 3 finite"),
    "origin overflow": (
        one(xyz="1e400 0 0"),
        "Joint 'j1': <origin>: xyz='1e400 0 0' must be 3 finite numbers",
    ),
    "origin huge": (
        one(xyz="0 1e200 0"),
        "<origin>: xyz='0 1e200 0' is beyond 1e\\+50, which no robot needs",
    ),
    "origin words": (one(rpy="a b c"), "Joint 'j1': <origin>: rpy='a b c' must be 3"),
    "mimic unknown": (
        one(more='<mimic joint="j7"/>'),
        "Unknown joint in a mimic equation 'j7'. Did you mean 'j1'",
    ),
    "mimic itself": (
        one(more='<mimic joint="j1"/>'),
        "The mimic joints j1 -> j1 follow each other in a circle",
    ),
    "mimic cycle": (
        robot(
            *(link(name) for name in ("a", "b", "c", "d")),
            joint("j1", "a", "b", more='<mimic joint="j2"/>'),
            joint("j2", "b", "c", more='<mimic joint="j1"/>'),
            joint("j3", "c", "d"),
        ),
        "The mimic joints j1 -> j2 -> j1 follow each other in a circle",
    ),
    "mimic without joint": (one(more="<mimic/>"), "Joint 'j1': <mimic> has no joint"),
    "mimic multiplier": (
        one(more='<mimic joint="j1" multiplier="x"/>'),
        "<mimic>: multiplier='x' must be 1 finite",
    ),
}


LEFT_OUT = {
    "lower above upper": (
        one(more='<limit lower="1" upper="-1"/>'),
        "Joint 'j1': <limit>: The lower joint limit 1 is above the upper limit -1",
    ),
    "negative velocity": (
        one(more='<limit velocity="-1"/>'),
        "Joint 'j1': <limit>: velocity is -1.0; it must be a number from 0",
    ),
    "limit word": (one(more='<limit lower="low"/>'), "<limit>: lower='low' must be 1 finite number"),
    "negative damping": (
        one(more='<dynamics damping="-0.1"/>'),
        "Joint 'j1': damping is -0.1; friction takes energy",
    ),
    "negative friction": (one(more='<dynamics friction="-2"/>'), "friction is -2"),
    "negative mass": (inertial(mass="-1"), "Link 'l1': the mass -1 kg is negative"),
    "mass word": (inertial(mass="heavy"), "Link 'l1': <mass>: value='heavy' must be 1 finite number"),
    "mass nan": (inertial(mass="nan"), "value='nan' must be 1 finite number"),
    "inertia infinite": (inertial(ixx="1e999"), "Link 'l1': <inertia>: ixx='1e999' must be 1 finite"),
    "negative moment": (
        inertial(iyy="-2"),
        "Link 'l1': the inertia tensor has the negative principal moment -2",
    ),
    "negative by products": (inertial(ixy="3"), "the negative principal moment -2"),
    "inertial origin": (
        inertial(rest='<origin xyz="0 0"/>'),
        "Link 'l1': <inertial>: <origin>: xyz='0 0' must be 3 finite numbers",
    ),
    "inertial without mass": (
        robot(
            link("base", ""),
            '<link name="l1"><inertial><inertia ixx="1"/></inertial></link>',
            joint("j1", "base", "l1"),
        ),
        "Link 'l1': its <inertial> has no <mass>",
    ),
    "inertial without inertia": (
        robot(
            link("base", ""),
            '<link name="l1"><inertial><mass value="1"/></inertial></link>',
            joint("j1", "base", "l1"),
        ),
        "its <inertial> has no <inertia>",
    ),
}
"""What identification does not need, so that the robot loads without it and says so."""


@pytest.mark.parametrize("name", CASES)
def test_bad_urdf_gives_its_sentence(name: str) -> None:
    text, sentence = CASES[name]
    with pytest.raises(DynidError, match=sentence) as caught:
        from_urdf_text(text)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_no_robot_has_is_left_out_with_its_sentence(name: str) -> None:
    text, sentence = LEFT_OUT[name]
    loaded = from_urdf_text(text)
    (note,) = loaded.notes
    assert re.search(sentence, note)
    assert "\n" not in note
    if "<limit>" in note:
        assert loaded.joints[0].limits == Limits()
    if "Link" in note:
        assert re.search(sentence, loaded.inverse_only)
        assert "M1" not in loaded.parameters
        still = Reference(0.01, np.zeros((9, 1)))
        with pytest.raises(DynidError, match=r"cannot be simulated with its own values: the inertias of its"):
            simulate(loaded, None, Controller(PID((1.0,)), 0.01), still)
    else:
        assert loaded.inverse_only == ""
        assert loaded.parameters["M1"] > 0


def test_one_impossible_body_takes_the_others_along() -> None:
    """Base parameters are sums over links, so that the rest alone would be wrong; friction stays."""
    bad = link("l2", "rod").replace('<mass value="', '<mass value="-')
    more = '<dynamics damping="0.5"/>'
    text = robot(
        link("base", ""),
        link("l1", "rod"),
        bad,
        joint("j1", "base", "l1", more=more),
        joint("j2", "l1", "l2"),
    )
    loaded = from_urdf_text(text)
    assert set(loaded.parameters) == {"Fv1"}
    assert len(loaded.joints) == 2


def test_links_without_any_joint_are_left_out() -> None:
    loaded = from_urdf_text(robot(link("camera"), link("a"), link("b"), joint("j", "a", "b")))
    assert [joint.name for joint in loaded.joints] == ["j"]
    assert loaded.notes == ("Left out, as they hang on no joint and carry none: links 'camera'.",)


def test_a_file_without_bodies_says_so_when_simulated() -> None:
    loaded = from_urdf_text(robot(link("a"), link("b", ""), joint("j", "a", "b")))
    assert loaded.inverse_only == "its file gives no link an <inertial>"
    assert loaded.notes == ()


@pytest.mark.parametrize(
    ("rpy", "alpha", "noted"),
    [
        ("-1.5707945 0 0", -math.pi / 2, False),  # -89.9999 degrees
        ("1.5708 0 0", math.pi / 2, False),
        ("1.5707 0 0", math.pi / 2, True),
        ("1.57 0 0", math.pi / 2, True),
        ("3.14 0 0", math.pi, True),
        ("3.142 0 0", math.pi, True),
        ("1.5702 0 0", 1.5702, False),
        ("1.56 0 0", 1.56, False),
        ("0.01 0 0", 0.01, False),
        ("0.785 0 0", 0.785, False),
    ],
)
def test_angles_written_with_few_digits(rpy: str, alpha: float, noted: bool) -> None:
    loaded = from_urdf_text(one(rpy=rpy, axis="0 0 1"))
    assert loaded.joints[0].alpha == pytest.approx(alpha, abs=1e-15)
    assert bool(loaded.notes) == noted
    if noted:
        assert f"{float(rpy.split()[0]):g} at joint 'j1'" in loaded.notes[0]
    kept = from_urdf_text(one(rpy=rpy, axis="0 0 1"), snap_rad=0.0).joints[0]
    assert math.remainder(kept.alpha - float(rpy.split()[0]), 2 * math.pi) == pytest.approx(0, abs=1e-12)


def test_axes_askew_in_their_frames_meet_at_right_angles() -> None:
    """The frames of links turned anyhow: no angle of the file is special, the one between the axes is."""
    rng = np.random.default_rng(3)
    for error in (0.0, 2e-6, 9e-5, 3e-4):
        first, normal = np.linalg.qr(rng.normal(size=(3, 2)))[0].T
        second = from_axis_angle(normal, math.pi / 2 + error, "normal") @ first
        axes = [" ".join(f"{a:.17g}" for a in axis) for axis in (first, second)]
        text = robot(
            link("base", ""),
            link("l1"),
            link("l2"),
            joint("j1", "base", "l1", axis=axes[0]),
            joint("j2", "l1", "l2", xyz="0.2 0.1 0.3", axis=axes[1]),
        )
        alpha = from_urdf_text(text).joints[1].alpha
        assert (abs(alpha) == math.pi / 2) == (error < 1e-4)
        assert abs(alpha) == pytest.approx(math.pi / 2, abs=4e-4)


def test_mimic_of_a_fixed_joint_is_unknown() -> None:
    text = robot(
        *(link(name) for name in ("a", "b", "c")),
        joint("weld", "a", "b", "fixed"),
        joint("j1", "b", "c", more='<mimic joint="weld"/>'),
    )
    with pytest.raises(DynidError, match="Unknown joint in a mimic equation 'weld'"):
        from_urdf_text(text)


def test_slight_violation_of_the_triangle_inequality_is_kept() -> None:
    loaded = from_urdf_text(inertial(ixx="1", iyy="1", izz="2.5"))
    assert loaded.parameters["ZZ1"] == 2.5


def test_a_link_without_inertial_has_no_mass() -> None:
    loaded = from_urdf_text(robot(link("a"), link("b", ""), joint("j", "a", "b")))
    assert loaded.parameters["M1"] == 0.0
    assert loaded.parameters["XX1"] == 0.0


def test_the_base_links_inertia_is_left_out() -> None:
    heavy = from_urdf_text(robot(link("a", "box"), link("b", "rod"), joint("j", "a", "b")))
    light = from_urdf_text(robot(link("a", ""), link("b", "rod"), joint("j", "a", "b")))
    assert heavy.parameters == light.parameters


def test_meshes_are_never_opened() -> None:
    visual = '<visual><geometry><mesh filename="file:///no/such/mesh.stl"/></geometry></visual>'
    text = robot(
        link("a"),
        f'<link name="b">{visual}{visual.replace("visual", "collision")}</link>',
        joint("j", "a", "b"),
    )
    assert len(from_urdf_text(text).joints) == 1


def test_followers_friction_and_springs_reach_their_leader() -> None:
    text = robot(
        *(link(name) for name in ("a", "b", "c")),
        joint("j1", "a", "b", more='<dynamics damping="1" friction="0.5"/>'),
        joint(
            "j2", "b", "c", more='<mimic joint="j1" multiplier="-3"/><dynamics damping="0.1" friction="0.2"/>'
        ),
    )
    loaded = from_urdf_text(text)
    assert loaded.parameters["Fv1"] == pytest.approx(1 + 9 * 0.1)
    assert loaded.parameters["Fc1"] == pytest.approx(0.5 + 3 * 0.2)
    assert [j.actuated for j in loaded.joints] == [True, False]


def test_thousands_of_links_are_no_trouble_and_names_are_trimmed() -> None:
    n = 3000
    links = [link(f"l{i}", "") for i in range(n)]
    joints = [joint(f"j{i}", f"l{i}", f"l{i + 1}", "fixed") for i in range(n - 2)]
    last = joint("turn", f"l{n - 2}", f"l{n - 1}", xyz="0 0 1")
    loaded = from_urdf_text(robot(*links, *joints, last, name=" long "))
    assert (loaded.name, len(loaded.joints)) == ("long", 1)


def test_errors_are_model_errors_with_the_offending_value() -> None:
    with pytest.raises(ModelError) as caught:
        from_urdf_text(one(kind="floating"))
    assert "is floating; only joints of one degree of freedom" in str(caught.value)
