"""What dynid says when it cannot go on: one sentence with the value given and the values allowed."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class DynidError(Exception):
    """A failure the user can act on, as one sentence: what was given, what is allowed, what to do."""

    exit_code = 1


class ModelError(DynidError):
    """The robot description contradicts itself or physics."""


class FileError(DynidError):
    """A file is missing, unreadable, hostile or not of the format it claims."""


class ShapeError(DynidError):
    """An array does not have the shape, type or finite values asked for."""


class UnknownNameError(DynidError):
    """A name is not among those known; the sentence suggests the nearest."""


class NotTrustworthyError(DynidError):
    """The input was accepted but the answer cannot be trusted (exit code 2)."""

    exit_code = 2


_LISTED = 200
"""Names listed in one sentence."""


_IN_PYTHON = {
    "--accept": 'accept="{}"',
    "--add": 'add="{}"',
    "--consistent": 'consistent="{}"',
    "--controller": "controller=…",
    "--decimation": 'overrides={{"decimation": …}}',
    "--instruments": 'instruments="{}"',
    "--map": "read_log(…, mapping)",
    "--mask": 'overrides={{"speed_thresholds": …}}',
    "--method": "{}",
    "--reference": "references=…",
    "--repair": "repair=True",
    "--stamps": 'overrides={{"stamps": "{}"}}',
    "--trim-end-s": 'overrides={{"trim_end_s": …}}',
    "--trim-start-s": 'overrides={{"trim_start_s": …}}',
    "--velocity": 'overrides={{"velocity": "{}"}}',
}
"""Options of the command line as ``fit``, ``check``, ``validate`` and estimators have them."""


def option_words(option: str, value: str = "", python: str = "") -> str:
    """An option in a sentence that both faces show, such as "--repair (repair=True)".

    Args:
        option: on the command line.
        value: it is to have, where the sentence says which.
        python: the same value in Python, where that is another word.
    """
    quoted = f'"{value}"' if " " in value else value
    typed = f"{option} {quoted}" if value else option
    return f"{typed} ({_IN_PYTHON[option].format(python or value)})"


def unknown_name(what: str, given: str, known: Iterable[str], hint: str = "") -> UnknownNameError:
    """Build the error for a name that is not known, with the nearest known names.

    Args:
        what: the kind of thing named, such as "robot".
        given: the name the user gave.
        known: all names that would have been accepted.
        hint: a further sentence on what to do.
    """
    names = sorted(known)
    folded = {name.lower(): name for name in names}  # so that d3 suggests D3 and zz9 suggests ZZ1
    near = [folded[key] for key in difflib.get_close_matches(given.lower(), folded, n=3, cutoff=0.5)]
    suggestion = f" Did you mean {' or '.join(repr(n) for n in near)}?" if near else ""
    listing = ", ".join(names[:_LISTED]) + (
        f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    )
    allowed = f"Known: {listing}." if names else "None are defined."
    message = f"Unknown {what} {given!r}.{suggestion} {allowed}"
    return UnknownNameError(f"{message} {hint}".strip())
