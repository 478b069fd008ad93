"""The design of an exciting motion: the verb, and the noun it yields."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.core.executor import Progress, no_progress
from dynid.core.finding import Finding, gravest_first
from dynid.core.kinds import require_kinds
from dynid.excitation.clearance_proof import LeastClearance
from dynid.excitation.information import (
    InformationModel,
    condition_number,
    standard_deviations,
    unit_diagonal,
)
from dynid.excitation.limit_use import (
    LimitUse,
    expected_torques,
    least_clearance,
    motion_uses,
    states_of,
    torque_uses,
)
from dynid.excitation.limits import MotionLimits
from dynid.excitation.problem import DesignProblem
from dynid.excitation.remarks import remarks_on
from dynid.excitation.search import DesignRun, search
from dynid.excitation.solvers import Barrier, Solver
from dynid.excitation.task import DesignTask
from dynid.model.robot import Robot
from dynid.trajectories.trajectory import Trajectory

_SHRINKS = ((1.0, 0.998, 0.995, 0.99), (0.97, 0.93, 0.85, 0.75, 0.6))
"""Sizes tried where a motion passes a limit between its samples: nearly all of each run, then less of any."""


@dataclass(frozen=True, eq=False)
class Design:
    """An exciting motion: what it uses of the limits, and what it tells.

    Args:
        robot: whose motion.
        task: what was asked.
        problem: as it was solved.
        trajectory: the best motion.
        runs: all starts, the best first.
        uses: limits, and how much of them is used.
        clearance: the smallest one; None where nothing was to be kept away from.
        size: factor by which it was shrunk to keep its limits between samples; 1 where it was not.
        starts: that were asked for; fewer runs where it was interrupted.
        seed: of the starts.
        seconds: in all.
    """

    robot: Robot
    task: DesignTask
    problem: DesignProblem
    trajectory: Trajectory
    runs: tuple[DesignRun, ...]
    uses: tuple[LimitUse, ...]
    clearance: LeastClearance | None
    size: float
    starts: int
    seed: int
    seconds: float

    def __repr__(self) -> str:
        """In one line."""
        return (
            f"<Design of {self.robot.name}: {self.trajectory.duration:g} s, condition {self.condition:.1f}, "
            f"log det {self.log_det:.1f}, {len(self.runs)} starts in {self.seconds:.1f} s>"
        )

    @property
    def limits(self) -> MotionLimits:
        """What was kept."""
        return self.problem.limits

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What deserves attention, the gravest first."""
        return gravest_first([*self.limits.findings, *remarks_on(self)])

    @property
    def base(self) -> BaseMap:
        """The base parameters."""
        return self.problem.model.base

    @property
    def names(self) -> tuple[str, ...]:
        """The base parameters that count."""
        kept = self.problem.model.kept
        return self.base.names if kept is None else tuple(self.base.names[k] for k in kept)

    @cached_property
    def information(self) -> FloatArray:
        """G over the whole log that the motion gives, with the prior, (parameters, parameters)."""
        return self.information_of(self.trajectory)

    def information_of(self, trajectory: Trajectory) -> FloatArray:
        """G of any motion of the robot in a log of the same rate and number of periods, with the prior."""
        model = self.problem.model
        noise = self.task.torque_noise(self.robot)
        rows = max(2, round(self.task.rate_hz * trajectory.duration))
        stamps = np.arange(rows) / self.task.rate_hz
        plain = InformationModel(
            model.base, noise / np.sqrt(self.task.periods), model.kept, model.prior, sign_width=0.0
        )
        return plain.observe(*states_of(trajectory, stamps)).information

    def torques(self, time: FloatArray) -> FloatArray | None:
        """Torques of the a-priori model at instants, (instants, coordinates); None without a model."""
        return expected_torques(self.robot, self.trajectory, time)

    @property
    def condition(self) -> float:
        """Condition number of the weighted W."""
        return condition_number(self.information)

    @property
    def condition_scaled(self) -> float:
        """Condition number of W with columns of length 1."""
        return condition_number(unit_diagonal(self.information))

    @property
    def log_det(self) -> float:
        """log det G."""
        return float(np.linalg.slogdet(self.information)[1])

    @cached_property
    def sigma(self) -> FloatArray:
        """Standard deviations that the motion promises for white noise of the assumed size, (parameters,)."""
        return standard_deviations(self.information)

    @cached_property
    def sigma_before(self) -> FloatArray:
        """Those of the prior; without one, of the random motion that the best start began with."""
        if self.problem.model.prior is not None:
            return standard_deviations(self.problem.model.prior)
        return standard_deviations(self.information_of(self.problem.trajectory(self.runs[0].first)))


