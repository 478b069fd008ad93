"""Which column of a file is what, in which unit, of which axis: what a mapping says, and names tell the rest.

Columns that differ only in their axis are a ``Family``: a word of a channel with numbers (q1, q2), with names
of joints (pos_elbow, pos_wrist), or one array of all axes (q).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType

import numpy as np

from dynid.core.errors import FileError
from dynid.logs.log import Step
from dynid.logs.mapping import ChannelMap, LogMapping, TimeMap
from dynid.logs.readers.table import Table, units_of, word_of
from dynid.logs.words import (
    CARTESIAN,
    CURRENT_WORDS,
    FILE_WORDS,
    NO_CHANNEL_ALONE,
    OF_A_FIGURE,
    RATE_WORDS,
    STEP_WORDS,
    TIME_UNITS,
    TIME_WORDS,
    WORDS,
    WORDS_WITH_NAMES,
    pieces_of,
    taken_apart,
)

FIT_CHANNELS = ("position", "torque")
"""Channels that a fit needs."""


@dataclass(frozen=True)
class Family:
    """Columns of a channel, one per axis.

    Args:
        channel: what they are.
        word: what they are called.
        places: by the number or name of the axis, in the order of the axes.
    """

    channel: str
    word: str
    places: Mapping[int | str, int]


@dataclass(frozen=True)
class Guess:
    """A mapping that was guessed, and the steps that say so."""

    mapping: LogMapping
    steps: tuple[Step, ...]


def guess_mapping(
    table: Table,
    needed: Sequence[str] = FIT_CHANNELS,
    said: Mapping[str, ChannelMap] = MappingProxyType({}),
    axes: int | None = None,
) -> Guess:
    """Guess which columns of a file are positions, speeds, torques and stamps.

    Args:
        table: the file.
        needed: channels without which the file is refused.
        said: channels whose columns the user says; they are not guessed.
        axes: number of axes, where the user says it.
    """
    given = {channel: table.places(part.columns, axes) for channel, part in said.items()}
    taken = {place for places in given.values() for place in places}
    found: dict[str, Family] = {}
    for channel in WORDS:
        family = None if channel in said else _family_by_numbers(channel, table, taken)
        if family is not None:
            found[channel] = family
            taken |= set(family.places.values())
    missing = [channel for channel in needed if channel not in found and channel not in said]
    steps = []
    if missing:
        counts = {len(places) for places in given.values()}
        counts |= {len(family.places) for family in found.values()}
        number = axes or (counts.pop() if len(counts) == 1 else 0)
        named = _families_by_joints(table, taken, missing, number, numbered=bool(found or said))
        found |= {channel: family for channel, family in named.items() if channel not in said}
        taken |= {place for family in named.values() for place in family.places.values()}
        if named:
            joints = [str(axis) for axis in named[missing[0]].places]
            note = (
                f"Axes are the joints {_short_list(joints)} that the columns name, in the order of the file."
            )
            steps.append(Step("joint order", {"joints": joints}, note))
    _require(needed, {*found, *said}, table)
    channels = {
        channel: ChannelMap(tuple(i + 1 for i in family.places.values()), unit=_unit(family, table))
        for channel, family in found.items()
    }
    time, rate = find_stamps(table)
    mapping = LogMapping(MappingProxyType(channels), time=time, rate_hz=rate)
    others = (_not_taken(channel, part, table, taken) for channel, part in channels.items())
    steps += [step for step in others if step is not None]
    return Guess(mapping, (guess_step(mapping, table, "Without a mapping"), *steps))


def complete_mapping(
    table: Table, mapping: LogMapping, needed: Sequence[str] = FIT_CHANNELS
) -> tuple[LogMapping, tuple[Step, ...]]:
    """A mapping with columns for everything that it does not say, and what was guessed.

    Args:
        table: the file.
        mapping: what the user says; it always goes first.
        needed: channels without which the file is refused.
    """
    said = {name: part for name, part in mapping.channels.items() if part.columns is not None}
    steps: tuple[Step, ...] = ()
    channels: dict[str, ChannelMap] = dict(mapping.channels)
    if not mapping.channels or not set(needed) <= set(said) or len(said) < len(mapping.channels):
        guess = guess_mapping(table, needed, said, mapping.axes)
        guessed = dict(guess.mapping.channels)
        for name, part in mapping.channels.items():
            own = guessed.get(name)
            if own is not None and part.columns is None:
                channels[name] = replace(part, columns=own.columns, unit=part.unit or own.unit)
                guessed[name] = channels[name]
        channels = {**guessed, **channels}
        steps = guess.steps[1:]
        if guessed:
            shown = replace(guess.mapping, channels=guessed, time=None, rate_hz=None)
            steps = (guess_step(shown, table, "What the mapping leaves open was guessed"), *steps)
    time, rate = mapping.time, mapping.rate_hz
    if rate is not None:
        time = None  # it says only that the stamps count for nothing
    elif time is None or time.column is None:
        found, rate = find_stamps(table)
        time = found if found is None or time is None else replace(found, unit=time.unit or found.unit)
    elif time.unit is None and time.file is None:
        time = replace(time, unit=time_unit(table, table.index(time.column)))
    return replace(mapping, channels=MappingProxyType(channels), time=time, rate_hz=rate), steps


def _family_by_numbers(channel: str, table: Table, taken: set[int]) -> Family | None:
    """Columns of a channel's surest word, by their numbers; or the one column without a number."""
    words = {i: word_of(table, i) for i in range(len(table.columns)) if i not in taken and table.is_signal(i)}
    for word in WORDS[channel]:
        places = [(found.number, i) for i, found in words.items() if found.word == word]
        if not places:
            continue
        if len(places) == 1:
            return Family(channel, word, {0: places[0][1]})
        counted = {number: i for number, i in places if number is not None}
        # An axis that is missing or stands twice: a mapping must say what is meant.
        if len(counted) == len(places) and max(counted) - min(counted) == len(places) - 1:
            return Family(channel, word, {number: counted[number] for number in sorted(counted)})
    return None


