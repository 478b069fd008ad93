"""Stretches of long logs: enough rows to look for suspects where not all could be kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from dynid.preparation.motion import Motion
from dynid.problem.build import build_problem
from dynid.problem.problem import Problem


@dataclass(frozen=True)
class StretchRules:
    """How much of long logs is looked at.

    Args:
        rows: of all joints together, at least where the logs have them …
        samples: … and samples at full rate, at most: 60 MB of motion of a six-axis arm.
        count: of stretches over all logs: as many as blocks of time, so that each holds slow errors whole.
        shortest: samples of the regression below which a stretch is left out: filters settle at its ends.
        budget_bytes: memory that rows and motions may take.
    """

    rows: int = 100_000
    samples: int = 300_000
    count: int = 20
    shortest: int = 20
    budget_bytes: float = 1e9


STRETCHES = StretchRules()


def short_problem(problem: Problem, motions: Sequence[Motion]) -> Problem:
    """The problem of stretches spread evenly over the motions, with its rows and motions kept.

    Stretches of one log keep its clock and know its number: a change in time is told by the time of the log.

    Args:
        problem: of the whole motions, whose robot, base and plan are used.
        motions: the prepared motions, in memory or on disk.
    """
    step, joints = problem.plan.decimation, problem.robot.n_coordinates
    wanted = min(-(-STRETCHES.rows // joints) * step, STRETCHES.samples)
    spans = _spans(motions, wanted)
    parts = [
        replace(motion.part(slice(first, last)), stretch_of=number)
        for number, (motion, own) in enumerate(zip(motions, spans, strict=True))
        for first, last in own
        if last - first >= STRETCHES.shortest * step
    ]
    return build_problem(
        problem.robot,
        parts or list(motions),
        problem.plan,
        problem.base,
        budget_bytes=STRETCHES.budget_bytes,
    )


def _spans(motions: Sequence[Motion], wanted: int) -> list[list[tuple[int, int]]]:
    """First and last sample of each stretch, by motion: evenly over all time, cut at the ends of motions."""
    ends = np.cumsum([0, *(motion.samples for motion in motions)])
    total = int(ends[-1])
    if total <= wanted:
        return [[(0, motion.samples)] for motion in motions]
    starts = np.arange(STRETCHES.count) * total // STRETCHES.count
    length = wanted // STRETCHES.count
    return [
        [
            (max(int(start), first) - first, min(int(start) + length, last) - first)
            for start in starts
            if start < last and start + length > first
        ]
        for first, last in pairwise(ends.tolist())
    ]
