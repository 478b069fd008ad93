"""``dynid model``: the published counts, the JSON keys, and how robots are varied."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from cli.commands import assert_one_sentence, dynid
from dynid.base import BaseMap, find_base
from dynid.cli import model as model_command
from dynid.model.load import catalog
from dynid.model.robot import Robot

COUPLED = ("--terms", "Ia,Fv,Fc,off,Fvm,Fcm")
COUNTS = [
    (8, "scara"),
    (52, "tx90"),
    (58, "tx40"),
    (60, "tx40", *COUPLED),
    (58, "rx90"),
    (60, "rx90", *COUPLED),
    (64, "iiwa14"),
    (30, "haptic"),
    (28, "haptic", "--gravity", "0,0,-9.81"),
    (61, "tx40_log"),
]
ROBOT_KEYS = {
    "robot", "title", "source", "n_joints", "n_coordinates", "n_standard", "gravity", "terms", "lengths",
    "joints", "drives", "drives_note", "elements", "inverse_only", "notes", "coordinates", "loops",
    "parameters",
}  # fmt: skip
BASE_KEYS = {"method", "n_base", "base", "rank_gap", "rows", "order", "unseen", "nearly_dependent"}

URDF = """<robot name="[bold]arm[/bold]">
  <link name="base"/>
  <link name="one"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>
  <joint name="[red]j1" type="revolute">
    <parent link="base"/><child link="one"/><axis xyz="0 0 1"/><limit effort="1" velocity="1"/>
  </joint>
