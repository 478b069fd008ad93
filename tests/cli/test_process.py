"""The program as others run it: pipes that close early, Ctrl-C, several values of one option."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dynid.cli.model as model_command
from cli.commands import assert_one_sentence, dynid
from dynid.cli.command import spread
from dynid.cli.main import GREEDY
from dynid.model.load import load_robot
from support.workflow_logs import write_csv

posix = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell.")


@posix
@pytest.mark.parametrize("options", ["", "--json"])
def test_the_exit_code_survives_a_pipe(options: str, tmp_path: Path) -> None:
    """A fit that cannot be trusted is 2, whoever reads how much of it."""
    write_csv(tmp_path / "noisy.csv", load_robot("scara"), 4, seconds=12.0, rate_hz=250.0, noise=2.0)
    command = f"'{sys.executable}' -m dynid.cli.main fit scara noisy.csv {options}"
    # The reader is gone before the first word is said.
    script = f"{{ {command}; echo $? > code; }} 2> said | true"
    subprocess.run(["sh", "-c", script], cwd=tmp_path, check=True)
    assert (tmp_path / "code").read_text() == "2\n"
    assert (tmp_path / "said").read_text() == ""
    assert (tmp_path / "out" / "fit" / "report.html").exists()


def interrupted(*_: object) -> None:
    raise KeyboardInterrupt


def test_ctrl_c_is_one_sentence(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(model_command, "chosen_robot", interrupted)
    assert assert_one_sentence(dynid(capsys, "model", "tx40")) == "Interrupted."
    said = dynid(capsys, "model", "tx40", "--json")
    assert (said.code, said.document) == (1, {"error": "Interrupted.", "exit_code": 1})


def test_ctrl_c_while_a_command_is_loaded(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dynid.cli.main.import_module", interrupted)
    assert assert_one_sentence(dynid(capsys, "model", "tx40")) == "Interrupted."


def test_ctrl_c_while_the_program_is_loaded(tmp_path: Path) -> None:
    """A library that is interrupted while it loads stands for the real thing."""
    (tmp_path / "typer.py").write_text("raise KeyboardInterrupt")
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "dynid.cli.main", "robots"]
    said = subprocess.run(command, capture_output=True, env=environment, check=False)
    assert (said.returncode, said.stdout, said.stderr) == (1, b"", b"dynid: Interrupted.\n")
    as_json = subprocess.run([*command, "--json"], capture_output=True, env=environment, check=False)
    assert json.loads(as_json.stdout) == {"error": "Interrupted.", "exit_code": 1}


@pytest.mark.parametrize(
    ("typed", "meant"),
    [
        ("fit r a --validate b c --json", "fit r a --validate b --validate c --json"),
        ("fit r a --validate b --validate c d", "fit r a --validate b --validate c --validate d"),
        ("fit r a --validate=b c", "fit r a --validate=b c"),
        ("fit r --validate b -- c d", "fit r --validate b -- c d"),
        ("fit r a --mask -1 --validate b", "fit r a --mask -1 --validate b"),
        ("--debug fit r a --validate b c", "--debug fit r a --validate b --validate c"),
        ("check a b --map c d", "check a b --map c d"),
        ("", ""),
    ],
)
def test_words_up_to_the_next_option(typed: str, meant: str) -> None:
    assert spread(typed.split(), GREEDY) == meant.split()
