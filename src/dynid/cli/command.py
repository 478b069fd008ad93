"""Commands from declarations: options in groups, given to the command as objects and shown so in its help.

    @dataclass(frozen=True)
    class FilterOptions(OptionGroup, title="Filter"):
        cutoff_hz: float | None = option(None, "F", "Cut-off [Hz].")

    @command(examples=["dynid smooth log.csv --cutoff-hz 20"], exit_0="The log was written.")
    def smooth(log: LogArgument, filtering: FilterOptions) -> None:

Help, shell completion and the tables of docs/cli.md all come from these declarations.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import MISSING, dataclass, field, fields
from pathlib import Path
from typing import Annotated, Any, ClassVar, get_type_hints

import typer
from typer.core import TyperCommand

from dynid.cli.process import INTERRUPTED
from dynid.core.errors import DynidError

LAST_GROUP = "Output and help"
"""Title of the options that belong to no other group."""
REQUIRED: Any = ...
"""Default of an option that must be given."""
Words = Callable[[], Iterable[str]] | Iterable[str]
_DECLARED = "option"
_BAD_INPUT = "Bad input: one sentence on standard error says what is allowed."


def option(
    default: Any,
    metavar: str,
    text: str,
    *,
    name: str = "",
    choices: Words = (),
    shown: str = "",
    **limits: Any,
) -> Any:
    """A field of an ``OptionGroup``.

    Args:
        default: value when the option is absent; ``REQUIRED`` where it must not be.
        metavar: stands for its value in the help; empty for a flag.
        text: its help, in sentences.
        name: as it is typed; made of the field's name when empty.
        choices: words that the shell may complete, or what finds them.
        shown: the default in words, where None stands for it.
        limits: ``min`` and ``max`` of a number.
    """
    declared = {
        "metavar": metavar or None,
        "help": text,
        "autocompletion": completion_of(choices) if choices else None,
        "show_default": shown or True,
        **limits,
    }
    kept = {_DECLARED: (name, declared)}
    return field(metadata=kept) if default is REQUIRED else field(default=default, metadata=kept)


def completion_of(choices: Words) -> Callable[[str], list[str]]:
    """What a shell is offered where one of some words is typed."""

    def complete(incomplete: str) -> list[str]:
        known = choices() if callable(choices) else choices
        return [word for word in known if word.startswith(incomplete)]

    return complete


class OptionGroup:
    """Options that belong together: the fields of a frozen dataclass, each declared by ``option``."""

    title: ClassVar[str] = LAST_GROUP

    def __init_subclass__(cls, title: str = "") -> None:
        """Keep the title under which help and docs show the options."""
        super().__init_subclass__()
        cls.title = title or cls.title

    @property
    def given(self) -> dict[str, Any]:
        """The options that differ from their defaults, by field."""
        declared = fields(self)  # type: ignore[arg-type]
        return {f.name: getattr(self, f.name) for f in declared if getattr(self, f.name) != f.default}


ResultArgument = Annotated[Path, typer.Argument(metavar="RESULT", help="A folder written by dynid fit.")]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


@dataclass(frozen=True)
class Command:
    """A command of the program.

    Args:
        function: what it does; parameters whose type is an ``OptionGroup`` stand for the options in it.
        examples: command lines for the help.
        exits: sentences by exit code.
    """

    function: Callable[..., Any]
    examples: Sequence[str]
    exits: dict[int, str]

    def add_to(self, app: typer.Typer, summary: str) -> None:
        """Make it a command of the application.

        Args:
            app: the application.
            summary: one line for the list of commands.
        """
        lines = ["Examples:", *(f"  {line}" for line in self.examples), "", "Exit codes:"]
        lines += [f"  {code}  {sentence}" for code, sentence in self.exits.items()]
        made = app.command(cls=GroupedCommand, short_help=summary, epilog="\n".join(lines))
        made(_with_single_options(self.function))


def command(
    examples: Iterable[str], exit_0: str = "Fine.", exit_2: str = ""
) -> Callable[[Callable[..., Any]], Command]:
    """Declare a function as a command.

    Args:
        examples: command lines for the help.
        exit_0: what exit code 0 means, in a sentence.
        exit_2: what exit code 2 means; empty where it does not occur.
    """
    exits = {0: exit_0, 1: _BAD_INPUT} | ({2: exit_2} if exit_2 else {})
    return lambda function: Command(function, tuple(examples), exits)


def numbers_in(text: str, count: int) -> tuple[float, ...]:
    """So many numbers separated by commas; one alone stands for all of them; () where the text is not so."""
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        return ()
    values *= count if len(values) == 1 else 1
    return values if len(values) == count else ()


def spread(arguments: Sequence[str], greedy: Mapping[str, tuple[str, ...]]) -> list[str]:
    """Repeat a greedy option before each of its values, as Typer wants it.

    ``--validate a b --json`` becomes ``--validate a --validate b --json``; with ``--validate=a`` only that
    value belongs to it, and ``--`` ends all options.

    Args:
        arguments: the command line without the program's name.
        greedy: options, by command, that take every word up to the next option.
    """
    name = next((word for word in arguments if not word.startswith("-")), "")
    options, current, fresh = greedy.get(name, ()), "", False
    made: list[str] = []
    for k, word in enumerate(arguments):
        if word == "--":
            return made + list(arguments[k:])
        if word.startswith("-") and word != "-":
            current, fresh = word if word in options else "", True
        else:
            if current and not fresh:
                made.append(current)
            fresh = False
        made.append(word)
    return made


class GroupedCommand(TyperCommand):
    """A command whose plain help shows its options under the titles of their groups."""

    def groups(self, ctx: Any) -> dict[str, list[tuple[str, str]]]:
        """Names and help by title: arguments, groups in the order of declaration, the last group."""
        found: dict[str, list[tuple[str, str]]] = {"Arguments": []}
        for parameter in self.get_params(ctx):
            title = getattr(parameter, "rich_help_panel", None) or LAST_GROUP
            record = parameter.get_help_record(ctx)
            if record is not None:
                title = "Arguments" if parameter.param_type_name == "argument" else title
                found.setdefault(title, []).append(record)
        found[LAST_GROUP] = found.pop(LAST_GROUP)
        return {title: records for title, records in found.items() if records}

    def format_options(self, ctx: Any, formatter: Any) -> None:
        """Every group under its title."""
        for title, records in self.groups(ctx).items():
            with formatter.section(title):
                formatter.write_dl(records)

    def format_epilog(self, ctx: Any, formatter: Any) -> None:
        """Examples and exit codes as they are: a command line that is broken cannot be copied."""
        formatter.write(f"\n{self.epilog}\n")


def _with_single_options(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function as Typer wants it: options one by one, and Ctrl-C as a failure that has a sentence."""
    hints = get_type_hints(function, include_extras=True)
    groups = {
        name: hint for name, hint in hints.items() if isinstance(hint, type) and issubclass(hint, OptionGroup)
    }
    parameters: list[inspect.Parameter] = []
    for name, parameter in inspect.signature(function).parameters.items():
        if name in groups:
            parameters += _parameters_of(groups[name])
        else:
            parameters.append(parameter.replace(annotation=hints[name], kind=parameter.KEYWORD_ONLY))

    def call(**values: Any) -> Any:
        made = {
            name: group(**{one.name: values.pop(one.name) for one in fields(group)})  # type: ignore[arg-type]
            for name, group in groups.items()
        }
        try:
            return function(**values, **made)
        except KeyboardInterrupt:
            raise DynidError(INTERRUPTED) from None

    call.__name__, call.__doc__ = function.__name__, function.__doc__
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    return call


def _parameters_of(group: type[OptionGroup]) -> list[inspect.Parameter]:
    """The fields of a group as parameters of a function, under the group's title."""
    hints = get_type_hints(group)
    made = []
    for one in fields(group):  # type: ignore[arg-type]
        name, declared = one.metadata[_DECLARED]
        typed = typer.Option(
            name or f"--{one.name.replace('_', '-')}", rich_help_panel=group.title, **declared
        )
        made.append(
            inspect.Parameter(
                one.name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if one.default is MISSING else one.default,
                annotation=Annotated[hints[one.name], typed],
            )
        )
    return made
