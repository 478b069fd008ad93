"""The physics, one algorithm per file, written once over any scalar type."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.dynamics.direct import direct_dynamics as direct_dynamics
    from dynid.dynamics.operations import symbolic as symbolic
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "direct": ("direct_dynamics",),
        "operations": ("symbolic",),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
