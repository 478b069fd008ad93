"""What is given to joints and robots becomes what it means, or is refused in a sentence."""

from __future__ import annotations

import copy
import math
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dynid.core.errors import DynidError, ModelError, UnknownNameError, unknown_name
from dynid.model.coupling import Coupling
from dynid.model.drives import Drives
from dynid.model.friction import FrictionTerm
from dynid.model.frozen import FrozenDict
from dynid.model.joint import BASE, Joint, JointKind, Limits
from dynid.model.load import catalog, load_robot
from dynid.model.robot import Robot

ONE = (Joint("a", BASE),)


def test_kinds_and_numbers_become_what_they_mean() -> None:
    joint = Joint("a", np.int64(-1), "prismatic", d=np.float32(0.5), r=2, limits=Limits(np.float32(-1), 1))  # type: ignore[arg-type]
    assert joint.kind is JointKind.PRISMATIC
    assert (type(joint.antecedent), type(joint.d), type(joint.r)) == (int, float, float)
    assert type(joint.limits.lower) is float
    assert Robot("r", (Joint("a", BASE, "fixed"), Joint("b", 0, "prismatic"))).movable == (1,)  # type: ignore[arg-type]
    assert {entry.unit for entry in Robot("r", [joint]).table if entry.symbol == "Fv"} == {"N s/m"}  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"kind": "linear"}, "Joint 'a': Unknown kind 'linear'. Known: fixed, prismatic, revolute."),
        ({"kind": 1}, "Joint 'a': kind is 1; it must be revolute, prismatic or fixed."),
        ({"antecedent": 1.0}, "Joint 'a': antecedent is 1.0; it must be a whole number."),
        ({"antecedent": "base"}, "Joint 'a': antecedent is 'base'; it must be a whole number."),
        ({"antecedent": True}, "Joint 'a': antecedent is True; it must be a whole number."),
        ({"d": "0.3"}, "Joint 'a': d is '0.3'; it must be a number from -1e+06 to 1e+06 m."),
        ({"alpha": None}, "Joint 'a': alpha is None; it must be a number from"),
        ({"theta": True}, "Joint 'a': theta is True; it must be a number from"),
        ({"r": 1j}, "Joint 'a': r is 1j; it must be a number from"),
        ({"b": -math.inf}, "Joint 'a': b is -inf; it must be a finite number."),
        ({"r": -2e6}, "Joint 'a': r is -2000000.0; it must be a number from -1e+06 to 1e+06 m."),
        ({"gamma": 1e7}, "Joint 'a': gamma is 10000000.0; it must be a number from -1e+06 to 1e+06 rad."),
        ({"b": 10**400}, "Joint 'a': b is a number of more than 300 digits; it must be between"),
    ],
)
def test_joints_refuse_what_is_none_of_their_values(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(DynidError) as caught:
        Joint(**({"name": "a", "antecedent": BASE} | given))
    assert sentence in str(caught.value)


def test_limits_must_be_numbers() -> None:
    with pytest.raises(ModelError, match="upper is '3'; it must be a number in rad or m"):
        Limits(upper="3")  # type: ignore[arg-type]


def test_lists_given_to_a_robot_become_tuples() -> None:
    term = FrictionTerm("Fs", "qd^3")
    robot = Robot("r", list(ONE), [0, 0, -9], ["Fs"], [term])  # type: ignore[arg-type]
    assert (robot.terms, robot.friction, robot.gravity) == (("Fs",), (term,), (0.0, 0.0, -9.0))
    assert robot == Robot("r", ONE, (0, 0, -9), ("Fs",), (term,))
    assert isinstance(robot.joints, tuple)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"joints": ONE[0]}, "give a list of Joint."),
        ({"joints": ("a",)}, "The robot's list of joints holds 'a'; give a list of Joint."),
        ({"terms": "Fv"}, "Robot 'r': terms is 'Fv'; it must be a list of texts."),
        ({"terms": (1,)}, "Robot 'r': entry 1 of terms is 1; it must be text."),
        ({"friction": ("qd^2",)}, "The robot's list of friction holds 'qd^2'; give a list of FrictionTerm."),
        ({"gravity": "down"}, "Robot 'r': gravity is 'down'; it must be a list of 3 numbers"),
        ({"gravity": (0, 0)}, "Robot 'r': gravity is (0, 0); it must be a list of 3 numbers"),
        ({"gravity": ("0", 0, 0)}, "entry 1 of gravity is '0'; it must be a number from"),
        (
            {"gravity": (0, 0, -1e9)},
            "entry 3 of gravity is -1000000000.0; it must be a number from -1e+06 to 1e+06 m/s²",
        ),
        ({"lengths": {"D": "x"}}, "Robot 'r': lengths: D is 'x'; it must be a number in m."),
        ({"lengths": {"D": math.nan}}, "Robot 'r': lengths: D is nan; it must be a finite number."),
        ({"parameters": {"M1": "x"}}, "Robot 'r': parameters: M1 is 'x'; it must be a number."),
    ],
)
def test_robots_refuse_what_is_none_of_their_values(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ModelError) as caught:
        Robot(**({"name": "r", "joints": ONE} | given))
    assert sentence in str(caught.value)


