"""Where the motion comes from along which torques are compared: measured positions, or a simulation.

This is all that differs between a fit by least squares and one by a method that simulates the closed loop.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, ClassVar

from dynid.core.errors import DynidError
from dynid.core.finding import Finding
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import identify
from dynid.estimators.strategy import Strategy
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.preparation.suggestion import Suggestion, suggest
from dynid.preparation.unseen import prepare_unseen
from dynid.problem.build import build_problem
from dynid.validation.model import IdentifiedModel
from dynid.validation.validation import Validation
from dynid.workflow.usable_log import UsableLog

Progress = Callable[[str], None]


@dataclass(frozen=True, eq=False)
class UnseenMotion:
    """Motion of logs that a fit has not used.

    Args:
        motions: one per log, with the measured torques.
        mismatches: name and outcome of each log whose torques the control law did not make.
    """

    motions: tuple[Motion, ...]
    mismatches: tuple[tuple[str, Finding], ...] = ()


class MotionSource(ABC):
    """How a problem is built from logs, and how motion that was not used is found."""

    torques_suffice: ClassVar[bool]
    """Whether logs without positions can be used."""
    regresses: ClassVar[bool]
    """Whether measured positions are in the regressor, with what noise and filters do to it."""

    @abstractmethod
    def suggestion(self, logs: Sequence[UsableLog], strategy: Strategy) -> Suggestion:
        """The preparation that the longest log calls for."""

    @abstractmethod
    def estimate(
        self,
        robot: Robot,
        logs: Sequence[UsableLog],
        plan: Preparation,
        strategy: Strategy,
        progress: Progress,
    ) -> tuple[Estimate, tuple[Motion, ...]]:
        """Identify, and give the motions of the fit as well."""

    @abstractmethod
    def unseen(self, model: IdentifiedModel, logs: Sequence[UsableLog], plan: Preparation) -> UnseenMotion:
        """The motion of logs kept for validation."""

    @abstractmethod
    def conclusion(
        self,
        found: Validation,
        unseen: UnseenMotion,
        model: IdentifiedModel,
        logs: Sequence[UsableLog],
        plan: Preparation,
    ) -> Validation:
        """A validation on unseen motion, with what the way to that motion has to say about it."""

    @property
    @abstractmethod
    def facts(self) -> Mapping[str, Any]:
        """What a result folder keeps to find such motion again."""


@dataclass(frozen=True)
class MeasuredMotion(MotionSource):
    """Measured positions, filtered and differentiated."""

    torques_suffice: ClassVar[bool] = False
    regresses: ClassVar[bool] = True

    def suggestion(self, logs: Sequence[UsableLog], strategy: Strategy) -> Suggestion:
        """From the spectrum of the positions."""
        return suggest(longest_log(logs).log)

    def estimate(
        self,
        robot: Robot,
        logs: Sequence[UsableLog],
        plan: Preparation,
        strategy: Strategy,
        progress: Progress,
    ) -> tuple[Estimate, tuple[Motion, ...]]:
        """Filter and differentiate, build the regression, solve it."""
        refuse_long(logs, strategy)
        progress("filtering and differentiating")
        motions = tuple(prepare(used.log, plan) for used in logs)
        progress("building the regression")
        problem = build_problem(robot, motions, plan)
        progress("identifying")
        return identify(problem, strategy), motions

    def unseen(self, model: IdentifiedModel, logs: Sequence[UsableLog], plan: Preparation) -> UnseenMotion:
        """Filter and differentiate, as far as the plan of the fit suits the logs."""
        return UnseenMotion(tuple(prepare_unseen(used.log, plan) for used in logs))

    def conclusion(
        self,
        found: Validation,
        unseen: UnseenMotion,
        model: IdentifiedModel,
        logs: Sequence[UsableLog],
        plan: Preparation,
    ) -> Validation:
        """The validation as it is."""
        return found

    @property
    def facts(self) -> Mapping[str, Any]:
        """Nothing: the preparation is kept anyway."""
        return MappingProxyType({})


def longest_log(logs: Sequence[UsableLog]) -> UsableLog:
    """The log with the most samples."""
    return max(logs, key=lambda used: used.log.samples)


def refuse_long(logs: Sequence[UsableLog], strategy: Strategy) -> None:
    """Refuse logs that a strategy cannot hold in memory."""
    long = [used.log.name for used in logs if used.log.on_disk]
    if long and not strategy.streams:
        raise DynidError(
            f"This estimator needs the motions of the whole log, and log {long[0]!r} is too long to be held "
            "in memory; cut it, or use an estimator that is linear in its parameters, such as WLS."
        )
