"""How good must the sensors be: coarser readings through the whole chain, thresholds, the law (P1)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.resolution.chain import Chain as Chain, Sensing as Sensing, SensorSetting as SensorSetting
    from dynid.resolution.digits import significant_digits as significant_digits
    from dynid.resolution.law import BiasLaw as BiasLaw, bias_law as bias_law, chain_gains as chain_gains
    from dynid.resolution.outcome import (
        BiasVerdict as BiasVerdict,
        Outcome as Outcome,
        ReferenceEstimate as ReferenceEstimate,
    )
    from dynid.resolution.request import SensorRequest as SensorRequest
    from dynid.resolution.resolution_study import ResolutionStudy as ResolutionStudy
    from dynid.resolution.rounding import MODES as MODES, RoundingMode as RoundingMode
    from dynid.resolution.study import (
        Bench as Bench,
        Threshold as Threshold,
        find_threshold as find_threshold,
    )
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "chain": ("Chain", "Sensing", "SensorSetting"),
        "digits": ("significant_digits",),
        "law": ("BiasLaw", "bias_law", "chain_gains"),
        "outcome": ("Outcome", "ReferenceEstimate", "BiasVerdict"),
        "request": ("SensorRequest",),
        "resolution_study": ("ResolutionStudy",),
        "rounding": ("MODES", "RoundingMode"),
        "study": ("Bench", "Threshold", "find_threshold"),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
