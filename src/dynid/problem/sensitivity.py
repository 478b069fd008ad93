"""Exact derivatives of simulated positions by the base parameters, and the linear problem they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dynid.compile.loop import LoopKernel, compile_loop, tangent_loop
from dynid.core.arrays import FloatArray
from dynid.preparation.preparation import Preparation
from dynid.problem.accumulate import Accumulator
from dynid.problem.build import BUDGET_BYTES
from dynid.problem.closed_loop import LoopProblem
from dynid.problem.problem import Experiment, Problem
from dynid.problem.replay import SimulatedRun, memory_place
from dynid.problem.stream import BLOCK_SAMPLES, RowBlock
from dynid.simulation.programs import LoopPlan
from dynid.simulation.simulator import MANY


@cache
def _tangent_kernel(plan: LoopPlan, lanes: int, backend: str) -> LoopKernel:
    return compile_loop(tangent_loop(plan.loop()), lanes=lanes, backend=backend, shared=True)


def position_sensitivities(
    run: SimulatedRun,
    directions: Sequence[int],
    memories: int = 0,
    *,
    lanes: int = MANY,
    backend: str = "auto",
) -> FloatArray:
    """∂q/∂χ_i of a simulated experiment, as exact as the simulation: one direction per lane.

    Args:
        run: from ``run_experiment``; smooth friction.
        directions: base parameters i.
        memories: further columns: by each number the law remembers at the start.
        lanes: directions simulated at once.
        backend: "auto", "llvm" or "casadi".

    Returns:
        (samples of the controller, coordinates, directions and memories).
    """
    setup = run.setup
    kernel = _tangent_kernel(setup.simulator.plan, lanes, backend)
    n, sizes = setup.simulator.plan.axes, setup.simulator.plan.sizes
    x, z = np.split(run.state, [sizes.states])
    state = np.concatenate([x, np.zeros_like(x), z, np.zeros_like(z)])
    # A direction is a parameter, or a place among the derivatives of the state at the start.
    first_memory = len(x) + memory_place(setup) + len(z)
    ways = [(i, None) for i in directions] + [(None, first_memory + k) for k in range(memories)]
    # Records of the loop begin with torque and q; their derivatives follow.
    place = sizes.records + n
    J = np.empty((len(run.inputs), n, len(ways)))
    for first in range(0, len(ways), lanes):
        seeds, starts = np.zeros((lanes, sizes.parameters)), np.tile(state, (lanes, 1))
        for lane in range(lanes):
            parameter, remembered = ways[min(first + lane, len(ways) - 1)]
            if parameter is not None:
                seeds[lane, parameter] = 1.0
            if remembered is not None:
                starts[lane, remembered] = 1.0
        vectors = np.hstack([np.tile(setup.vector, (lanes, 1)), seeds])
        records, _ = kernel(starts, run.inputs, vectors, setup.step, run.substeps)
        count = min(lanes, len(ways) - first)
        J[:, :, first : first + count] = np.moveaxis(records[:count, :, place : place + n], 0, 2)
    return J


@dataclass(frozen=True, eq=False)
class PositionRows:
    """Positions of one experiment and their derivatives at the stamps that count.

    Args:
        time: stamps [s], (samples,).
        error: q measured − q simulated (samples, coordinates).
        J: ∂q/∂χ (samples, coordinates, kept parameters).
    """

    time: FloatArray
    error: FloatArray
    J: FloatArray


def position_problem(
    problem: LoopProblem, parts: Sequence[PositionRows], values: FloatArray, kept: NDArray[np.bool_]
) -> Problem:
    """The linear problem q − q_s + J χ = J χ⁺ + ρ of one Gauss–Newton step (P0 eq 31–33).

    Args:
        problem: the closed-loop problem.
        parts: one per experiment.
        values: χ where it was linearised, (base,).
        kept: which base parameters have columns, (base,).
    """
    columns = tuple(int(i) for i in np.flatnonzero(kept))
    n = problem.robot.n_coordinates
    folded = Accumulator([columns] * n, BUDGET_BYTES)
    experiments = []
    for experiment, part in zip(problem.experiments, parts, strict=True):
        y = part.error + part.J @ values[kept]
        for first in range(0, len(y), BLOCK_SAMPLES):
            cut = slice(first, min(first + BLOCK_SAMPLES, len(y)))
            sample = np.arange(cut.start, cut.stop)
            folded.add(
                RowBlock(
                    len(sample),
                    (sample,) * n,
                    tuple(part.J[cut, j].T for j in range(n)),
                    tuple(y[cut, j] for j in range(n)),
                )
            )
        step = float(np.median(np.diff(part.time)))
        rows = folded.end_experiment()
        start = float(part.time[0])
        experiments.append(
            Experiment(
                experiment.name,
                len(y),
                1.0 / step,
                len(y),
                start,
                step,
                rows,
                experiment.sources,
                experiment.history,
            )
        )
    return Problem(problem.robot, problem.base, Preparation(), tuple(experiments), folded.regression())
