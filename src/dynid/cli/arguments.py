"""Arguments before Typer sees them: options that take every word up to the next option."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

GREEDY: Mapping[str, tuple[str, ...]] = MappingProxyType({"fit": ("--validate",)})
"""Options, by command, that take several values: ``--validate a.csv b.csv``."""


def spread(arguments: Sequence[str]) -> list[str]:
    """Repeat a greedy option before each of its values, as Typer wants it.

    ``--validate a b --json`` becomes ``--validate a --validate b --json``; with ``--validate=a`` only that
    value belongs to it, and ``--`` ends all options.

    Args:
        arguments: the command line without the program's name.
    """
    command = next((word for word in arguments if not word.startswith("-")), "")
    options = GREEDY.get(command, ())
    made: list[str] = []
    current = ""
    for k, word in enumerate(arguments):
        if word == "--":
            return made + list(arguments[k:])
        if word.startswith("-") and word != "-":
            current = word if word in options else ""
            fresh = True
        elif current and not fresh:
            made.append(current)
            fresh = False
        else:
            fresh = False
        made.append(word)
    return made
