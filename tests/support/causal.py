"""The batch problem whose rows causal filters make: what a recursion over the same log ends with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from dynid.base import BaseMap
from dynid.base.find import base_of
from dynid.logs.log import Log
from dynid.logs.resample import is_even, steady_rate
from dynid.model.robot import Robot
from dynid.preparation.causal import causal_motion
from dynid.preparation.causal_plan import CausalPlan, suggest_causal
from dynid.preparation.causal_rows import filtered_rows, row_times
from dynid.preparation.preparation import MEASURED, Preparation
from dynid.problem.accumulate import Accumulator
from dynid.problem.problem import Experiment, Problem
from dynid.problem.row_source import RowSource
from dynid.problem.stream import masked_block


def causal_problem(
    robot: Robot, logs: Sequence[Log], plans: Sequence[CausalPlan], base: BaseMap | None = None
) -> Problem:
    """The problem of logs through causal filters, one plan per log."""
    found = base_of(robot) if base is None else base
    source = RowSource(robot, found)
    folded, experiments = Accumulator(source.columns, 1e9), []
    for log, plan in zip(logs, plans, strict=True):
        mask = Preparation(speed_thresholds=plan.speed_thresholds)
        motion = causal_motion(log, plan)
        W = source.along(motion, slice(0, motion.samples))
        rows = [
            filtered_rows(np.ascontiguousarray(W[j, list(own)]), plan) for j, own in enumerate(source.columns)
        ]
        y, speed = (filtered_rows(np.asarray(x).T, plan) for x in (motion.tau, motion.qd))
        folded.add(masked_block(source, 0, rows, y, speed, mask))
        times = row_times(motion.time, plan)
        experiments.append(
            Experiment(
                motion.name,
                motion.samples,
                motion.rate_hz,
                y.shape[1],
                float(times[0]),
                1.0 / plan.row_rate_hz,
                folded.end_experiment(),
            )
        )
    return Problem(robot, found, Preparation(), tuple(experiments), folded.regression())


def causal_plans(logs: Sequence[Log], preparation: Preparation) -> list[CausalPlan]:
    """The causal counterparts of a batch's preparation, one per log: rates may differ."""
    made = []
    for log in logs:
        plan = suggest_causal(preparation, steady_rate(log.time))
        made.append(plan if is_even(log.time) else replace(plan, stamps=MEASURED))
    return made
