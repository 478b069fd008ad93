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
_LOOKED_AT = 20_000
"""Samples, spread over the log, that tell the usual spread."""
_HUGE = 1e10
_FAR = 1e4
"""How many times the usual spread a value may lie off before it is garbage."""


def garbage(x: FloatArray) -> BoolArray:
    """Finite values that no sensor gives: beyond 1e10, or ten thousand times the usual spread away.

    Args:
        x: one axis, (samples,).
    """
    finite = np.isfinite(x)
    huge = finite & (np.abs(np.where(finite, x, 0.0)) > _HUGE)
    calm = x[finite & ~huge]
    if len(calm) < 10:
        return huge
    low, middle, high = np.quantile(calm[:: max(1, len(calm) // _LOOKED_AT)], [0.01, 0.5, 0.99])
    spread = max(high - low, 1e-6 * abs(middle))
    if spread == 0:
        return huge
    far = np.abs(np.where(finite, x, middle) - middle) > _FAR * spread
    return np.asarray(huge | (finite & far), dtype=bool)


def runs(bad: BoolArray) -> list[tuple[int, int]]:
    """Start and length of every run of bad samples."""
    edges = np.diff(np.concatenate(([0], bad.astype(np.int8), [0])))
    starts, stops = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
    return [(int(a), int(b - a)) for a, b in zip(starts, stops, strict=True)]


def check_values(log: Log) -> Checked:
    """NaN, infinities and garbage per channel and axis, and rows that the reader had to leave out."""
    findings = _left_out(log)
    for channel, values in log.channels.items():
        for axis in range(values.shape[1]):
            x = values[:, axis]
            lost, wild = ~np.isfinite(x), garbage(x)
            findings += _judged(log, channel, axis, lost, "missing values", "are NaN or infinite")
            findings += _judged(log, channel, axis, wild, "garbage values", _words(x[wild]))
    for channel in ("position", "torque"):
        if channel not in log.channels:
            sentence = f"The log has no {channel}."
            findings.append(Finding("missing channel", "error", sentence, "Map its columns.", channel))
    return Checked(tuple(findings))


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
    kinds = {"truncated row": "warning", "cut to common length": "note", "messages left out": "warning"}
    remedy = "Nothing need be done if the recording was stopped there; else record it again."
    return [
        Finding(step.name, kinds[step.name], step.note, remedy) for step in log.history if step.name in kinds
    ]
