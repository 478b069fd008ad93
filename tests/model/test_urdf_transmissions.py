"""Transmissions of a URDF become drives where they tell all gears, and a sentence where they do not."""

from __future__ import annotations

import re
from collections.abc import Callable

import numpy as np
import pytest

from dynid.model.drives import Drives
from dynid.model.loaders.urdf import from_urdf_text
from dynid.model.robot import Robot
from support.urdf_text import chain, joint, link, robot as urdf

SIMPLE = "transmission_interface/SimpleTransmission"
DIFFERENTIAL = "transmission_interface/DifferentialTransmission"


def part(tag: str, name: str, inside: str = "", reduction: float | str | None = None) -> str:
    if reduction is not None:
        inside += f"<mechanicalReduction>{reduction}</mechanicalReduction>"
    return f'<{tag} name="{name}">{inside}</{tag}>'


def simple(name: str, reduction: float | str | None = 50, *, offset: str = "", kind: str = SIMPLE) -> str:
    shift = f"<offset>{offset}</offset>" if offset else ""
    motor = part("actuator", f"m_{name}", "<hardwareInterface>Effort</hardwareInterface>", reduction)
    inside = f"<type> {kind} </type>{part('joint', name, shift)}{motor}"
    return f'<transmission name="T_{name}">{inside}</transmission>'


def differential(*parts: str) -> str:
    return f'<transmission name="D"><type>{DIFFERENTIAL}</type>{"".join(parts)}</transmission>'


WRIST = differential(
    part("actuator", "b", "<role>actuator2</role>", 30),
    part("actuator", "a", "<role>actuator1</role>", 20),
    part("joint", "j3", "<role>joint1</role><offset>0.2</offset>", 2),
    part("joint", "j2", "<role>joint2</role><offset>-0.1</offset>"),
)


def loaded(*transmissions: str, count: int = 2) -> Robot:
    text = chain(["revolute"] * count)
    return from_urdf_text(text.replace("</robot>", "".join(transmissions) + "</robot>"))


def test_simple_reducers_are_gear_ratios() -> None:
    robot = loaded(simple("j2", -30.5, offset=" 0.25 "), simple("j1", " 50 "))
    assert robot.drives == Drives(((50.0, 0.0), (0.0, -30.5)), (0.0, 0.25), (1.0, 1.0))
    assert robot.drives_note == ""


def test_a_urdf_without_transmissions_stays_as_it_is() -> None:
    robot = loaded()
    assert (robot.drives, robot.drives_note) == (None, "")
    assert robot.with_drives(None) == robot


def test_gears_that_turn_with_one_joint_do_not_change_the_equations() -> None:
    assert loaded(simple("j1"), simple("j2")).digest == loaded().digest
    coupled = loaded(simple("j1"), WRIST, count=3)
    assert coupled.digest != loaded(count=3).digest
    assert coupled.with_drives(None).digest == loaded(count=3).digest


@pytest.mark.parametrize(
    "element",
    [
        f'<transmission name="t"><type>{SIMPLE}</type>{part("joint", "j1", "", 7)}{part("actuator", "m")}',
        f'<transmission name="t"><type>{SIMPLE}</type>{part("joint", "j1", "", 7)}'
        f"{part('actuator', 'm', '', 1)}",
        '<transmission name="t" type="pr2_mechanism_model/SimpleTransmission">'
        f"{part('actuator', 'm')}{part('joint', 'j1')}<mechanicalReduction>7</mechanicalReduction>",
        '<ros2_control name="s" type="system"><joint name="j1"/>'
        f'<transmission name="t"><plugin>{SIMPLE}</plugin>'
        '<actuator name="m" role="actuator1"/><joint name="j1" role="joint1">'
        "<mechanical_reduction>7.0</mechanical_reduction></joint>",
    ],
    ids=["on the joint", "on both, one of them 1", "pr2", "ros2_control"],
)
def test_every_spelling_of_a_simple_transmission(element: str) -> None:
    end = "</transmission></ros2_control>" if "ros2" in element else "</transmission>"
    drives = loaded(element + end, count=1).drives
    assert drives is not None
    assert drives.ratio == ((7.0,),)


def test_a_differential_couples_two_joints(rng: np.random.Generator) -> None:
    """Its documentation: a1 = n1 (m1 p1 + m2 p2), a2 = n2 (m1 p1 − m2 p2); torques conserve the power."""
    drives = loaded(simple("j1"), WRIST, count=3).drives
    assert drives is not None
    q = rng.normal(size=(5, 3))
    p1, p2 = q[:, 2] - 0.2, q[:, 1] + 0.1
    motors = drives.motor_position(q)
    assert np.allclose(motors[:, 0], 50 * q[:, 0], atol=1e-12)
    assert np.allclose(motors[:, 2], 20 * (2 * p1 + p2), atol=1e-12)  # actuator1 stands beside joint1
    assert np.allclose(motors[:, 1], 30 * (2 * p1 - p2), atol=1e-12)
    torque = drives.joint_torque([[0.0, 3.0, 5.0]])[0]
    assert np.allclose(torque, [0.0, 20 * 5 - 30 * 3, 2 * (20 * 5 + 30 * 3)])