def _families_by_joints(
    table: Table, taken: set[int], missing: Sequence[str], axes: int, numbered: bool
) -> dict[str, Family]:
    """Columns such as pos_turret, pos_elbow, trq_turret, trq_elbow, by channel; nothing where it is not sure.

    Args:
        table: the file.
        taken: places of columns that have another meaning.
        missing: channels that are looked for; one with the same axes must be found for each of them.
        axes: number of axes where it is known, else 0.
        numbered: the names must have numbers, by which they are paired with those of other channels.
    """
    families = [
        family
        for family in _joint_families(table, taken)
        if len(family.places) == (axes or len(family.places))
        and not {str(axis).lower() for axis in family.places} <= CARTESIAN
    ]
    for family in families:
        alike = [other for other in families if set(other.places) == set(family.places)]
        found = {channel: [f for f in alike if f.channel == channel] for channel in WORDS}
        # The axes are those that all of the channels have; two sets of columns for one of them are not sure.
        if all(len(found[channel]) == 1 for channel in missing):
            order = _axis_order([str(axis) for axis in found[missing[0]][0].places], numbered)
            if order is None:
                return {}
            chosen = {channel: kind[0] for channel, kind in found.items() if len(kind) == 1}
            return {c: replace(f, places={axis: f.places[axis] for axis in order}) for c, f in chosen.items()}
    return {}


def _joint_families(table: Table, taken: set[int]) -> list[Family]:
    """Columns that share a word and differ in what is left of their names."""
    places: dict[tuple[str, str, str], dict[int | str, int]] = {}
    twice = set()
    for i, name in enumerate(table.names):
        if i in taken or table.columns[i].dates or not table.is_signal(i):
            continue
        for *key, axis in _readings(name):
            row = places.setdefault((key[0], key[1], key[2]), {})
            twice |= {(key[0], key[1], key[2])} if axis in row else set()
            row[axis] = i
    return [Family(key[0], key[1], row) for key, row in places.items() if key not in twice]


