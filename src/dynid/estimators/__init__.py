"""Estimators: the verb ``identify``, its strategies, and how sure an estimate is."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.estimators.bootstrap import Bootstrap as Bootstrap
    from dynid.estimators.closed_loop import DIDIM as DIDIM, IV as IV, OutputError as OutputError
    from dynid.estimators.consistent import Consistent as Consistent
    from dynid.estimators.essential import Essential as Essential
    from dynid.estimators.estimate import Estimate as Estimate, Further as Further
    from dynid.estimators.honest import Honest as Honest
    from dynid.estimators.identification import identify as identify
    from dynid.estimators.linear import (
        CATALOGUE as CATALOGUE,
        IRLS as IRLS,
        LOAD as LOAD,
        OLS as OLS,
        STRIBECK as STRIBECK,
        TLS as TLS,
        WLS as WLS,
        NonlinearTerm as NonlinearTerm,
        Ridge as Ridge,
        Separable as Separable,
    )
    from dynid.estimators.recursive import RIV as RIV, RLS as RLS
    from dynid.estimators.strategy import Strategy as Strategy
    from dynid.estimators.uncertainty import HAC as HAC, Classical as Classical, Uncertainty as Uncertainty
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "bootstrap": ("Bootstrap",),
        "closed_loop": ("DIDIM", "IV", "OutputError"),
        "consistent": ("Consistent",),
        "essential": ("Essential",),
        "estimate": ("Estimate", "Further"),
        "honest": ("Honest",),
        "identification": ("identify",),
        "linear": (
            *("CATALOGUE", "IRLS", "LOAD", "NonlinearTerm", "OLS", "Ridge", "STRIBECK", "Separable", "TLS"),
            "WLS",
        ),
        "recursive": ("RIV", "RLS"),
        "strategy": ("Strategy",),
        "uncertainty": ("Classical", "HAC", "Uncertainty"),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES, ("recursive",))
