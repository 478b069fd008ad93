"""Consistency: standard parameters that a robot can have, from base parameters that a log has shown."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.consistency.knowledge import (
        Ellipsoid as Ellipsoid,
        Knowledge as Knowledge,
        LinkBounds as LinkBounds,
        Prior as Prior,
        load_knowledge as load_knowledge,
    )
    from dynid.consistency.possible_robot import (
        PossibleRobot as PossibleRobot,
        PossibleRobots as PossibleRobots,
    )
    from dynid.consistency.pseudo_inertia import pseudo_inertias as pseudo_inertias
    from dynid.consistency.system import DataRows as DataRows
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "knowledge": ("Ellipsoid", "Knowledge", "LinkBounds", "Prior", "load_knowledge"),
        "possible_robot": ("PossibleRobot", "PossibleRobots"),
        "pseudo_inertia": ("pseudo_inertias",),
        "system": ("DataRows",),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
