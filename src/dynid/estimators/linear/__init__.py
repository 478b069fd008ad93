"""Least squares on measured motions: plain, weighted, total, robust, with a prior, with further friction."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.estimators.linear.irls import IRLS as IRLS
    from dynid.estimators.linear.least_squares import OLS as OLS, TLS as TLS, WLS as WLS
    from dynid.estimators.linear.ridge import Ridge as Ridge
    from dynid.estimators.linear.separable import Separable as Separable
    from dynid.estimators.linear.terms import (
        LOAD as LOAD,
        STRIBECK as STRIBECK,
        NonlinearTerm as NonlinearTerm,
    )
else:
    from dynid.core.lazy import lazy_exports

    _HOMES = {
        "IRLS": "irls",
        "OLS": "least_squares",
        "TLS": "least_squares",
        "WLS": "least_squares",
        "Ridge": "ridge",
        "Separable": "separable",
        "LOAD": "terms",
        "NonlinearTerm": "terms",
        "STRIBECK": "terms",
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _HOMES)