def design_motion(
    robot: Robot,
    task: DesignTask | None = None,
    *,
    starts: int = 5,
    seed: int = 0,
    solver: Solver | None = None,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> Design:
    """Design a motion that reveals the base parameters of a robot, within its limits (P3 §3).

    Args:
        robot: with limits; its a-priori values, where it has them, keep the torques within theirs.
        task: what is asked; P3's Fourier series of 10 s and −log det when None.
        starts: random starts.
        seed: of the starts; the design is the same for the same seed, whatever the number of workers.
        solver: ``Barrier()`` when None.
        workers: starts at once; one per core when None.
        progress: told how many starts are done and the best so far. Ctrl-C ends the search with the best.

    Raises:
        DynidError: when limits contradict each other or the start pose, naming them.
    """
    require_kinds(design_motion, locals())
    if seed < 0:
        raise DynidError(f"The seed is {seed}; give a whole number from 0.")
    begun = time.perf_counter()
    asked = task or DesignTask()
    problem = asked.problem(robot, np.random.default_rng(seed))
    runs = search(problem, solver or Barrier(), starts, seed, workers, progress)
    progress("proving the limits between samples")
    tried = (_kept_motion(problem, robot, run, sizes) for sizes in _SHRINKS for run in runs)
    kept = next((motion for motion in tried if motion is not None), None)
    if kept is None:
        raise NotTrustworthyError(_passed_words(problem, robot, runs[0]))
    runs = (kept.run, *(run for run in runs if run is not kept.run))
    seconds = time.perf_counter() - begun
    return Design(
        robot,
        asked,
        problem,
        kept.trajectory,
        runs,
        kept.uses,
        kept.clearance,
        kept.size,
        starts,
        seed,
        seconds,
    )


@dataclass(frozen=True, eq=False)
class _Motion:
    """A motion of some size of a run, with all that it uses of its limits."""

    run: DesignRun
    size: float
    trajectory: Trajectory
    uses: tuple[LimitUse, ...]
    clearance: LeastClearance | None

    @property
    def broken_limits(self) -> list[str]:
        """Limits that it does not keep, in words."""
        found = [
            f"{use.quantity} of {use.joint} ({100 * use.share:.4g} %)" for use in self.uses if not use.kept
        ]
        if self.clearance is not None and not self.clearance.bound >= 0:
            found.append(f"the clearance between {self.clearance.pair}")
        return found


def _motion(problem: DesignProblem, robot: Robot, run: DesignRun, size: float) -> _Motion:
    start = np.zeros_like(run.x)
    if problem.free_start:
        start[:, -1] = run.x[:, -1]
    trajectory = problem.trajectory(start + size * (run.x - start))
    uses = (*motion_uses(trajectory, robot, problem.limits), *torque_uses(trajectory, robot, problem.limits))
    clearance = None if problem.scene is None else least_clearance(trajectory, problem.scene)
    return _Motion(run, size, trajectory, uses, clearance)


def _kept_motion(
    problem: DesignProblem, robot: Robot, run: DesignRun, sizes: Sequence[float]
) -> _Motion | None:
    """A run's motion, a little smaller where it passes a limit between its samples; None if no size does."""
    tried = (_motion(problem, robot, run, size) for size in sizes)
    return next((motion for motion in tried if not motion.broken_limits), None)


def _passed_words(problem: DesignProblem, robot: Robot, run: DesignRun) -> str:
    passed = ", ".join(_motion(problem, robot, run, 1.0).broken_limits)
    return (
        f"Between its samples the best motion passes {passed}, and smaller ones do not help; ask for more "
        "samples, a slower motion, another start pose or more starts."
    )
