"""How sure an estimate is: what every kind of uncertainty answers, and the classical one."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from dynid.core.finding import Finding
from dynid.estimators.fit import Fit
from dynid.problem.problem import Problem

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Doubt:
    """A covariance and how it was found.

    Args:
        covariance: of the fit's columns.
        facts: figures by name, such as the lag chosen.
        findings: what deserves attention.
    """

    covariance: FloatArray
    facts: Mapping[str, Any] = field(default_factory=dict)
    findings: tuple[Finding, ...] = ()


@dataclass(frozen=True)
class Uncertainty(ABC):
    """A way to find the covariance of a fit."""

    name: ClassVar[str]

    @abstractmethod
    def doubt(self, problem: Problem, fit: Fit) -> Doubt:
        """Covariance of the fit's columns."""


@dataclass(frozen=True)
class Classical(Uncertainty):
    """σ̂² (WᵀW)⁻¹: right for errors that are white and do not depend on the motion (P1 eq 9–10).

    With disturbances inside the loop, friction that is not modelled or filtered torques it is several times
    too small; use "hac" or "bootstrap" then.
    """

    name = "classical"

    def doubt(self, problem: Problem, fit: Fit) -> Doubt:
        """The strategy's own covariance."""
        return Doubt(fit.covariance)
