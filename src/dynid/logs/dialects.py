"""Column names that are understood without a mapping, and what is guessed from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from dynid.core.errors import FileError
from dynid.logs.axis_names import named_axes
from dynid.logs.column_choice import expanded_columns
from dynid.logs.column_words import (
    CURRENT_WORDS,
    RATE_WORDS,
    STEP_WORDS,
    TIME_WORDS,
    WORDS,
    Word,
    taken_apart,
)
from dynid.logs.log import Step
from dynid.logs.mapping import ChannelMap, LogMapping, TimeMap
from dynid.logs.readers.table import Table
from dynid.logs.units import TIME_UNITS, UNITS


@dataclass(frozen=True)
class Guess:
    """A mapping that was guessed, and the steps that say so."""

    mapping: LogMapping
    steps: tuple[Step, ...]


def guess_mapping(
    table: Table,
    sizes: Mapping[str, float] | None = None,
    needed: Sequence[str] = ("position", "torque"),
    said: Mapping[str, ChannelMap] = MappingProxyType({}),
    axes: int | None = None,
) -> Guess:
    """Guess which columns of a file are positions, speeds, torques and stamps.

    Args:
        table: the file.
        sizes: values of scalar variables by name, which may say the rate.
        needed: channels without which the file is refused.
        said: channels whose columns the user says; they are not guessed.
        axes: number of axes, where the user says it.
    """
    words = [word_of(table, i) for i in range(len(table.columns))]
    channels: dict[str, ChannelMap] = {}
    taken = {table.index(c) for part in said.values() for c in expanded_columns(part.columns, table, axes)}
    for channel in WORDS:
        found = None if channel in said else _channel(channel, words, taken, table)
        if found is not None:
            places, unit = found
            taken |= set(places)
            channels[channel] = ChannelMap(tuple(i + 1 for i in places), unit=unit)
    named, order = _by_names(table, words, taken, needed, {**channels, **said}, axes)
    channels |= {name: part for name, part in named.items() if name not in said}
    _require({**channels, **said}, table, words, needed)
    time, rate = find_stamps(table, sizes or {})
    mapping = LogMapping(MappingProxyType(channels), time=time, rate_hz=rate)
    others = tuple(_not_taken(channel, part, table, words, taken) for channel, part in channels.items())
    told = (described(mapping, table, "Without a mapping"), *order)
    return Guess(mapping, (*told, *(step for step in others if step is not None)))


def _by_names(
    table: Table,
    words: Sequence[Word],
    taken: set[int],
    needed: Sequence[str],
    known: Mapping[str, ChannelMap],
    axes: int | None,
) -> tuple[dict[str, ChannelMap], tuple[Step, ...]]:
    """Channels whose columns carry the names of joints, where some are still missing."""
    missing = [channel for channel in needed if channel not in known]
    if not missing:
        return {}, ()
    counts = {len(expanded_columns(part.columns, table, axes)) for part in known.values()}
    number = axes or (counts.pop() if len(counts) == 1 else 0)
    dates = {i for i, column in enumerate(table.columns) if column.dates or not table.is_signal(i)}
    found = named_axes(table.names, taken | dates, missing, number, numbered=bool(known))
    channels = {}
    for channel, family in found.items():
        places = tuple(family.places.values())
        taken |= set(places)
        unit = _unit(channel, family.word, places, words, table)
        channels[channel] = ChannelMap(tuple(i + 1 for i in places), unit=unit)
    if not found:
        return {}, ()
    joints = list(found[missing[0]].places)
    note = f"Axes are the joints {_shown(joints)} that the columns name, in the order of the file."
    return channels, (Step("joint order", {"joints": joints}, note),)


def _not_taken(
    channel: str, part: ChannelMap, table: Table, words: Sequence[Word], taken: set[int]
) -> Step | None:
    """Other columns that have the name of a channel too, such as pos1 beside q1."""
    found = _channel(channel, words, taken, table)
    if found is None or channel not in ("position", "torque"):
        return None
    names, used = [table.names[i] for i in found[0]], _names(part, table)
    note = (
        f"{channel} is read from {_shown(used)}; {_shown(names)} may be meant as well and were not taken: "
        f"say columns in [{channel}] of a mapping to choose."
    )
    return Step("columns not taken", {"channel": channel, "taken": used, "not_taken": names}, note)


def _channel(
    channel: str, words: Sequence[Word], taken: set[int], table: Table
) -> tuple[tuple[int, ...], tuple[str, ...]] | None:
    """Places of a channel's columns in the order of the axes, and their unit."""
    for word in WORDS[channel]:
        places = [i for i, w in enumerate(words) if w.word == word and i not in taken and table.is_signal(i)]
        numbers = [words[i].number for i in places]
        if not places or (len(places) > 1 and None in numbers):
            continue
        ordered = sorted(places, key=lambda i: words[i].number or 0)
        counted = sorted(number or 0 for number in numbers)
        if len(places) > 1 and counted != list(range(counted[0], counted[0] + len(counted))):
            continue  # an axis is missing or stands twice: a mapping must say what is meant
        return tuple(ordered), _unit(channel, word, ordered, words, table)
    return None


