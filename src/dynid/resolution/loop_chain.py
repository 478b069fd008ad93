"""Chains that simulate the closed loop: IV and DIDIM, to see which method tolerates which sensor."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.estimators.strategy import Strategy
from dynid.logs.log import Log
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.problem.closed_loop import LoopProblem, build_loop_problem
from dynid.resolution.chain import Chain, SensorSetting
from dynid.simulation.controller import Controller
from dynid.simulation.setup import Accuracy
from dynid.trajectories.reference import Reference


@dataclass(frozen=True, eq=False)
class LoopChain:
    """Least squares replaced by a method that knows the control law; logs and sensors are those of a chain.

    All base parameters are estimated; those of the chain are compared.

    Args:
        chain: robot, logs on the controller's clock, and sensors.
        strategy: IV or DIDIM.
        controller: the law the robot ran under.
        references: what it followed, one per log.
        plan: preparation on the controller's clock.
        kept: which base parameters are those of the chain, (base,).
        accuracy: friction model and integration.
    """

    chain: Chain
    strategy: Strategy
    controller: Controller
    references: tuple[Reference, ...]
    plan: Preparation
    kept: NDArray[np.bool_]
    accuracy: Accuracy = field(default_factory=Accuracy)

    def problem(self, logs: Sequence[Log]) -> LoopProblem:
        """The closed-loop problem of some logs."""
        return build_loop_problem(
            self.chain.robot,
            logs,
            self.controller,
            self.references,
            self.plan,
            motions=[prepare(log, self.plan) for log in logs],
            accuracy=self.accuracy,
        )

    def estimate(self, setting: SensorSetting, run: int) -> FloatArray:
        """Parameters of one run, (parameters,)."""
        solved = self.strategy.solution(self.problem(self.chain.coarse_logs(setting, run)))
        return np.asarray(solved.fit.values[self.kept], dtype=float)
