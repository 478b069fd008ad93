"""Any kernel at one instant, from and to memory that is taken once: for filters that run beside a robot."""

from __future__ import annotations

import ctypes
from functools import cached_property
from typing import Any

from dynid.compile import jit
from dynid.compile.arrays import address, aligned_array
from dynid.compile.batch import chosen_backend
from dynid.compile.ir_program import program_function
from dynid.compile.program import Port
from dynid.compile.trace import Kernel
from dynid.core.arrays import FloatArray


class OneSample:
    """A compiled kernel that reads ``inputs`` and writes ``outputs``, arrays by the names of the ports.

    Args:
        kernel: what it computes.
        backend: "auto" (machine code, else CasADi's evaluator), "llvm" or "casadi".
    """

    def __init__(self, kernel: Kernel, backend: str = "auto") -> None:
        """Compile, or find in the cache."""
        self.kernel, self.reason = kernel, ""
        self.inputs = {port.name: _zeros(port) for port in kernel.inputs}
        self.outputs = {port.name: _zeros(port) for port in kernel.outputs}
        self._module = self._machine_code(chosen_backend(backend))

    def _machine_code(self, backend: str) -> jit.Module | None:
        if backend == "casadi":
            self.reason = "asked for"
            return None
        key = f"one sample {self.kernel.key}"
        try:
            found = jit.load_cached(key)
            return found[0] if found else jit.compile_cached(key, self._text(), {})
        except jit.CompileError as error:
            if backend == "llvm":
                raise
            self.reason = str(error)
            return None

    def __call__(self) -> dict[str, FloatArray]:
        """The ``outputs`` of the present ``inputs``; the next call overwrites them."""
        if self._module is None:
            found = self._evaluator.call([self.inputs[p.name] for p in self.kernel.inputs])
            for array, value in zip(self.outputs.values(), found, strict=True):
                array[...] = value.full()[:, 0]
        else:
            self._function(*self._places)
        return self.outputs

    @cached_property
    def _evaluator(self) -> Any:
        return self.kernel.function()

    @cached_property
    def _function(self) -> Any:
        assert self._module is not None
        return self._module.function("one_sample", *[ctypes.c_void_p] * len(self._places))

    @cached_property
    def _places(self) -> tuple[int, ...]:
        return tuple(address(array) for array in (*self.inputs.values(), *self.outputs.values()))

    def _text(self) -> str:
        """``void one_sample(ptr in0, …, ptr out0, …)``."""
        arguments = ", ".join(f"ptr %a{k}" for k in range(len(self.inputs) + len(self.outputs)))
        return f"""{program_function("program", self.kernel.program(), 1)}
define void @one_sample({arguments}) {{
  call void @program({arguments})
  ret void
}}"""


def _zeros(port: Port) -> FloatArray:
    array = aligned_array((port.width,))
    array[...] = 0.0
    return array
