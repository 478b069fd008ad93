"""Scan kernels: a step program run over time in machine code, several simulations at once."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid.compile import jit
from dynid.compile.fingerprint import fingerprint
from dynid.compile.ir_scan import MAP, RK4, scan_ir
from dynid.compile.program import Port
from dynid.compile.time_loops import check_lanes, check_step, time_module
from dynid.compile.trace import Kernel, Symbols
from dynid.core.errors import ModelError, ShapeError, unknown_name

FloatArray = NDArray[np.float64]
_SIZE, _REAL, _POINTER = ctypes.c_int64, ctypes.c_double, ctypes.c_void_p


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
        lanes: simulations per call.
        backend: "llvm" or "casadi".
        reason: why the fallback is in use, empty otherwise.
    """

    kernel: Kernel
    integrator: str
    lanes: int
    backend: str
    reason: str = ""
    _module: jit.Module | None = field(default=None, repr=False)

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
        x = self._spread(state, x_port)
        p = self._spread(parameters, p_port)
        u = np.asarray(inputs, dtype=float)
        if u.ndim == 2:
            u = np.broadcast_to(u, (self.lanes, *u.shape))
        if u.ndim != 3 or u.shape[0] != self.lanes or u.shape[2] != u_port.width:
            raise ShapeError(
                f"inputs have shape {np.shape(inputs)}; expected (steps, {u_port.width}) or "
                f"({self.lanes}, steps, {u_port.width})."
            )
        check_step(step, substeps)
        if self._module is None:
            return self._evaluate(x, u, p, step / substeps, substeps)
        return self._run(x, u, p, step / substeps, substeps)

    def _run(
        self, x: FloatArray, u: FloatArray, p: FloatArray, h: float, substeps: int
    ) -> tuple[FloatArray, FloatArray]:
        steps, n_y = u.shape[1], self.kernel.outputs[1].width
        state = np.array(x.T, order="C")  # a copy: the kernel advances it in place
        held = np.ascontiguousarray(np.moveaxis(u, 0, 2))
        values = np.ascontiguousarray(p.T)
        records = np.zeros((steps, n_y, self.lanes))
        self._scan(
            steps, substeps, h, state.ctypes.data, held.ctypes.data, values.ctypes.data, records.ctypes.data
        )
        return np.ascontiguousarray(np.moveaxis(records, 2, 0)), np.ascontiguousarray(state.T)

    @cached_property
    def _scan(self) -> Any:
        assert self._module is not None
        return self._module.function("scan", _SIZE, _SIZE, _REAL, _POINTER, _POINTER, _POINTER, _POINTER)

    @cached_property
    def _evaluator(self) -> Any:
        return self.kernel.function()

    def _evaluate(
        self, x: FloatArray, u: FloatArray, p: FloatArray, h: float, substeps: int
    ) -> tuple[FloatArray, FloatArray]:
        """The same loop in Python over CasADi's evaluator."""

        def program(at: FloatArray, held: FloatArray) -> tuple[FloatArray, FloatArray]:
            rate, note = self._evaluator.call([at, held, p.T])
            return np.asarray(rate.full()), np.asarray(note.full())

        state = x.T.copy()
        records = np.zeros((self.lanes, u.shape[1], self.kernel.outputs[1].width))
        for k in range(u.shape[1]):
            held = u[:, k].T
            for s in range(substeps):
                k1, note = program(state, held)
                if s == 0:
                    records[:, k] = note.T
                if self.integrator == MAP:
                    state = k1
                    continue
                k2, _ = program(state + h / 2 * k1, held)
                k3, _ = program(state + h / 2 * k2, held)
                k4, _ = program(state + h * k3, held)
                state = state + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        return records, np.ascontiguousarray(state.T)

    def _spread(self, values: ArrayLike, port: Port) -> FloatArray:
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
    check_lanes(lanes)
    key = f"scan {integrator} {lanes} {kernel.key}"
    module, reason = time_module(key, lambda: scan_ir(kernel.program(), lanes, integrator), backend)
    return ScanKernel(kernel, integrator, lanes, "llvm" if module else "casadi", reason, module)
