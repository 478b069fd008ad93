"""``dynid export ROBOT --to c --kernel NAME``: C text, files written whole, by force only."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from cli.commands import assert_one_sentence, dynid

KEYS = {"robot", "kernel", "lines", "file", "inputs", "outputs", "parameters"}


def test_source_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    said = dynid(capsys, "export", "scara", "--to", "c", "--kernel", "inverse", "--name", "scara_torque")
    assert (said.code, said.err) == (0, "")
    assert "void scara_torque(const double *in_q, " in said.out
    assert "in_parameters: XX1 XY1" in said.out
    assert said.out.endswith("}\n")


def test_json_names_what_the_arrays_hold(capsys: pytest.CaptureFixture[str]) -> None:
    document = dynid(
        capsys, "export", "scara", "--to", "c", "--kernel", "regressor", "--base", "--json"
    ).document
    assert set(document) == KEYS | {"source"}
    assert document["parameters"] == ["ZZ1", "Fv1", "Fc1", "ZZ2", "MX2", "MY2", "Fv2", "Fc2"]
    assert document["inputs"] == [{"name": f"in_{name}", "size": 2} for name in ("q", "qd", "qdd")]
    assert document["outputs"] == [{"name": "out_W", "size": 16}]
    assert document["source"].count("\n") == document["lines"]
    assert len(re.findall(r"out_W\[\d+\] =", document["source"])) == 16


def test_kernels_without_parameters_name_none(capsys: pytest.CaptureFixture[str]) -> None:
    document = dynid(
        capsys, "export", "scara", "--to", "c", "--kernel", "forward_kinematics", "--json"
    ).document
    assert document["parameters"] == []


def test_a_file_is_written_once_and_again_only_by_force(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    path = tmp_path / "gravity.c"
    said = dynid(capsys, "export", "tx40", "--to", "c", "--kernel", "gravity", "--out", str(path))
    assert re.fullmatch(rf"wrote {re.escape(str(path))} \(\d+ lines\)\n", said.out)
    first = path.read_text(encoding="utf-8")
    assert "void gravity(" in first
    again = ("export", "tx40", "--to", "c", "--kernel", "gravity", "--name", "other", "--out", str(path))
    sentence = assert_one_sentence(dynid(capsys, *again))
    assert sentence == f"{path} exists already; add --force to overwrite it."
    assert path.read_text(encoding="utf-8") == first
    document = dynid(capsys, *again, "--force", "--json").document
    assert set(document) == KEYS
    assert document["file"] == str(path)
    assert "void other(" in path.read_text(encoding="utf-8")
    assert [entry.name for entry in tmp_path.iterdir()] == ["gravity.c"]


@pytest.mark.skipif(os.name == "nt", reason="POSIX permissions.")
def test_the_file_is_as_readable_as_any_other(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    dynid(capsys, "export", "scara", "--to", "c", "--kernel", "inverse", "--out", str(tmp_path / "a.c"))
    (tmp_path / "b.c").write_text("")
    assert (tmp_path / "a.c").stat().st_mode == (tmp_path / "b.c").stat().st_mode


def test_nothing_is_left_behind_when_writing_fails(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", full)
    said = dynid(
        capsys, "export", "scara", "--to", "c", "--kernel", "inverse", "--out", str(tmp_path / "a.c")
    )
    assert assert_one_sentence(said).endswith("cannot be written: No space left on device.")
    assert list(tmp_path.iterdir()) == []
    folder = dynid(
        capsys, "export", "scara", "--to", "c", "--kernel", "inverse", "--out", str(tmp_path), "--force"
    )
    assert assert_one_sentence(folder) == f"{tmp_path} is a folder; give the file to write."


def test_a_robot_cannot_end_the_comment(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    path = tmp_path / "sly.toml"
    path.write_text('name = "*/ int evil; /*"\n[[joint]]\n', encoding="utf-8")
    said = dynid(capsys, "export", str(path), "--to", "c", "--kernel", "gravity")
    assert said.out.split("*/")[0].count("evil") == 1
