"""Why torques are missed: a cause that is known stands before the errors it explains."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name, gravest_first, worst_level
from dynid.validation.figures import ErrorFigures, percent_text

_ERRORS = (Name.TORQUE_ERROR, Name.JOINT_ERROR, Name.WORSE_THAN_FIT)
"""What says that torques are missed, and not why."""
_EXPLAINS = 0.3
"""Share of the residual's squares from which on a suspect is said to be the cause of the errors."""


def with_causes_first(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Findings, the gravest first, with a cause that is known before the errors that it explains.

    A suspect that asks for care and explains a good part of the residual takes the level of the errors, so
    that no grade changes, and these lose remedies of their own, which are guesses at other causes.

    Args:
        findings: of a verdict.
    """
    given = tuple(findings)
    causes = [f for f in given if f.level >= Level.CARE and _explains(f)]
    level = worst_level(f for f in given if f.name in _ERRORS)
    if not causes or level < Level.CARE:
        return gravest_first(given)
    causes = [replace(cause, level=max(cause.level, level)) for cause in causes]
    others = [f for f in given if not (f.level >= Level.CARE and _explains(f))]
    bare = [replace(f, remedy="") if f.name in _ERRORS and f.level >= Level.CARE else f for f in others]
    return gravest_first((*causes, *bare))


def _explains(finding: Finding) -> bool:
    """Whether it is a suspect that explains a good part, or one that is tried as a whole, such as a sign."""
    return "candidate" in finding.figures or finding.figures.get("share", 0.0) >= _EXPLAINS


def blame_excitation(
    errors: list[Finding], figures: ErrorFigures, doubt_rms: FloatArray | None, share: float
) -> list[Finding]:
    """Errors with too little excitation as their cause, where the parameters' doubt leads to expect them.

    Args:
        errors: findings about errors on unseen motion.
        figures: these errors.
        doubt_rms: RMS standard deviation of the predicted torques [N m or N], (coordinates,), where known.
        share: of the error seen, from which on an expected one is its cause.
    """
    level = worst_level(errors)
    seen = float(np.linalg.norm(figures.rms))
    expected = 0.0 if doubt_rms is None else float(np.linalg.norm(doubt_rms))
    if level < Level.CARE or not expected >= share * seen > 0:
        return errors
    told = figures.overall_percent * expected / seen
    cause = Finding(
        Name.EXCITATION,
        level,
        f"The motion of the fit excites too little: the doubt it leaves in the parameters leads to expect an "
        f"error of {percent_text(told)} here, and {percent_text(figures.overall_percent)} is seen.",
        "Fit more and other motion together with it, such as this one, or keep to essential parameters "
        "(--essential).",
        figures={"expected_percent": told},
    )
    return [cause, *(replace(e, remedy="") if e.level >= Level.CARE else e for e in errors)]
