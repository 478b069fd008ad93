"""Small bricks of a page. Whatever comes from outside passes through ``text`` or ``number``."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any


def text(value: object) -> str:
    """Escaped text; names of robots and logs may hold anything."""
    return escape(str(value), quote=True)


def shown(value: Any, digits: int = 3) -> str:
    """A number for reading: so many significant digits, no exponent for everyday sizes, – for none."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return "–"
    if isinstance(value, bool) or not isinstance(value, int | float):
        return text(value)
    if isinstance(value, int):
        return f"{value:,}".replace(",", "\u202f")
    if value == 0:
        return "0"
    exponent = math.floor(math.log10(abs(value)))
    if -4 <= exponent < 6:
        return f"{value:.{max(0, digits - 1 - exponent)}f}".replace("-", "−")
    mantissa, _, power = f"{value:.{digits - 1}e}".partition("e")
    return f"{mantissa}e{int(power)}".replace("-", "−")


def cell(value: Any, digits: int = 3, *, mark: str = "", suffix: str = "") -> str:
    """A table cell with a number to read and, for sorting and tests, the number itself."""
    raw = "" if value is None else text(repr(value) if isinstance(value, float) else value)
    kind = f' class="{mark}"' if mark else ""
    return f'<td data-value="{raw}"{kind}>{shown(value, digits)}{suffix}</td>'


def chance(value: float | None) -> str:
    """A table cell with a probability; how small a very small one is says nothing."""
    if value is None or value >= 1e-4:
        return cell(value, 2)
    return f'<td data-value="{value!r}">&lt; 0.0001</td>'


def words(value: object, mark: str = "") -> str:
    """A table cell with text."""
    kind = f' class="{mark}"' if mark else ""
    return f"<td{kind}>{text(value)}</td>"


def table(
    head: Sequence[str], rows: Iterable[str], *, label: str, mark: str = "", foot: Iterable[str] = ()
) -> str:
    """A table in a box of its own that scrolls when the screen is narrow.

    Args:
        head: headings, already safe.
        rows: rows of cells, already safe.
        label: what the table is, for screen readers.
        mark: further classes of the table.
        foot: rows of totals.
    """
    heading = "".join(f'<th scope="col">{item}</th>' for item in head)
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    last = "".join(f"<tr>{row}</tr>" for row in foot)
    return (
        '<p class="hint" aria-hidden="true">scroll sideways for more →</p>'
        f'<div class="scroll" tabindex="0" role="region" aria-label="{text(label)}">'
        f'<table class="{mark}"><thead><tr>{heading}</tr></thead><tbody>{body}</tbody>'
        + (f"<tfoot>{last}</tfoot>" if last else "")
        + "</table></div>"
    )


def facts(pairs: Iterable[tuple[str, str]]) -> str:
    """A list of terms with values, already safe."""
    inner = "".join(f"<div><dt>{term}</dt><dd>{value}</dd></div>" for term, value in pairs if value)
    return f'<dl class="facts">{inner}</dl>'


def section(key: str, title: str, *content: str, lead: str = "") -> str:
    """A section with a heading and a sentence that says how to read it."""
    intro = f'<p class="lead">{lead}</p>' if lead else ""
    heading = f'<h2 id="{key}-h">{title}</h2>'
    return f'<section id="{key}" aria-labelledby="{key}-h">{heading}{intro}{"".join(content)}</section>'


def badge(level: str, word: str = "") -> str:
    """A coloured word; the word says it all without the colour."""
    names = {"good": "fine", "note": "note", "care": "care", "fail": "fails"}
    return f'<span class="badge {text(level)}">{text(word or names.get(level, level))}</span>'


def bar(percent: float | None, mark: str = "") -> str:
    """A horizontal bar of so many percent of its box."""
    width = 0.0 if percent is None or not math.isfinite(percent) else min(100.0, max(0.0, percent))
    return f'<span class="bar {mark}" aria-hidden="true"><i style="width:{width:.1f}%"></i></span>'


def unit(name: str) -> str:
    """A unit with raised exponents; nothing for a ratio, whose unit is 1."""
    return "" if name == "1" else text(name).replace("^2", "²").replace("^3", "³")
