"""Estimators that simulate the closed loop: DIDIM, instrumental variables, output error."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.estimators.closed_loop.didim import DIDIM as DIDIM
    from dynid.estimators.closed_loop.iv import IV as IV
    from dynid.estimators.closed_loop.output_error import OutputError as OutputError
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "didim": ("DIDIM",),
        "iv": ("IV",),
        "output_error": ("OutputError",),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
