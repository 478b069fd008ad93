"""Uncertainty of output error: errors of positions are as slow as the loop that lets them through."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np

from dynid.core.finding import Finding, Level, Name
from dynid.estimators.fit import Fit
from dynid.estimators.hac import HAC
from dynid.estimators.uncertainty import Classical, Doubt, Uncertainty
from dynid.problem.problem import Problem

LOOPS = 5.0
"""Window of the autocovariances, in 1/ω_n of the slowest axis: what a loop has forgotten."""
COLOURED = 1.3
"""Ratio of robust to classical standard deviations from which on errors are not white."""
_SHARE = 0.1
"""Of a log that the window may take at most."""


@dataclass(frozen=True)
class Widened(Uncertainty):
    """HAC over the time the loop remembers, and no parameter surer than with white errors.

    A disturbance inside the loop moves the robot for some 1/ω_n, beneath the white noise of the encoders: the
    neighbours of a sample hardly show it, and a window chosen from them is too short.

    Args:
        hac: the robust covariance.
    """

    hac: HAC = field(default_factory=HAC)
    name = "hac"

    def doubt(self, problem: Problem, fit: Fit) -> Doubt:
        """C = D C_hac D with D_i = max(1, σ_classical/σ_hac)."""
        robust = self.hac.doubt(problem, fit)
        own, white = (np.sqrt(np.maximum(np.diag(c), 0.0)) for c in (robust.covariance, fit.covariance))
        scale = np.maximum(1.0, np.divide(white, own, out=np.ones_like(own), where=own > 0))
        return replace(robust, covariance=robust.covariance * np.outer(scale, scale))


@dataclass(frozen=True)
class Colour:
    """How far the errors of positions are from white.

    Args:
        kind: the uncertainty that suits them.
        ratio: largest ratio of robust to classical standard deviations.
        findings: that they are not white.
    """

    kind: Uncertainty
    ratio: float = 1.0
    findings: tuple[Finding, ...] = ()


def colour_of(problem: Problem, fit: Fit, frequency: float | None) -> Colour:
    """Choose between white and coloured errors by what they make of the standard deviations.

    Args:
        problem: of the positions, linearised at the solution.
        fit: its solution.
        frequency: ω_n of the loop's slowest axis [rad/s]; the window is found from the errors when None.
    """
    if fit.degrees <= 0 or not fit.root.shape[1] or not problem.has_rows:
        return Colour(Classical())
    shortest = min(e.regression_samples for e in problem.experiments)
    rate = float(np.median([e.rate_hz for e in problem.experiments]))
    longest = max(int(_SHARE * shortest), 1)
    lags = None if frequency is None else int(min(max(LOOPS * rate / frequency, 1.0), longest))
    kind, ratio = _ratio(problem, fit, lags)
    # Friction at rest forgets far more slowly than the loop; then the whole log must say how long.
    slow, larger = _ratio(problem, fit, longest)
    if larger > COLOURED * ratio:
        kind, ratio = slow, larger
    if ratio <= COLOURED:
        return Colour(Classical(), ratio)
    return Colour(
        kind,
        ratio,
        (
            Finding(
                Name.COLOURED_RESIDUAL,
                Level.NOTE,
                "Errors of the positions are not white (disturbances inside the loop, friction at rest, or a "
                "law that is not modelled): with white errors standard deviations would be up to "
                f"{ratio:.2g} times smaller, so they were found from the errors' own correlation in time "
                "(HAC).",
                figures={"ratio": ratio},
            ),
        ),
    )


def _ratio(problem: Problem, fit: Fit, lags: int | None) -> tuple[Widened, float]:
    """Robust uncertainty with a window, and the largest ratio of its deviations to classical ones."""
    kind = Widened(HAC(lags=lags))
    own, white = (np.diag(c) for c in (kind.doubt(problem, fit).covariance, fit.covariance))
    seen = white > 0
    return kind, float(np.sqrt(np.max(own[seen] / white[seen], initial=1.0)))