def _readings(name: str) -> Iterator[tuple[str, str, str, str]]:
    """Channel, word, its side and the axis that a name may mean, by its longest word on each side."""
    pieces, _ = pieces_of(name)
    for length in range(len(pieces) - 1, 0, -1):
        found = []
        for side, word, rest in (
            ("before", pieces[:length], pieces[length:]),
            ("behind", pieces[-length:], pieces[:-length]),
        ):
            text, left = "_".join(piece.text for piece in word), {piece.text for piece in rest}
            if text in _CHANNEL_OF and not left & OF_A_FIGURE and not all(part.isdigit() for part in left):
                axis = re.split(r"[/.]", name[rest[0].start : rest[-1].stop])[-1]
                found.append((_CHANNEL_OF[text], text, side, axis))
        if found:  # q_ref_turret is a reference, not a position of "ref_turret"
            yield from found
            return


def _axis_order(axes: Sequence[str], numbered: bool) -> list[str] | None:
    """Names of axes by their numbers where only these differ, else as in the file; None with a gap."""
    stems = {re.sub(r"\d+", "#", axis) for axis in axes}
    numbers = {axis: re.findall(r"\d+", axis) for axis in axes}
    if len(axes) > 1 and len(stems) == 1 and all(len(found) == 1 for found in numbers.values()):
        ordered = sorted(axes, key=lambda axis: int(numbers[axis][0]))
        counted = [int(numbers[axis][0]) for axis in ordered]
        return ordered if counted == list(range(counted[0], counted[0] + len(counted))) else None
    return None if numbered else list(axes)


_CHANNEL_OF: Mapping[str, str] = MappingProxyType(
    {
        word: channel
        for channel in WORDS
        for word in (*WORDS[channel], *WORDS_WITH_NAMES[channel])
        if word not in NO_CHANNEL_ALONE
    }
)


def _unit(family: Family, table: Table) -> tuple[str, ...]:
    """Units of columns, one for all or one each; () where none is named."""
    units = units_of(table, family.channel, tuple(family.places.values()))
    if not units and family.channel == "torque" and any(p in CURRENT_WORDS for p in family.word.split("_")):
        return ("A",)
    return units


def _not_taken(channel: str, part: ChannelMap, table: Table, taken: set[int]) -> Step | None:
    """Other columns that have the name of a channel too, such as pos1 beside q1."""
    other = _family_by_numbers(channel, table, taken) if channel in FIT_CHANNELS else None
    if other is None:
        return None
    names, used = [table.names[i] for i in other.places.values()], _names(part, table)
    note = (
        f"{channel} is read from {_short_list(used)}; {_short_list(names)} may be meant as well and were not "
        f"taken: say columns in [{channel}] of a mapping to choose."
    )
    return Step("columns not taken", {"channel": channel, "taken": used, "not_taken": names}, note)


def _require(needed: Sequence[str], known: set[str], table: Table) -> None:
    missing = [channel for channel in needed if channel not in known]
    if not missing:
        return
    counts = Counter(table.names)
    own = {word for channel in missing for word in WORDS[channel]}
    twice = [n for i, n in enumerate(table.names) if counts[n] > 1 and word_of(table, i).word in own]
    if twice:
        names = list(dict.fromkeys(twice))
        most = max(counts[name] for name in names)
        raise FileError(
            f"{_short_list(names)} of {table.path.name} occur{'s' * (len(names) == 1)} "
            f"{'twice' if most == 2 else f'{most} times'} among its columns, so the "
            f"{' and the '.join(missing)} cannot be told; give the columns by number in a mapping."
        )
    shown = ", ".join(repr(name) for name in table.names[:30]) + (" …" if len(table.names) > 30 else "")
    raise FileError(
        f"No {' and no '.join(missing)} was recognised among the columns of {table.path.name}: {shown}; "
        "say in a mapping which columns they are."
    )


def find_stamps(table: Table) -> tuple[TimeMap | None, float | None]:
    """The column that holds stamps by its name, else a rate that a variable says, else neither."""
    signals = [i for i in range(len(table.columns)) if table.is_signal(i)]
    for wanted in TIME_WORDS:
        for i in signals:
            word = word_of(table, i)
            if word.word == wanted and word.number is None:
                return TimeMap(i + 1, time_unit(table, i)), None
    dated = [i for i, column in enumerate(table.columns) if column.dates]
    if len(dated) == 1:  # whatever it is called
        return TimeMap(dated[0] + 1, "s"), None
    for i in range(len(table.columns)):
        said = taken_apart(table.names[i]).word
        if i not in signals and said in (*RATE_WORDS, *STEP_WORDS):
            value = table.fetch(i)
            if value.size == 1 and value.dtype.kind in "iuf" and 0 < value.item() < 1e9:
                return None, float(value.item()) if said in RATE_WORDS else 1.0 / float(value.item())
    return None, None


