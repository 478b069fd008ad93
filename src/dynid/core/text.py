"""Plain text for people: tables with aligned columns, numbers without exponents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class TextTable:
    """A plain table.

    Args:
        title: shown above it, unless empty.
        columns: heads.
        rows: cells.
    """

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]

    def lines(self) -> list[str]:
        """Columns side by side, two spaces apart."""
        cells = [tuple(self.columns), *self.rows]
        widths = [max(len(row[k]) for row in cells) for k in range(len(self.columns))]
        made = [
            "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip() for row in cells
        ]
        return [self.title, *made] if self.title else made


def two_digits(value: float) -> str:
    """A number that is not negative, with two digits where it is small and none behind the point else."""
    return f"{value:.0f}" if value >= 10 else f"{value:.2g}"
