"""Separable least squares: constants inside friction terms outside, everything linear inside."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, unknown_name
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.estimate import Further
from dynid.estimators.fit import Fit, FurtherColumns
from dynid.estimators.linear.augmented import AugmentedRows, needs_load
from dynid.estimators.linear.catalogue import STRIBECK
from dynid.estimators.linear.least_squares import kept_mask, weights_of
from dynid.estimators.linear.terms import NonlinearTerm, own_constants
from dynid.estimators.strategy import Strategy
from dynid.problem.problem import Problem

_EXACT = 1e-8
"""Share of the joint's torque below which a term is rounding."""
_SETTLE, _SETTLED = 60, 1e-8
"""Rounds in which load and parameters follow from each other at most, and the relative change of the load at
which they have settled."""
_ROUNDS = 2
"""Descents: the second with the weights that the first leads to."""
_TRIED = np.logspace(-1.5, 1.5, 13)
"""Multiples of a first guess that are tried."""
_SPEEDS = 12
"""Speeds of the motion that are tried for a constant that is a speed."""
_SWEEPS = 2
"""Scans over all constants: the second begins with the best of the first."""


@dataclass(frozen=True, kw_only=True)
class Separable(Strategy):
    """Variable projection: min over θ of ‖(I − A A⁺) Y‖, A(θ) = [W Φ(θ)] (Golub and Pereyra 1973).

    θ are the constants inside the friction terms; base parameters and the terms' coefficients are solved
    exactly for each θ. The covariance of all of them comes from the full Jacobian [W Φ ∂Φ/∂θ·c]. Where terms
    hold the load W_inertial χ, load and parameters are solved for in turn until both settle; the Jacobian
    then holds ∂Φ/∂χ·c too.

    Args:
        terms: terms beside the robot's own parameters.
        start: first guesses by constant name, for all joints ("vs") or for one ("vs2"); else the terms' own.
        weighted: divide each joint's rows by σ̂_j, found with the terms in place.
        iterations: evaluations of a descent at most.
    """

    terms: tuple[NonlinearTerm, ...] = (STRIBECK,)
    start: Mapping[str, float] = field(default_factory=dict)
    weighted: bool = True
    iterations: int = 200

    @property
    def is_least_squares(self) -> bool:
        """It is, beside its terms."""
        return True

    @property
    def streams(self) -> bool:
        """No: its columns are evaluated along the motions anew for every guess of the constants."""
        return False

    @property
    def takes_terms(self) -> bool:
        """Yes: in place of its own."""
        return True

    @property
    def has_terms(self) -> bool:
        """Yes."""
        return True

    def with_terms(self, terms: tuple[NonlinearTerm, ...]) -> Strategy:
        """The same with other terms."""
        return replace(self, terms=terms)

    def fit(self, problem: Problem, kept: NDArray[np.bool_] | None = None) -> Fit:
        """Descend over the constants and solve the rest."""
        system = AugmentedRows.of(problem, self.terms, kept_mask(problem, kept))
        theta = self._guess(system)
        if not needs_load(self.terms):
            _require_finite(system, theta)
            found = self._descend(system, theta, scan=True)
            return _result(problem, found, max(found.used, 1))
        # Load and parameters follow from each other: begin without the terms and go round until both settle.
        system = system.with_loads(_plain_values(system))
        _require_finite(system, theta)
        found = self._descend(system, theta, scan=True)
        used, settled = found.used, False
        for _ in range(_SETTLE):
            before = found.system.loads
            system = system.with_loads(found.values)
            settled = _loads_settled(before, system.loads)
            found = self._descend(system, found.theta, scan=False)
            used += found.used + 1
            if settled:
                break
        return _result(problem, replace(found, converged=found.converged and settled), used)

    def _descend(self, system: AugmentedRows, theta: FloatArray, scan: bool) -> _Descent:
        """Constants and weights for given loads."""
        from scipy.optimize import least_squares

        low, high = system.bounds()
        used, converged = 0, True
        weights = np.ones(len(system.rows))
        for _ in range(_ROUNDS if self.weighted else 1):
            if self.weighted:
                weights = weights_of(system.own_sigma(theta))
            if not theta.size:
                break
            projected = system.projection(weights)
            best = scan_constants(system, projected, theta) if scan and not used else theta
            size = np.maximum(np.abs(best), 1e-12)
            # Relative constants, so that one tolerance serves all of them.
            found = least_squares(
                lambda u, size=size, projected=projected: projected(u * size),
                best / size,
                jac="2-point",
                bounds=(low / size, high / size),
                max_nfev=self.iterations,
                xtol=1e-9,
                ftol=1e-12,
                gtol=1e-12,
            )
            theta, converged = found.x * size, bool(found.status > 0)
            used += int(found.nfev)
        sigma = system.own_sigma(theta)
        if self.weighted:
            weights = weights_of(sigma)
        return _Descent(system, theta, weights, sigma, used, converged)

    def _guess(self, system: AugmentedRows) -> FloatArray:
        known = {name for slot in system.slots for name in (*slot.constants, *slot.term.constants)}
        for name in self.start:
            if name not in known:
                raise unknown_name("constant", name, known)
        guesses = []
        for slot in system.slots:
            for plain, own in zip(slot.term.constants, slot.constants, strict=True):
                guesses.append(self.start.get(own, self.start.get(plain, slot.term.start[plain])))
        return np.array(guesses, dtype=float)

    def __post_init__(self) -> None:
        """Refuse a fit without terms."""
        super().__post_init__()
        if not self.terms:
            raise DynidError("Separable was given no terms; give at least one, or use WLS.")


