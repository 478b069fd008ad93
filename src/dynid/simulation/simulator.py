"""A compiled closed loop that can be run again and again with other numbers, one or many at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from functools import cache

import numpy as np

from dynid.compile.loop import LoopKernel, compile_loop
from dynid.core.arrays import FloatArray
from dynid.core.executor import LocalExecutor
from dynid.simulation.controller import Controller
from dynid.simulation.programs import STICK, LoopPlan

MANY = 4
"""Simulations side by side when there are several: one vector register of four doubles."""


@dataclass(frozen=True, eq=False)
class Paths:
    """Simulated signals, (simulations, samples, coordinates) each, at the controller's samples.

    Args:
        q: true positions.
        qd: true speeds.
        qdd: true accelerations just after the controller has set its torque.
        tau: torques of the controller, without disturbances.
        measured: positions as the controller sees them.
        final: state vectors at the end, (simulations, states).
    """

    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    tau: FloatArray
    measured: FloatArray
    final: FloatArray

    def part(self, which: slice) -> Paths:
        """Some of the simulations."""
        return Paths(*(getattr(self, f.name)[which] for f in fields(self)))

    def row(self, k: int) -> Paths:
        """One of them."""
        return self.part(slice(k, k + 1))


@dataclass(frozen=True)
class Simulator:
    """A loop that is compiled once.

    Args:
        plan: what fixes its programs.
        backend: "auto", "llvm" or "casadi".
    """

    plan: LoopPlan
    backend: str = "auto"

    def kernel(self, lanes: int, shared: bool = False) -> LoopKernel:
        """The compiled loop; ``shared`` when all lanes have the same inputs."""
        return _compile(_Keyed(f"{self.plan.key} {self.plan.sizes}", self.plan), lanes, shared, self.backend)

    def vector(
        self,
        values: FloatArray,
        controller: Controller,
        resolution: FloatArray | None = None,
        ripple: FloatArray | None = None,
    ) -> FloatArray:
        """Parameter vector of one simulation: robot parameters of the plan's columns, gains, limits."""
        parts = [values, controller.law.gains, controller.saturation]
        if self.plan.quantised:
            parts.append(np.zeros(self.plan.axes) if resolution is None else resolution)
        if self.plan.ripple_orders:
            parts.append(np.zeros(self.plan.axes) if ripple is None else ripple)
        parts += [term.numbers for term in self.plan.added]
        return np.concatenate([np.asarray(part, dtype=float) for part in parts])

    def start(self, q: FloatArray, qd: FloatArray, controller: Controller) -> FloatArray:
        """State vector of a robot at q that has moved at q̇."""
        modes = np.sign(qd) if self.plan.friction == STICK else np.zeros(0)
        own = controller.velocity.start(q, qd, controller.sample_time or 1.0)
        rest = np.zeros(controller.memory - len(own))
        return np.concatenate([q, qd, modes, own, rest])

    def run(
        self,
        starts: FloatArray,
        inputs: FloatArray,
        vectors: FloatArray,
        step: float,
        substeps: int,
        threads: int = 1,
        stops: Sequence[int] = (),
    ) -> tuple[Paths, FloatArray]:
        """Run all simulations.

        Args:
            starts: (simulations, states).
            inputs: (samples, 6 coordinates) shared, or (simulations, samples, 6 coordinates).
            vectors: (simulations, parameters).
            step: the controller's sample time [s].
            substeps: Runge–Kutta steps per sample.
            threads: how many share the simulations.
            stops: samples in rising order whose states are wanted.

        Returns:
            The signals, and the state vectors when these samples begin, (stops, simulations, states).
        """
        count, samples = len(vectors), inputs.shape[-2]
        lanes = 1 if count == 1 else MANY
        kernel = self.kernel(lanes, shared=lanes > 1 and inputs.ndim == 2)
        records = np.empty((count, samples, kernel.loop.sizes.row))
        passed = np.empty((len(stops) + 1, *starts.shape))

        def group(first: int) -> None:
            # A group that is not full runs its last simulation several times.
            chosen = np.minimum(np.arange(first, first + lanes), count - 1)
            last = min(first + lanes, count)
            own = inputs if inputs.ndim == 2 or count == lanes else inputs[chosen]
            states, values, begin = starts[chosen], vectors[chosen], 0
            for k, end in enumerate((*stops, samples)):
                noted, states = kernel(states, own[..., begin:end, :], values, step, substeps)
                records[first:last, begin:end] = noted[: last - first]
                passed[k, first:last], begin = states[: last - first], end

        firsts = range(0, count, lanes)
        if threads == 1 or len(firsts) == 1:  # often called, and too quick for an executor
            for first in firsts:
                group(first)
        else:
            LocalExecutor(threads).map(group, firsts)
        n = self.plan.axes
        tau, q, qd, *rounded, qdd = np.split(records, range(n, records.shape[2], n), axis=2)
        # What encoders read differs from q by their errors, the fifth group of inputs, unless they round.
        measured = rounded[0] if rounded else q + inputs[..., 4 * n : 5 * n]
        return Paths(q, qd, qdd, tau, measured, passed[-1]), passed[:-1]


@dataclass(frozen=True)
class _Keyed:
    """A plan that equals another one when their programs do: other gains find the same machine code."""

    key: str
    plan: LoopPlan = field(compare=False)


@cache
def _compile(keyed: _Keyed, lanes: int, shared: bool, backend: str) -> LoopKernel:
    return compile_loop(keyed.plan.loop(), lanes=lanes, shared=shared, backend=backend)
