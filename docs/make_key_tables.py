"""Write the tables of keys and of options into the pages: `python docs/make_key_tables.py`.

A page marks the place with the class that declares the keys, or with the command; everything up to the end
mark is written anew from the declarations:

    <!-- keys of dynid.logs.mapping.CsvOptions -->
    <!-- end of keys -->
    <!-- options of dynid fit -->
    <!-- end of options -->

``beyond ControllerKeys`` before the arrow leaves out the keys of another class of the same module.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

import typer

from dynid.cli.main import app_for, command_named
from dynid.core.keys import docs_rows

PAGES = sorted(Path(__file__).parent.glob("*.md"))
MARK = re.compile(
    r"(<!-- keys of ([\w.]+)\.(\w+)(?: beyond (\w+))? -->\n).*?(<!-- end of keys -->)", re.DOTALL
)
OPTIONS = re.compile(r"(<!-- options of dynid ([\w-]+) -->\n).*?(<!-- end of options -->)", re.DOTALL)
HEAD = ["| key | meaning | default |", "|---|---|---|"]


def with_tables(text: str) -> str:
    """A page with the tables of all marks renewed."""

    def keys(match: re.Match[str]) -> str:
        module = import_module(match[2])
        beyond = getattr(module, match[4]) if match[4] else None
        rows = "\n".join([*HEAD, *docs_rows(getattr(module, match[3]), beyond)])
        return f"{match[1]}\n{rows}\n\n{match[5]}"

    def options(match: re.Match[str]) -> str:
        return f"{match[1]}\n{options_of(match[2])}\n\n{match[3]}"

    return OPTIONS.sub(options, MARK.sub(keys, text))


def options_of(name: str) -> str:
    """Options of a command in the groups of its help, and its exit codes."""
    made = typer.main.get_command(app_for([name])).commands[name]  # type: ignore[attr-defined]
    context = made.make_context(name, [], resilient_parsing=True)
    lines = ["| option | meaning |", "|---|---|"]
    for title, records in made.groups(context).items():
        if title != "Arguments":
            lines.append(f"| *{title}* | |")
            lines += [f"| `{names}` | {_cell(text)} |" for names, text in records if names != "--help"]
    exits = command_named(name).exits
    meanings = [
        f"{code}: {text[0].lower()}{text[1:].rstrip('.')}" for code, text in exits.items() if code != 1
    ]
    return "\n".join([*lines, "", f"Exit code {'; '.join(meanings)}."])


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").split())


if __name__ == "__main__":
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        after = with_tables(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"wrote the tables of {page}")