@dataclass(frozen=True, eq=False)
class _Descent:
    """Where a descent ended: constants, weights, σ̂ of the joints; everything linear follows."""

    system: AugmentedRows
    theta: FloatArray
    weights: FloatArray
    sigma: FloatArray
    used: int
    converged: bool

    @property
    def solution(self) -> FloatArray:
        """Kept base parameters and coefficients."""
        return self.system.solve(self.theta, self.weights).solution

    @property
    def values(self) -> FloatArray:
        """Base parameters, (base,)."""
        return _base_values(self.system, self.solution)


def _require_finite(system: AugmentedRows, theta: FloatArray) -> None:
    """Refuse formulas that are no numbers at the first guesses."""
    for slot, column in zip(system.slots, system.columns(theta), strict=True):
        slot.term.require_finite(column, slot.joint)


def _base_values(system: AugmentedRows, solution: FloatArray) -> FloatArray:
    values = np.zeros(len(system.kept))
    values[system.kept] = solution[: int(system.kept.sum())]
    return values


def _plain_values(system: AugmentedRows) -> FloatArray:
    """Base parameters without any term."""
    empty = tuple(np.zeros((len(rows), 0)) for rows in system.rows)
    return _base_values(system, system.jacobian_spectrum(empty, np.ones(len(system.rows))).solution)


def _loads_settled(before: tuple[FloatArray, ...] | None, after: tuple[FloatArray, ...] | None) -> bool:
    """Whether loads have settled."""
    pairs = list(zip(before or (), after or (), strict=True))
    moved = sum(float(np.sum((a - b) ** 2)) for a, b in pairs)
    return moved <= _SETTLED**2 * sum(float(np.sum(b**2)) for _, b in pairs)


def _result(problem: Problem, found: _Descent, used: int) -> Fit:
    system, theta, weights = found.system, found.theta, found.weights
    solution, count = found.solution, int(found.system.kept.sum())
    coefficients, values = solution[count:], _base_values(system, solution)
    columns = system.jacobian(theta, coefficients)
    solved = system.jacobian_spectrum(columns, weights, system.load_jacobian(theta, coefficients))
    residual = system.residual(values, coefficients, theta)
    degrees = int(problem.row_counts.sum()) - solved.rank
    squares = sum(float(w**2 * r @ r) for w, r in zip(weights, residual, strict=True))
    loads = (None,) * len(system.motions) if system.loads is None else system.loads
    further = Further(
        tuple(s.coefficient for s in system.slots) + tuple(n for s in system.slots for n in s.constants),
        tuple(s.unit for s in system.slots) + tuple(u for s in system.slots for u in s.constant_units),
        np.concatenate([coefficients, theta]),
        np.zeros((0, 0)),
        system.terms,
        tuple(slot.ranges(system.motions, loads) for slot in system.slots),
    )
    fit = Fit.weighted(
        values,
        system.kept,
        solved,
        weights,
        found.sigma,
        squares,
        degrees,
        iterations=used,
        converged=found.converged,
        further=FurtherColumns(further, columns, residual),
    )
    sigma = np.sqrt(np.diag(fit.covariance))[count:]
    return replace(fit, findings=_findings(system, columns, further, sigma))


