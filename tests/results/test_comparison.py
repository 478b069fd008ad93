"""Results of different robots are not put side by side."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dynid.core.errors import DynidError
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.results.comparison import refuse_different_robots


def results(*robots: Robot) -> list[Any]:
    """As much of results as is looked at."""
    return [SimpleNamespace(robot=robot, folder=Path(f"r{k}")) for k, robot in enumerate(robots)]


@pytest.mark.parametrize(
    ("one", "two", "said"),
    [
        ("scara", "emps", r"r0 (scara, 2 revolute axes) and r1 (emps, 1 prismatic axis);"),
        ("tx40", "scara", r"r0 (tx40, 6 revolute axes) and r1 (scara, 2 revolute axes);"),
        ("scara", "double_pendulum", r"2 revolute axes) with other base parameters (MX1R, MY1);"),
        ("tx40", "ur10", r"6 revolute axes) with other base parameters ("),
    ],
)
def test_different_robots_are_refused(one: str, two: str, said: str) -> None:
    with pytest.raises(DynidError) as caught:
        refuse_different_robots(results(*map(load_robot, (one, two))))
    assert said in str(caught.value)
    assert str(caught.value).endswith("; compare results of one robot.")
    assert str(caught.value).count(". ") == 0


def test_the_same_robot_with_other_terms_is_not() -> None:
    robot = load_robot("tx40")
    refuse_different_robots(results(robot, robot.with_terms("Fv"), robot.with_terms("Ia", "Fv", "Fc", "off")))
