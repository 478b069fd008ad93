"""``dynid export``: what is written, what is said about it, and what is refused."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from cli.commands import assert_one_sentence, dynid
from dynid.estimators import WLS, identify
from dynid.model.load import load_robot
from dynid.preparation.preparation import Preparation
from dynid.problem import build_problem
from dynid.results.save import save_result
from support.exported import result_of
from support.workflow_logs import experiment


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A result with standard parameters, and one of an earlier version."""
    robot = load_robot("scara")
    plan = Preparation(speed_thresholds=(0.01, 0.02))
    estimate = identify(build_problem(robot, [experiment(robot, 1, seconds=4.0)], plan), WLS())
    folder = tmp_path_factory.mktemp("results")
    save_result(folder / "fit", estimate, {}, "", standard=result_of(robot).standard)
    save_result(folder / "old", estimate, {}, "")
    return folder


def test_a_set_of_files_is_written_and_described(
    capsys: pytest.CaptureFixture[str], folders: Path, tmp_path: Path
) -> None:
    said = dynid(capsys, "export", str(folders / "fit"), "--to", "c", "--name", "arm", "--out", str(tmp_path))
    assert (said.code, said.err) == (0, "")
    first, second, lost, read_back, *_ = said.out.splitlines()
    assert first.startswith(f"wrote {tmp_path / 'arm.h'} (")
    assert second.startswith(f"wrote {tmp_path / 'arm.c'} (")
    assert lost == "not in it: Standard deviations of the parameters."
    assert read_back.startswith("read back: differs from the model by ")
    assert (
        "operations of inverse_base: 15 additions, 24 multiplications, 2 sines and cosines, 2 others"
        in said.out
    )
    assert sorted(path.name for path in tmp_path.iterdir()) == ["arm.c", "arm.h"]


def test_several_files_go_to_the_folder_one_stands_in(
    capsys: pytest.CaptureFixture[str], folders: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    command = ("export", str(folders / "fit"), "--to", "csv")
    assert dynid(capsys, *command).code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["scara_base.csv", "scara_standard.csv"]
    said = assert_one_sentence(dynid(capsys, *command))
    assert said == "scara_standard.csv exists already; add --force (force=True) to overwrite it."
    assert dynid(capsys, *command, "--force").code == 0


def test_one_text_goes_to_standard_output_alone(capsys: pytest.CaptureFixture[str], folders: Path) -> None:
    said = dynid(capsys, "export", str(folders / "fit"), "--to", "python")
    assert ast.parse(said.out)
    assert said.err.startswith("not in it: Standard deviations")
    assert json.loads(dynid(capsys, "export", str(folders / "fit"), "--to", "json").out)["dynid"]


def test_json_names_files_and_figures(
    capsys: pytest.CaptureFixture[str], folders: Path, tmp_path: Path
) -> None:
    command = ("export", str(folders / "fit"), "--to", "python", "--json")
    document = dynid(capsys, *command).document
    assert set(document) == {"form", "files", "lost", "cautions", "figures", "text"}
    assert "def forward(q, qd, tau):" in document["text"]
    assert document["figures"]["largest_difference"] <= 1e-12
    written = dynid(capsys, *command, "--out", str(tmp_path / "arm.py")).document
    assert set(written) == {"form", "files", "lost", "cautions", "figures"}
    assert written["files"] == [str(tmp_path / "arm.py")]


def test_results_of_earlier_versions_give_what_they_can(
    capsys: pytest.CaptureFixture[str], folders: Path, tmp_path: Path
) -> None:
    old = str(folders / "old")
    said = assert_one_sentence(dynid(capsys, "export", old, "--to", "urdf"))
    assert said.startswith(f"The result in {old} has no standard parameters of a possible robot")
    said = dynid(capsys, "export", old, "--to", "c", "--out", str(tmp_path))
    assert (said.code, "inverse_base" in said.out) == (0, False)
    assert "not in it: Standard parameters of a possible robot: the result has none" in said.out


def test_a_kernel_of_a_result_s_robot(capsys: pytest.CaptureFixture[str], folders: Path) -> None:
    command = ("export", str(folders / "fit"), "--to", "c", "--kernel", "gravity")
    assert "void gravity(const double *in_q" in dynid(capsys, *command).out
    said = assert_one_sentence(dynid(capsys, *command, "--payload"))
    assert said.startswith("--payload is for robots, and ")


def test_forms_and_places_that_are_not(
    capsys: pytest.CaptureFixture[str], folders: Path, tmp_path: Path
) -> None:
    fit = str(folders / "fit")
    assert "Unknown form 'sdf'" in assert_one_sentence(dynid(capsys, "export", fit, "--to", "sdf"))
    (tmp_path / "file").write_text("")
    out = str(tmp_path / "file" / "deeper")
    assert "cannot be written: " in assert_one_sentence(
        dynid(capsys, "export", fit, "--to", "c", "--out", out)
    )
    said = assert_one_sentence(dynid(capsys, "export", str(tmp_path), "--to", "c"))
    assert "is not a dynid result folder" in said
