"""Least squares on measured motions: plain, weighted, total, robust, with a prior, with further friction."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.estimators.linear.catalogue import CATALOGUE as CATALOGUE, LOAD as LOAD, STRIBECK as STRIBECK
    from dynid.estimators.linear.irls import IRLS as IRLS
    from dynid.estimators.linear.least_squares import OLS as OLS, TLS as TLS, WLS as WLS
    from dynid.estimators.linear.ridge import Ridge as Ridge
    from dynid.estimators.linear.separable import Separable as Separable
    from dynid.estimators.linear.terms import NonlinearTerm as NonlinearTerm
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "catalogue": ("CATALOGUE", "LOAD", "STRIBECK"),
        "irls": ("IRLS",),
        "least_squares": ("OLS", "TLS", "WLS"),
        "ridge": ("Ridge",),
        "separable": ("Separable",),
        "terms": ("NonlinearTerm",),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
