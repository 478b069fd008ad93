"""From kernels to machine code: trace, SIMD batch and scan kernels, cache, C source."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.compile.kernels import RobotKernels as RobotKernels
    from dynid.compile.scan import compile_scan as compile_scan, describe_step as describe_step
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "kernels": ("RobotKernels",),
        "scan": ("compile_scan", "describe_step"),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