def test_couplings_and_drives_take_arrays_and_refuse_texts() -> None:
    assert Coupling([0], np.array([[1.0], [2.0]]), [0, 0.5]) == Coupling((0,), ((1.0,), (2.0,)), (0.0, 0.5))  # type: ignore[arg-type]
    assert hash(Drives(np.eye(2), [0, 0], [1, 1])) == hash(Drives(((1, 0), (0, 1)), (0, 0), (1, 1)))  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="Drives: entry 1 of entry 1 of ratio is '1'; it must be a number"):
        Drives((("1",),), (0.0,), (1.0,))  # type: ignore[arg-type]
    with pytest.raises(
        ModelError, match=r"Coupling: entry 1 of coordinates is 0\.5; it must be a whole number"
    ):
        Coupling((0.5,), ((1.0,),), (0.0,))  # type: ignore[arg-type]


@pytest.mark.parametrize("name", catalog())
def test_robots_come_back_from_pickle_and_copies_with_their_hash(name: str) -> None:
    robot = load_robot(name)
    _ = robot.table, robot.digest  # what is remembered must travel as well
    for other in (
        pickle.loads(pickle.dumps(robot)),
        copy.deepcopy(robot),
        copy.copy(robot),
        load_robot(name),
    ):
        assert other == robot
        assert hash(other) == hash(robot)
        assert (other.digest, other.table.names) == (robot.digest, robot.table.names)
    for part in (robot.drives, robot.coupling, *robot.joints, robot.table):
        assert pickle.loads(pickle.dumps(part)) == copy.deepcopy(part) == part
    assert replace(robot, name="x") not in {robot}
    assert len({robot, load_robot(name), robot.with_gravity(0, 0, -1)}) == 2


def test_the_order_of_values_does_not_change_a_robots_hash() -> None:
    a, b = ({"M1": 1.0, "XX1": 2.0}, {"XX1": 2, "M1": 1})
    assert hash(Robot("r", ONE, parameters=a)) == hash(Robot("r", ONE, parameters=b))
    assert Robot("r", ONE, parameters=a) == Robot("r", ONE, parameters=b)


def test_frozen_mappings_read_like_dicts_and_never_change() -> None:
    content = {"a": 1, "b": 2}
    frozen = FrozenDict(content)
    content["a"] = 5
    assert frozen == {"a": 1, "b": 2} == dict(frozen)
    assert (repr(frozen), list(frozen), len(FrozenDict())) == ("{'a': 1, 'b': 2}", ["a", "b"], 0)
    assert (frozen | {"a": 3}, {"a": 3} | frozen) == ({"a": 3, "b": 2}, {"a": 1, "b": 2})
    with pytest.raises(TypeError):
        frozen["a"] = 2  # type: ignore[index]
    with pytest.raises(AttributeError, match="cannot change, so '_content' cannot be set"):
        frozen._content = {}
    with pytest.raises(AttributeError, match="cannot be deleted"):
        del frozen._content
    with pytest.raises(TypeError):
        hash(FrozenDict({"a": []}))


def test_a_robot_shows_its_name_and_size() -> None:
    robot = load_robot("iiwa14")
    assert repr(robot) == f"<Robot iiwa14: 7 axes, {len(robot.table)} parameters>"
    assert repr(Robot("r", ONE, terms=())) == "<Robot r: 1 axis, 10 parameters>"


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        (
            {"terms": ("XX",), "friction": (FrictionTerm("XX", "qd"),)},
            "Two parameters are named 'XX1': 'XX' of joint 'a' and 'XX' of joint 'a'; rename",
        ),
        (
            {"joints": (Joint("a", BASE), Joint("b", 0, label="X1"))},
            "Two parameters are named 'MX1': 'MX' of joint 'a' and 'M' of joint 'b'; rename the "
            "friction term or the joint's label.",
        ),
        (
            {"terms": ("Ia",), "friction": (FrictionTerm("Ia", "qd"),)},
            "Two parameters are named 'Ia1'",
        ),
        (
            {"terms": ("Fs",), "friction": (FrictionTerm("Fs", "qd"), FrictionTerm("Fs", "q"))},
            "The friction term 'Fs' is defined twice; keep one.",
        ),
        (
            {"lengths": {"D3": 0.1, "M1": 0.2}},
            "The length 'M1' has the name of a parameter of robot 'r'; rename it, so that "
            "formulas can hold both.",
        ),
    ],
)
def test_names_that_mean_two_things_are_refused(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ModelError) as caught:
        Robot(**({"name": "r", "joints": ONE} | given))
    assert sentence in str(caught.value)


@pytest.mark.parametrize("name", ["", "  "])
def test_an_empty_robot_name_is_said_to_be_empty(name: str) -> None:
    with pytest.raises(
        UnknownNameError, match=r"The robot's name is empty \('.*'\); give one of .*scara.*, or a"
    ):
        load_robot(name)


def test_where_no_names_are_known_the_sentence_says_so() -> None:
    error = unknown_name("length", "L", [], "Add it to [lengths].")
    assert str(error) == "Unknown length 'L'. None are defined. Add it to [lengths]."
