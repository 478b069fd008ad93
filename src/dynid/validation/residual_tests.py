"""What is left of the torque, tested: is it white, is it Gaussian?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.plain import plain

LAGS = 20
"""Autocorrelations looked at."""
QUANTILES = (0.01, 0.05, 0.25, 0.5, 0.75, 0.95, 0.99)
_UPPER = (0.6744897501960817, 1.6448536269514722, 2.3263478740408408)
GAUSSIAN = (*(-z for z in reversed(_UPPER)), 0.0, *_UPPER)
"""The standard normal law's values at ``QUANTILES``."""
_LEAST = 30
"""Samples below which no test is worth its name."""
_UNKNOWN = float("nan")


@dataclass(frozen=True)
class ResidualTests:
    """Tests of one coordinate's residual e; NaN and empty where there are too few samples.

    Args:
        samples: how many there are.
        ljung_box: Q = n (n + 2) Σ r_k² / (n − k) (Ljung–Box 1978).
        ljung_box_p: probability of a larger Q when e is white.
        runs_z: number of runs above and below the median against its expectation, in standard deviations
            (Wald–Wolfowitz); strongly negative when errors come in long stretches of one sign.
        runs_p: probability of a larger |z| when e is white.
        durbin_watson: Σ (e_k − e_{k−1})² / Σ e_k²: 2 when white, towards 0 when neighbours agree.
        jarque_bera: n/6 (S² + K²/4) from skewness S and excess kurtosis K.
        jarque_bera_p: probability of a larger value when e is Gaussian.
        skewness: S.
        excess_kurtosis: K; positive when large errors are more frequent than a Gaussian has them.
        quantiles: of (e − mean) / σ at ``QUANTILES``.
        autocorrelation: r_1 … r_20.
    """

    samples: int
    ljung_box: float = _UNKNOWN
    ljung_box_p: float = _UNKNOWN
    runs_z: float = _UNKNOWN
    runs_p: float = _UNKNOWN
    durbin_watson: float = _UNKNOWN
    jarque_bera: float = _UNKNOWN
    jarque_bera_p: float = _UNKNOWN
    skewness: float = _UNKNOWN
    excess_kurtosis: float = _UNKNOWN
    quantiles: tuple[float, ...] = ()
    autocorrelation: tuple[float, ...] = ()

    def white(self, level: float = 0.01) -> bool:
        """Whether neither whiteness test rejects at this level; too few samples reject nothing."""
        return not (self.ljung_box_p < level or self.runs_p < level)

    def gaussian(self, level: float = 0.01) -> bool:
        """Whether normality is not rejected at this level."""
        return not self.jarque_bera_p < level

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        content = {name: plain(getattr(self, name)) for name in self.__dataclass_fields__}
        return content | {
            "white": self.white(),
            "gaussian": self.gaussian(),
            "quantile_levels": list(QUANTILES),
            "gaussian_quantiles": list(GAUSSIAN),
        }


def residual_tests(stretches: Sequence[FloatArray]) -> ResidualTests:
    """Test residuals of one coordinate over one or several experiments.

    Samples never pair across two experiments; NaN marks rows that do not count (a speed mask), and pairs
    with one of them are left out.

    Args:
        stretches: residuals of each experiment, (samples,) each [N m or N].
    """
    known = np.concatenate([np.asarray(s)[np.isfinite(s)] for s in stretches]) if stretches else np.zeros(0)
    n = len(known)
    if n < _LEAST or np.ptp(known) == 0:
        return ResidualTests(n)
    centred = [np.asarray(s, dtype=float) - known.mean() for s in stretches]
    r, pairs = _autocorrelations(centred)
    q = float(n * (n + 2) * np.sum(r[pairs > 0] ** 2 / pairs[pairs > 0]))
    z = _runs(stretches, float(np.median(known)))
    spread = known.std()
    standard = (known - known.mean()) / spread
    skew, kurtosis = float(np.mean(standard**3)), float(np.mean(standard**4) - 3)
    jb = n / 6 * (skew**2 + kurtosis**2 / 4)
    return ResidualTests(
        samples=n,
        ljung_box=q,
        ljung_box_p=chi_square_tail(int(np.count_nonzero(pairs)), q),
        runs_z=z,
        runs_p=2 * normal_tail(abs(z)),
        durbin_watson=_durbin_watson(stretches),
        jarque_bera=float(jb),
        jarque_bera_p=float(np.exp(-jb / 2)),
        skewness=skew,
        excess_kurtosis=kurtosis,
        quantiles=tuple(float(v) for v in np.quantile(standard, QUANTILES)),
        autocorrelation=tuple(float(v) for v in r),
    )


def _autocorrelations(centred: Sequence[FloatArray]) -> tuple[FloatArray, FloatArray]:
    """r_k and the number of pairs behind it, over experiments and around holes."""
    total, pairs = np.zeros(LAGS), np.zeros(LAGS)
    energy = sum(float(np.nansum(e**2)) for e in centred)
    for e in centred:
        there = np.isfinite(e)
        filled = np.where(there, e, 0.0)
        for k in range(1, min(LAGS, len(e) - 1) + 1):
            total[k - 1] += filled[k:] @ filled[:-k]
            pairs[k - 1] += np.count_nonzero(there[k:] & there[:-k])
    return total / energy, pairs


def _runs(stretches: Sequence[FloatArray], median: float) -> float:
    """Wald–Wolfowitz z over experiments: runs, their expectations and variances add up."""
    runs = expected = variance = 0.0
    for series in stretches:
        values = np.asarray(series)[np.isfinite(series)]
        above = values[values != median] > median
        a, b = float(np.count_nonzero(above)), float(np.count_nonzero(~above))
        m = a + b
        if m < 2:
            continue
        runs += 1 + np.count_nonzero(above[1:] != above[:-1])
        expected += 1 + 2 * a * b / m
        variance += 2 * a * b * (2 * a * b - m) / (m * m * (m - 1))
    return float((runs - expected) / np.sqrt(variance)) if variance > 0 else float("nan")


def _durbin_watson(stretches: Sequence[FloatArray]) -> float:
    """The mean square of the steps against that of the residual, so that holes do not count."""
    steps = np.concatenate([np.diff(s) for s in stretches])
    steps = steps[np.isfinite(steps)]
    values = np.concatenate(stretches)
    values = values[np.isfinite(values)]
    return float(np.mean(steps**2) / np.mean(values**2)) if len(steps) else float("nan")


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
