"""What residual tests say for or against a model, in sentences."""

from __future__ import annotations

from collections.abc import Sequence

from dynid.validation.residual_tests import ResidualTests
from dynid.validation.verdict import Reason

_ROBUST = {"hac": "HAC", "bootstrap": "bootstrap"}
_HEAVY = 3.0
"""Excess kurtosis beyond which large errors are said to be frequent."""


def residual_reasons(
    tests: Sequence[ResidualTests], joints: Sequence[str], level: float, uncertainty: str
) -> list[Reason]:
    """Notes on residuals that are not white or not Gaussian.

    Args:
        tests: residual tests, one per coordinate.
        joints: names of the coordinates.
        level: probability below which a test rejects.
        uncertainty: how σ of the parameters was found: "classical", "hac" or "bootstrap".
    """
    coloured = [joints[j] for j, test in enumerate(tests) if not test.white(level)]
    heavy = [joints[j] for j, test in enumerate(tests) if heavy_tailed(test, level)]
    reasons = []
    if coloured:
        seen = f"The residual is not white on {', '.join(coloured)}: something systematic is left."
        reasons.append(Reason("note", f"{seen} {_about_sigma(uncertainty)}"))
    if heavy:
        reasons.append(
            Reason(
                "note",
                f"Large errors are frequent on {', '.join(heavy)}: look for outliers, or for friction at "
                "reversals; a robust fit (IRLS) weighs them down.",
            )
        )
    return reasons


def heavy_tailed(test: ResidualTests, level: float) -> bool:
    """Whether large errors are frequent, as friction at reversals makes them.

    Args:
        test: of one coordinate.
        level: probability below which a test rejects.
    """
    return not test.gaussian(level) and test.excess_kurtosis > _HEAVY


def _about_sigma(uncertainty: str) -> str:
    if uncertainty in _ROBUST:
        return f"The {_ROBUST[uncertainty]} σ of the parameters allows for errors that are alike in time."
    return "A classical σ of the parameters is too small then; ask for HAC or bootstrap uncertainty."
