"""Settings of the process for one short command, made before NumPy is loaded."""

from __future__ import annotations

import ctypes
import gc
import os

_YOUNG = 100_000
"""Objects made before the garbage collector looks for cycles: commands make few of them and end soon."""
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""Options of glibc's ``mallopt``."""
_KEPT_BYTES = 32_000_000
"""Arrays up to this size are taken from the heap, and as much freed memory stays with the process."""


def settle() -> None:
    """Take what one command on one log needs: one BLAS thread, rare collections, memory used again."""
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        # Our dense problems are small: BLAS's threads would spend their time waiting for each other.
        os.environ.setdefault(name, "1")
    gc.set_threshold(_YOUNG, 20, 100)
    _keep_memory()


def _keep_memory() -> None:
    """Do not hand arrays of some megabytes back and forth: every first touch of a page costs a fault."""
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, TypeError, AttributeError):  # not glibc
        return
    mallopt(_MMAP_THRESHOLD, _KEPT_BYTES)
    mallopt(_TRIM_THRESHOLD, 2 * _KEPT_BYTES)
