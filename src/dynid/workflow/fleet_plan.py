"""A table of robots and logs to fit, read from TOML or CSV: shared options, and one entry per fit."""

from __future__ import annotations

import csv
import datetime
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from dynid.core.errors import DynidError, FileError
from dynid.core.files import naming_file, read_text, read_toml
from dynid.core.keys import Entry, alternatives, entries_of, key
from dynid.core.tables import shown, table_from

PATHS = ("map", "plan", "known", "drives")
"""Keys that name one file, relative to the plan's folder."""
_TRUTHS = {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}


@dataclass(frozen=True, kw_only=True)
class FitKeys:
    """Options of ``dynid fit`` that a plan may give, for all fits or for one."""

    robot: str | None = key("name from `dynid robots`, or a robot file", None)
    map: str | None = key("TOML file that says what the columns of the logs mean", None)
    accept: tuple[str, ...] | None = key("findings that you know better about", None)
    repair: bool | None = key("repair repairable defects of the logs", None, absent="`false`")
    split: float | None = key("share of each log that is fitted; the rest validates", None, above=0, most=1)
    method: str | None = key("estimator: ols, wls, irls, tls, ridge or separable", None, absent='`"wls"`')
    essential: bool | None = key("keep only the parameters that the data really show", None, absent="`false`")
    consistent: str | None = key(
        "values of a robot that can exist", None, choices=("auto", "always", "never"), absent='`"auto"`'
    )
    known: str | None = key("TOML file of what is known of the robot beside its logs", None)
    uncertainty: str | None = key("standard deviations, as --uncertainty of `dynid fit`", None)
    plan: str | None = key("preparation as TOML", None, absent="suggested from the data")
    cutoff_hz: float | None = key("cut-off of the filter", None, unit="Hz", above=0)
    decimation: int | None = key("one row kept of so many", None, least=1)
    mask: float | tuple[float, ...] | None = key(
        "speeds below which rows are left out: one, or one per joint", None, least=0
    )
    trim_start_s: float | None = key("time left out at the beginning", None, unit="s", least=0)
    trim_end_s: float | None = key("time left out at the end", None, unit="s", least=0)
    velocity: str | None = key("speeds: differentiated or measured", None)
    terms: tuple[str, ...] | None = key("parameter terms beside the inertial ones, such as Ia, Fv, Fc", None)
    drives: str | None = key("TOML file with [drives], in place of the robot's", None)


@dataclass(frozen=True, kw_only=True)
class FleetEntry(FitKeys):
    """One fit: a table ``[[fit]]`` or a row of a CSV table. Its options replace the shared ones."""

    name: str = key(
        "name of the row, each once",
        rule=lambda name: bool(name.strip(". ")) and not set(name) & set("/\\:\0\n"),
        allowed="text without / \\ and :",
    )
    logs: tuple[str, ...] = key(
        "logs relative to the plan; * and ? stand for any characters",
        rule=lambda logs: bool(logs) and all(logs),
        allowed="a list of one or more files",
    )
    validate: tuple[str, ...] | None = key("logs kept for validation, likewise", None)
    unit: str | int | None = key("serial number of the robot", None, absent="the name")
    date: str | None = key("day of the logs, such as 2026-03-01", None)
    hours: float | None = key("hours in service, instead of the date", None, unit="h", least=0)

    @property
    def serial(self) -> str:
        """The robot: its serial number, or the name of the row."""
        return str(self.name if self.unit is None else self.unit)

    @property
    def order(self) -> float | None:
        """Place in time [h]; None where it is not known."""
        if self.hours is not None or self.date is None:
            return self.hours
        moment = datetime.datetime.fromisoformat(self.date)
        return (moment if moment.tzinfo else moment.replace(tzinfo=datetime.UTC)).timestamp() / 3600

    def __post_init__(self) -> None:
        """Refuse dates that are none, and two orders in time."""
        if self.date is not None and self.hours is not None:
            raise DynidError("date and hours are both given; keep one.")
        try:
            datetime.datetime.fromisoformat(self.date or "1970-01-01")
        except ValueError:
            raise DynidError(f"date is {shown(self.date)}; it must be a day such as 2026-03-01.") from None


