"""The study: settings × runs through an executor, and the coarsest sensor by bisection (P1 §3–4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from dynid.core.answer_store import AnswerStore
from dynid.core.arrays import FloatArray
from dynid.core.errors import unknown_name
from dynid.core.executor import ONE_BY_ONE, Executor, Progress, no_progress
from dynid.resolution.chain import ENCODER, SensorSetting
from dynid.resolution.law import BiasLaw
from dynid.resolution.outcome import Outcome, ReferenceEstimate
from dynid.resolution.rounding import mode_of
from dynid.resolution.search import largest_fine_step

LS = "LS"
RUNS = 5
"""Runs of a setting: P1's N."""


class Estimating(Protocol):
    """What makes estimates from coarser logs: a chain of least squares, or one that simulates."""

    def estimate(self, setting: SensorSetting, run: int) -> FloatArray:
        """Parameters of one run, (parameters,)."""


@dataclass(frozen=True)
class Task:
    """One run of one setting."""

    setting: SensorSetting
    run: int

    @property
    def key(self) -> str:
        """Its name among kept answers."""
        return f"{self.setting.key} run {self.run}"


def run_task(chains: Mapping[str, Estimating], task: Task) -> list[float]:
    """The estimate of one task; runs wherever the executor does."""
    values: list[float] = chains[task.setting.method].estimate(task.setting, task.run).tolist()
    return values


@dataclass(frozen=True, eq=False)
class Bench:
    """Everything that runs need, and where they run.

    Args:
        chains: how to estimate, by method; "LS" is always there.
        reference: the estimate from the logs as they are, by method.
        law: what to expect of least squares.
        runs: N.
        executor: where runs are computed.
        store: where finished runs are kept; nowhere when None.
        progress: told how many are done.
    """

    chains: Mapping[str, Estimating]
    reference: Mapping[str, ReferenceEstimate]
    law: BiasLaw
    runs: int = RUNS
    executor: Executor = ONE_BY_ONE
    store: AnswerStore | None = None
    progress: Progress = field(default=no_progress)

    def outcomes(self, settings: Sequence[SensorSetting], what: str = "runs") -> tuple[Outcome, ...]:
        """All runs of some settings."""
        for setting in settings:
            if setting.method not in self.chains:
                raise unknown_name("method", setting.method, self.chains)
        tasks = [Task(setting, run) for setting in settings for run in range(self.runs)]
        answers = self.executor.map(
            run_task, tasks, shared=self.chains, store=self.store, progress=self.progress, what=what
        )
        found = np.array(answers, dtype=float).reshape(len(settings), self.runs, -1)
        return tuple(self._outcome(*pair) for pair in zip(settings, found, strict=True))

    def _outcome(self, setting: SensorSetting, estimates: FloatArray) -> Outcome:
        reference = self.reference[setting.method]
        if setting.channel != ENCODER or setting.method != LS:
            return Outcome(setting, reference, estimates)
        variance = mode_of(setting.mode).variance
        law, kappa = (ask(setting.step, variance) for ask in (self.law.ratios, self.law.kappa))
        return Outcome(setting, reference, estimates, law, kappa)


@dataclass(frozen=True)
class Threshold:
    """The coarsest sensor that still serves.

    Args:
        setting: with the largest step that was accepted.
        percent: the largest shift that was accepted.
        limited_by: what breaks the limit first beyond it; "" when nothing does up to the motion itself.
        law_step: the step that the law expects [rad or m]; None where it says nothing.
    """

    setting: SensorSetting
    percent: float
    limited_by: str
    law_step: float | None = None

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            **self.setting.to_dict(),
            "percent": self.percent,
            "limited_by": self.limited_by,
            "law_step": self.law_step,
        }


def find_threshold(bench: Bench, setting: SensorSetting, percent: float, largest: float) -> Threshold | None:
    """Bisect for the coarsest step at which no main parameter, nor the residual, shifts by more.

    Runs have the same draws at every step, so that shifts grow smoothly with it.

    Args:
        bench: what runs need.
        setting: sensor, mode and method, and the step to begin with.
        percent: the largest shift accepted, such as 1 or 5.
        largest: step beyond which there is no point in looking, such as the motion itself.

    Returns:
        None where even steps ten million times smaller than the motion break the limit.
    """

    def excess(step: float) -> tuple[float, str]:
        trial = SensorSetting(setting.channel, setting.mode, step, setting.method)
        what = f"runs in search of the {percent:g} % threshold of the {setting.channel}"
        return bench.outcomes([trial], what)[0].excess(percent)

    step, limited_by = largest_fine_step(excess, setting.step, largest)
    if step == 0.0:
        return None
    coarsest = SensorSetting(setting.channel, setting.mode, step, setting.method)
    return Threshold(coarsest, percent, limited_by, _law_step(bench, setting, percent, largest))


def _law_step(bench: Bench, setting: SensorSetting, percent: float, largest: float) -> float | None:
    if setting.channel != ENCODER or setting.method != LS:
        return None
    judged, variance = bench.reference[LS].main_parameters, mode_of(setting.mode).variance
    return bench.law.coarsest_step(percent, judged, variance, setting.step, largest)
