"""Findings about positions and torques that leap."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid.model.robot import Robot
from dynid.signals.log import Log
from dynid.signals.quality.finding import Checked, Finding
from dynid.signals.quality.leaps import IndexArray, Leaps, channel_spikes, find_leaps, turning

_MOST_SPIKES = 0.01
"""Share of an axis that may be spikes."""


def check_leaps(log: Log, robot: Robot | None = None) -> Checked:
    """Wraps, spikes and jumps of the positions.

    Args:
        log: raw.
        robot: says which axes turn.
    """
    findings: list[Finding] = []
    for axis in range(log.axes if "position" in log.channels else 0):
        found = find_leaps(log.channels["position"][:, axis], log.time, turning(robot, log, axis))
        if found:
            findings += _told(log, axis, found)
    for axis in range(log.axes if "torque" in log.channels else 0):
        findings += _spikes(log, "torque", axis, channel_spikes(log, "torque", axis))
    return Checked(tuple(findings))


def _told(log: Log, axis: int, found: Leaps) -> list[Finding]:
    told = []
    if len(found.wraps):
        often = _times(len(found.wraps))
        sentence = f"position of axis {axis + 1} wraps around: it leaps by a full turn {often}."
        told.append(_finding("wrapped position", sentence, "Unwrap it.", log, axis, found.wraps[0], True))
    told += _spikes(log, "position", axis, found.spikes)
    if len(found.jumps):
        worst = int(np.argmax(np.abs(found.sizes)))
        sentence = (
            f"position of axis {axis + 1} jumps between two samples {_times(len(found.jumps))}, most by "
            f"{found.sizes[worst]:.3g}: the encoder slipped, rows are missing, or pieces were joined."
        )
        remedy = "Cut the log there and give the pieces as experiments of their own, or record it again."
        told.append(_finding("position jump", sentence, remedy, log, axis, found.jumps[worst], False))
    return told


def _spikes(log: Log, channel: str, axis: int, spikes: IndexArray) -> list[Finding]:
    if len(spikes) == 0:
        return []
    few = len(spikes) <= _MOST_SPIKES * log.samples
    sentence = (
        f"{channel} of axis {axis + 1} has spikes, wild samples between sound ones ({len(spikes)} of "
        f"{log.samples}, such as {log.channels[channel][spikes[0], axis]:.4g})."
    )
    remedy = "Interpolate over them." if few else "They are too many; record it again."
    found = _finding("spikes", sentence, remedy, log, axis, spikes[0], few)
    return [replace(found, channel=channel)]


def _finding(
    name: str, sentence: str, remedy: str, log: Log, axis: int, place: np.intp, repairable: bool
) -> Finding:
    where = f"t = {log.time[place]:.4f} s, sample {int(place) + 1}"
    severity = "warning" if repairable else "error"
    return Finding(name, severity, sentence, remedy, "position", axis + 1, where, repairable)


def _times(count: int) -> str:
    return "once" if count == 1 else "twice" if count == 2 else f"{count} times"
