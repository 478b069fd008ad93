"""The command ``dynid``: exit 0 when fine, 1 on bad input, 2 when the answer cannot be trusted."""

from __future__ import annotations

from dynid.cli.process import INTERRUPTED, patient_output, settle  # first: loading may be interrupted too

# isort: split
import gc
import os
import sys
import traceback
from importlib import import_module
from typing import Annotated

import typer

from dynid import __version__
from dynid.cli.command import Command, spread
from dynid.cli.output import print_json
from dynid.core.errors import DynidError

COMMANDS = {
    "robots": "List the robots shipped with dynid.",
    "model": "Describe a robot and find its base parameters.",
    "excite": "Design a motion that reveals a robot's parameters.",
    "map": "Write a mapping of a log's columns to start from.",
    "check": "Say whether logs are good enough to fit.",
    "fit": "Identify a robot's parameters from logs.",
    "fit-many": "Fit a table of robots and logs, and find the robots that drift.",
    "validate": "Put a saved model to the test on other logs.",
    "predict": "Predict the torques of a saved model along logs.",
    "suspects": "Say what may be wrong with logs or missing in a model, and what changed since.",
    "gains": "Find drive gains from logs without and with a weighed payload.",
    "payload": "Identify what a robot carries: mass, centre of mass, inertia.",
    "resolution": "Find the coarsest sensors with which identification still holds.",
    "track": "Follow a robot: parameters from a stream of joint states, sample by sample.",
    "simulate": "Simulate a robot under a controller and write its log.",
    "compare": "Put results side by side.",
    "export": "Write a model for a simulator, a controller, a script or a paper.",
    "report": "Write the report of a result again.",
    "reproduce": "Compare published figures with ours.",
}
"""Commands and what they do; each is a ``Command`` in a module of its own name, see ``command_named``."""
GREEDY = {
    "fit": ("--validate", "--condition"),
    "excite": ("--given",),
    "gains": ("--free", "--loaded"),
    "payload": ("--free", "--loaded"),
    **dict.fromkeys(("check", "validate", "predict", "suspects", "resolution"), ("--condition",)),
}
"""Options, by command, that take several values: ``--validate a.csv b.csv``."""
_MOVED = {"source": "dynid export ROBOT --to c --kernel NAME"}
"""Commands of earlier versions, and what stands for them."""
_COMPLETION = "_DYNID_COMPLETE"
"""Environment variable by which the shell asks for completions."""


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"dynid {__version__}")
        raise typer.Exit


def common(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show a traceback when something fails.")] = False,
) -> None:
    """Identify the dynamic model of robots from motion logs.

    dynid COMMAND --help shows the options of a command, examples and exit codes: 0 fine, 1 bad input, 2 the
    answer cannot be trusted.
    """


def app_for(arguments: list[str]) -> typer.Typer:
    """The application with the command that is asked for, or with the names of all of them.

    Importing every command would make each one wait for the libraries of the others.
    """
    app = typer.Typer(
        name="dynid",
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(common)
    asked = next((a for a in arguments if not a.startswith("-")), "")
    if asked in COMMANDS:
        command_named(asked).add_to(app, COMMANDS[asked])
    else:
        for name, summary in COMMANDS.items():
            app.command(name, short_help=summary)(_no_command)
    return app


def command_named(name: str) -> Command:
    """The command of a name, from the module of the same name; ``fit-many`` is ``fit_many`` there."""
    own = name.replace("-", "_")
    made: Command = getattr(import_module(f"dynid.cli.{own}"), own)
    return made


def _no_command() -> None:
    """Stands for a command whose name alone is needed."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command line and leave with its exit code."""
    settle()
    code = run(sys.argv[1:] if arguments is None else arguments)
    gc.freeze()  # the system takes all memory back at once; looking for cycles first would only take time
    sys.exit(code)


def run(arguments: list[str]) -> int:
    """Run the command line; returns the exit code, also when the reader of a pipe has enough before."""
    try:
        with patient_output():
            return _run(arguments)
    except OSError as error:
        # Reading and writing of files has sentences of its own; what is left is the output itself.
        return _fail(f"The output cannot be written: {error.strerror or error}.", 1, False, False)


def _run(arguments: list[str]) -> int:
    # --debug may stand anywhere, also behind a command.
    debug = "--debug" in arguments
    wants_json = "--json" in arguments
    given = [a for a in arguments if a != "--debug"]
    try:
        app = app_for(_words_to_complete() if _COMPLETION in os.environ else given)
        words = spread(given, GREEDY) or ["--help"]
        code = app(words, prog_name="dynid", standalone_mode=False, obj={"typed": list(arguments)})
        sys.stdout.flush()
        return code if isinstance(code, int) else 0
    except SystemExit as leaving:  # after the shell got its completions
        return leaving.code if isinstance(leaving.code, int) else 0
    except DynidError as error:
        return _fail(str(error), error.exit_code, wants_json, debug)
    except (typer.Abort, KeyboardInterrupt):
        return _fail(INTERRUPTED, 1, wants_json, debug)
    except OSError as error:
        return _fail(f"The output cannot be written: {error.strerror or error}.", 1, False, debug)
    except Exception as error:
        # Typer has its own copy of Click, so usage errors are recognised by ``format_message``.
        if hasattr(error, "format_message"):
            return _fail(_usage_sentence(error), 1, wants_json, debug)
        cause = " ".join(str(error).split())
        text = (
            f"dynid failed unexpectedly ({type(error).__name__}: {cause}); run it with --debug and report it."
        )
        return _fail(text, 1, wants_json, debug)


def _words_to_complete() -> list[str]:
    """The words typed so far behind ``dynid``, as the shell hands them over."""
    typed = os.environ.get("COMP_WORDS") or os.environ.get("_TYPER_COMPLETE_ARGS", "")
    return typed.split()[1:]


def _usage_sentence(error: Exception) -> str:
    """What Typer says about the arguments, as one sentence that names the help page to read."""
    message = " ".join(error.format_message().split()).rstrip(".")  # type: ignore[attr-defined]
    message = message.replace("'. Did you mean", "'; did you mean")
    for old, new in _MOVED.items():
        if message.startswith(f"No such command '{old}'"):
            return f"No such command '{old}'; use {new}, see dynid export --help."
    command = getattr(getattr(error, "ctx", None), "command_path", "dynid")
    return f"{message}{' See' if message.endswith('?') else '; see'} {command} --help."


def _fail(sentence: str, code: int, wants_json: bool, debug: bool) -> int:
    if debug:
        traceback.print_exc()
    if wants_json:
        print_json({"error": sentence, "exit_code": code})
    sys.stderr.write(f"dynid: {sentence}\n")
    return code


if __name__ == "__main__":
    main()
