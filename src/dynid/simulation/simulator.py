"""A compiled closed loop that can be run again and again with other numbers, one or many at a time."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from dynid.compile.loop import LoopKernel, compile_loop
from dynid.simulation.controller import Controller
from dynid.simulation.programs import STICK, LoopPlan

FloatArray = NDArray[np.float64]
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
        return _compiled(_Keyed(f"{self.plan.key} {self.plan.sizes}", self.plan), lanes, shared, self.backend)

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
    ) -> Paths:
        """Run all simulations.

        Args:
            starts: (simulations, states).
            inputs: (samples, 6 coordinates) shared, or (simulations, samples, 6 coordinates).
            vectors: (simulations, parameters).
            step: the controller's sample time [s].
            substeps: Runge–Kutta steps per sample.
            threads: how many share the simulations.
        """
        count = len(vectors)
        lanes = 1 if count == 1 else MANY
        kernel = self.kernel(lanes, shared=lanes > 1 and inputs.ndim == 2)

        def group(first: int) -> tuple[FloatArray, FloatArray]:
            # A group that is not full runs its last simulation several times.
            chosen = np.minimum(np.arange(first, first + lanes), count - 1)
            own = inputs if inputs.ndim == 2 else inputs[chosen]
            return kernel(starts[chosen], own, vectors[chosen], step, substeps)

        firsts = range(0, count, lanes)
        if threads > 1 and len(firsts) > 1:
            with ThreadPoolExecutor(threads) as pool:
                results = list(pool.map(group, firsts))
        else:
            results = [group(first) for first in firsts]
        several = len(results) > 1
        records = (np.concatenate([r for r, _ in results]) if several else results[0][0])[:count]
        final = (np.concatenate([f for _, f in results]) if several else results[0][1])[:count]
        n = self.plan.axes
        measured, tau, q, qd, _, qdd = (records[:, :, k * n : (k + 1) * n] for k in range(6))
        return Paths(q, qd, qdd, tau, measured, final)


@dataclass(frozen=True)
class _Keyed:
    """A plan that equals another one when their programs do: other gains find the same machine code."""

    key: str
    plan: LoopPlan = field(compare=False)


@cache
def _compiled(keyed: _Keyed, lanes: int, shared: bool, backend: str) -> LoopKernel:
    return compile_loop(keyed.plan.loop(), lanes=lanes, shared=shared, backend=backend)
