"""Exciting motion: what surrounds the robot, and how far its links are from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.excitation.clearance import CollisionScene as CollisionScene
    from dynid.excitation.verify import (
        LeastClearance as LeastClearance,
        verified_clearance as verified_clearance,
    )
    from dynid.excitation.workcell import HalfSpace as HalfSpace, Workcell as Workcell
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "clearance": ("CollisionScene",),
        "workcell": ("HalfSpace", "Workcell"),
        "verify": ("LeastClearance", "verified_clearance"),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
