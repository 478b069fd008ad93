"""Scans: one step program run over time in machine code, several simulations at once, as a sampled loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynid.compile.ir_loop import LoopSizes
from dynid.compile.loop import Loop, LoopKernel, check_step, compile_loop, describe_loop
from dynid.compile.program import Port
from dynid.compile.trace import Kernel, Symbols, fingerprint
from dynid.core.arrays import FloatArray
from dynid.core.errors import ModelError, ShapeError, unknown_name

RK4, MAP = "rk4", "map"


def describe_step(
    name: str, key: str, sizes: tuple[int, int, int, int], body: Callable[[Symbols], list[Any]]
) -> Kernel:
    """A step program, not yet traced.

    Args:
        name: for messages and source.
        key: text that names what the body takes from outside, such as the robot's digest. The body's own
            code and the numbers it closes over are added, so that an edited body is compiled anew.
        sizes: numbers of states x, inputs u, parameters p and records y.
        body: from symbols "x", "u", "p", the rates (or next states) followed by the records.
    """
    n_x, n_u, n_p, n_y = sizes
    if n_x < 1:
        raise ModelError(f"The step program {name!r} has no state.")
    inputs = (Port("x", n_x), Port("u", n_u), Port("p", n_p))
    return Kernel(
        name, f"{name} {sizes} {key} {fingerprint(body)}", inputs, (Port("dx", n_x), Port("y", n_y)), body
    )


@dataclass(frozen=True)
class ScanKernel:
    """A compiled time loop.

    Args:
        kernel: the step program.
        integrator: "rk4" (the program is a right-hand side) or "map" (it gives the next state).
        loop: what runs it.
    """

    kernel: Kernel
    integrator: str
    loop: LoopKernel

    @property
    def lanes(self) -> int:
        """Simulations per call."""
        return self.loop.lanes

    @property
    def backend(self) -> str:
        """Either "llvm" or "casadi"."""
        return self.loop.backend

    @property
    def reason(self) -> str:
        """Why the fallback is in use, empty otherwise."""
        return self.loop.reason

    def __call__(
        self, state: ArrayLike, inputs: ArrayLike, parameters: ArrayLike, step: float = 1.0, substeps: int = 1
    ) -> tuple[FloatArray, FloatArray]:
        """Run ``lanes`` simulations over all steps.

        Args:
            state: starting states (x,) or (lanes, x).
            inputs: inputs held over each step, (steps, u) shared by all simulations or (lanes, steps, u).
            parameters: (p,) or (lanes, p).
            step: length of a step [s].
            substeps: integration steps per step.

        Returns:
            Records at the start of each step (lanes, steps, y) and final states (lanes, x).
        """
        x_port, u_port, p_port = self.kernel.inputs
        x, p = self._of_lanes(state, x_port), self._of_lanes(parameters, p_port)
        u = np.asarray(inputs, dtype=float)
        if u.ndim == 2:
            u = np.broadcast_to(u, (self.lanes, *u.shape))
        if u.ndim != 3 or u.shape[0] != self.lanes or u.shape[2] != u_port.width:
            raise ShapeError(
                f"inputs have shape {np.shape(inputs)}; expected (steps, {u_port.width}) or "
                f"({self.lanes}, steps, {u_port.width})."
            )
        check_step(step, substeps)
        if self.integrator == MAP:  # a loop takes the next state over once a sample: every substep is one
            records, end = self.loop(x, np.repeat(u, substeps, axis=1), p, step)
            return np.ascontiguousarray(records[:, ::substeps]), end
        records, end = self.loop(x, u, p, step, substeps)
        return np.ascontiguousarray(records), end

    def _of_lanes(self, values: ArrayLike, port: Port) -> FloatArray:
        array = np.asarray(values, dtype=float)
        if array.ndim == 1:
            array = np.broadcast_to(array, (self.lanes, array.size))
        if array.shape != (self.lanes, port.width):
            raise ShapeError(
                f"{port.name} has shape {np.shape(values)}; expected ({port.width},) or "
                f"({self.lanes}, {port.width})."
            )
        return array


def compile_scan(
    kernel: Kernel, *, integrator: str = RK4, lanes: int = 1, backend: str = "auto"
) -> ScanKernel:
    """Compile a step program into a time loop, from the cache when it was compiled before.

    Args:
        kernel: the step program, from ``describe_step``.
        integrator: "rk4" or "map".
        lanes: simulations at once: 1 or 4.
        backend: "auto", "llvm" or "casadi"; DYNID_BACKEND overrides "auto".
    """
    if integrator not in (RK4, MAP):
        raise unknown_name("integrator", integrator, (RK4, MAP))
    loop = _integrated_loop(kernel) if integrator == RK4 else _mapped_loop(kernel)
    return ScanKernel(kernel, integrator, compile_loop(loop, lanes=lanes, backend=backend))


def _integrated_loop(kernel: Kernel) -> Loop:
    """A loop that holds the inputs, takes the records at samples and integrates the rates between them."""
    x, u, p, y = (port.width for port in (*kernel.inputs, kernel.outputs[1]))

    def step(s: Symbols) -> list[Any]:
        return [*s["u"], *kernel.values(s)[x:]]

    def rate(s: Symbols) -> list[Any]:
        return kernel.values({"x": s["x"], "u": s["w"], "p": s["p"]})[:x]

    sizes = LoopSizes(states=x, modes=0, memory=0, inputs=u, held=u, parameters=p, records=y, noted=0)
    return describe_loop(kernel.name, kernel.key, sizes, step, rate)


def _mapped_loop(kernel: Kernel) -> Loop:
    """A loop whose memory is the state: nothing is integrated."""
    x, u, p, y = (port.width for port in (*kernel.inputs, kernel.outputs[1]))
    sizes = LoopSizes(states=0, modes=0, memory=x, inputs=u, held=0, parameters=p, records=y)
    return describe_loop(kernel.name, kernel.key, sizes, kernel.values, lambda s: [])
