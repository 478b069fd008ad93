"""Proof on motion that was not used: torque prediction, cross-validation, residual tests, verdict."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.validation.cross import (
        CrossValidation as CrossValidation,
        Stability as Stability,
        cross_validate as cross_validate,
        experiment_stability as experiment_stability,
    )
    from dynid.validation.figures import ErrorFigures as ErrorFigures
    from dynid.validation.model import IdentifiedModel as IdentifiedModel, predictions as predictions
    from dynid.validation.parts import TorqueParts as TorqueParts, torque_parts as torque_parts
    from dynid.validation.residual_tests import ResidualTests as ResidualTests
    from dynid.validation.validation import Validation as Validation, validate as validate
    from dynid.validation.verdict import Thresholds as Thresholds, Verdict as Verdict
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "cross": ("CrossValidation", "Stability", "cross_validate", "experiment_stability"),
        "figures": ("ErrorFigures",),
        "model": ("IdentifiedModel", "predictions"),
        "parts": ("TorqueParts", "torque_parts"),
        "residual_tests": ("ResidualTests",),
        "validation": ("Validation", "validate"),
        "verdict": ("Thresholds", "Verdict"),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
