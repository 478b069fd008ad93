"""What a coarser sensor does to estimates: mean, spread, shift, a verdict per parameter (P1 eq 18–22)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

import numpy as np

from dynid.core.arrays import BoolArray, FloatArray
from dynid.core.errors import DynidError
from dynid.resolution.chain import SensorSetting

SOUND_PERCENT, BIASED_PERCENT = 1.0, 5.0
"""P1 §3: a shift below the first is negligible, one above the second is a bias."""
_MEAN_ERRORS = 2.0
"""Standard errors of the mean over the runs by which a shift must exceed a limit to count as beyond it."""


class BiasVerdict(StrEnum):
    """What becomes of a parameter."""

    SOUND = "sound"
    DOUBTFUL = "doubtful"
    BIASED = "biased"


def residual_norm(factor: FloatArray, values: FloatArray) -> float:
    """‖Y − W χ‖ of rows that a factor stands for.

    Args:
        factor: R of the weighted [W Y], (parameters + 1, parameters + 1).
        values: χ, (parameters,).
    """
    return float(np.linalg.norm(factor[:, -1] - factor[:, :-1] @ values))


@dataclass(frozen=True, eq=False)
class ReferenceEstimate:
    """The estimate from the logs as they are.

    Args:
        names: the parameters, those that are estimated in every run.
        units: SI.
        values: X_LS, (parameters,).
        sigma: their standard deviations, (parameters,).
        factor: R of the weighted [W Y], (parameters + 1, parameters + 1).
        judged: which parameters thresholds rest on, (parameters,); by their own σ when None.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    values: FloatArray
    sigma: FloatArray
    factor: FloatArray
    judged: BoolArray | None = None

    @property
    def percent_sigma(self) -> FloatArray:
        """100 σ/|X_LS| (P1 eq 11)."""
        return np.asarray(100.0 * self.sigma / np.abs(self.values), dtype=float)

    @property
    def main_parameters(self) -> BoolArray:
        """The main parameters: known to 5 % from the logs as they are; others move whatever the sensor."""
        return np.asarray(self.percent_sigma <= BIASED_PERCENT) if self.judged is None else self.judged


@dataclass(frozen=True, eq=False)
class Outcome:
    """N runs of one setting.

    Args:
        setting: the sensor.
        reference: what they are compared with.
        estimates: X_CESTAC/k of all runs, (runs, parameters).
        law: χ̂/X_LS that the law expects, (parameters,); None where it says nothing.
        kappa: κ of each column alone, likewise.
    """

    setting: SensorSetting
    reference: ReferenceEstimate
    estimates: FloatArray
    law: FloatArray | None = None
    kappa: FloatArray | None = None

    def __post_init__(self) -> None:
        """Refuse a spread of one."""
        if len(self.estimates) < 2:
            raise DynidError(f"A study has {len(self.estimates)} run; a spread needs at least 2 (--runs).")

    @cached_property
    def mean(self) -> FloatArray:
        """Mean over the runs (P1 eq 18), (parameters,)."""
        return np.asarray(self.estimates.mean(axis=0), dtype=float)

    @cached_property
    def sigma(self) -> FloatArray:
        """Spread over the runs (P1 eq 19), (parameters,)."""
        return np.asarray(self.estimates.std(axis=0, ddof=1), dtype=float)

    @property
    def ratios(self) -> FloatArray:
        """Mean over X_LS, (parameters,)."""
        return np.asarray(self.mean / self.reference.values, dtype=float)

    @property
    def percent_sigma(self) -> FloatArray:
        """%σ (P1 eq 20), (parameters,)."""
        return np.asarray(100.0 * self.sigma / np.abs(self.mean), dtype=float)

    @property
    def percent_error(self) -> FloatArray:
        """%e_j (P1 eq 21), (parameters,)."""
        return np.asarray(100.0 * np.abs(1.0 - self.ratios), dtype=float)

    @cached_property
    def residual_percent(self) -> float:
        """%e(‖ρ‖) with the original W (P1 eq 22)."""
        own, first = (residual_norm(self.reference.factor, v) for v in (self.mean, self.reference.values))
        return 100.0 * abs(1.0 - own / first) if first > 0 else float("inf")

    @cached_property
    def shown_residual(self) -> float:
        """%e(‖ρ‖) less what the few runs leave open: the mean of N runs has a N-th of their spread in it."""
        R = self.reference.factor
        own, first = (residual_norm(R, v) for v in (self.mean, self.reference.values))
        n = len(self.estimates)
        spread = float(np.sum(((self.estimates - self.mean) @ R[:, :-1].T) ** 2)) / (n * (n - 1))
        return 100.0 * (max(own**2 - spread, first**2) ** 0.5 / first - 1.0) if first > 0 else float("inf")

    @property
    def shown_error(self) -> FloatArray:
        """%e_j less what the few runs leave open, (parameters,)."""
        error = 100.0 * self.sigma / np.abs(self.reference.values) / np.sqrt(len(self.estimates))
        return np.asarray(np.maximum(self.percent_error - _MEAN_ERRORS * error, 0.0), dtype=float)

    @property
    def verdicts(self) -> tuple[BiasVerdict, ...]:
        """Per parameter: sound when both %e are below 1, biased when both are above 5, else doubtful."""
        shown, residual = self.shown_error, self.shown_residual
        return tuple(
            BiasVerdict.SOUND
            if max(error, residual) < SOUND_PERCENT
            else BiasVerdict.BIASED
            if min(own, residual) > BIASED_PERCENT
            else BiasVerdict.DOUBTFUL
            for error, own in zip(self.percent_error, shown, strict=True)
        )

    @property
    def largest_error(self) -> tuple[float, str]:
        """The largest %e_j of a main parameter, and its name; zero of none where there is none."""
        judged = np.flatnonzero(self.reference.main_parameters)
        if not judged.size:
            return 0.0, "none"
        worst = judged[np.argmax(self.percent_error[judged])]
        return float(self.percent_error[worst]), self.reference.names[worst]

    def excess(self, percent: float) -> tuple[float, str]:
        """The largest shift over a limit, and whose it is: a main parameter's, or the residual's.

        Args:
            percent: the limit.
        """
        error, name = self.largest_error
        if error > self.shown_residual:
            return error / percent, name
        lost = np.linalg.norm(self.reference.factor[:, :-1], axis=0) * np.abs(
            self.mean - self.reference.values
        )
        names = self.reference.names
        return self.shown_residual / percent, f"the residual (most by {names[int(np.argmax(lost))]})"

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            **self.setting.to_dict(),
            "runs": len(self.estimates),
            "values": self.mean.tolist(),
            "ratios": self.ratios.tolist(),
            "percent_sigma": self.percent_sigma.tolist(),
            "percent_error": self.percent_error.tolist(),
            "residual_percent": self.residual_percent,
            "verdicts": [verdict.value for verdict in self.verdicts],
            "law_ratios": None if self.law is None else self.law.tolist(),
            "kappa": None if self.kappa is None else self.kappa.tolist(),
        }