</robot>"""


@pytest.mark.parametrize("case", COUNTS, ids=lambda case: " ".join(map(str, case)))
def test_published_numbers_of_base_parameters(capsys: pytest.CaptureFixture[str], case: tuple) -> None:  # type: ignore[type-arg]
    count, name, *options = case
    document = dynid(capsys, "model", name, "--base", "--json", *options).document
    assert document["robot"] == name
    assert document["n_base"] == len(document["base"]) == count
    assert document["n_standard"] == len(document["parameters"])
    assert document["rank_gap"] > 1e4
    for entry in document["base"]:
        assert entry["formula"].startswith(f"{entry['name']} = ")


def test_json_has_the_documented_keys_and_nothing_else(capsys: pytest.CaptureFixture[str]) -> None:
    plain = dynid(capsys, "model", "scara", "--json")
    assert plain.err == ""
    assert set(plain.document) == ROBOT_KEYS
    assert set(dynid(capsys, "model", "haptic", "--json", "--base").document) == ROBOT_KEYS | BASE_KEYS
    closed = dynid(capsys, "model", "scara", "--json", "--base").document
    assert set(closed) == ROBOT_KEYS | BASE_KEYS | {"n_base_numeric"}
    assert set(closed["base"][0]) == {"name", "formula", "unit"}
    joint = closed["joints"][1]
    assert (joint["antecedent"], joint["d"], joint["symbols"]) == (1, 0.5, {"d": "L"})
    assert closed["parameters"][5] == {"name": "ZZ1", "unit": "kg m^2", "prior": 3.45}


def test_text_for_people(capsys: pytest.CaptureFixture[str]) -> None:
    said = dynid(capsys, "model", "tx40", "--base")
    assert (said.code, said.err) == (0, "")
    assert "Stäubli TX40" in said.out
    assert "58 base parameters (closed-form" in said.out
    assert "ZZ1 + Ia1 + YY2 + YY3 + D3^2*(M3+M4+M5+M6)" in said.out
    assert "RL4 = 0.225" in said.out
    assert "-90°" in said.out
    assert "without effect: XX1 " in said.out


def test_loops_are_told(capsys: pytest.CaptureFixture[str]) -> None:
    """Coordinates, joints that follow, cuts, whether G is constant; ranges only with --base."""
    said = dynid(capsys, "model", "fivebar").out
    assert "coordinates: left, right; joints that follow: left_elbow, right_elbow\n" in said
    assert "loop tip: revolute, between left_elbow and right_elbow\n" in said
    assert "G changes with the position; --base also finds the ranges" in said
    assert "3 joints, 1 coordinate, 34 standard" in dynid(capsys, "model", "fourbar").out
    assert "the loops close for crank any position" in dynid(capsys, "model", "fourbar", "--base").out
    found = dynid(capsys, "model", "fivebar", "--base", "--json").document["loops"]
    assert found["cuts"] == [{"name": "tip", "kind": "revolute", "links": ["left_elbow", "right_elbow"]}]
    assert (found["following"], found["constant"]) == (["left_elbow", "right_elbow"], False)
    assert found["ranges"]["left"] == pytest.approx([1.5708 - 0.1047, 2.618 + 0.1047], abs=1e-3)
    assert dynid(capsys, "model", "scara", "--json").document["loops"] is None


def test_loops_with_a_constant_g_are_told_as_a_coupling(capsys: pytest.CaptureFixture[str]) -> None:
    assert "G is constant, so the loops are a coupling: joint3 = " in dynid(capsys, "model", "haptic").out
    assert dynid(capsys, "model", "haptic", "--base", "--json").document["loops"]["constant"] is True


def test_each_joint_alone(capsys: pytest.CaptureFixture[str]) -> None:
    document = dynid(capsys, "model", "rx90", "--per-joint", "--json").document
    assert [one["n_base"] for one in document["per_joint"]] == [35, 38, 32, 25, 18, 11]
    assert [one["joint"] for one in document["per_joint"]] == document["coordinates"]
    assert "joint2 alone sees" in dynid(capsys, "model", "scara", "--per-joint").out


def test_payload_terms_and_method(capsys: pytest.CaptureFixture[str]) -> None:
    loaded = dynid(capsys, "model", "rx90", "--payload", "--base", "--json", "--terms", "").document
    assert loaded["terms"] == []
    assert loaded["parameters"][-1]["name"] == "ML"
    numeric = dynid(capsys, "model", "scara", "--base", "--json", "--method", "numeric").document
    assert numeric["method"] == "numeric"


def test_a_file_of_strangers_cannot_write_markup(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "arm.urdf"
    path.write_text(URDF, encoding="utf-8")
    said = dynid(capsys, "model", str(path), "--per-joint")
    assert said.code == 0
    assert "[bold]arm[/bold]" in said.out
    assert "[red]j1 alone sees" in said.out


def test_rounded_right_angles_are_pointed_out(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "bent.toml"
    rows = ["", "alpha = 1.5708", "d = 0.225", "alpha_deg = -90", "alpha_deg = 90"]
    text = 'terms = ["Ia"]\n' + "".join(f"[[joint]]\n{row}\n" for row in rows)
    path.write_text(text, encoding="utf-8")
    said = dynid(capsys, "model", str(path), "--base")
    assert said.code == 0
    assert "no real log will tell these from the others: Ia2 (is an angle" in said.out


def test_methods_that_disagree_are_not_trusted(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def one_less(robot: Robot, *, method: str) -> BaseMap:
        found = find_base(robot, method=method)
        if method != "numeric":
            return found
        return replace(found, columns=found.columns[1:], matrix=found.matrix[1:].copy())

    monkeypatch.setattr(model_command, "find_base", one_less)
    sentence = assert_one_sentence(dynid(capsys, "model", "scara", "--base"), code=2)
    assert sentence.startswith("The closed form finds 8 base parameters of robot 'scara' but the numeric")
    said = dynid(capsys, "model", "scara", "--base", "--json")
    assert said.code == 2
    assert said.document == {"error": sentence, "exit_code": 2}


def test_robots_lists_the_catalog(capsys: pytest.CaptureFixture[str]) -> None:
    rows = dynid(capsys, "robots", "--json").document["robots"]
    assert [row["name"] for row in rows] == list(catalog())
    keys = {"name", "title", "n_joints", "n_coordinates", "n_standard", "terms", "source"}
    assert all(set(row) == keys for row in rows)
    text = dynid(capsys, "robots").out
    assert all(name in text for name in catalog())
