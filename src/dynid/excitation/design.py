"""The design of an exciting motion: the verb, and the noun it yields."""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.core.executor import Progress, no_progress
from dynid.core.finding import Finding, Level, Name, gravest_first
from dynid.core.kinds import require_kinds
from dynid.excitation.information import InformationModel
from dynid.excitation.limits import MotionLimits
from dynid.excitation.problem import DesignProblem
from dynid.excitation.search import DesignRun, search
from dynid.excitation.solvers import Barrier, Solver
from dynid.excitation.task import DesignTask
from dynid.excitation.verification import LimitUse, least_clearance, motion_uses, torque_uses
from dynid.excitation.verify import LeastClearance
from dynid.model.robot import Robot
from dynid.trajectories.trajectory import Trajectory

PARALLEL = 100.0
"""Condition number of W with unit columns above which columns are nearly parallel."""
_SHRINKS = (1.0, *(1.0 - 0.002 * 1.8**k for k in range(10)))
"""Sizes tried where a motion passes a limit between its samples: 0.998 … 0.6."""


@dataclass(frozen=True, eq=False)
class Design:
    """An exciting motion: what it uses of the limits, and what it tells.

    Args:
        robot: whose motion.
        task: what was asked.
        limits: that were kept.
        problem: as it was solved.
        trajectory: the best motion.
        runs: all starts, the best first.
        uses: limits, and how much of them is used.
        clearance: the smallest one; None where nothing was to be kept away from.
        findings: what was noticed, the gravest first.
        seed: of the starts.
        seconds: in all.
    """

    robot: Robot
    task: DesignTask
    limits: MotionLimits
    problem: DesignProblem
    trajectory: Trajectory
    runs: tuple[DesignRun, ...]
    uses: tuple[LimitUse, ...]
    clearance: LeastClearance | None
    findings: tuple[Finding, ...]
    seed: int
    seconds: float

    def __repr__(self) -> str:
        """In one line."""
        return (
            f"<Design of {self.robot.name}: {self.trajectory.duration:g} s, condition {self.condition:.1f}, "
            f"log det {self.log_det:.1f}, {len(self.runs)} starts in {self.seconds:.1f} s>"
        )

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
        noise = self.task.torque_noise(self.robot, self.limits)
        rows = max(2, round(self.task.rate_hz * trajectory.duration))
        stamps = np.arange(rows) / self.task.rate_hz
        plain = InformationModel(
            model.base, noise / np.sqrt(self.task.periods), model.kept, model.prior, sign_width=0.0
        )
        return plain.observe(*(trajectory.at(stamps, order) for order in range(3))).information

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
        if self.task.prior is not None and self.problem.model.prior is not None:
            return standard_deviations(self.problem.model.prior)
        return standard_deviations(self.information_of(self.problem.trajectory(self.runs[0].first)))


def condition_number(G: FloatArray) -> float:
    """cond W = √(λ_max/λ_min) of G = WᵀW; infinite where rounding hides the least eigenvalue."""
    values = np.linalg.eigvalsh(G)
    return float(np.sqrt(values[-1] / values[0])) if values[0] > 0 else np.inf


def unit_diagonal(G: FloatArray) -> FloatArray:
    """G of columns of length 1; those of length 0 stay so."""
    lengths = _lengths(G)
    return np.asarray(G / np.outer(lengths, lengths), dtype=float)


def _lengths(G: FloatArray) -> FloatArray:
    """Lengths of the columns; 1 for those of a parameter that does not show, by which nothing is divided."""
    lengths = np.sqrt(np.diag(G))
    return np.where(lengths > 0, lengths, 1.0)


