"""One thread for BLAS while a verb runs.

Our dense problems are small: the threads of BLAS would wait for each other longer than they work, on a busy
machine ten times as long.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

P = ParamSpec("P")
R = TypeVar("R")
VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
"""Variables that set the threads of BLAS before it is loaded."""


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """BLAS with one thread inside, and with what it had before outside."""
    if all(os.environ.get(name) == "1" for name in VARIABLES):
        yield  # the command line has seen to it before NumPy was loaded
        return
    import numpy as np  # noqa: F401
    from threadpoolctl import threadpool_limits

    # Looked for anew each time, some milliseconds: SciPy brings a BLAS of its own when it is first used.
    with threadpool_limits(1, user_api="blas"):
        yield


def with_one_blas_thread(verb: Callable[P, R]) -> Callable[P, R]:
    """A verb that runs with one thread of BLAS."""

    @functools.wraps(verb)
    def run(*args: P.args, **options: P.kwargs) -> R:
        with one_blas_thread():
            return verb(*args, **options)

    return run