def test_without_roles_the_order_of_the_file_counts() -> None:
    parts = (
        part("joint", "j1"),
        part("joint", "j2"),
        part("actuator", "a", "", 4),
        part("actuator", "b", "", 5),
    )
    drives = loaded(differential(*parts)).drives
    assert drives is not None
    assert drives.ratio == ((4.0, 4.0), (5.0, -5.0))


def test_a_transmission_told_twice_alike_is_told_once() -> None:
    drives = loaded(simple("j1"), simple("j1"), count=1).drives
    assert drives is not None
    assert drives.ratio == ((50.0,),)


def test_a_motor_on_a_fixed_joint_moves_nothing() -> None:
    text = urdf(
        link("a"), link("b"), link("c"), joint("j1", "a", "b"), joint("f", "b", "c", "fixed"), simple("j1"),
        simple("f"),
    )  # fmt: skip
    drives = from_urdf_text(text).drives
    assert drives is not None
    assert drives.ratio == ((50.0,),)


FOLLOWER = urdf(
    link("a"), link("b"), link("c"), joint("j1", "a", "b"),
    joint("j2", "b", "c", more='<mimic joint="j1" multiplier="2"/>'), simple("j1"), simple("j2"),
)  # fmt: skip


@pytest.mark.parametrize(
    ("robot", "reason"),
    [
        (lambda: loaded(simple("j1")), "none of them drives joint 'j2'."),
        (
            lambda: loaded(simple("j1", 1), simple("j2", "1.0")),
            "every reduction is 1, which is written where",
        ),
        (
            lambda: loaded(simple("j1"), simple("j2", None)),
            "the transmission 'T_j2' gives no mechanicalReduction",
        ),
        (
            lambda: loaded(
                simple("j1"), simple("j2", kind="transmission_interface/FourBarLinkageTransmission")
            ),
            "the transmission 'T_j2' is of type 'FourBarLinkageTransmission', and only SimpleTransmission",
        ),
        (lambda: loaded('<transmission name="x"/>'), "the transmission 'x' has no type, and only"),
        (
            lambda: loaded(
                simple("j1"), WRIST.replace("<mechanicalReduction>20</mechanicalReduction>", ""), count=3
            ),
            "an actuator of the transmission 'D' gives no mechanicalReduction",
        ),
        (
            lambda: from_urdf_text(FOLLOWER),
            "the transmission 'T_j2' drives joint 'j2', which follows another",
        ),
    ],
)
def test_what_does_not_tell_all_gears_is_left_out(robot: Callable[[], Robot], reason: str) -> None:
    made = robot()
    assert made.drives is None
    assert made.drives_note.startswith(f"The transmissions of the URDF were left out: {reason}")
    assert made.with_drives(None).drives_note == ""


BOTH = (
    f'<transmission name="t"><type>{SIMPLE}</type>{part("joint", "j1", "", 7)}{part("actuator", "m", "", 8)}'
)


@pytest.mark.parametrize(
    ("transmissions", "sentence"),
    [
        ([simple("j9")], "none of them drives joint 'j1', 'j2', 'j3'"),
        ([WRIST.replace('"j3"', '"j9"')], r"Unknown joint of transmission 'D' 'j9'\. Did you mean"),
        (
            [simple("j1", 0)],
            "The transmission 'T_j1': actuator 'm_j1': mechanicalReduction is 0; a joint that",
        ),
        ([simple("j1", "many")], "mechanicalReduction='many' must be 1 finite number"),
        ([simple("j1", "inf")], "mechanicalReduction='inf' must be 1 finite number"),
        ([simple("j1", offset="1 2")], "joint 'j1': offset='1 2' must be 1 finite number"),
        (
            [simple("j1"), simple("j1", 20)],
            "'T_j1' and the transmission 'T_j1' both drive joint 'j1', and not",
        ),
        ([BOTH + "</transmission>"], "The transmission 't' gives the reductions 7 and 8; keep one"),
        (
            [simple("j1").replace("<joint", "<x").replace("</joint", "</x")],
            "has 0 <joint> and 1 <actuator>; a Si",
        ),
        (
            [simple("j1").replace('<joint name="j1"', "<joint")],
            "The transmission 'T_j1': <joint> has no name",
        ),
        ([WRIST.replace("actuator2", "actuator1")], "the roles 'actuator1' and 'actuator1'; they must be"),
        ([WRIST.replace('"j3"', '"j2"')], "The transmission 'D' names joint 'j2' twice"),
        ([WRIST.replace("<role>joint2</role>", "")], "gives its joints the roles 'joint1' and ''"),
    ],
)
def test_wrong_transmissions_are_left_out(transmissions: list[str], sentence: str) -> None:
    """They stop nobody whose log is on the joint side, and the note says what was wrong."""
    made = loaded(*transmissions, count=3)
    assert made.drives is None
    assert made.drives_note.startswith("The transmissions of the URDF were left out: ")
    assert re.search(sentence, made.drives_note)


def test_transmissions_left_over_from_another_robot_are_passed_over() -> None:
    foreign = '<transmission name="old"><type>x/Strange</type><joint name="gripper"/></transmission>'
    made = loaded(simple("j1"), simple("gone", 0), foreign, simple("j2", 30))
    assert made.drives == Drives(((50.0, 0.0), (0.0, 30.0)), (0.0, 0.0), (1.0, 1.0))
    assert made.drives_note == ""