def standard_deviations(G: FloatArray) -> FloatArray:
    """√ of the diagonal of G⁻¹, infinite where G has no inverse, (parameters,)."""
    lengths = _lengths(G)
    values, vectors = np.linalg.eigh(unit_diagonal(G))
    known = values > 1e-14 * values[-1]
    spread = (vectors[:, known] ** 2 / values[known]).sum(axis=1)
    hidden = (vectors[:, ~known] ** 2).sum(axis=1) > 1e-6
    return np.where(hidden, np.inf, np.sqrt(spread) / lengths)


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
    best, size, uses, clearance = _kept_motion(problem, robot, runs[0].x)
    design = Design(
        robot,
        asked,
        problem.limits,
        problem,
        best,
        runs,
        uses,
        clearance,
        (),
        seed,
        time.perf_counter() - begun,
    )
    findings = gravest_first([*problem.limits.findings, *_findings(design, size, starts)])
    object.__setattr__(design, "findings", findings)
    object.__setattr__(design, "seconds", time.perf_counter() - begun)
    return design


def _kept_motion(
    problem: DesignProblem, robot: Robot, x: FloatArray
) -> tuple[Trajectory, float, tuple[LimitUse, ...], LeastClearance | None]:
    """The motion, a little smaller where it passes a limit between its samples, with all its uses."""
    start = np.zeros_like(x)
    if problem.free_start:
        start[:, -1] = x[:, -1]
    for size in _SHRINKS:
        trajectory = problem.trajectory(start + size * (x - start))
        uses = motion_uses(trajectory, robot, problem.limits)
        if robot.parameters:
            uses += torque_uses(trajectory, robot, problem.limits)
        clearance = None if problem.scene is None else least_clearance(trajectory, problem.scene)
        touching = clearance is not None and not clearance.bound >= 0
        if all(use.kept for use in uses) and not touching:
            return trajectory, size, tuple(uses), clearance
    passed = [f"{use.quantity} of {use.joint} ({100 * use.share:.4g} %)" for use in uses if not use.kept]
    passed += [f"clearance between {clearance.pair}"] if touching and clearance is not None else []
    raise NotTrustworthyError(
        f"Between its samples the best motion passes {', '.join(passed)}, and does so at "
        f"{_SHRINKS[-1]:.2g} of its size; ask for more samples or a slower motion."
    )


def _findings(design: Design, size: float, starts: int) -> list[Finding]:
    found = []
    if size < 1.0:
        found.append(
            Finding(
                Name.SHRUNK_MOTION,
                Level.NOTE,
                f"The motion was shrunk to {100 * size:.3g} %, to keep its limits between samples too.",
            )
        )
    if not design.robot.parameters or not np.all(np.isfinite(design.limits.effort)):
        lacks = "a-priori parameters" if not design.robot.parameters else "effort limits of all joints"
        found.append(
            Finding(
                Name.UNCHECKED_LIMIT,
                Level.NOTE,
                f"Torques were not held to limits: the robot has no {lacks}.",
                "Try the motion at low speed first, or add them to the robot file.",
            )
        )
    if design.task.workcell is None:
        found.append(
            Finding(
                Name.UNCHECKED_LIMIT,
                Level.NOTE,
                "Collisions were not looked at.",
                "Give a floor or walls, and shapes of the links in the robot file.",
            )
        )
    scene = design.problem.scene
    if scene is not None and scene.left_out:
        found.append(
            Finding(
                Name.UNCHECKED_LIMIT,
                Level.NOTE,
                f"Not looked at, because they touch in nearly all poses or no motion changes their distance: "
                f"{', '.join(scene.left_out)}.",
            )
        )
    scaled = design.condition_scaled
    if scaled > PARALLEL:
        found.append(
            Finding(
                Name.PARALLEL_COLUMNS,
                Level.CARE,
                f"Columns of W are nearly parallel: with unit columns its condition number is {scaled:.3g}, "
                f"above {PARALLEL:g}; some parameters can only be told together.",
                "Take the criterion log-det or log-cond, which see it; Hadamard's bound does not.",
                figures={"condition_scaled": scaled},
            )
        )
    if len(design.runs) < starts or any(run.outcome == "interrupted" for run in design.runs):
        found.append(
            Finding(Name.INTERRUPTED, Level.NOTE, "The search was interrupted; this is the best so far.")
        )
    return found
