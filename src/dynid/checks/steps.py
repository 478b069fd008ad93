"""Do positions and torques go on smoothly? Wraps, spikes, jumps, and signals without a motion in them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.checks.data_check import Checked
from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name, Where
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation.bad_rows import Columns
from dynid.preparation.column import GARBAGE, SAMPLED, ColumnStatistics, neighbours
from dynid.preparation.leaps import TURN, axis_turn, find_leaps, wild_torques
from dynid.preparation.repair import REPAIR

_WHITE = 0.91
"""Median of squared changes over the variance, for white noise: twice the median of χ² with one degree."""


@dataclass(frozen=True)
class SmoothnessRules:
    """When a signal is no motion. Noise has 1, a sine of f at f_s samples per second (2πf/f_s)².

    Args:
        rough: roughness beyond which a signal is not smooth: about 9 samples per period.
        still: axes that travel less than this share of the widest say nothing.
        harmless: leaps below this share of the widest travel are steps of the encoder of a held axis.
    """

    rough: float = 0.5
    still: float = 0.01
    harmless: float = 5e-4


SMOOTH = SmoothnessRules()


def roughness(pairs: FloatArray) -> float:
    """1 for white noise, (2πf/f_s)² or so for a motion of frequency f.

    Args:
        pairs: neighbouring samples of one axis, (pairs, 2 or more).
    """
    first, second = pairs[:, 0], pairs[:, 1]
    sane = (np.abs(first) < GARBAGE.largest) & (np.abs(second) < GARBAGE.largest)  # NaN is not
    spread = float(np.var(first[sane])) if np.any(sane) else 0.0
    return float(np.median((second - first)[sane] ** 2)) / (_WHITE * spread) if spread > 0 else 0.0


def is_rough(x: FloatArray) -> bool:
    """Whether one axis, (samples,), changes as much from sample to sample as over the whole log."""
    return roughness(neighbours(x, SAMPLED.groups, 2)) > SMOOTH.rough


def check_smoothness(columns: Columns) -> Checked:
    """Whether positions change little between samples, as those of a body do.

    Args:
        columns: what is usual in the columns of a log with positions.
    """
    axes = columns["position"]
    widest = max((usual.travel for usual in axes), default=0.0)
    rough = [
        number
        for number, usual in enumerate(axes, start=1)
        if usual.travel > SMOOTH.still * widest and roughness(usual.threes) > SMOOTH.rough
    ]
    if not rough:
        return Checked()
    which = f"ax{'e' if len(rough) > 1 else 'i'}s {', '.join(str(number) for number in rough)}"
    sentence = (
        f"position of {which} changes as much from sample to sample as over the whole log: there is no "
        "smooth motion in it."
    )
    remedy = "Check columns and order of the rows; else the rate is far too low for the motion."
    place = Where(channel="position", axis=rough[0])
    return Checked((Finding(Name.NO_SMOOTH_MOTION, Level.FAIL, sentence, remedy, place),))


def check_wraps(log: Log, columns: Columns, robot: Robot | None = None) -> Checked:
    """Positions that leap by a full turn, or by the range of a counter.

    Args:
        log: raw.
        columns: what is usual in its columns.
        robot: says which axes turn.
    """
    findings = []
    for axis, usual in enumerate(columns.get("position", ())):
        x = log.column("position", axis)
        turn = axis_turn(robot, log, axis, x, usual)
        wraps = find_leaps(x, log.time, turn, usual).wraps
        if len(wraps):
            by, remedy = "a full turn", "Unwrap it."
            if turn != TURN:
                by = f"the range of a counter ({turn:.6g})"
                remedy += (
                    " The torques choose the range where a robot is given, else it is the one nearest zero."
                )
            sentence = f"position of axis {axis + 1} wraps around: it leaps by {by} {_times(len(wraps))}."
            place, figures = _place(log, "position", axis, int(wraps[0])), {"wraps": len(wraps), "by": turn}
            findings.append(
                Finding(Name.WRAPPED_POSITION, Level.CARE, sentence, remedy, place, figures, repairable=True)
            )
    return Checked(tuple(findings))


def check_steps(log: Log, columns: Columns, robot: Robot | None = None) -> Checked:
    """Spikes and jumps of the positions, and spikes of the torques.

    Args:
        log: without wraps.
        columns: what is usual in its columns.
        robot: says which axes turn.
    """
    findings: list[Finding] = []
    for channel in ("position", "torque"):
        axes = columns.get(channel, ())
        least = SMOOTH.harmless * max((usual.travel for usual in axes), default=0.0)
        for axis, usual in enumerate(axes):
            findings += _leaps(log, channel, axis, usual, robot, least if channel == "position" else 0.0)
    return Checked(tuple(findings))


def _leaps(
    log: Log, channel: str, axis: int, usual: ColumnStatistics, robot: Robot | None, least: float
) -> list[Finding]:
    x, is_position = log.column(channel, axis), channel == "position"
    turn = axis_turn(robot, log, axis, x, usual) if is_position else 0.0
    leaps = find_leaps(x, log.time, turn, usual, least)
    spikes = leaps.spikes if is_position else wild_torques(x, leaps.spikes, usual)
    found = []
    if len(spikes):
        few = len(spikes) <= REPAIR.most_spikes * log.samples
        sentence = (
            f"{channel} of axis {axis + 1} has spikes, wild samples between sound ones ({len(spikes)} of "
            f"{log.samples}, such as {x[spikes[0]]:.4g})."
        )
        remedy = "Interpolate over them." if few else "They are too many; record it again."
        level, place = Level.CARE if few else Level.FAIL, _place(log, channel, axis, int(spikes[0]))
        found.append(Finding(Name.SPIKES, level, sentence, remedy, place, repairable=few))
    if len(leaps.jumps) and is_position:
        worst = int(np.argmax(np.abs(leaps.sizes)))
        sentence = (
            f"position of axis {axis + 1} jumps between two samples {_times(len(leaps.jumps))}, most by "
            f"{leaps.sizes[worst]:.3g}: the encoder slipped, rows are missing, or pieces were joined."
        )
        remedy = "Cut the log there and give the pieces as experiments of their own, or record it again."
        place = _place(log, channel, axis, int(leaps.jumps[worst]))
        found.append(Finding(Name.POSITION_JUMP, Level.FAIL, sentence, remedy, place))
    return found


def _place(log: Log, channel: str, axis: int, sample: int) -> Where:
    moment = f"t = {log.time[sample]:.4f} s, sample {sample + 1}"
    return Where(channel=channel, axis=axis + 1, moment=moment)


def _times(count: int) -> str:
    return "once" if count == 1 else "twice" if count == 2 else f"{count} times"
