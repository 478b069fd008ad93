"""Bad input: exit code 1, one sentence, no traceback unless asked for, JSON when JSON was asked for."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import dynid.cli.model as model_command
from cli.commands import assert_one_sentence, dynid
from dynid import __version__

KERNEL = ("export", "scara", "--to", "c", "--kernel")
BAD = {
    "unknown robot": (("model", "tx4O"), "Unknown robot 'tx4O'. Did you mean 'tx40'"),
    "missing file": (("model", "no/arm.urdf"), "There is no URDF file at no/arm.urdf."),
    "unknown ending": (("model", "arm.step"), "a robot file ends in .toml, .urdf, .mjcf or .xml."),
    "two numbers": (("model", "tx40", "--gravity", "1,2"), "--gravity is '1,2'; give three numbers"),
    "not finite": (
        ("model", "tx40", "--gravity", "nan,0,0"),
        "entry 1 of gravity is nan; it must be a finite",
    ),
    "unknown term": (("model", "tx40", "--terms", "Ia,Fw"), "Unknown parameter term 'Fw'. Did you mean"),
    "lonely motor term": (("model", "tx40", "--terms", "Iam"), "add 'Ia', which holds the rest."),
    "method": (("model", "tx40", "--base", "--method", "qr"), "Known: auto, closed-form, numeric."),
    "method alone": (("model", "tx40", "--method", "numeric"), "no meaning without --base; add --base."),
    "closed form of a loop": (
        ("model", "haptic", "--base", "--method", "closed-form"),
        "robot 'haptic' has closed loops",
    ),
    "kernel": ((*KERNEL, "invers"), "Unknown kernel 'invers'. Did you mean 'inverse'"),
    "columns of no regressor": ((*KERNEL, "inverse", "--base"), "the kernel 'inverse' has none"),
    "C name": (
        (*KERNEL, "inverse", "--name", "a b"),
        "'a b' is not a name for a C function of one's own; give another.",
    ),
    "folder": ((*KERNEL, "inverse", "--out", "no/such/x.c"), "No such file or directory."),
    "no robot": (("model",), "Missing argument 'ROBOT'; see dynid model --help."),
    "no kernel": (("export", "scara", "--to", "c"), "scara is no folder; give a result of dynid fit, or a"),
    "no form": (("export", "scara"), "Missing option '--to'; see dynid export --help."),
    "kernel in another form": (
        ("export", "scara", "--to", "latex", "--kernel", "inverse"),
        "--kernel writes C, and --to is 'latex'; give --to c, without --urdf.",
    ),
    "robot without kernel": (
        ("export", "scara", "--to", "c", "--gravity", "0,0,0"),
        "--gravity is for a kernel of a robot; add --kernel NAME, or leave it out.",
    ),
    "command of earlier versions": (
        ("source", "scara", "inverse"),
        "No such command 'source'; use dynid export ROBOT --to c --kernel NAME, see dynid export --help.",
    ),
    "unknown command": (("mdl",), "No such command 'mdl'; did you mean 'model'? See dynid --help."),
    "unknown option": (("model", "tx40", "--bse"), "No such option: --bse"),
    "too much": (("model", "tx40", "tx90"), "see dynid model --help."),
    "value of a flag": (("robots", "--json=yes"), "does not take a value; see dynid"),
}


@pytest.mark.parametrize(("arguments", "part"), BAD.values(), ids=BAD)
def test_one_sentence_that_names_the_cure(
    capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], part: str
) -> None:
    assert part in assert_one_sentence(dynid(capsys, *arguments))


@pytest.mark.parametrize(("arguments", "part"), BAD.values(), ids=BAD)
def test_the_same_as_json(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...], part: str) -> None:
    said = dynid(capsys, *arguments, "--json")
    assert said.code == 1
    assert set(said.document) == {"error", "exit_code"}
    assert said.document["exit_code"] == 1
    assert said.err == f"dynid: {said.document['error']}\n"
    assert part in said.document["error"]


@pytest.mark.parametrize("where", [0, 1, 2])
def test_debug_shows_the_traceback_wherever_it_stands(capsys: pytest.CaptureFixture[str], where: int) -> None:
    arguments = ["model", "tx4O"]
    arguments.insert(where, "--debug")
    said = dynid(capsys, *arguments)
    assert said.code == 1
    assert "Traceback (most recent call last)" in said.err
    assert said.err.splitlines()[-1].startswith("dynid: Unknown robot 'tx4O'.")


def test_a_mistake_of_ours_is_told_without_a_traceback(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("first line\nsecond line")

    monkeypatch.setattr(model_command, "chosen_robot", broken)
    sentence = assert_one_sentence(dynid(capsys, "model", "tx40"))
    assert sentence == (
        "dynid failed unexpectedly (RuntimeError: first line second line); run it with --debug and report it."
    )


@pytest.mark.parametrize("arguments", [(), ("--help",), ("-h",)])
def test_help_is_no_error(capsys: pytest.CaptureFixture[str], arguments: tuple[str, ...]) -> None:
    said = dynid(capsys, *arguments)
    assert (said.code, said.err) == (0, "")
    assert said.out.startswith("Usage: dynid")
    assert "List the robots shipped with dynid." in said.out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert dynid(capsys, "--version").out == f"dynid {__version__}\n"


def process(*arguments: str, **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "dynid.cli.main", *arguments],
        capture_output=True,
        env={**os.environ, **environment},
        check=False,
    )


def test_exit_codes_and_streams_of_a_real_process() -> None:
    good = process("model", "scara", "--base", "--json")
    assert (good.returncode, good.stderr) == (0, b"")
    assert json.loads(good.stdout)["n_base"] == 8
    bad = process("model", "scarra", "--json")
    assert bad.returncode == 1
    assert json.loads(bad.stdout)["exit_code"] == 1
    assert bad.stderr.startswith(b"dynid: Unknown robot 'scarra'. Did you mean 'scara'?")


def test_an_ascii_terminal_is_served_too() -> None:
    text = process("model", "tx40", PYTHONIOENCODING="ascii")
    assert (text.returncode, text.stderr) == (0, b"")
    assert b"St?ubli" in text.stdout
    document = process("model", "tx40", "--json", PYTHONIOENCODING="ascii")
    assert json.loads(document.stdout)["title"].startswith("Stäubli")


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell.")
@pytest.mark.parametrize("options", ["", "--json"])
def test_a_reader_that_has_enough_is_no_error(options: str, tmp_path: Path) -> None:
    command = f"'{sys.executable}' -m dynid.cli.main model tx40 --base {options}"
    script = f"{{ {command}; echo $? > code; }} 2> said | head -c 1 > first"
    subprocess.run(["sh", "-c", script], cwd=tmp_path, check=True)
    assert (tmp_path / "code").read_text() == "0\n"
    assert (tmp_path / "said").read_text() == ""
