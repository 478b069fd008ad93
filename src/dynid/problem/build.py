"""Build a problem from a robot and motions, reading each motion once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from dynid.base.base_map import BaseMap
from dynid.base.find import base_of
from dynid.core.errors import DynidError, ShapeError
from dynid.core.kinds import require_kinds
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem.accumulate import Accumulator
from dynid.problem.factor import Factor
from dynid.problem.matlab_rows import matlab_blocks, matlab_offset
from dynid.problem.problem import Experiment, Problem
from dynid.problem.row_source import RowSource, motor_mixing
from dynid.problem.stream import RowBlock, regression_samples, streamed_blocks

BUDGET_BYTES = 200_000_000
"""Memory that rows and motions may take: about 100 000 samples of a six-axis arm."""


def build_problem(
    robot: Robot,
    motions: Iterable[Motion],
    plan: Preparation,
    base: BaseMap | None = None,
    *,
    motor_rows: bool = False,
    budget_bytes: float = BUDGET_BYTES,
    block_samples: int | None = None,
    threads: int = 1,
) -> Problem:
    """Fold the rows τ = W χ of all motions into triangular factors (P0 §II, P1 §2.2).

    Columns of parameters that do not live in a motion's condition are zero there (P2 eq 27). Torques and all
    columns are low-passed and decimated alike, then rows of joint j with |q̇_j| below its threshold are left
    out. Motions are read block by block, each once: memory does not grow with their number or length once
    rows no longer fit the budget.

    Args:
        robot: the robot.
        motions: prepared motions, joint side; may be a generator.
        plan: its decimation, convention and speed thresholds are used here.
        base: base parameters; found when None.
        motor_rows: whether rows are those of the motors, R⁻ᵀ W χ = diag(gain) u, and not of the joints.
        budget_bytes: memory that rows and motions may take together to be kept for later use.
        block_samples: regression samples folded at once; chosen for the caches when None.
        threads: how many share the samples of a regressor call.
    """
    require_kinds(build_problem, locals())
    found = base_of(robot) if base is None else base
    source = RowSource(robot, found, motor_mixing(robot) if motor_rows else None, threads)
    require_thresholds(robot, plan)
    rows_of = _blocks_of(plan)
    folded = Accumulator(source.columns, budget_bytes)
    experiments: list[Experiment] = []
    kept: list[Motion] | None = []
    for motion in motions:
        _check_motion(robot, motion)
        for block in rows_of(source, source.torques(motion), plan, block_samples):
            folded.add(block.without_joints(motion.silent_axes))
        experiments.append(_experiment(motion, plan, folded.end_experiment()))
        room = budget_bytes - folded.row_bytes if folded.keeps_rows else 0.0
        kept = _with_motion(kept, motion, room)
    if not experiments:
        raise DynidError("No motion was given; give at least one.")
    return Problem(
        robot, found, plan, tuple(experiments), folded.regression(), None if kept is None else tuple(kept)
    )


def _blocks_of(plan: Preparation) -> Callable[..., Iterator[RowBlock]]:
    return matlab_blocks if plan.convention == "matlab" and plan.decimation > 1 else streamed_blocks


def fold_motion(source: RowSource, motion: Motion, plan: Preparation) -> tuple[Factor, ...]:
    """The factors of one motion, per joint, from a source of rows of one's own.

    Args:
        source: W along the motion.
        motion: prepared motion.
        plan: decimation, convention and speed thresholds.
    """
    folded = Accumulator(source.columns, 0.0)
    for block in _blocks_of(plan)(source, source.torques(motion), plan, None):
        folded.add(block.without_joints(motion.silent_axes))
    folded.end_experiment()
    return folded.regression().joints


def _experiment(motion: Motion, plan: Preparation, rows: tuple[int, ...]) -> Experiment:
    offset = matlab_offset(motion.samples, plan)
    return Experiment(
        motion.name,
        motion.samples,
        motion.rate_hz,
        regression_samples(motion.samples, plan),
        float(motion.time[0]) + offset / motion.rate_hz,
        plan.decimation / motion.rate_hz,
        rows,
        motion.sources,
        motion.history,
    )


def _with_motion(kept: list[Motion] | None, motion: Motion, room: float) -> list[Motion] | None:
    """Motions with one more, or None as soon as they do not fit the room that the rows leave."""
    if kept is None:
        return None
    more = [*kept, motion]
    return more if sum(m.nbytes for m in more) <= room else None


def _check_motion(robot: Robot, motion: Motion) -> None:
    if motion.q.shape[1] != robot.n_coordinates:
        raise ShapeError(
            f"Motion {motion.name!r} has {motion.q.shape[1]} axes, but robot {robot.name!r} has "
            f"{robot.n_coordinates} coordinates; check the mapping of the log."
        )
    if motion.samples == 0:
        raise ShapeError(f"Motion {motion.name!r} has no samples.")


def require_thresholds(robot: Robot, plan: Preparation) -> None:
    """Refuse speed thresholds of another number of coordinates than the robot has."""
    count = len(plan.speed_thresholds)
    if count not in (0, robot.n_coordinates):
        raise ShapeError(
            f"The plan has {count} speed thresholds, but robot {robot.name!r} has {robot.n_coordinates} "
            "coordinates; give one each [rad/s or m/s], or none."
        )