@dataclass(frozen=True, kw_only=True)
class FleetPlan(FitKeys):
    """What to fit, as a file has it.

    ``folder`` is that of the file, from which all paths start.
    """

    fit: tuple[FleetEntry, ...] = key("the fits, see below", allowed="[[fit]] tables")
    folder: Path = Path()

    def __post_init__(self) -> None:
        """Refuse a plan without rows, names that occur twice, and units ordered in two ways."""
        if not self.fit:
            raise DynidError("The plan has no fits; give at least one [[fit]] table or row.")
        seen: set[str] = set()
        for entry in self.fit:
            folded = entry.name.casefold()
            if folded in seen:
                raise DynidError(f"The name {entry.name!r} is given twice; every row needs its own.")
            seen.add(folded)
        if any(e.date is not None for e in self.fit) and any(e.hours is not None for e in self.fit):
            raise DynidError("Some rows have a date and some have hours; order all of them in one way.")

    def options(self, entry: FleetEntry) -> dict[str, Any]:
        """The options of one fit: its own, else the shared ones; paths from the plan's folder."""
        found: dict[str, Any] = {}
        for one in fields(FitKeys):
            own = getattr(entry, one.name)
            value = getattr(self, one.name) if own is None else own
            if value is not None:
                found[one.name] = list(value) if isinstance(value, tuple) else value
        for name in PATHS:
            if name in found:
                given, found[name] = found[name], str(self.folder / found[name])
                if not Path(found[name]).is_file():
                    raise FileError(
                        f"Row {entry.name!r}: there is no file {given} for {name} in {self.folder}."
                    )
        if "robot" not in found:
            raise DynidError(f"Row {entry.name!r}: robot is missing; give it here or for all rows.")
        if (self.folder / found["robot"]).is_file():
            found["robot"] = str(self.folder / found["robot"])
        return found

    def files(self, entry: FleetEntry, patterns: tuple[str, ...] | None) -> list[str]:
        """The files that some patterns of a row name, in the order of their names.

        Raises:
            FileError: for a pattern that names none.
        """
        found: list[str] = []
        for pattern in patterns or ():
            matches = [str(path) for path in self._matches(pattern)]
            if not matches:
                raise FileError(f"Row {entry.name!r}: there is no log {pattern} in {self.folder}.")
            found += [path for path in matches if path not in found]
        return found

    def _matches(self, pattern: str) -> list[Path]:
        direct = self.folder / pattern
        try:
            if direct.exists():
                return [direct]
            if Path(pattern).is_absolute() or not set(pattern) & set("*?["):
                return []
            return sorted(self.folder.glob(pattern))
        except (ValueError, OSError):
            return []


def load_fleet_plan(path: str | Path) -> FleetPlan:
    """Read a plan from a TOML file or a CSV table; docs/fleets.md lists the keys.

    Args:
        path: the file; one that ends in .csv has a row per fit.
    """
    file = Path(path)
    what = "plan of fits"
    is_table = file.suffix.lower() == ".csv"
    content = _csv_content(file, what) if is_table else read_toml(file, what)
    with naming_file(file, "Plan"):
        rows = content.pop("fit", [])
        if not isinstance(rows, list):
            raise DynidError(f"fit is {shown(rows)}; it must be [[fit]] tables.")
        entries = tuple(_entry(row, number) for number, row in enumerate(rows, 1))
        return replace(table_from({**content, "fit": entries}, FleetPlan), folder=file.parent.resolve())


def _entry(row: Any, number: int) -> FleetEntry:
    """One row; errors name it."""
    name = row.get("name") if isinstance(row, Mapping) else None
    where = f"Row {name!r}" if isinstance(name, str) else f"Row {number}"
    if isinstance(row, Mapping):
        row = {k: v.isoformat() if isinstance(v, datetime.date) else v for k, v in row.items()}
    return table_from(row, FleetEntry, where)


def _csv_content(path: Path, what: str) -> dict[str, Any]:
    """Rows of a CSV table as TOML would have them; empty cells are absent keys."""
    reader = csv.reader(io.StringIO(read_text(path, what)), strict=True)
    try:
        lines = [line for line in reader if any(cell.strip() for cell in line)]
    except csv.Error as error:
        raise FileError(f"The {what} {path} is not a CSV table: {error}.") from None
    if not lines:
        return {"fit": []}
    head = [cell.strip() for cell in lines[0]]
    if len(head) == 1 and ";" in head[0]:
        raise FileError(
            f"The columns of the {what} {path} are separated by semicolons; separate them by commas, and "
            "logs in one cell by semicolons."
        )
    if len(set(head)) < len(head):
        raise FileError(f"The {what} {path} has a column twice; its columns are {', '.join(head)}.")
    for number, line in enumerate(lines[1:], 1):
        if len(line) > len(head):
            raise FileError(
                f"Row {number} of the {what} {path} has {len(line)} cells for {len(head)} columns; put cells "
                "with commas in quotes, and separate logs by semicolons."
            )
    known = {entry.name: entry for entry in entries_of(FleetEntry)}
    return {"fit": [dict(_cells(head, line, known)) for line in lines[1:]]}


def _cells(head: list[str], line: list[str], known: Mapping[str, Entry]) -> Iterator[tuple[str, Any]]:
    for name, cell in zip(head, line, strict=False):
        if cell.strip():
            yield name, _cell_value(cell.strip(), known[name].type) if name in known else cell


def _cell_value(text: str, hint: Any) -> Any:
    """A cell as the key has it: a list where it takes one, a number, a truth value, or text."""
    kinds = alternatives(hint)
    lists = [kind for kind in kinds if kind in (tuple[str, ...], tuple[float, ...])]
    if lists and (";" in text or float not in kinds):
        parts = [part.strip() for part in text.split(";") if part.strip()]
        return parts if lists[0] == tuple[str, ...] else [_number(part) for part in parts]
    if bool in kinds:
        return _TRUTHS.get(text.lower(), text)
    return _number(text) if {int, float} & set(kinds) and str not in kinds else text


def _number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
