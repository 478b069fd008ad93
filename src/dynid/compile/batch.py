"""Make a kernel callable over samples, from the cache when it was compiled before."""

from __future__ import annotations

import os

from dynid.compile import jit
from dynid.compile.batch_kernel import BatchKernel
from dynid.compile.ir_batch import batch_ir
from dynid.compile.trace import Kernel
from dynid.core.errors import unknown_name

BACKENDS = ("auto", "llvm", "casadi")


def chosen_backend(backend: str) -> str:
    """The backend asked for; the environment variable DYNID_BACKEND replaces "auto"."""
    chosen = os.environ.get("DYNID_BACKEND", "auto") if backend == "auto" else backend
    if chosen not in BACKENDS:
        raise unknown_name("backend", chosen, BACKENDS)
    return chosen


def compile_batch(kernel: Kernel, backend: str = "auto") -> BatchKernel:
    """Make a kernel callable, from the cache when it was compiled before.

    Args:
        kernel: what to compile, from ``describe``.
        backend: "auto" (machine code, else CasADi's evaluator), "llvm" or "casadi". The environment
            variable DYNID_BACKEND overrides "auto".
    """
    backend = chosen_backend(backend)
    reason = "asked for"
    if backend != "casadi":
        try:
            return _compiled(kernel)
        except jit.CompileError as error:
            if backend == "llvm":
                raise
            reason = str(error)
    return BatchKernel(kernel, "casadi", kernel.program().nonzero, reason)


def _compiled(kernel: Kernel) -> BatchKernel:
    key = f"batch {kernel.key}"
    found = jit.load_cached(key)
    if found is not None:
        module, facts = found
        return BatchKernel(kernel, "llvm", tuple(facts["rows"]), "", module)
    program = kernel.program()
    module = jit.compile_cached(key, batch_ir(program), {"rows": program.nonzero})
    return BatchKernel(kernel, "llvm", program.nonzero, "", module)
