"""A case: published figures beside ours, row by row."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynid.errors import FileError


@dataclass(frozen=True)
class Row:
    """One figure.

    Args:
        quantity: what it is, with its unit.
        published: the published value; None when the row only bounds ours.
        ours: what was found.
        accept: the rule, in words.
        ok: whether ours obeys it.
    """

    quantity: str
    published: float | None
    ours: float
    accept: str
    ok: bool


@dataclass(frozen=True)
class CaseResult:
    """All figures of a case, and what to know about them."""

    case: str
    title: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every row is accepted."""
        return bool(self.rows) and all(row.ok for row in self.rows)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        rows = [
            {"quantity": r.quantity, "published": r.published, "ours": r.ours, "accept": r.accept, "ok": r.ok}
            for r in self.rows
        ]
        return {
            "case": self.case,
            "title": self.title,
            "rows": rows,
            "notes": list(self.notes),
            "ok": self.ok,
        }


@dataclass(frozen=True)
class Case:
    """A published experiment that can be run again.

    Args:
        name: as on the command line.
        title: what it is.
        data: folder it needs, below the data folder.
        run: from that folder to the figures.
    """

    name: str
    title: str
    data: str
    run: Callable[[Path], CaseResult]


def digits(quantity: str, published: float, ours: float, decimals: int) -> Row:
    """Equal to the last published digit."""
    ok = round(ours, decimals) == round(published, decimals)
    return Row(quantity, published, ours, f"equal to {decimals} decimals", ok)


def at_most(quantity: str, ours: float, bound: float, published: float | None = None) -> Row:
    """Not above a bound."""
    return Row(quantity, published, ours, f"at most {bound:g}", ours <= bound)


def near(quantity: str, published: float, ours: float, sigma: float, share: float) -> Row:
    """Within two standard deviations or a share of the published value."""
    ok = abs(ours - published) <= max(2 * sigma, share * abs(published))
    return Row(quantity, published, ours, f"within 2σ = {2 * sigma:.3g} or {100 * share:g} %", ok)


def exactly(quantity: str, published: float, ours: float) -> Row:
    """Equal."""
    return Row(quantity, published, ours, "equal", published == ours)


def data_folder(chosen: Path | None, needed: str, tried: Iterable[Path] = ()) -> Path:
    """The folder with a case's data.

    Args:
        chosen: as the user gave it; else $DYNID_DATA, else the places tried.
        needed: the case's folder below it.
        tried: further places to look at.
    """
    places = [chosen] if chosen is not None else []
    if chosen is None and os.environ.get("DYNID_DATA"):
        places.append(Path(os.environ["DYNID_DATA"]))
    if chosen is None:
        places += list(tried)
    for place in places:
        if (place / needed).is_dir():
            return place / needed
    looked = ", ".join(str(place / needed) for place in places) or "nowhere"
    raise FileError(
        f"The data of this case are not here (looked at {looked}); give their folder with --data or in the "
        "environment variable DYNID_DATA. The documentation's page on datasets says where they come from.",
        name="data",
        value=looked,
    )
