"""Help in groups with examples and exit codes, shell completion, and the line that shows progress."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import pytest
import typer

from cli.commands import dynid
from dynid.cli.command import REQUIRED, OptionGroup, command, option
from dynid.cli.main import COMMANDS, app_for

Capsys = pytest.CaptureFixture[str]
posix = pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell.")


@pytest.mark.parametrize("name", COMMANDS)
def test_help_has_groups_examples_and_exit_codes(capsys: Capsys, name: str) -> None:
    said = dynid(capsys, name, "--help")
    assert (said.code, said.err) == (0, "")
    heads = [line for line in said.out.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert heads[-3:] == ["Output and help:", "Examples:", "Exit codes:"]
    assert f"\n  dynid {name}" in said.out
    assert "\n  1  Bad input: one sentence on standard error says what is allowed.\n" in said.out


def declared(name: str) -> Any:
    """A command as Typer made it."""
    return typer.main.get_command(app_for([name])).commands[name]  # type: ignore[attr-defined]


@pytest.mark.parametrize("name", COMMANDS)
def test_examples_use_options_that_exist(name: str) -> None:
    shown = declared(name).epilog.split("Examples:")[1].split("Exit codes:")[0].replace("\\\n", " ")
    for line in shown.strip().splitlines():
        program, other, *words = shlex.split(line)
        known = {option for parameter in declared(other).params for option in parameter.opts}
        assert program == "dynid"
        assert {word for word in words if word.startswith("--")} <= known


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_says_what_it_takes(name: str) -> None:
    """A metavar of ours, or none; never the type's name."""
    made = declared(name)
    context = made.make_context(name, [], resilient_parsing=True)
    for records in made.groups(context).values():
        for names, text in records:
            assert "<" not in names, names
            assert text


@dataclass(frozen=True)
class Size(OptionGroup, title="Size"):
    """A group of options."""

    width: float = option(REQUIRED, "W", "How wide.")
    tall: bool = option(False, "", "Whether tall.")


@command(examples=["dynid box small --width 2"])
def box(name: Annotated[str, typer.Argument(metavar="NAME")], size: Size) -> tuple[str, Size]:
    """Make a box."""
    return name, size


def test_options_of_a_group_come_as_an_object(capsys: Capsys) -> None:
    app = typer.Typer(rich_markup_mode=None, add_completion=False)
    box.add_to(app, "Boxes.")
    name, size = app(["small", "--width", "2"], standalone_mode=False)
    assert (name, size, size.given) == ("small", Size(2.0), {"width": 2.0})
    app(["--help"], standalone_mode=False)
    shown = capsys.readouterr().out
    assert "Size:\n  --width W  How wide.  [required]\n  --tall     Whether tall.\n" in shown


def completed(shell: str, line: str) -> list[str]:
    """What a shell is offered for the last word of a line."""
    words = line.split(" ")
    asked = {
        "bash": {"COMP_WORDS": line, "COMP_CWORD": str(len(words) - 1)},
        "zsh": {"_TYPER_COMPLETE_ARGS": line},
        "fish": {"_TYPER_COMPLETE_ARGS": line, "_TYPER_COMPLETE_FISH_ACTION": "get-args"},
    }[shell]
    said = subprocess.run(
        [sys.executable, "-m", "dynid.cli.main"],
        capture_output=True,
        env={**os.environ, **asked, "_DYNID_COMPLETE": f"complete_{shell}"},
        text=True,
        check=True,
    )
    assert said.stderr == ""
    return said.stdout.splitlines()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shells_complete_commands(shell: str) -> None:
    offered = " ".join(completed(shell, "dynid re"))
    assert "report" in offered
    assert "reproduce" in offered
    assert "robots" not in offered


def test_options_robots_and_names_are_completed() -> None:
    assert completed("bash", "dynid model --per") == ["--per-joint"]
    assert completed("bash", "dynid model tx9") == ["tx90"]
    assert completed("bash", "dynid export tx40 --to c --kernel grav") == ["gravity"]
    assert completed("bash", "dynid model tx40 --method clo") == ["closed-form"]


@posix
def test_the_script_of_the_shell_is_shown() -> None:
    script = f"'{sys.executable}' -m dynid.cli.main --show-completion; echo $?"
    said = subprocess.run(["bash", "-c", script], capture_output=True, text=True, check=True)
    assert "complete -o default -F _dynid_completion dynid" in said.stdout
    assert said.stdout.endswith("\n0\n")


@posix
def test_a_terminal_sees_what_is_being_done(tmp_path: Path) -> None:
    """Steps on one line of standard error, which is empty again at the end."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    noisy = ["--torque-noise", "1", "--seed", "1", "--count", "3", "--duration", "1"]
    program = [sys.executable, "-m", "dynid.cli.main", "simulate", "scara"]
    run = subprocess.run(
        [*program, "--controller", "scara", "--reference", "scara", *noisy],
        stderr=theirs,
        stdout=subprocess.PIPE,
        cwd=tmp_path,
        check=True,
        text=True,
    )
    os.close(theirs)
    shown = os.read(ours, 10_000).decode()
    os.close(ours)
    assert "simulation 2 of 3 …" in shown
    assert shown.endswith("\r\x1b[K")
    assert "simulation" not in run.stdout
