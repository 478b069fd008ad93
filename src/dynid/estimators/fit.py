"""What a strategy hands over: values, and the pieces from which any uncertainty is made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding
from dynid.estimators.estimate import Further
from dynid.problem.factor import Spectrum
from dynid.problem.problem import Problem

if TYPE_CHECKING:
    from dynid.consistency.possible_robot import Projection
    from dynid.estimators.strategy import Strategy


@dataclass(frozen=True, eq=False)
class Fit:
    """A solved problem, linearised at its solution: error = T Tᵀ Σ W_tᵀ s_t ρ_t, T Tᵀ = (Σ W_tᵀ h_t W_t)⁻¹.

    Columns are the kept base parameters, followed by further ones where the strategy has them.

    Args:
        values: base parameters (base,); zero where not kept.
        kept: which base parameters were estimated (base,).
        root: T (columns, rank).
        covariance: classical covariance of the columns (columns, columns).
        spectrum: singular values of the system that was solved.
        row_weights: h per joint, (coordinates,).
        score_weights: s of each row, per joint; None where it is ``row_weights`` on every row.
        joint_sigma: standard deviation of each joint's error [N m or N], (coordinates,).
        sigma: σ̂ of the system that was solved (P1 eq 9).
        degrees: rows less parameters.
        weights: what each joint's rows were multiplied by, (coordinates,).
        iterations: passes taken.
        converged: whether the passes came to rest.
        problem_outcome: an outcome only this strategy can name, or None.
        findings: what deserves attention beside the outcome.
        facts: further figures by name.
        further: parameters beside the base ones, with their columns.
        exact: residuals below this share of the torque are rounding; their shape says nothing.
        instruments: per joint, rows (rows, base) that stand for W in the scores; None where they are W.
        beside: another fit of the same rows from which this one departed by choice: with all parameters
            before some were removed, or by least squares where this is total least squares. No residual tells
            whether the choice was right, so C = C_beside + δ δᵀ, δ the distance of the two. None where
            nothing was chosen.
        project: to the nearest possible robot, where the values were brought there from ``beside``; their
            uncertainty is then that of such values. None where nothing holds the values.
        exact_columns: whether columns are free of measured errors, so that errors which cancel over time hide
            no bias of the values.
    """

    values: FloatArray
    kept: NDArray[np.bool_]
    root: FloatArray
    covariance: FloatArray
    spectrum: Spectrum
    row_weights: FloatArray
    score_weights: tuple[FloatArray, ...] | None
    joint_sigma: FloatArray
    sigma: float
    degrees: int
    weights: FloatArray
    iterations: int = 1
    converged: bool = True
    problem_outcome: Finding | None = None
    findings: tuple[Finding, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)
    further: FurtherColumns | None = None
    exact: float = 1e-8
    instruments: tuple[FloatArray, ...] | None = None
    beside: Fit | None = None
    project: Projection | None = None
    exact_columns: bool = False

    @classmethod
    def weighted(
        cls,
        values: FloatArray,
        kept: NDArray[np.bool_],
        spectrum: Spectrum,
        weights: FloatArray,
        joint_sigma: FloatArray,
        squares: float,
        degrees: int,
        **others: Any,
    ) -> Fit:
        """A fit with one weight per joint: C = σ̂² T Tᵀ, σ̂² the weighted squares per degree of freedom.

        Args:
            values: see ``Fit``.
            kept: see ``Fit``.
            spectrum: of the weighted system; T is its root.
            weights: see ``Fit``.
            joint_sigma: see ``Fit``.
            squares: Σ w_j² ‖ρ_j‖².
            degrees: see ``Fit``.
            **others: further fields of ``Fit``.
        """
        variance = squares / degrees if degrees > 0 else 0.0
        root = spectrum.root
        return cls(
            values=values,
            kept=kept,
            root=root,
            covariance=variance * root @ root.T,
            spectrum=spectrum,
            row_weights=weights**2,
            score_weights=None,
            joint_sigma=joint_sigma,
            sigma=float(np.sqrt(variance)),
            degrees=degrees,
            weights=weights,
            **others,
        )

    def residual_norms(self, problem: Problem) -> FloatArray:
        """‖y_j − ŷ_j‖ per joint, with parameters beside the base ones where there are some."""
        if self.further is None:
            return problem.residual_norms(self.values)
        return np.array([np.linalg.norm(rows) for rows in self.further.residual])

    @property
    def column_values(self) -> FloatArray:
        """Values of the columns: kept base parameters, then further ones."""
        further = () if self.further is None else self.further.parameters.values
        return np.concatenate([self.values[self.kept], further])

    @property
    def undetermined(self) -> NDArray[np.bool_]:
        """Base parameters the rows cannot tell, (base,)."""
        lost = np.zeros(len(self.values), dtype=bool)
        chosen = np.flatnonzero(self.kept)
        for group in self.spectrum.confused_columns:
            lost[[chosen[i] for i in group if i < len(chosen)]] = True
        return lost


@dataclass(frozen=True, eq=False)
class FurtherColumns:
    """Parameters beside the base ones and the rows that belong to them.

    Args:
        parameters: names, units, values and terms; covariance filled in later.
        columns: per joint (rows, further parameters): the derivative of the torque by each.
        residual: per joint, y minus all terms (rows,).
    """

    parameters: Further
    columns: tuple[FloatArray, ...]
    residual: tuple[FloatArray, ...]


@dataclass(frozen=True, eq=False)
class Solved:
    """A problem, solved.

    Args:
        problem: the linear problem at the solution, for residuals, conditions and reports.
        fit: values and what any uncertainty is made from.
        origin: what the fit was made from, where that is not the strategy's own fit of ``problem``.
    """

    problem: Problem
    fit: Fit
    origin: Origin | None = None

    @property
    def scored_problem(self) -> Problem:
        """The problem whose rows and residuals the uncertainty is made from."""
        return self.problem if self.origin is None else self.origin.problem


@dataclass(frozen=True, eq=False)
class Origin:
    """The linear problem a fit solved, and how: for its uncertainty and for essential parameters.

    Args:
        problem: rows linearised at the solution; positions for output error.
        strategy: solves it for fewer parameters.
    """

    problem: Problem
    strategy: Strategy
