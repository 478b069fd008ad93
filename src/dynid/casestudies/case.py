"""A case: published figures beside ours, row by row."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from importlib import resources
from pathlib import Path
from statistics import median
from typing import Any

from dynid.core.errors import DynidError, FileError
from dynid.core.executor import Progress, no_progress
from dynid.report.charts import Figure

SHOWN = "shown"
"""The rule of a row that is only shown: no value of ours is refused."""


@dataclass(frozen=True)
class Row:
    """One figure.

    Args:
        quantity: what it is, with its unit.
        published: the published value; None when the row only bounds ours.
        ours: what was found.
        accept: the rule, in words.
        ok: whether ours obeys it.
        worst: of several runs, the one farthest from being accepted; ``ours`` is then their median.
        group: the table or figure it belongs to.
    """

    quantity: str
    published: float | None
    ours: float
    accept: str
    ok: bool
    worst: float | None = None
    group: str = ""

    @property
    def bound(self) -> bool:
        """Whether a rule could refuse it."""
        return self.accept != SHOWN

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; without a worst run or a group where there is none."""
        own: dict[str, Any] = {
            "quantity": self.quantity,
            "published": self.published,
            "ours": self.ours,
            "accept": self.accept,
            "ok": bool(self.ok),
        }
        own |= {} if self.worst is None else {"worst": self.worst}
        return own | ({"group": self.group} if self.group else {})


@dataclass(frozen=True)
class CaseResult:
    """All figures of a case, and what to know about them.

    Args:
        case: its name.
        title: what it is.
        rows: published and ours.
        notes: what to know.
        figures: drawings, for the page.
    """

    case: str
    title: str
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    figures: tuple[Figure, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether every row is accepted; rows that are only shown prove nothing."""
        held = [row for row in self.rows if row.bound]
        return bool(held) and all(row.ok for row in held)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        drawn = {"figures": [figure.to_dict() for figure in self.figures]} if self.figures else {}
        return {
            "case": self.case,
            "title": self.title,
            "rows": [row.to_dict() for row in self.rows],
            "notes": list(self.notes),
            "ok": self.ok,
            **drawn,
        }


@dataclass(frozen=True)
class Case:
    """A published experiment that can be run again.

    Args:
        name: as on the command line.
        title: what it is.
        data: folder it needs, below the data folder; None for a simulated case.
        run: to the figures, from that folder where it needs one, with its options by name; a simulated case
            also takes ``progress``.
        options: names of the options it takes.
    """

    name: str
    title: str
    data: str | None
    run: Callable[..., CaseResult]
    options: tuple[str, ...] = ()

    def reproduce(
        self,
        folder: Path | None,
        options: Mapping[str, Any] | None = None,
        progress: Progress = no_progress,
    ) -> CaseResult:
        """Run it.

        Args:
            folder: its data; None where it needs none.
            options: by name.
            progress: told what is being done.

        Raises:
            DynidError: for an option it does not take.
        """
        given = dict(options or {})
        for name in given:
            if name not in self.options:
                allowed = ", ".join(f"--{option}" for option in self.options) or "none"
                raise DynidError(f"The case {self.name!r} has no option --{name}; allowed are: {allowed}.")
        progress(f"reproducing {self.title}")
        return self.run(**given, progress=progress) if self.data is None else self.run(folder, **given)


def equal_digits(quantity: str, published: float, ours: float, decimals: int) -> Row:
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


def over_runs(
    quantity: str,
    published: float | None,
    values: Sequence[float],
    accept: str,
    excess: Callable[[float], float],
) -> Row:
    """The median of several runs, accepted when the worst of them is.

    Args:
        quantity: what it is.
        published: the published value.
        values: one per run.
        accept: the rule, in words.
        excess: how far a value is beyond the rule; at most zero when it obeys.
    """
    worst = max(values, key=excess)
    return Row(quantity, published, float(median(values)), accept, excess(worst) <= 0.0, worst=worst)


def runs_below(
    quantity: str, published: float | None, values: Sequence[float], bound: float, accept: str = ""
) -> Row:
    """Not above a bound on any seed; an infinite bound only shows."""
    words = accept or (SHOWN if math.isinf(bound) else f"at most {bound:g}")
    if math.isinf(bound):
        return over_runs(quantity, published, values, words, lambda v: -1.0 / (1.0 + abs(v)))
    return over_runs(quantity, published, values, words, lambda v: v - bound)


def runs_above(quantity: str, published: float | None, values: Sequence[float], bound: float) -> Row:
    """Not below a bound on any seed."""
    words = SHOWN if math.isinf(bound) else f"at least {bound:g}"
    return over_runs(quantity, published, values, words, lambda v: bound - v)


def rows_of_table(group: str, rows: Iterable[Row]) -> list[Row]:
    """Rows of one table."""
    return [replace(row, group=group) for row in rows]


def equal_to(quantity: str, published: float, ours: float) -> Row:
    """Equal."""
    return Row(quantity, published, ours, "equal", published == ours)


def packaged_mapping(name: str) -> AbstractContextManager[Path]:
    """The mapping of a case's log that comes with dynid, as a file for a while."""
    return resources.as_file(resources.files("dynid.casestudies") / "maps" / f"{name}.toml")


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
        "environment variable DYNID_DATA. The documentation's page on datasets says where they come from."
    )
