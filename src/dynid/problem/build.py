"""Build a problem from a robot and motions, reading each motion once."""

from __future__ import annotations

from collections.abc import Iterable

from dynid.base.base_map import BaseMap
from dynid.base.find import base_of
from dynid.compile.kernels import RobotKernels, kernels
from dynid.core.errors import DynidError, ShapeError
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem.accumulate import Accumulator
from dynid.problem.matlab_rows import matlab_blocks, matlab_offset
from dynid.problem.problem import Experiment, Problem
from dynid.problem.stream import RowStream, regression_samples, structure

BUDGET_BYTES = 200_000_000


def build_problem(
    robot: Robot,
    motions: Iterable[Motion],
    plan: Preparation,
    base: BaseMap | None = None,
    *,
    budget_bytes: float = BUDGET_BYTES,
    block_samples: int | None = None,
    threads: int = 1,
    pieces: bool = False,
) -> Problem:
    """Fold the rows τ = W χ of all motions into triangular factors (P0 §II, P1 §2.2).

    Torques and every column are low-passed and decimated alike, then rows of joint j with |q̇_j| below its
    threshold are left out. Each motion is used once and may be forgotten by its maker; memory does not grow
    with their number or length once rows no longer fit the budget.

    Args:
        robot: the robot.
        motions: prepared motions, joint side; may be a generator.
        plan: its decimation, convention and speed thresholds are used here.
        base: base parameters; found when None.
        budget_bytes: memory that rows and motions may take together to be kept for later use.
        block_samples: regression samples folded at once; chosen for the caches when None.
        threads: how many share the samples of a regressor call.
        pieces: whether the motions are successive pieces of one experiment, as ``prepare_chunks`` yields
            them; the rows are then those of the whole, to rounding.
    """
    found = base_of(robot) if base is None else base
    compiled = kernels(robot, found.columns, threads=threads)
    _check_thresholds(robot, plan)
    folded = Accumulator(structure(compiled), budget_bytes)
    experiments: list[Experiment] = []
    kept: list[Motion] | None = []
    for group in [motions] if pieces else ([motion] for motion in motions):
        experiment, used = _folded(robot, compiled, group, plan, folded, block_samples)
        experiments += [] if experiment is None else [experiment]
        room = budget_bytes - folded.row_bytes if folded.keeps_rows else 0.0
        kept = None if used is None else _with_motion(kept, used, room)
    if not experiments:
        raise DynidError("No motion was given; give at least one.")
    return Problem(
        robot, found, plan, tuple(experiments), folded.regression(), None if kept is None else tuple(kept)
    )


def _folded(
    robot: Robot,
    compiled: RobotKernels,
    pieces: Iterable[Motion],
    plan: Preparation,
    folded: Accumulator,
    block_samples: int | None,
) -> tuple[Experiment | None, Motion | None]:
    """One experiment from its pieces, None without any, and its motion if that came whole."""
    rows = RowStream(compiled, plan, block_samples)
    first, samples, whole = None, 0, True
    for motion in pieces:
        _check_motion(robot, motion)
        first, whole = (motion, True) if first is None else (first, False)
        samples += motion.samples
        if plan.convention == "matlab" and plan.decimation > 1:
            _refuse_pieces(whole)
            blocks = matlab_blocks(compiled, motion, plan, block_samples)
        else:
            blocks = rows.push(motion)
        for block in blocks:
            folded.add(block)
    if first is None:
        return None, None
    for block in rows.finish():
        folded.add(block)
    return _experiment(first, samples, plan, folded.end_experiment()), first if whole else None


def _experiment(first: Motion, samples: int, plan: Preparation, rows: tuple[int, ...]) -> Experiment:
    offset = matlab_offset(samples, plan)
    return Experiment(
        first.name,
        samples,
        first.rate_hz,
        regression_samples(samples, plan),
        float(first.time[0]) + offset / first.rate_hz,
        plan.decimation / first.rate_hz,
        rows,
        first.sources,
        tuple(step for step in first.history if step.name != "piece"),
    )


def _with_motion(kept: list[Motion] | None, motion: Motion, room: float) -> list[Motion] | None:
    """Motions with one more, or None as soon as they do not fit the room that the rows leave."""
    if kept is None:
        return None
    more = [*kept, motion]
    size = sum(m.q.nbytes + m.qd.nbytes + m.qdd.nbytes + m.tau.nbytes + m.time.nbytes for m in more)
    return more if size <= room else None


def _refuse_pieces(whole: bool) -> None:
    if not whole:
        raise DynidError(
            "MATLAB's decimation counts from the end of the motion and cannot run on pieces; use the 'scipy' "
            "convention or give the motion whole."
        )


def _check_motion(robot: Robot, motion: Motion) -> None:
    if motion.q.shape[1] != robot.n_coordinates:
        raise ShapeError(
            f"Motion {motion.name!r} has {motion.q.shape[1]} axes, but robot {robot.name!r} has "
            f"{robot.n_coordinates} coordinates; check the mapping of the log."
        )
    if motion.samples == 0:
        raise ShapeError(f"Motion {motion.name!r} has no samples.")


def _check_thresholds(robot: Robot, plan: Preparation) -> None:
    count = len(plan.speed_thresholds)
    if count not in (0, robot.n_coordinates):
        raise ShapeError(
            f"The plan has {count} speed thresholds, but robot {robot.name!r} has {robot.n_coordinates} "
            "coordinates; give one each [rad/s or m/s], or none."
        )
