"""How a file of a log is written, and which messages of a bag are wanted: the [csv] and [bag] tables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from dynid.core.errors import FileError, unknown_name
from dynid.model.table_values import Table, check_keys

DELIMITERS: Mapping[str, str] = MappingProxyType(
    {"comma": ",", "semicolon": ";", "tab": "\t", "space": " ", ",": ",", ";": ";", "\t": "\t", " ": " "}
)


@dataclass(frozen=True)
class CsvOptions:
    """How a CSV file is written; None means that it is looked at."""

    delimiter: str | None = None
    decimal: str = "."
    header: bool | None = None
    comment: str = "#%"
    skip_lines: int = 0


@dataclass(frozen=True)
class BagOptions:
    """Which messages of a ROS 2 bag: topic, joints in the order wanted, and whose stamps."""

    topic: str | None = None
    joints: tuple[str, ...] = ()
    stamp: str = "header"


def choice_of(row: Table, key: str, allowed: tuple[str, ...], default: Any) -> Any:
    """The value of a key, which must be one of those allowed."""
    value = row.get(key, default)
    if value not in allowed:
        raise unknown_name(key, str(value), allowed)
    return value


def text_of(row: Table, key: str) -> str | None:
    """The text of a key, or None when it is absent."""
    value = row.get(key)
    if value is not None and not isinstance(value, str):
        raise FileError(f"{key} is {value!r}; it must be text.")
    return value


def csv_options(row: Table) -> CsvOptions:
    """The [csv] table of a mapping."""
    check_keys(row, ("delimiter", "decimal", "header", "comment", "skip_lines"), "[csv] table")
    delimiter = choice_of(row, "delimiter", tuple(DELIMITERS), None) if "delimiter" in row else None
    decimal = choice_of(row, "decimal", (".", ","), ".")
    if decimal == "," and delimiter is not None and DELIMITERS[delimiter] == ",":
        raise FileError("[csv] gives a comma as delimiter and as decimal sign.")
    header, skip = row.get("header"), row.get("skip_lines", 0)
    if header is not None and not isinstance(header, bool):
        raise FileError(f"header is {header!r}; it must be true or false.")
    if isinstance(skip, bool) or not isinstance(skip, int) or not 0 <= skip <= 10_000:
        raise FileError(f"skip_lines is {skip!r}; give a number from 0.")
    comment = text_of(row, "comment")
    chosen = None if delimiter is None else DELIMITERS[delimiter]
    return CsvOptions(chosen, decimal, header, "#%" if comment is None else comment, skip)


def bag_options(row: Table) -> BagOptions:
    """The [bag] table of a mapping."""
    check_keys(row, ("topic", "joints", "stamp"), "[bag] table")
    joints = row.get("joints", [])
    if not isinstance(joints, list) or not all(isinstance(joint, str) for joint in joints):
        raise FileError(f"joints is {joints!r}; give a list of joint names.")
    if len(set(joints)) != len(joints):
        raise FileError("joints of [bag] names a joint twice.")
    return BagOptions(
        text_of(row, "topic"), tuple(joints), choice_of(row, "stamp", ("header", "bag"), "header")
    )
