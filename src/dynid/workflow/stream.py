"""The main job on a log too long for memory: the same steps, chunk by chunk."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import chain
from pathlib import Path
from types import MappingProxyType
from typing import Any

from dynid.errors import DynidError
from dynid.estimators.identify import identify
from dynid.estimators.strategy import Strategy
from dynid.model.robot import Robot
from dynid.problem.build import build_problem
from dynid.signals.check import check_log
from dynid.signals.chunked import prepare_chunks
from dynid.signals.chunks import iter_chunks
from dynid.signals.convert import to_joint_side
from dynid.signals.motion import Motion
from dynid.signals.preparation import Preparation
from dynid.signals.suggest import suggest
from dynid.validation.validate import validate
from dynid.workflow.fit import FitResult, Progress, refuse_unusable

CHUNK = 100_000
"""Samples held at once."""
LONG = 2_000_000
"""Logs of more samples than this are streamed."""
_ROWS_BYTES = 30_000_000
"""Rows of a long log are not worth keeping: what needs them says so."""
_CHECKED = 50_000
"""Samples the data check of a long log looks at."""


def fit_stream(
    robot: Robot,
    path: Path,
    mapping: Path | None,
    strategy: Strategy,
    *,
    plan: Preparation | None = None,
    overrides: Mapping[str, Any] = MappingProxyType({}),
    chunk: int = CHUNK,
    progress: Progress = lambda text: None,
) -> FitResult:
    """Fit one long log with memory that does not depend on its length.

    The data check and the suggestion of a preparation look at the first chunk; the report shows the first and
    the last one, and the residual over them stands for the whole.

    Args:
        robot: the robot.
        path: a Parquet or CSV file.
        mapping: what its columns are.
        strategy: an estimator that works from triangular factors.
        plan: preparation; suggested when None.
        overrides: keys of the suggested preparation to replace.
        chunk: samples held at once.
        progress: told what is being done.
    """
    chunks = iter_chunks(path, mapping, chunk)
    first = next(chunks, None)
    if first is None:
        raise DynidError(f"The log {path} holds no samples.", name="log", value=str(path))
    head = to_joint_side(first, robot)
    progress("checking the first chunk")
    check = check_log(head.part(slice(_CHECKED)), robot)
    refuse_unusable(head, check)
    suggestion = None if plan is not None else suggest(head)
    chosen = plan if suggestion is None else replace(suggestion.plan, **overrides)
    assert chosen is not None
    shown: list[Motion] = []

    def motions() -> Iterator[Motion]:
        done = 0
        rest = (to_joint_side(log, robot) for log in chunks)
        for motion in prepare_chunks(chain([head], rest), chosen):
            done += motion.samples
            share = f" of {chunks.total:,}" if chunks.total else ""
            progress(f"{done:,}{share} samples")
            shown[1:] = [motion] if shown else []
            if not shown:
                shown.append(motion)
            yield motion

    problem = build_problem(robot, motions(), chosen, budget_bytes=_ROWS_BYTES)
    progress("identifying")
    estimate = identify(problem, strategy)
    own = validate(estimate, shown, chosen, seen=True)
    return FitResult((head,), (check,), suggestion, chosen, tuple(shown), strategy, estimate, own)
