"""What scans and sampled loops have in common: a choice of backend, lanes, and steps that can be taken."""

from __future__ import annotations

from collections.abc import Callable

from dynid.compile import jit
from dynid.compile.batch import chosen_backend
from dynid.core.errors import ModelError, ShapeError

LANES = (1, 4)
"""Simulations that can run side by side: one, or a vector register of four doubles. Eight in one code outgrow
the instruction cache and are a third slower than twice four."""
LEVEL = 2
"""A time loop waits on its own results: scheduling is worth the longer compilation."""


def check_lanes(lanes: int) -> None:
    """Refuse a number of simulations for which there is no code."""
    if lanes not in LANES:
        raise ModelError(f"lanes is {lanes}; allowed are {LANES}.")


def check_step(step: float, substeps: int) -> None:
    """Refuse a step that no time loop can take."""
    if substeps < 1 or not step > 0:
        raise ShapeError(
            f"A step of {step:g} s in {substeps} substeps cannot be taken; give a positive step and "
            "at least one substep."
        )


def time_module(key: str, text: Callable[[], str], backend: str) -> tuple[jit.Module | None, str]:
    """Machine code of a time loop, from the cache or compiled.

    Args:
        key: names the code in the cache.
        text: writes its LLVM text.
        backend: "auto", "llvm" or "casadi"; DYNID_BACKEND overrides "auto".

    Returns:
        The module, and why there is none where CasADi's evaluator must serve.
    """
    chosen = chosen_backend(backend)
    if chosen == "casadi":
        return None, "asked for"
    try:
        found = jit.load_cached(key)
        return (found[0] if found else jit.compile_cached(key, text(), {}, LEVEL)), ""
    except jit.CompileError as error:
        if chosen == "llvm":
            raise
        return None, str(error)
