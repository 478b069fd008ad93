"""Tails of the laws that residual tests refer to: probabilities of larger values."""

from __future__ import annotations

import math


def normal_tail(z: float) -> float:
    """P(X > z) of the standard normal law, erfc(z/√2)/2; NaN for NaN."""
    return 0.5 * math.erfc(z / math.sqrt(2.0))


def chi_square_tail(degrees: int, x: float) -> float:
    """P(X > x) of the χ² law, as a finite sum of positive terms (Abramowitz and Stegun 26.4.4, 26.4.5).

    With h = x/2: e^(−h) Σ h^i / i! over i = 0 … ν/2 − 1 for an even number ν of degrees; for an odd one
    erfc(√h) + e^(−h) Σ h^i / Γ(i + 1) over i = 1/2, 3/2 … ν/2 − 1.

    Args:
        degrees: ν, at least 1.
        x: a finite value; at or below zero the tail is everything.
    """
    if x <= 0.0:
        return 1.0
    h = 0.5 * x
    odd = degrees % 2
    powers = [k + 0.5 * odd for k in range(degrees // 2)]
    terms = [math.exp(i * math.log(h) - h - math.lgamma(i + 1.0)) for i in powers]
    total = math.fsum(terms) + (math.erfc(math.sqrt(h)) if odd else 0.0)
    return min(total, 1.0)  # in this order NaN stays NaN
