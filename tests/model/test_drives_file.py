"""Drives in a file of their own, for robots whose file has none."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import pytest

import dynid
from dynid.core.errors import DynidError, ModelError
from dynid.model.drives import Drives
from dynid.model.load import load_robot
from dynid.model.loaders.mdh import load_drives

COUPLED = "[drives]\nratio = [[45, 0], [32, 32]]\noffset_deg = [0, 90]\ngain = [2, 0.5]\n"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "gears.toml"
    path.write_text(COUPLED, encoding="utf-8")
    return path


def test_the_table_is_that_of_robot_files(file: Path) -> None:
    drives = load_drives(str(file))
    assert drives == Drives(((45.0, 0.0), (32.0, 32.0)), (0.0, math.pi / 2), (2.0, 0.5))
    robot = dynid.load_robot("scara").with_drives(dynid.model.load_drives(file))
    assert robot.drives == drives
    assert robot.parameters == load_robot("scara").parameters
    assert robot.with_terms("Ia", "Fv", "Fvm").table.names[-1] == "Fvm2"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "ratio = [1, 2]",
            r"Drives file gears.toml: Unknown key 'ratio'. Known: drives.",
        ),
        ("[drive]\nratio = [1]", "Unknown key 'drive'. Did you mean 'drives'"),
        ("[drives]\nratios = [1]", r"\[drives\]: Unknown key 'ratios'. Did you mean 'ratio'"),
        ("", r"Drives file gears.toml: drives is missing; give a table"),
        ("drives = 3", r"drives is 3; it must be a table"),
        ("[drives]\nratio = 3", r"\[drives\]: ratio is 3; it must be a list of gear ratios, or a matrix"),
        (
            "[drives]\nratio = [[1, 0]]",
            r"name 1 motors but rows, offsets and gains of sizes \[1, 2\]; give a square",
        ),
        ("[drives]\nratio = [1, 'x']", "entry 2 of ratio is 'x'; it must be a list of numbers or a number"),
        (
            "[drives]\nratio = [1, 2]\ngain = [1]",
            r"2 motors but rows, offsets and gains of sizes \[1, 2\]; give .* one gain per motor",
        ),
        ("[drives]\nratio = [1, 0]", "cannot be inverted or has a zero on its diagonal"),
        (
            "[drives]\nratio = [1]\noffset = [0]\noffset_deg = [0]",
            "offset and offset_deg are both given; keep one",
        ),
        ("[drives\n", "The drives file .*gears.toml is not TOML"),
    ],
)
def test_wrong_files_have_their_sentence(file: Path, text: str, sentence: str) -> None:
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DynidError, match=sentence):
        load_drives(file)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(DynidError, match="There is no drives file at"):
        load_drives(tmp_path / "nothing.toml")


def test_sizes_and_kinds_are_checked(file: Path) -> None:
    with pytest.raises(
        ModelError, match=r"2 motors, but the robot has 6 coordinates \(joint1, joint2, .*\); give one motor"
    ):
        load_robot("tx40").with_drives(load_drives(file))
    with pytest.raises(ModelError, match=r"The robot's drives are \[32, 45\]; give a Drives, or None"):
        load_robot("scara").with_drives([32, 45])  # type: ignore[arg-type]


def test_values_of_motors_that_are_no_longer_coupled_are_left_out(file: Path) -> None:
    robot = load_robot("scara").with_drives(load_drives(file)).with_terms("Fv", "Fvm")
    robot = robot.with_parameters({"Fvm2": 3.0, "Fv1": 1.0})
    other = Drives(((45.0, 8.0), (0.0, 32.0)), (0.0, 0.0), (1.0, 1.0))
    assert dict(robot.with_drives(other).parameters) == {"Fv1": 1.0}
    with pytest.raises(
        ModelError, match="The motor term 'Fvm' needs drives in which a motor turns with several"
    ):
        robot.with_drives(None)


def test_a_note_is_no_part_of_the_robot() -> None:
    robot = load_robot("scara")
    assert replace(robot, drives_note="left out") == robot
    assert replace(robot, drives_note="left out").with_gravity(0, 0, 0).drives_note == "left out"