_NO_ORDER = 0.45
"""Share of steps that go back, from which the rows are in no order: of shuffled ones half do."""


def time_unit(table: Table, i: int) -> str:
    """The unit of stamps in column i: what its name says, else what gives a plausible rate."""
    unit = word_of(table, i).unit
    if unit in TIME_UNITS:
        return str(unit)
    stamps = table.fetch(i).reshape(-1)
    if stamps.dtype.kind not in "iuf" or len(stamps) < 2:
        return "s"
    with np.errstate(all="ignore"):
        steps = np.diff(np.asarray(stamps, dtype=float))
        if np.mean(steps < 0) > _NO_ORDER:
            steps = np.diff(np.sort(np.asarray(stamps, dtype=float)))
        steps = np.abs(steps)
    steps = steps[np.isfinite(steps) & (steps > 0)]
    step = float(np.quantile(steps, 0.25)) if len(steps) else 0.0  # half of the stamps may be garbage
    # A robot logs between 5 Hz and 10 kHz.
    return "ms" if 0.5 <= step < 150 else "us" if 150 <= step < 150_000 else "ns" if step >= 150_000 else "s"


def guess_parts(tables: Sequence[Table]) -> LogMapping | None:
    """Positions in one file and torques in another, told by the files' names; None when they are not."""
    roles = [_file_role(table.path) for table in tables]
    if None in roles or len(set(roles)) < len(tables) or not set(FIT_CHANNELS) <= set(roles):
        return None
    channels, time = {}, None
    for role, table in sorted(zip(roles, tables, strict=True), key=lambda pair: pair[0] != "position"):
        words = [word_of(table, i) for i in range(len(table.columns))]
        stamps = [i for i, word in enumerate(words) if word.word in TIME_WORDS and word.number is None]
        stamps = stamps or [i for i, column in enumerate(table.columns) if column.dates]
        others = tuple(i + 1 for i in range(len(words)) if i not in stamps)
        if role is None or not others:
            return None
        channels[role] = ChannelMap(others, file=table.path.name)
        if stamps and time is None:
            time = TimeMap(stamps[0] + 1, time_unit(table, stamps[0]), table.path.name)
    return LogMapping(MappingProxyType(channels), time=time)


def _file_role(path: Path) -> str | None:
    """The channel that a file's name tells."""
    parts = re.split(r"[^a-z]+", path.stem.lower())
    found = {channel for channel, words in FILE_WORDS.items() if any(part in words for part in parts)}
    return found.pop() if len(found) == 1 else None


def guess_step(mapping: LogMapping, table: Table, lead: str) -> Step:
    """The step that says what was guessed.

    Args:
        mapping: what was guessed; its columns are numbers.
        table: the file.
        lead: words before it.
    """
    said = []
    for channel, part in mapping.channels.items():
        unit = f" [{part.unit[0]}]" if part.unit else ""
        said.append(f"{channel} from {_short_list(_names(part, table))}{unit}")
    if mapping.time is not None and mapping.time.column is not None:
        stamps = table.columns[table.index(mapping.time.column)]
        said.append(f"stamps from {stamps.name} [{'dates' if stamps.dates else mapping.time.unit}]")
    if mapping.rate_hz is not None:
        said.append(f"rate {mapping.rate_hz:g} Hz")
    options = {channel: _names(part, table) for channel, part in mapping.channels.items()}
    return Step("guessed mapping", options, f"{lead}: {'; '.join(said)}.")


def _short_list(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{', '.join(names[:3])} … {names[-1]}"


def _names(part: ChannelMap, table: Table) -> list[str]:
    return [table.names[i] for i in table.places(part.columns)]