def fit_beside_terms(
    problem: Problem,
    kept: NDArray[np.bool_],
    values: FloatArray,
    further: Further,
    weights: FloatArray | None = None,
) -> Fit:
    """Weighted least squares on [W Φ ∂Φ/∂θ·c], the terms and their constants being those of a model.

    Where the model is the best one for these weights, the values come out as they were.

    Args:
        problem: with rows and motions.
        kept: base parameters in use, (base,).
        values: base parameters of the model, which give the load, (base,).
        further: its terms, coefficients c and constants θ.
        weights: of the joints; from their errors with the terms in place when None.
    """
    system = AugmentedRows.of(problem, further.terms, kept).with_loads(values)
    coefficients, theta = np.split(further.values, [len(system.slots)])
    sigma = system.own_sigma(theta)
    weights = weights_of(sigma) if weights is None else weights
    columns = system.jacobian(theta, coefficients)
    solved = system.jacobian_spectrum(columns, weights)
    found, count = _base_values(system, solved.solution), int(kept.sum())
    residual = tuple(
        rows.residual(found) - own @ solved.solution[count:]
        for rows, own in zip(system.rows, columns, strict=True)
    )
    degrees, squares = int(problem.row_counts.sum()) - solved.rank, solved.residual_norm**2
    beside = FurtherColumns(further, columns, residual)
    return Fit.weighted(found, kept, solved, weights, sigma, squares, degrees, further=beside)


def _findings(
    system: AugmentedRows, columns: tuple[FloatArray, ...], further: Further, sigma: FloatArray
) -> tuple[Finding, ...]:
    """Terms the motion does not show: the coefficient is within its doubt, or a constant at a bound."""
    low, high = system.bounds()
    theta = further.values[len(system.slots) :]
    at_bound = (theta <= low * (1 + 1e-6)) | (theta >= high * (1 - 1e-6))
    unseen = []
    for i, (slot, stuck) in enumerate(zip(system.slots, own_constants(system.slots, at_bound), strict=True)):
        share = abs(further.values[i]) * np.linalg.norm(columns[slot.joint][:, i])
        rounding = _EXACT * np.linalg.norm(system.rows[slot.joint].y)
        if np.any(stuck) or share < rounding or abs(further.values[i]) < 2 * sigma[i]:
            unseen.append(slot.coefficient)
    if not unseen:
        return ()
    said = f"The motion does not show {', '.join(unseen)}; leave the term out on these joints."
    return (Finding(Name.FRICTION_SHAPE, Level.NOTE, said),)


def _candidates(system: AugmentedRows, start: FloatArray) -> list[FloatArray]:
    """Values that are tried of each constant: around both guesses, and speeds over those of the motion."""
    low, high = system.bounds()
    tried, i = [], 0
    for slot in system.slots:
        speeds = np.concatenate([np.abs(motion.qd[:, slot.joint]) for motion in system.motions])
        for name in slot.term.constants:
            values = [start[i] * _TRIED, slot.term.start[name] * _TRIED]
            if slot.term.constant_units.get(name, "").endswith("/s") and np.any(speeds > 0):
                ends = np.quantile(speeds[speeds > 0], [0.02, 1.0])
                values.append(np.geomspace(ends[0], ends[1], _SPEEDS))
            tried.append(np.unique(np.clip(np.concatenate(values), low[i], high[i])))
            i += 1
    return tried


def scan_constants(
    system: AugmentedRows, projected: Callable[[FloatArray], FloatArray], start: FloatArray
) -> FloatArray:
    """The best of a scan over each constant in turn, from where a descent ends in the deepest valley.

    Args:
        system: the problem with its terms.
        projected: residual for given constants.
        start: first guesses.
    """
    best, misfit = start, float(np.sum(projected(start) ** 2))
    tried = _candidates(system, start)
    for _ in range(_SWEEPS):
        for i, values in enumerate(tried):
            for value in values:
                trial = best.copy()
                trial[i] = value
                found = float(np.sum(projected(trial) ** 2))
                if found < misfit:
                    best, misfit = trial, found
    return best
