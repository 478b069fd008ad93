"""The main job on a log too long for memory: the same steps, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dynid.core.errors import DynidError
from dynid.estimators.identification import identify
from dynid.estimators.strategy import Strategy
from dynid.logs.log import Log
from dynid.logs.read import MappingLike
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem.build import build_problem
from dynid.workflow.fit import FitResult, Progress, chosen_plan, judged_fit
from dynid.workflow.held import hold
from dynid.workflow.identity import identity_of
from dynid.workflow.logs import CHUNK, LONG
from dynid.workflow.long_log import open_long

__all__ = ["LONG", "fit_stream"]
_ROWS_BYTES = 30_000_000
"""Rows of a long log are not worth keeping: what needs them says so."""


def fit_stream(
    robot: Robot,
    path: Path,
    mapping: MappingLike,
    strategy: Strategy,
    *,
    plan: Preparation | None = None,
    overrides: Mapping[str, Any] = MappingProxyType({}),
    unseen: Sequence[Log] = (),
    repair: bool = False,
    chunk: int = CHUNK,
    progress: Progress = lambda text: None,
) -> FitResult:
    """Fit one long log with memory that does not depend on its length.

    The chunks are one experiment: the estimate is that of the whole log, to rounding. The data check and the
    suggestion of a preparation look at the first chunk; the report shows the first and the last one, and the
    residual over them stands for the whole. Garbage anywhere stops the fit.

    Args:
        robot: the robot.
        path: a Parquet or CSV file.
        mapping: what its columns are.
        strategy: an estimator that works from triangular factors; some need the decimated rows as well, and
            say so where there are too many.
        plan: preparation; suggested when None.
        overrides: keys of the suggested preparation to replace.
        unseen: experiments kept for validation, which fit into memory.
        repair: whether repairable defects of those are repaired; the long log stays as it is.
        chunk: samples held at once.
        progress: told what is being done.
    """
    if not strategy.streams:
        raise DynidError(
            f"This estimator needs the motions of the whole log, and {path} is too long to be held in "
            "memory; cut it, or use an estimator that is linear in its parameters, such as WLS."
        )
    progress("checking the first chunk")
    long = open_long(robot, path, mapping, chunk)
    identities = (identity_of(long.head, streamed=True),)
    held = hold(unseen, robot, identities, repair=repair)
    chosen, suggestion = chosen_plan([long.head], plan, overrides)
    shown: list[Motion] = []

    def motions() -> Iterator[Motion]:
        for motion in long.motions(chosen, progress):
            shown[1:] = [motion] if shown else []
            if not shown:
                shown.append(motion)
            yield motion

    problem = build_problem(robot, motions(), chosen, budget_bytes=_ROWS_BYTES, pieces=True)
    progress("identifying")
    estimate = identify(problem, strategy)
    return judged_fit(
        [long.head],
        (long.check,),
        suggestion,
        chosen,
        tuple(shown),
        strategy,
        estimate,
        held,
        identities,
    )
