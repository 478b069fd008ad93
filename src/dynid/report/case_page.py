"""The page of a reproduced experiment: published figures beside ours, and drawings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from dynid.report.charts import Figure, figure_html
from dynid.report.html import badge, cell, section, table, text, words
from dynid.report.page import asset


def render_case(result: Mapping[str, Any], figures: Sequence[Figure]) -> str:
    """One HTML page without any reference to the outside.

    Args:
        result: case, title, rows, notes and ok, as ``dynid reproduce --json`` prints them.
        figures: drawings.
    """
    title, ok = text(result["title"]), bool(result["ok"])
    held = [row for row in result["rows"] if row["accept"] != "shown"]
    refused, only = sum(not row["ok"] for row in held), len(result["rows"]) - len(held)
    answer = f"{len(held)} figures are held to a rule; "
    answer += "all are accepted." if ok else f"{refused} of them are not accepted."
    answer += f" {only} more are only shown beside the published ones." if only else ""
    notes = "".join(f"<li>{text(note)}</li>" for note in result["notes"])
    parts = [
        f'<section id="verdict" class="verdict {"good" if ok else "fail"}"><h1>{title}</h1>'
        f'<p class="answer">{answer}</p></section>',
        section("notes", "What to know", f"<ul>{notes}</ul>") if notes else "",
        section("rows", "Published and ours", *_tables(result["rows"])),
        section("figures", "Figures", *(figure_html(figure) for figure in figures)) if figures else "",
    ]
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{title} – dynid reproduce</title>\n<style>\n{asset('page.css')}</style>\n</head>\n<body>\n"
        f'<header class="top"><p>dynid reproduce {text(result["case"])}</p><p>{title}</p></header>\n<main>\n'
        + "\n".join(part for part in parts if part)
        + "\n</main>\n</body>\n</html>\n"
    )


def _tables(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """One table per group, in order."""
    found = []
    for group, members in groupby(rows, key=lambda row: row.get("group", "")):
        own = list(members)
        several = any("worst" in row for row in own)
        head = ["quantity", "published", "ours", *(["worst run"] if several else []), "accepted", ""]
        cells = [_row(row, several) for row in own]
        heading = f"<h3>{text(group)}</h3>" if group else ""
        found.append(heading + table(head, cells, label=group or "Published and ours", mark="left"))
    return found


def _row(row: Mapping[str, Any], several: bool) -> str:
    answer = badge("good", "ok") if row["ok"] else badge("fail", "no")
    answer = "" if row["accept"] == "shown" else answer
    return (
        words(row["quantity"], "name")
        + cell(row["published"], 4)
        + cell(row["ours"], 4)
        + (cell(row.get("worst"), 4) if several else "")
        + words(row["accept"])
        + f"<td>{answer}</td>"
    )
