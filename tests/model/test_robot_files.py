"""Robot files in TOML: the catalog loads, and every slip has its sentence."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from dynid.core.errors import DynidError, FileError
from dynid.model.joint import JointKind
from dynid.model.load import catalog, load_robot
from dynid.model.loaders.mdh import from_mdh, robot_from_table
from support.evaluate import dynid_frames, random_states

SMALL = """
name = "small"
terms = ["Ia", "Fv", "Fc"]
[lengths]
L1 = 0.5
[[joint]]
[[joint]]
d = "-L1"
alpha_deg = 90
limits = { lower_deg = -90, upper = 1.0, velocity = inf }
"""


def write(folder: Path, text: str) -> Path:
    file = folder / "small.toml"
    file.write_text(text, encoding="utf-8")
    return file


@pytest.mark.parametrize("name", catalog())
def test_every_catalog_robot_loads(name: str) -> None:
    robot = load_robot(name)
    assert robot.name == name
    assert robot.title
    assert robot.source
    assert len(robot.table) == len(set(robot.table.names))
    assert all(np.isfinite(value) for value in robot.parameters.values())
    assert robot.n_coordinates == len(robot.coordinates) > 0


def test_the_catalog_holds_the_papers_robots() -> None:
    assert {"scara", "tx40", "rx90", "tx90", "iiwa14", "haptic", "emps"} <= set(catalog())


def test_a_small_file_means_what_it_says(tmp_path: Path) -> None:
    robot = from_mdh(write(tmp_path, SMALL))
    first, second = robot.joints
    assert (first.name, first.antecedent, first.kind) == ("joint1", -1, JointKind.REVOLUTE)
    assert (second.d, second.antecedent, dict(second.symbols)) == (-0.5, 0, {"d": "-L1"})
    assert second.alpha == pytest.approx(math.pi / 2)
    assert second.limits.lower == pytest.approx(-math.pi / 2)
    assert second.limits.velocity == math.inf
    assert robot.gravity == (0.0, 0.0, -9.81)


def test_a_byte_order_mark_is_no_trouble(tmp_path: Path) -> None:
    file = tmp_path / "small.toml"
    file.write_bytes(b"\xef\xbb\xbf" + SMALL.encode())
    assert from_mdh(file).name == "small"


def test_antecedents_by_number_name_and_base() -> None:
    rows = [
        {"name": "a"},
        {"name": "b", "antecedent": "a"},
        {"name": "c", "antecedent": 1},
        {"name": "d", "antecedent": "base"},
        {"name": "e", "antecedent": 0},
    ]
    assert [j.antecedent for j in robot_from_table({"joint": rows}).joints] == [-1, 0, 0, -1, -1]


def test_links_in_com_form_become_standard_parameters() -> None:
    link = {"mass": 2.0, "com": [0.1, 0.0, 0.0], "inertia": [0.01, 0, 0, 0.02, 0, 0.03]}
    robot = robot_from_table({"joint": [{"link": link}], "parameters": {"M1": 2.5}})
    assert robot.parameters["ZZ1"] == pytest.approx(0.03 + 2 * 0.01)
    assert robot.parameters["MX1"] == pytest.approx(0.2)
    assert robot.parameters["M1"] == 2.5  # [parameters] has the last word


def test_the_haptic_arms_loop_closes(rng: np.random.Generator) -> None:
    robot = load_robot("haptic")
    positions, rotations = dynid_frames(robot, random_states(robot, rng, 100))
    d3, d6 = robot.lengths["d3"], robot.lengths["d6"]
    # Link 6 at d3 along its x axis meets link 3 at −d6 along its own.
    from_link6 = positions[:, 5] + d3 * rotations[:, 5, :, 0]
    from_link3 = positions[:, 2] - d6 * rotations[:, 2, :, 0]
    assert np.abs(from_link6 - from_link3).max() < 1e-14


JOINT = "[[joint]]\n"
CASES = {
    "no joints": ('name = "x"', "joint is missing; give one [[joint]] table per joint"),
    "joint not a list": ("joint = 5", "joint is 5; it must be one [[joint]] table per joint"),
    "joint of numbers": ("joint = [1, 2]", "entry 1 of joint is 1; it must be a table of keys and values"),
    "unknown key": (
        "gravitty = [0, 0, 0]\n" + JOINT,
        "Unknown key 'gravitty'. Did you mean 'gravity'?",
    ),
    "unknown joint key": (
        JOINT + "alfa = 1",
        "joint 1: Unknown key 'alfa'. Did you mean 'alpha'",
    ),
    "unknown kind": (
        JOINT + 'kind = "prismtic"',
        "joint 1: Unknown kind 'prismtic'. Did you mean 'prismatic'?",
    ),
    "unknown limit": (
        JOINT + "limits = { speed = 1 }",
        "joint 1: limits: Unknown key 'speed'",
    ),
    "limits not a table": (
        JOINT + "limits = 5",
        "joint 1: limits is 5; it must be a table of keys and values",
    ),
    "lower above upper": (
        JOINT + "limits = { lower = 1, upper = 0 }",
        "The lower joint limit 1 is above the upper limit 0",
    ),
    "nan limit": (JOINT + "limits = { lower = nan }", "joint 1: limits: lower is nan; it must be a number"),
    "negative effort": (
        JOINT + "limits = { effort = -1 }",
        "limits: effort is -1; it must be a number from 0",
    ),
    "angle twice": (JOINT + "alpha = 1\nalpha_deg = 90", "alpha and alpha_deg are both given; keep one"),
    "angle word": (JOINT + 'alpha = "right"', "joint 1: alpha is 'right'; it must be a number in rad"),
    "angle nan": (JOINT + "alpha = nan", "joint 1: alpha is nan; it must be a finite number"),
    "length infinite": (JOINT + "d = inf", "joint 1: d is inf; it must be a finite number"),
    "length of 400 digits": (
        JOINT + "d = " + "9" * 400,
        "joint 1: d is a number of more than 300 digits",
    ),
    "length true": (JOINT + "d = true", "joint 1: d is True; it must be a number, or a name"),
    "length unknown": (
        "[lengths]\nD3 = 1.0\n" + JOINT + 'd = "d3"',
        "Unknown length 'd3'. Did you mean 'D3'? Known: D3. Add it to [lengths].",
    ),
    "length formula": (JOINT + 'd = "L1 + 2"', "length 'L1 + 2' is neither a number nor a name"),
    "lengths not a table": ("lengths = 5\n" + JOINT, "lengths is 5; it must be a table"),
    "length not a number": (
        "lengths = { L = 'x' }\n" + JOINT,
        "[lengths]: L is 'x'; it must be a number in m",
    ),
    "antecedent ahead": (
        JOINT + "antecedent = 2\n" + JOINT,
        "names link 2 as its antecedent; the antecedent must come before",
    ),
    "antecedent beyond": (
        JOINT + "antecedent = 5",
        "antecedent is 5; give 0 for the base, a joint's number up to 1",
    ),
    "antecedent true": (JOINT + "antecedent = true", "antecedent is True"),
    "antecedent unknown": (JOINT + 'antecedent = "bsae"', "Unknown antecedent 'bsae'. Did you mean 'base'?"),
    "actuated word": (
        JOINT + 'actuated = "no"',
        "joint 1: actuated is 'no'; it must be true or false",
    ),
    "names twice": (JOINT + 'name = "a"\n' + JOINT + 'name = "a"', "has two joints of name 'a'"),
    "labels twice": (JOINT + 'label = "2"\n' + JOINT, "has two joints of label '2'"),
    "nothing moves": (JOINT + 'kind = "fixed"', "has no joint that moves"),
    "gravity of two": (
        "gravity = [0, 0]\n" + JOINT,
        "gravity is [0, 0]; it must be a list of 3 numbers in m/s²",
    ),
    "gravity word": ('gravity = ["a", 0, 0]\n' + JOINT, "gravity is 'a'; it must be a number"),
    "gravity nan": (
        "gravity = [nan, 0, 0]\n" + JOINT,
        "entry 1 of gravity is nan; it must be a finite number",
    ),
    "terms word": ('terms = "Fv"\n' + JOINT, "terms is 'Fv'; it must be a list"),
    "unknown term": ('terms = ["Fw"]\n' + JOINT, "Unknown parameter term 'Fw'."),
    "term twice": ('terms = ["Fv", "Fv"]\n' + JOINT, "The parameter term 'Fv' is listed twice"),
    "motor term": (
        'terms = ["Fcm"]\n' + JOINT,
        "The motor term 'Fcm' needs drives in which a motor turns with several",
    ),
    "friction number": ("friction = 5\n" + JOINT, "friction is 5; it must be a list"),
    "friction without formula": (
        JOINT + '[[friction]]\nname = "Fs"',
        "friction 'Fs': expression is missing; give text",
    ),
    "friction formula": (
        JOINT + '[[friction]]\nname = "Fs"\nexpression = "exec(q)"',
        "contains 'exec(q)'; allowed are q, qd",
    ),
    "friction key": (
        JOINT + '[[friction]]\nnam = "Fs"',
        "friction 1: Unknown key 'nam'. Did you mean 'name'?",
    ),
    "drives without ratio": (
        JOINT + "[drives]\ngain = [1]",
        "[drives]: ratio is missing; give a list of gear ratios, or a matrix",
    ),
    "ratio mixed": (
        JOINT + JOINT + "[drives]\nratio = [[1, 0], 5]",
        "ratio is [[1, 0], 5]; it must be a list of gear ratios, or a matrix with one row",
    ),
    "ratio words": (
        JOINT + '[drives]\nratio = ["a"]',
        "entry 1 of ratio is 'a'; it must be a list of numbers or",
    ),
    "offset short": (
        JOINT + JOINT + "[drives]\nratio = [1, 2]\noffset = [1]",
        "offsets and gains of sizes [1, 2]; give a square ratio matrix and one offset",
    ),
    "offset number": (
        JOINT + "[drives]\nratio = [1]\noffset = 3",
        "[drives]: offset is 3; it must be a list of numbers in rad or m",
    ),
    "offset twice": (
        JOINT + "[drives]\nratio = [1]\noffset = [0]\noffset_deg = [0]",
        "offset and offset_deg are both given",
    ),
    "gain number": (
        JOINT + "[drives]\nratio = [1]\ngain = 3",
        "[drives]: gain is 3; it must be a list of numbers",
    ),
    "drives too many": (
        JOINT + "[drives]\nratio = [1, 2]",
        "The drives name 2 motors, but the robot has 1 coordinates",
    ),
    "coupling word": (JOINT + "[coupling]\ncoordinates = 5", "coordinates is 5; it must be a list"),
    "coupling unknown": (
        JOINT + '[coupling]\ncoordinates = ["jont1"]',
        "Unknown coordinate 'jont1'. Did you mean 'joint1'?",
    ),
    "coupling incomplete": (
        JOINT + JOINT + '[coupling]\ncoordinates = ["joint1"]',
        "gives neither joint 'joint2' as a coordinate nor its equation [coupling.joint2]",
    ),
    "coupling equation": (
        JOINT + JOINT + '[coupling]\ncoordinates = ["joint1"]\njoint2 = { joint3 = 1 }',
        "Unknown coordinate in [coupling.joint2] 'joint3'",
    ),
    "parameters unknown": (JOINT + "[parameters]\nXX2 = 1", "Unknown parameter 'XX2'."),
    "parameters word": (JOINT + '[parameters]\nXX1 = "a"', "XX1 is 'a'; it must be a number"),
    "parameters nan": (
        JOINT + "[parameters]\nXX1 = nan",
        "[parameters]: XX1 is nan; it must be a finite number",
    ),
    "negative mass": (JOINT + "[parameters]\nM1 = -1", "Parameter M1 is -1 kg; it cannot be negative"),
    "link inertia of five": (
        JOINT + "link = { inertia = [1, 2, 3, 4, 5] }",
        "it must be a list of 6 numbers",
    ),
    "link com word": (
        JOINT + "link = { com = 5 }",
        "joint 1: link: com is 5; it must be a list of 3 numbers in m",
    ),
    "link negative mass": (
        JOINT + "link = { mass = -2 }",
        "link of joint 'joint1': the mass -2 kg is negative",
    ),
    "link far away": (JOINT + "link = { mass = 1e299, com = [1e299, 0, 0] }", "it must be a finite number"),
    "link key": (JOINT + "link = { masss = 2 }", "'masss'. Did you mean 'mass'?"),
}


@pytest.mark.parametrize("name", CASES)
def test_bad_files_give_their_sentence(name: str, tmp_path: Path) -> None:
    text, sentence = CASES[name]
    with pytest.raises(DynidError) as caught:
        from_mdh(write(tmp_path, text))
    assert sentence in str(caught.value)
    assert str(caught.value).startswith("Robot file small.toml: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", ["joint = " + "[" * 50_000, "d = " + "9" * 5000])
def test_hostile_toml_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is not TOML"):
        from_mdh(write(tmp_path, text))


def test_broken_toml_names_the_line(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"is not TOML: .*at line 2"):
        from_mdh(write(tmp_path, 'name = "a"\njoint = = 2\n'))
