"""Columns that carry the names of joints: a word of a channel before or behind the name of an axis."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

from dynid.logs.column_words import WORDS, pieces_of

_NO_CHANNEL_ALONE = frozenset({"joint", "j", "axis", "command", "force", "encoder"})
"""Words that are part of a joint's name as often as they tell a channel."""
_CARTESIAN = frozenset({"x", "y", "z", "a", "b", "c", "rx", "ry", "rz", "w", "roll", "pitch", "yaw"})
"""What a tool's pose or a force sensor has as often as joints are called so."""
_OF_A_FIGURE = frozenset(
    {"max", "min", "mean", "std", "rms", "norm", "total", "limit", "error", "err", "raw", "filt", "filtered",
     "cmd", "ref", "des", "desired", "target", "set", "setpoint", "sp", "ext", "external", "tcp", "tool"}
)  # fmt: skip
"""Words that say which figure a column is, and so are no names of axes."""
_SHORT_WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "position": ("ang",),
        "velocity": ("spd",),
        "torque": ("trq", "torq", "tq", "tor", "eff", "mom", "moment"),
    }
)
"""Words that tell a channel only where all its axes have names."""


@dataclass(frozen=True)
class Family:
    """Columns of a channel, one per axis: their places by the names of the axes, in the file's order."""

    channel: str
    word: str
    places: Mapping[str, int]


def named_axes(
    names: Sequence[str], taken: set[int], missing: Sequence[str], axes: int, numbered: bool
) -> dict[str, Family]:
    """Columns such as pos_turret, pos_elbow, trq_turret, trq_elbow, by channel; nothing where it is not sure.

    Args:
        names: of all columns.
        taken: places of columns that have another meaning.
        missing: channels that are looked for; one with the same axes must be found for each of them.
        axes: number of axes where it is known, else 0.
        numbered: the names must have numbers, by which they are paired with those of other channels.
    """
    families = [
        family
        for family in _families(names, taken)
        if (len(family.places) == axes or not axes) and not {a.lower() for a in family.places} <= _CARTESIAN
    ]
    for family in families:
        alike = [other for other in families if set(other.places) == set(family.places)]
        found = {channel: [f for f in alike if f.channel == channel] for channel in WORDS}
        # The axes are those that all of the channels have; two sets of columns for one of them are not sure.
        if missing and all(len(found[channel]) == 1 for channel in missing):
            order = _order(found[missing[0]][0].places, numbered)
            if order is None:
                return {}
            chosen = {channel: kind[0] for channel, kind in found.items() if len(kind) == 1}
            return {c: Family(c, f.word, {axis: f.places[axis] for axis in order}) for c, f in chosen.items()}
    return {}


def _families(names: Sequence[str], taken: set[int]) -> list[Family]:
    """Columns that share a word and differ in what is left of their names."""
    places: dict[tuple[str, str, str], dict[str, int]] = {}
    twice: set[tuple[str, str, str]] = set()
    for i, name in enumerate(names):
        if i in taken:
            continue
        for channel, word, side, axis in _readings(name):
            key = (channel, word, side)
            row = places.setdefault(key, {})
            if axis in row:
                twice.add(key)
            row[axis] = i
    return [Family(key[0], key[1], row) for key, row in places.items() if key not in twice]


def _readings(name: str) -> Iterator[tuple[str, str, str, str]]:
    """Channel, word, its side and the axis that a name may mean, by its longest word on each side."""
    pieces, _ = pieces_of(name)
    texts = [piece.text for piece in pieces]
    found = []
    for length in range(len(pieces) - 1, 0, -1):
        for side, word, rest in (
            ("before", texts[:length], pieces[length:]),
            ("behind", texts[-length:], pieces[:-length]),
        ):
            channel = _CHANNEL_OF.get("_".join(word))
            left = [piece.text for piece in rest]
            if channel is None or all(text.isdigit() for text in left) or _OF_A_FIGURE.intersection(left):
                continue
            axis = re.split(r"[/.]", name[rest[0].start : rest[-1].stop])[-1]
            found.append((channel, "_".join(word), side, axis))
        if found:  # q_ref_turret is a reference, not a position of "ref_turret"
            yield from found
            return


def _order(places: Mapping[str, int], numbered: bool) -> list[str] | None:
    """Names of axes by their numbers where only these differ, else as in the file; None with a gap."""
    stems = {re.sub(r"\d+", "#", axis) for axis in places}
    numbers = {axis: re.findall(r"\d+", axis) for axis in places}
    if len(places) > 1 and len(stems) == 1 and all(len(found) == 1 for found in numbers.values()):
        ordered = sorted(places, key=lambda axis: int(numbers[axis][0]))
        counted = [int(numbers[axis][0]) for axis in ordered]
        return ordered if counted == list(range(counted[0], counted[0] + len(counted))) else None
    return None if numbered else list(places)


_CHANNEL_OF: Mapping[str, str] = MappingProxyType(
    {
        word: channel
        for channel in WORDS
        for word in (*WORDS[channel], *_SHORT_WORDS.get(channel, ()))
        if word not in _NO_CHANNEL_ALONE
    }
)
