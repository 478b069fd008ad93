"""The estimate: base parameters with their doubt, able to judge itself."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding
from dynid.core.plain import plain

if TYPE_CHECKING:
    from dynid.consistency.system import DataRows
    from dynid.problem.problem import Problem

SIGMA_WORDS = {"classical": "classical", "blocks": "block", "hac": "HAC", "bootstrap": "bootstrap"}
"""What σ is called in sentences, by how it was found."""


@dataclass(frozen=True, eq=False)
class Further:
    """Parameters beside the base ones: coefficients and inner constants of added terms.

    Args:
        names: such as ``Stribeck1`` and ``Stribeck1.vs``.
        units: SI units; empty where a constant's unit is not known.
        values: (further,).
        covariance: of the base parameters followed by these, (base + further, base + further).
        terms: the terms they belong to.
        ranges: of each term on each of its joints, lowest and highest value of its signals in the motions of
            the fit, by signal; empty where an earlier version has kept none.
    """

    names: tuple[str, ...]
    units: tuple[str, ...]
    values: FloatArray
    covariance: FloatArray
    terms: tuple[Any, ...] = ()
    ranges: tuple[Mapping[str, tuple[float, float]], ...] = ()

    @property
    def sigma(self) -> FloatArray:
        """Standard deviations of these parameters."""
        return np.sqrt(np.maximum(np.diag(self.covariance)[-len(self.values) :], 0.0))


@dataclass(frozen=True, eq=False, repr=False)
class Estimate:
    """Identified parameters.

    Args:
        problem: what was solved.
        strategy: name and options of the estimator.
        values: base parameters in the order of ``problem.base``; those removed as not essential are zero.
        covariance: (base, base); rows and columns of removed parameters are zero.
        kept: which base parameters were estimated, (base,) of bool.
        joint_sigma: standard deviation of the error of each joint's torque, (coordinates,).
        uncertainty: "classical", "blocks", "hac" or "bootstrap": how the covariance was found; the fact
            ``uncertainty_reason`` says why, where it was chosen.
        iterations: passes taken.
        outcome: how it ended; ``FINE`` when nothing speaks against the values.
        findings: what else deserves attention.
        facts: further figures by name (condition numbers, residual norms, removed parameters, weights …),
            ready for JSON; docs/estimators.md lists them.
        further: parameters beside the base ones, from separable least squares.
        information: what the fit knows about the base parameters, as rows of unit noise; of the fit with all
            parameters where some were removed, and before values were held; None where there is too little.
    """

    problem: Problem
    strategy: Mapping[str, Any]
    values: FloatArray
    covariance: FloatArray
    kept: NDArray[np.bool_]
    joint_sigma: FloatArray
    uncertainty: str
    iterations: int
    outcome: Finding
    findings: tuple[Finding, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    further: Further | None = None
    information: DataRows | None = None

    def __repr__(self) -> str:
        """How it was found, how it ended, and the first parameters."""
        shown = zip(self.names[:8], self.values, self.sigma, self.units, strict=False)
        kept = f"{int(self.kept.sum())} of {len(self.values)} parameters"
        head = f"Estimate of {self.problem.robot.name!r} by {self.strategy.get('name')}: {kept}"
        lines = [f"{head}, {self.uncertainty} σ, {self.outcome.name}"]
        lines += [f"  {name} = {value:.4g} ± {sigma:.2g} {unit}" for name, value, sigma, unit in shown]
        return "\n".join(lines + (["  …"] if len(self.values) > 8 else []))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the base parameters."""
        return self.problem.base.names

    @property
    def units(self) -> tuple[str, ...]:
        """SI units of the base parameters."""
        return self.problem.base.units

    @property
    def undetermined(self) -> NDArray[np.bool_]:
        """Base parameters that the rows cannot tell (rank deficient), (base,)."""
        lost = set(self.facts.get("undetermined", ()))
        return np.array([name in lost for name in self.names])

    @property
    def sigma(self) -> FloatArray:
        """Standard deviations of the parameters; zero for removed ones, infinite for undetermined ones."""
        known = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return np.where(self.undetermined, np.inf, known)

    @property
    def relative_sigma(self) -> FloatArray:
        """%σ = 100 σ / |value| (P1 eq 11); infinite where the value is zero."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.values != 0, 100 * self.sigma / np.abs(self.values), np.inf)

    @property
    def correlation(self) -> FloatArray:
        """Correlation between the parameters, (base, base); one on the diagonal, zero for removed ones."""
        deviations = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        inverse = np.divide(1.0, deviations, out=np.zeros_like(deviations), where=deviations > 0)
        matrix = np.clip(self.covariance * np.outer(inverse, inverse), -1.0, 1.0)
        np.fill_diagonal(matrix, 1.0)
        return np.asarray(matrix, dtype=float)

    def to_dict(self) -> dict[str, Any]:
        """How the values were found, ready for JSON; infinite figures are None."""
        return {
            "strategy": plain(self.strategy),
            "uncertainty": self.uncertainty,
            "iterations": self.iterations,
            "outcome": plain(self.outcome.to_dict()),
            "findings": [plain(finding.to_dict()) for finding in self.findings],
            "joint_sigma": plain(self.joint_sigma),
            "n_kept": int(self.kept.sum()),
            "n_base": len(self.values),
            "removed": [name for name, kept in zip(self.names, self.kept, strict=True) if not kept],
            "facts": plain(self.facts),
        }
