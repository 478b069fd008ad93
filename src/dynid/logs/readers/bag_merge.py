"""Joint states of several publishers on one topic: each knows some joints, together they are the robot."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from dynid.logs.log import Step
from dynid.logs.readers.cdr import JointState

FloatArray = NDArray[np.float64]
_EQUALS = 0.5
"""Share of the messages of the busiest publisher that another must have to count beside it."""
_TOGETHER_S = 1e-6
"""Stamps closer than this are of one moment [s]."""
_CHANNELS = ("position", "velocity", "effort")
Pairs = Sequence[tuple[int, JointState]]


def publishers(pairs: Pairs) -> list[tuple[str, ...]]:
    """Joints of publishers that share a topic: sets without a common joint, about equally often sent.

    Args:
        pairs: stamps of the recorder and messages.
    """
    counts: dict[frozenset[str], int] = {}
    orders: dict[frozenset[str], tuple[str, ...]] = {}
    for _, state in pairs:
        joints = frozenset(state.names)
        counts[joints] = counts.get(joints, 0) + 1
        orders.setdefault(joints, state.names)
    most = max(counts.values(), default=0)
    busy = [joints for joints, count in counts.items() if joints and count >= _EQUALS * most]
    apart = sum(len(joints) for joints in busy) == len(frozenset().union(*busy)) if busy else False
    return sorted(orders[joints] for joints in busy) if apart and len(busy) > 1 else []


def merged(pairs: Pairs, groups: Sequence[tuple[str, ...]], header: bool) -> tuple[Pairs, Step]:
    """Messages with all joints, at the stamps of the busiest publisher.

    Args:
        pairs: stamps of the recorder and messages.
        groups: joints of each publisher.
        header: whether the stamps of the messages count, or the recorder's.
    """
    sent = {joints: [p for p in pairs if set(p[1].names) == set(joints)] for joints in groups}
    base = max(groups, key=lambda joints: len(sent[joints]))
    zero = _stamps(sent[base], header)[0]
    at = _seconds(sent[base], header, int(zero))
    inside = np.ones(len(at), dtype=bool)
    values: dict[str, list[FloatArray | None]] = {what: [] for what in _CHANNELS}
    for joints in groups:
        own = _seconds(sent[joints], header, int(zero))
        inside &= (at >= own.min() - _TOGETHER_S) & (at <= own.max() + _TOGETHER_S)
        for what in _CHANNELS:
            values[what].append(_read_at(at, own, [state for _, state in sent[joints]], what, joints))
    names = tuple(name for joints in groups for name in joints)
    rows = np.flatnonzero(inside)
    columns = {what: _beside(parts) for what, parts in values.items()}
    made = []
    for i in rows:
        stamp, state = sent[base][i]
        parts = (() if (x := columns[what]) is None else tuple(x[i].tolist()) for what in _CHANNELS)
        made.append((stamp, JointState(state.stamp, names, *parts)))
    shown = " and ".join(f"{', '.join(joints)} ({len(sent[joints])} messages)" for joints in groups)
    note = (
        f"Messages of {len(groups)} publishers were merged: {shown}; values were read between messages at "
        f"the stamps of {', '.join(base)}. Choose some with joints in [bag] of a mapping."
    )
    return made, Step("publishers merged", {"joints": [list(joints) for joints in groups]}, note)


def _stamps(pairs: Pairs, header: bool) -> NDArray[np.int64]:
    return np.array([state.stamp if header else stamp for stamp, state in pairs], dtype=np.int64)


def _seconds(pairs: Pairs, header: bool, zero: int) -> FloatArray:
    return np.asarray(_stamps(pairs, header) - zero, dtype=float) * 1e-9


def _read_at(
    at: FloatArray, own: FloatArray, states: Sequence[JointState], what: str, joints: Sequence[str]
) -> FloatArray | None:
    """A channel of some joints at other stamps; None when they do not have it."""
    if not all(getattr(state, what) for state in states):
        return None
    orders = {state.names: [state.names.index(joint) for joint in joints] for state in states}
    table = np.array([[getattr(state, what)[k] for k in orders[state.names]] for state in states])
    order = np.argsort(own, kind="stable")
    return np.stack([np.interp(at, own[order], column[order]) for column in table.T], axis=1)


def _beside(parts: Sequence[FloatArray | None]) -> FloatArray | None:
    """The publishers' columns beside each other; None unless all have them."""
    found = [part for part in parts if part is not None]
    return np.concatenate(found, axis=1) if len(found) == len(parts) else None
