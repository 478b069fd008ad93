"""The regressor at one instant, for estimators that run beside a robot: no arrays are made."""

from __future__ import annotations

import ctypes
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from dynid.compile import jit
from dynid.compile.arrays import address, aligned_array
from dynid.compile.batch import BatchKernel, chosen_backend, compile_batch
from dynid.compile.ir_program import program_function
from dynid.compile.program import Program
from dynid.compile.trace import Kernel, describe
from dynid.core.arrays import FloatArray
from dynid.model.robot import Robot

_POINTER = ctypes.c_void_p


@dataclass(frozen=True, eq=False)
class InstantRegressor:
    """W(q, q̇, q̈) of one sample, written again and again into the same memory.

    Args:
        kernel: the regressor of the wanted columns.
        rows: coordinates.
        columns: columns of W.
        reason: why machine code is not in use, empty otherwise.
    """

    kernel: Kernel
    rows: int
    columns: int
    reason: str = ""
    _module: jit.Module | None = field(default=None, repr=False)

    @cached_property
    def states(self) -> FloatArray:
        """Where q, q̇, q̈ are read from, (3, coordinates): write here before a call."""
        states = aligned_array((3, self.rows))
        states[...] = 0.0
        return states

    @cached_property
    def W(self) -> FloatArray:
        """Where W is written to, (coordinates, columns)."""
        W = aligned_array((self.rows, self.columns))
        W[...] = 0.0
        return W

    def __call__(self) -> FloatArray:
        """W of the present ``states``; the next call overwrites it."""
        if self._module is None:
            q, qd, qdd = self.states[:, None, :]
            self.W[...] = self._batch(q, qd, qdd).reshape(self.rows, self.columns)
        else:
            self._function(*self._places)
        return self.W

    @cached_property
    def _batch(self) -> BatchKernel:
        return compile_batch(self.kernel, "casadi")

    @cached_property
    def _function(self) -> Any:
        assert self._module is not None
        return self._module.function("instant", *[_POINTER] * 4)

    @cached_property
    def _places(self) -> tuple[int, ...]:
        return (*(self.states.ctypes.data + 8 * self.rows * k for k in range(3)), address(self.W))


def compile_instant(robot: Robot, columns: tuple[int, ...], backend: str = "auto") -> InstantRegressor:
    """The regressor of a robot for single samples, from the cache when it was compiled before.

    Args:
        robot: the robot.
        columns: standard parameters wanted, such as those of a base.
        backend: "auto", "llvm" or "casadi"; DYNID_BACKEND overrides "auto".
    """
    kernel = describe(robot, "regressor", columns)
    n = robot.n_coordinates
    chosen = chosen_backend(backend)
    if chosen == "casadi":
        return InstantRegressor(kernel, n, len(columns), "asked for")
    key = f"instant {kernel.key}"
    try:
        found = jit.load_cached(key)
        module = found[0] if found else jit.compile_cached(key, _text(kernel.program()), {})
    except jit.CompileError as error:
        if chosen == "llvm":
            raise
        return InstantRegressor(kernel, n, len(columns), str(error))
    return InstantRegressor(kernel, n, len(columns), "", module)


def _text(program: Program) -> str:
    """``void instant(ptr q, ptr qd, ptr qdd, ptr W)``."""
    return f"""{program_function("regress", program, 1)}
define void @instant(ptr %q, ptr %qd, ptr %qdd, ptr %W) {{
  call void @regress(ptr %q, ptr %qd, ptr %qdd, ptr %W)
  ret void
}}"""


def instants(regressor: InstantRegressor, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> FloatArray:
    """W of many samples one by one, (samples, coordinates, columns): for tests and comparisons.

    Args:
        regressor: of the robot.
        q: positions, (samples, coordinates).
        qd: speeds.
        qdd: accelerations.
    """
    found = np.empty((len(q), regressor.rows, regressor.columns))
    for k, states in enumerate(zip(q, qd, qdd, strict=True)):
        regressor.states[...] = states
        found[k] = regressor()
    return found
