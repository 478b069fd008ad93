"""Values that are no measurements: NaN, infinities, garbage, rows cut off."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dynid.signals.log import Log
from dynid.signals.quality.finding import Checked, Finding

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
LONGEST_RUN = 20
"""Samples in a row that interpolation may bridge."""
_MOST_LOST = 0.05
"""Share of an axis that may be interpolated."""
_LOOKED_AT = 5_000
"""Samples, spread over the log, that tell the usual spread."""
_STOPPED = "Nothing need be done if the recording was stopped there; else record it again."
_CHOSEN = "Make sure that this is what is meant."
_TOLD = {
    "truncated row": ("warning", _STOPPED),
    "cut to common length": ("note", _STOPPED),
    "messages left out": ("warning", _STOPPED),
    "topic chosen": ("note", _CHOSEN),
    "publishers merged": ("note", _CHOSEN),
    "columns not taken": ("note", _CHOSEN),
}
"""Steps of the reader that are worth a finding, with severity and remedy."""
DAMAGED = "damaged lines"
_HUGE = 1e10
_FAR = 1e4
"""How many times the usual spread a value may lie off before it is garbage."""


def garbage(x: FloatArray) -> BoolArray:
    """Finite values that no sensor gives: beyond 1e10, or ten thousand times the usual spread away.

    Args:
        x: one axis, (samples,).
    """
    x = np.ascontiguousarray(x)
    finite = np.isfinite(x)
    if len(x) >= 10 and finite.all():
        low, middle, high = np.quantile(x[:: max(1, len(x) // _LOOKED_AT)], [0.01, 0.5, 0.99])
        reach = _FAR * max(high - low, 1e-6 * abs(middle))
        least, most = float(x.min()), float(x.max())
        if max(-least, most) <= _HUGE and 0 < max(middle - least, most - middle) <= reach:
            return np.zeros(len(x), dtype=bool)  # most axes have none
    huge = finite & (np.abs(x) > _HUGE)
    calm = x[finite & ~huge]
    if len(calm) < 10:
        return huge
    low, middle, high = np.quantile(calm[:: max(1, len(calm) // _LOOKED_AT)], [0.01, 0.5, 0.99])
    spread = max(high - low, 1e-6 * abs(middle))
    if spread == 0:
        return huge
    far = np.abs(np.where(finite & ~huge, x, middle) - middle) > _FAR * spread
    return np.asarray(huge | far, dtype=bool)


def clean(x: FloatArray) -> FloatArray:
    """The finite, sane values of an axis."""
    good = np.isfinite(x) & ~garbage(x)
    kept: FloatArray = x if good.all() else x[good]
    return kept


def run_ends(bad: BoolArray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Start of every run of bad samples, and the sample after its last."""
    edges = np.diff(np.concatenate(([0], bad.astype(np.int8), [0])))
    return np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)


def runs(bad: BoolArray) -> list[tuple[int, int]]:
    """Start and length of every run of bad samples."""
    return [(int(a), int(b - a)) for a, b in zip(*run_ends(bad), strict=True)]


def check_values(log: Log) -> Checked:
    """NaN, infinities and garbage per channel and axis, and rows that the reader had to leave out."""
    empty = empty_rows(log)
    findings = [*_left_out(log), *_damaged(log, empty)]
    for channel, values in log.channels.items():
        for axis in range(values.shape[1]):
            x = values[:, axis]
            lost, wild = ~np.isfinite(x) & ~empty, garbage(x)
            findings += _judged(log, channel, axis, lost, "missing values", "are NaN or infinite")
            findings += _judged(log, channel, axis, wild, "garbage values", _words(x[wild]))
    for channel in ("position", "torque"):
        if channel not in log.channels:
            sentence = f"The log has no {channel}."
            findings.append(Finding("missing channel", "error", sentence, "Map its columns.", channel))
    return Checked(tuple(findings))


def empty_rows(log: Log) -> BoolArray:
    """Samples of damaged lines, where a whole channel holds nothing; none when no line was damaged."""
    empty = np.zeros(log.samples, dtype=bool)
    if any(step.name == DAMAGED for step in log.history):
        for values in log.channels.values():
            empty |= np.all(np.isnan(values), axis=1)
    return empty


def _damaged(log: Log, empty: BoolArray) -> list[Finding]:
    """Lines of a file that could not be read and are not repaired yet."""
    if not np.any(empty):
        return []
    step = next(step for step in log.history if step.name == DAMAGED)
    longest = max(length for _, length in runs(empty))
    mendable = longest <= LONGEST_RUN and int(empty.sum()) <= _MOST_LOST * log.samples
    remedy = (
        "Leave these samples out, or interpolate them where the stamps have room for them."
        if mendable
        else "They are too many, or too many in a row; mend the file, or cut the log there."
    )
    lines = step.options["lines"]
    where = f"line{'s' * (len(lines) > 1)} {', '.join(str(line) for line in lines[:10])}"
    severity = "warning" if mendable else "error"
    return [Finding(DAMAGED, severity, step.note, remedy, None, None, where, mendable)]


def _words(wild: FloatArray) -> str:
    return f"are beyond reason (such as {wild[0]:.3g})" if len(wild) else ""


def _judged(log: Log, channel: str, axis: int, bad: BoolArray, name: str, words: str) -> list[Finding]:
    count = int(bad.sum())
    if count == 0:
        return []
    stretches = runs(bad)
    start, longest = max(stretches, key=lambda run: run[1])
    where = f"first at sample {stretches[0][0] + 1}, longest run {longest} at sample {start + 1}"
    mendable = longest <= LONGEST_RUN and count <= _MOST_LOST * log.samples
    sentence = f"{count} of {log.samples} values of {channel} on axis {axis + 1} {words}."
    remedy = (
        "Interpolate them." if mendable else "They are too many in a row to interpolate; cut the log there."
    )
    if count == log.samples:
        remedy = "The channel was not recorded; check the columns of the mapping."
    severity = "warning" if mendable else "error"
    if channel in ("velocity", "reference"):  # no fit needs them
        severity = "warning" if mendable else "note"
    return [Finding(name, severity, sentence, remedy, channel, axis + 1, where, mendable)]


def _left_out(log: Log) -> list[Finding]:
    """What the reader noted about rows that were not whole."""
    return [
        Finding(step.name, _TOLD[step.name][0], step.note, _TOLD[step.name][1])
        for step in log.history
        if step.name in _TOLD
    ]
