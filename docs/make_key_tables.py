"""Write the tables of keys into the pages, from the declarations: `python docs/make_key_tables.py`.

A page marks the place with the class that declares the keys; everything up to the end mark is written anew:

    <!-- keys of dynid.logs.mapping.CsvOptions -->
    <!-- end of keys -->

and ``beyond ControllerKeys`` before the arrow leaves out the keys of another class of the same module.
"""

from __future__ import annotations

import re
from importlib import import_module
from pathlib import Path

from dynid.core.keys import docs_rows

PAGES = sorted(Path(__file__).parent.glob("*.md"))
MARK = re.compile(
    r"(<!-- keys of ([\w.]+)\.(\w+)(?: beyond (\w+))? -->\n).*?(<!-- end of keys -->)", re.DOTALL
)
HEAD = ["| key | meaning | default |", "|---|---|---|"]


def with_tables(text: str) -> str:
    """A page with the tables of all marks renewed."""

    def table(match: re.Match[str]) -> str:
        module = import_module(match[2])
        beyond = getattr(module, match[4]) if match[4] else None
        rows = "\n".join([*HEAD, *docs_rows(getattr(module, match[3]), beyond)])
        return f"{match[1]}\n{rows}\n\n{match[5]}"

    return MARK.sub(table, text)


if __name__ == "__main__":
    for page in PAGES:
        before = page.read_text(encoding="utf-8")
        after = with_tables(before)
        if after != before:
            page.write_text(after, encoding="utf-8")
            print(f"wrote the tables of {page}")
