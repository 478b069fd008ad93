"""Which parameters can be seen: base parameters by QR and by closed-form rules."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.base.base_map import BaseMap as BaseMap
    from dynid.base.find import base_of as base_of, find_base as find_base, joint_bases as joint_bases
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "base_map": ("BaseMap",),
        "find": ("base_of", "find_base", "joint_bases"),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
