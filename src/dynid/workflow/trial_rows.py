"""A few thousand samples of the logs, thinned, as rows on which preparations are tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.base.base_map import BaseMap
from dynid.core.arrays import FloatArray
from dynid.logs.log import Log
from dynid.logs.resample import is_even, steady_rate
from dynid.preparation.decimate import decimate_rows
from dynid.preparation.derivative import DIFFERENCE_POINTS
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare, trimmed_rows
from dynid.problem.factor import spectrum
from dynid.problem.row_source import RowSource
from dynid.workflow.choice import part_numbers


@dataclass(frozen=True)
class TrialRules:
    """How much of the logs is tried.

    Args:
        samples: of all logs together after thinning: a few hundredths of a second per candidate.
        rate_over_cutoff: least rate of the thinned logs over the cut-off. Candidates may have twice of it,
            where differences over 9 points take 0.02 % off an acceleration.
        rounding: least error of a joint over its RMS torque: a perfect joint does not silence the others.
    """

    samples: int = 8000
    rate_over_cutoff: float = 16.0
    rounding: float = 1e-6


TRIAL = TrialRules()


@dataclass(frozen=True, eq=False)
class TrialRows:
    """Rows of all joints under one preparation, before any mask.

    Args:
        columns: per joint, base parameters (indices) of its columns.
        W: per joint (columns, samples).
        y: torques (joints, samples).
        speed: decimated speeds (joints, samples).
        part: number of the contiguous part of each sample, (samples,).
    """

    columns: tuple[tuple[int, ...], ...]
    W: tuple[FloatArray, ...]
    y: FloatArray
    speed: FloatArray
    part: NDArray[np.intp]

    def mask(self, thresholds: FloatArray) -> NDArray[np.bool_]:
        """Which samples of each joint a mask leaves, (joints, samples)."""
        return np.asarray(np.abs(self.speed) >= thresholds[:, None])

    def own_sigma(self, thresholds: FloatArray) -> FloatArray:
        """RMS residual of each joint from least squares on its own rows alone [N m or N], (joints,)."""
        sigma = np.empty(len(self.W))
        for j, used in enumerate(self.mask(thresholds)):
            own = spectrum(np.vstack([self.W[j][:, used], self.y[j : j + 1, used]]).T)
            sigma[j] = own.residual_norm / np.sqrt(max(int(used.sum()) - own.rank, 1))
        size = np.linalg.norm(self.y, axis=1) / np.sqrt(max(self.y.shape[1], 1))
        floor = TRIAL.rounding * np.maximum(size, 1e-3 * np.max(size, initial=0.0))
        return np.asarray(np.maximum(sigma, np.maximum(floor, np.finfo(float).tiny)))

    def parts(self, thresholds: FloatArray, sigma: FloatArray, width: int) -> list[FloatArray]:
        """Per part the rows of [W y] over all base parameters, divided by σ_j, (rows, width + 1)."""
        used, parts = self.mask(thresholds), range(int(self.part.max()) + 1)
        return [self._rows_of_part(used & (self.part == b), sigma, width) for b in parts]

    def _rows_of_part(self, used: NDArray[np.bool_], sigma: FloatArray, width: int) -> FloatArray:
        ends = np.cumsum([0, *np.count_nonzero(used, axis=1)])
        rows = np.zeros((ends[-1], width + 1), order="F")
        for j, own in enumerate(used):
            at = slice(ends[j], ends[j + 1])
            rows[at, list(self.columns[j])] = self.W[j][:, own].T / sigma[j]
            rows[at, width] = self.y[j, own] / sigma[j]
        return rows


@dataclass(frozen=True, eq=False)
class TrialLogs:
    """Thinned stretches of logs, and what their rows need.

    Args:
        logs: joint side, at most some thousand samples together.
        factor: how many samples of the logs one of theirs stands for.
        source: W of the base parameters along motions.
    """

    logs: tuple[Log, ...]
    factor: int
    source: RowSource

    def motions(self, plan: Preparation) -> tuple[Motion, ...]:
        """The logs prepared by a plan for the full rate; found once for equal filters and derivatives."""
        key = (plan.cutoff_hz, plan.velocity, plan.acceleration)
        if key not in self._motions:
            self._motions[key] = tuple(prepare(log, self._plan_for_thin_logs(plan)) for log in self.logs)
        return self._motions[key]

    def rows(self, plan: Preparation, decimation: int) -> TrialRows:
        """Rows under a plan at a decimation, which is that at full rate; found once for equal ones."""
        motions, factor = self.motions(plan), max(1, round(decimation / self.factor))
        key = (plan.cutoff_hz, plan.velocity, plan.acceleration, factor)
        if key not in self._rows:
            self._rows[key] = self._rows_of_motions(motions, factor)
        return self._rows[key]

    @cached_property
    def _motions(self) -> dict[tuple[Any, ...], tuple[Motion, ...]]:
        return {}

    @cached_property
    def _rows(self) -> dict[tuple[Any, ...], TrialRows]:
        return {}

    def _plan_for_thin_logs(self, plan: Preparation) -> Preparation:
        first, last = plan.ends
        plan = replace(plan, trim_start_s=0.0, trim_end_s=0.0)
        if self.factor == 1:
            return plan
        return replace(
            plan,
            drop_samples=first // self.factor,
            drop_end=last // self.factor,
            difference_points=DIFFERENCE_POINTS[-1],
        )

    def _rows_of_motions(self, motions: Sequence[Motion], factor: int) -> TrialRows:
        """Columns that are not zero, torques and speeds of all motions, decimated."""
        columns, made = self.source.columns, list[FloatArray]()
        owner = [*(j for j, used in enumerate(columns) for _ in used), *range(len(columns))]
        for motion in motions:
            W = self.source.along(motion, slice(0, motion.samples))
            own = [W[j][list(used)] for j, used in enumerate(columns)]
            known = motion.counted_values(
                slice(0, motion.samples), np.concatenate([*own, motion.tau[:].T]), owner
            )
            made.append(decimate_rows(np.concatenate([known, motion.qd[:].T]), factor))
        part = part_numbers(np.repeat(np.arange(len(made)), [rows.shape[1] for rows in made]))
        *W_all, y, speed = np.split(
            np.concatenate(made, axis=1), np.cumsum([*map(len, columns), len(columns)])
        )
        return TrialRows(columns, tuple(W_all), y, speed, part)


def trial_logs(logs: Sequence[Log], plan: Preparation, base: BaseMap) -> TrialLogs:
    """The longest log of each part, or the middle of it, thinned as far as the plan's band allows.

    Args:
        logs: joint side.
        plan: the suggested preparation.
        base: base parameters of the robot.
    """
    longest = dict[int, Log]()
    for part, log in zip(part_numbers(np.arange(len(logs))).tolist(), logs, strict=True):
        longest[part] = max(longest.get(part, log), log, key=lambda log: log.samples)
    chosen = [log.part(trimmed_rows(log, plan)) for log in longest.values()]
    rate = min(steady_rate(log.time) for log in chosen)
    even = all(is_even(log.time) for log in chosen) and not plan.median_window and plan.resample_hz is None
    factor = max(1, int(rate / (TRIAL.rate_over_cutoff * (plan.cutoff_hz or rate)))) if even else 1
    most = TRIAL.samples * factor // len(chosen)
    thin = tuple(_thin_log(_middle(log, most), factor) for log in chosen)
    return TrialLogs(thin, factor, RowSource(base.robot, base))


def _middle(log: Log, most: int) -> Log:
    first = max(0, (log.samples - most) // 2)
    return log.part(slice(first, first + most))


def _thin_log(log: Log, factor: int) -> Log:
    if factor == 1:
        return log
    channels = {name: decimate_rows(log.array(name).T, factor).T for name in log.channels}
    return replace(log, time=log.time[::factor], channels=channels, made_up=None)
