"""What stands above the data of a CSV file: a preamble, names, units."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from dynid.logs.readers.date_text import is_date
from dynid.logs.units import bare_unit, known_unit

DECIMAL_COMMA = re.compile(r"[+-]?\d+,\d+([eE][+-]?\d+)?")
BLANK = frozenset({"", "nan", "na", "n/a", "null", "none", "-nan", "nan(ind)", "-nan(ind)"})
"""Cells that stand for a missing value."""
SKIP = "Should the names stand further down, give skip_lines in [csv] of a mapping."


@dataclass(frozen=True)
class Above:
    """Rows above the data: how many before the names and after them, and whether those after are units."""

    preamble: int
    below: int = 0
    units: bool = False


def lines_above(rows: Sequence[Sequence[str]]) -> Above:
    """Tell a preamble and a row of units from names and data; whatever is not sure is left as it is.

    Args:
        rows: cells of the first rows.
    """
    if len(rows) < 3 or _is_data(rows[0]) or (_is_data(rows[1]) and len(rows[0]) == len(rows[1])):
        return Above(0)
    width = 0
    for at in range(1, len(rows) - 1):
        width = len(rows[at])
        if _is_data(rows[at]) and _is_data(rows[at + 1]) and len(rows[at + 1]) == width > 1:
            break
    else:
        return Above(0)
    units = at > 1 and len(rows[at - 1]) == width and _are_units(rows[at - 1])
    last = at - 1 - units
    first = last
    while first > 0 and len(rows[first - 1]) == width and _are_names(rows[first - 1]):
        first -= 1
    if last < 0 or len(rows[last]) != width or not _are_names(rows[last]) or last - first > 1:
        return Above(0)
    # Damaged data above the first good row is no preamble.
    if any(len(row) > 1 and _is_data(row) for row in rows[:first]):
        return Above(0)
    # Of two rows of names the upper one counts, unless it is a heading over several columns.
    header = first if len(set(rows[first])) == width else last
    return Above(header, at - 1 - header, units)


def is_number(cell: str) -> bool:
    """Whether a cell is a plain number (Python would also take 1_000)."""
    try:
        float(cell)
    except ValueError:
        return False
    return "_" not in cell


def like_number(cell: str) -> bool:
    """Whether a cell is a number, a missing one, or one with a decimal comma."""
    return cell.lower() in BLANK or is_number(cell) or bool(DECIMAL_COMMA.fullmatch(cell)) or is_date(cell)


def _is_data(cells: Sequence[str]) -> bool:
    return all(like_number(cell) for cell in cells) and any(cell.lower() not in BLANK for cell in cells)


def _are_names(cells: Sequence[str]) -> bool:
    # A column of numbers may have no name; of a line padded with delimiters most are missing.
    return cells.count("") <= 1 < len(cells) and not any(cell and like_number(cell) for cell in cells)


def _are_units(cells: Sequence[str]) -> bool:
    said = [cell for cell in cells if bare_unit(cell)]
    known = sum(known_unit(cell) is not None for cell in said)
    return 2 * known >= len(said) > 0 and not any(like_number(cell) for cell in said)
