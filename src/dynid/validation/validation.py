"""The validation: what a model's torques are worth on given motions."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.validation.figures import ErrorFigures
from dynid.validation.numbers import plain
from dynid.validation.parts import Shares
from dynid.validation.residual_tests import ResidualTests
from dynid.validation.verdict import Verdict

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class MotionFigures:
    """Figures of one motion.

    Args:
        name: name of the experiment.
        samples: samples at full rate.
        rate_hz: samples per second.
        full: errors at full rate, all rows.
        decimated: errors as the regression sees them (low-passed, decimated, slow rows left out), or None
            when the plan does neither.
        tests: residual tests, one per coordinate, on the decimated residual where there is one.
    """

    name: str
    samples: int
    rate_hz: float
    full: ErrorFigures
    decimated: ErrorFigures | None
    tests: tuple[ResidualTests, ...]

    @property
    def judged(self) -> ErrorFigures:
        """The figures comparable with the fit's residual."""
        return self.full if self.decimated is None else self.decimated

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "name": self.name,
            "samples": self.samples,
            "rate_hz": plain(self.rate_hz),
            "full": self.full.to_dict(),
            "decimated": None if self.decimated is None else self.decimated.to_dict(),
            "tests": [test.to_dict() for test in self.tests],
        }


@dataclass(frozen=True, eq=False)
class Validation:
    """How well a model predicts the torques of some motions.

    Args:
        joints: names of the coordinates.
        units: of their torques.
        motions: figures of each motion.
        full: errors over all motions at full rate.
        decimated: errors over all motions as the regression sees them, or None; this is the figure to hold
            against the residual of the fit.
        tests: residual tests over all motions, one per coordinate.
        shares: sizes of the parts of the torque.
        doubt_rms: root mean square of the predicted torque's standard deviation that comes from the
            parameters' covariance, per coordinate [N m or N]; None without a covariance.
        seen: whether these are the motions of the fit.
        verdict: may the model be used.
        repeated: whether these are new motions that repeat those of the fit.
    """

    joints: tuple[str, ...]
    units: tuple[str, ...]
    motions: tuple[MotionFigures, ...]
    full: ErrorFigures
    decimated: ErrorFigures | None
    tests: tuple[ResidualTests, ...]
    shares: Shares
    doubt_rms: FloatArray | None
    seen: bool
    verdict: Verdict
    repeated: bool = False

    @property
    def judged(self) -> ErrorFigures:
        """The figures comparable with the fit's residual."""
        return self.full if self.decimated is None else self.decimated

    @property
    def trustworthy(self) -> bool:
        """Whether the model may be used, if need be with care."""
        return self.verdict.trustworthy

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON; figures that do not exist are None."""
        return {
            "joints": list(self.joints),
            "units": list(self.units),
            "seen": self.seen,
            "repeated": self.repeated,
            "verdict": self.verdict.to_dict(),
            "full": self.full.to_dict(),
            "decimated": None if self.decimated is None else self.decimated.to_dict(),
            "motions": [motion.to_dict() for motion in self.motions],
            "tests": [test.to_dict() for test in self.tests],
            "parts": self.shares.to_dict(),
            "doubt_rms": None if self.doubt_rms is None else plain(self.doubt_rms),
        }