def _unit(
    channel: str, word: str, places: Sequence[int], words: Sequence[Word], table: Table
) -> tuple[str, ...]:
    """Units of columns, one for all or one each; () where none is named."""
    units = [words[i].unit for i in places]
    for i, unit in zip(places, units, strict=True):
        if unit is not None and unit == table.columns[i].unit and unit not in UNITS[channel]:
            raise FileError(
                f"{table.names[i]!r} of {table.path.name} seems to be a {channel}, but its unit is {unit!r}; "
                f"say columns, unit and scale in [{channel}] of a mapping."
            )
    known = [unit for unit in units if unit is not None and unit in UNITS[channel]]
    if len(known) == len(units):
        return tuple(known) if len(set(known)) > 1 else (known[0],)
    if channel == "torque" and any(part in CURRENT_WORDS for part in word.split("_")):
        return ("A",)
    return ()


def _require(
    channels: Mapping[str, ChannelMap], table: Table, words: Sequence[Word], needed: Sequence[str]
) -> None:
    missing = [channel for channel in needed if channel not in channels]
    if not missing:
        return
    counts = Counter(table.names)
    own = {word for channel in missing for word in WORDS[channel]}
    twice = [n for n, w in zip(table.names, words, strict=True) if counts[n] > 1 and w.word in own]
    if twice:
        names = list(dict.fromkeys(twice))
        most = max(counts[name] for name in names)
        raise FileError(
            f"{_shown(names)} of {table.path.name} occur{'s' * (len(names) == 1)} "
            f"{'twice' if most == 2 else f'{most} times'} among its columns, so the "
            f"{' and the '.join(missing)} cannot be told; give the columns by number in a mapping."
        )
    shown = ", ".join(repr(name) for name in table.names[:30]) + (" …" if len(table.names) > 30 else "")
    raise FileError(
        f"No {' and no '.join(missing)} was recognised among the columns of {table.path.name}: {shown}; "
        "say in a mapping which columns they are."
    )


def find_stamps(table: Table, sizes: Mapping[str, float]) -> tuple[TimeMap | None, float | None]:
    """The column that holds stamps by its name, else a rate that the file says, else neither.

    Args:
        table: the file.
        sizes: values of scalar variables by name.
    """
    words = [word_of(table, i) for i in range(len(table.columns))]
    for wanted in TIME_WORDS:
        for i, word in enumerate(words):
            if word.word == wanted and word.number is None and table.is_signal(i):
                return TimeMap(i + 1, time_unit(table, i, word)), None
    dated = [i for i, column in enumerate(table.columns) if column.dates]
    if len(dated) == 1:  # whatever it is called
        return TimeMap(dated[0] + 1, "s"), None
    for name, value in sizes.items():
        word = taken_apart(name)
        if word.word in RATE_WORDS and 0 < value < 1e9:
            return None, value
        if word.word in STEP_WORDS and 0 < value < 1e9:
            return None, 1.0 / value
    return None, None


def word_of(table: Table, i: int) -> Word:
    """The name of column i taken apart, with the unit that a row of units gives it.

    Args:
        table: the file.
        i: place of the column.
    """
    column = table.columns[i]
    word = taken_apart(column.name)
    return word if word.unit is not None or column.unit is None else replace(word, unit=column.unit)


def time_unit(table: Table, i: int, word: Word) -> str:
    """The unit that the name says, else the one that gives a plausible rate."""
    if word.unit in TIME_UNITS:
        return str(word.unit)
    stamps = table.fetch(i).reshape(-1)
    if stamps.dtype.kind not in "iuf" or len(stamps) < 2:
        return "s"
    with np.errstate(all="ignore"):
        step = float(np.nanmedian(np.abs(np.diff(np.asarray(stamps, dtype=float)))))
    # A robot logs between 5 Hz and 10 kHz.
    return "ms" if 0.5 <= step < 150 else "us" if 150 <= step < 150_000 else "ns" if step >= 150_000 else "s"


def described(mapping: LogMapping, table: Table, lead: str) -> Step:
    """The step that says what was guessed.

    Args:
        mapping: what was guessed; its columns are numbers.
        table: the file.
        lead: words before it.
    """
    said = []
    for channel, part in mapping.channels.items():
        unit = f" [{part.unit[0]}]" if part.unit else ""
        said.append(f"{channel} from {_shown(_names(part, table))}{unit}")
    if mapping.time is not None and mapping.time.column is not None:
        stamps = table.columns[table.index(mapping.time.column)]
        said.append(f"stamps from {stamps.name} [{'dates' if stamps.dates else mapping.time.unit}]")
    if mapping.rate_hz is not None:
        said.append(f"rate {mapping.rate_hz:g} Hz")
    options = {channel: _names(part, table) for channel, part in mapping.channels.items()}
    return Step("guessed mapping", options, f"{lead}: {'; '.join(said)}.")


def _shown(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} … {names[-1]}"


def _names(part: ChannelMap, table: Table) -> list[str]:
    columns = part.columns if isinstance(part.columns, tuple) else (part.columns,)
    return [table.names[table.index(c)] for c in columns if c is not None]
