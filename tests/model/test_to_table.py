"""A robot written as a robot file's content and read back is the same robot."""

from __future__ import annotations

import json

import pytest

from dynid.model.friction import FrictionTerm
from dynid.model.load import catalog, load_robot
from dynid.model.loaders.mdh import robot_from_table, robot_to_table
from dynid.model.payload import attach_payload
from dynid.model.robot import Robot


@pytest.mark.parametrize("name", catalog())
def test_catalog_robots_survive_the_round_trip(name: str) -> None:
    robot = attach_payload(load_robot(name))
    again = robot_from_table(json.loads(json.dumps(robot_to_table(robot))))
    assert again == robot
    assert again.digest == robot.digest


def test_user_friction_survives() -> None:
    term = FrictionTerm("Fs", "sign(qd)*exp(-(qd/0.1)^2)", "N m", "N")
    robot = Robot("own", load_robot("scara").joints, lengths={"L": 0.5}, terms=("Fs",), friction=(term,))
    assert robot_from_table(robot_to_table(robot)) == robot
