"""Recursive estimators: parameters that follow a robot sample by sample (P4)."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.estimators.recursive.forgetting import (
        Directional as Directional,
        Exponential as Exponential,
        Forgetting as Forgetting,
        Remember as Remember,
        Variable as Variable,
    )
    from dynid.estimators.recursive.instants import Instant as Instant, instants_of as instants_of
    from dynid.estimators.recursive.joint_state import AugmentedModel as AugmentedModel
    from dynid.estimators.recursive.kalman import EKF as EKF, ParameterFilter as ParameterFilter
    from dynid.estimators.recursive.limits import CovarianceLimits as CovarianceLimits
    from dynid.estimators.recursive.prior import (
        ParameterPrior as ParameterPrior,
        degrees_of_knowledge as degrees_of_knowledge,
    )
    from dynid.estimators.recursive.recursion import (
        Recursion as Recursion,
        RecursionOptions as RecursionOptions,
        RecursiveEstimate as RecursiveEstimate,
    )
    from dynid.estimators.recursive.riv import InstrumentRecursion as InstrumentRecursion
    from dynid.estimators.recursive.rls import LeastSquaresRecursion as LeastSquaresRecursion
    from dynid.estimators.recursive.state_filter import (
        StateFilter as StateFilter,
        StateFilterOptions as StateFilterOptions,
        StateNoise as StateNoise,
    )
    from dynid.estimators.recursive.strategies import RIV as RIV, RLS as RLS
    from dynid.estimators.recursive.unscented import UKF as UKF, SigmaPoints as SigmaPoints
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "forgetting": ("Directional", "Exponential", "Forgetting", "Remember", "Variable"),
        "instants": ("Instant", "instants_of"),
        "joint_state": ("AugmentedModel",),
        "kalman": ("EKF", "ParameterFilter"),
        "limits": ("CovarianceLimits",),
        "prior": ("ParameterPrior", "degrees_of_knowledge"),
        "recursion": ("Recursion", "RecursionOptions", "RecursiveEstimate"),
        "riv": ("InstrumentRecursion",),
        "rls": ("LeastSquaresRecursion",),
        "state_filter": ("StateFilter", "StateFilterOptions", "StateNoise"),
        "strategies": ("RIV", "RLS"),
        "unscented": ("SigmaPoints", "UKF"),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
