"""The rows of a problem with columns of nonlinear terms beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dynid.base.base_map import BaseMap
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.estimators.linear.least_squares import residual_sigma, with_undriven_sigma
from dynid.estimators.linear.terms import NonlinearTerm, Slot, own_constants, slots_of
from dynid.preparation.decimate import decimate_rows
from dynid.preparation.motion import Motion
from dynid.problem.factor import Spectrum, spectrum, triangular
from dynid.problem.problem import Problem
from dynid.problem.regression import JointRows
from dynid.problem.row_source import RowSource

_BLOCK = 5000
"""Samples whose regressor is held in memory at once."""
_STEP = 1e-5
"""Relative step of central differences by the constants."""


def needs_load(terms: Iterable[NonlinearTerm]) -> bool:
    """Whether a formula holds the load."""
    return any("load" in term.signals for term in terms)


def inertial_columns(base: BaseMap) -> NDArray[np.bool_]:
    """Base parameters of the links; what is regrouped into them, as Ia1 into ZZ1R, counts with them."""
    entries = base.robot.table.entries
    return np.array([entries[column].family == "inertial" for column in base.columns], dtype=bool)


def load_torques(base: BaseMap, values: FloatArray, motion: Motion) -> FloatArray:
    """W_inertial χ along a motion, (samples, coordinates) [N m or N].

    Args:
        base: base parameters of the robot.
        values: their values, (base,).
        motion: any motion.
    """
    own = np.where(inertial_columns(base), values, 0.0)
    load = np.empty(motion.q.shape)
    for rows, W in regressors(base, motion):
        load[rows] = np.einsum("jcs,c->sj", W, own)
    return load


def load_columns(base: BaseMap, motion: Motion, joint: int) -> FloatArray:
    """Derivatives of one joint's load by the base parameters, (base, samples)."""
    columns = np.empty((len(base.columns), motion.samples))
    for rows, W in regressors(base, motion):
        columns[:, rows] = W[joint]
    columns[~inertial_columns(base)] = 0.0
    return columns


def regressors(base: BaseMap, motion: Motion) -> Iterator[tuple[slice, FloatArray]]:
    """The regressor of successive samples of a motion, (coordinates, base, samples)."""
    source = RowSource(base.robot, base)
    for start in range(0, motion.samples, _BLOCK):
        rows = slice(start, min(start + _BLOCK, motion.samples))
        yield rows, source.along(motion, rows)


@dataclass(frozen=True, eq=False)
class AugmentedRows:
    """[W Φ(θ)] with Φ evaluated at full rate and decimated as the other columns were.

    Args:
        problem: the problem.
        terms: the nonlinear terms.
        slots: each term on each of its joints; one column of Φ each.
        motions: the motions at full rate.
        rows: rows per joint.
        kept: base parameters in use, (base,).
        loads: torques of inertia and weight along each motion, where a term holds them.
    """

    problem: Problem
    terms: tuple[NonlinearTerm, ...]
    slots: tuple[Slot, ...]
    motions: tuple[Motion, ...]
    rows: tuple[JointRows, ...]
    kept: NDArray[np.bool_]
    loads: tuple[FloatArray, ...] | None = None
    _last: dict[int, tuple[FloatArray, FloatArray]] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, problem: Problem, terms: tuple[NonlinearTerm, ...], kept: NDArray[np.bool_]) -> AugmentedRows:
        """The system of a problem that kept its rows and motions."""
        rows = tuple(problem.rows(j) for j in range(len(problem.regression.joints)))
        if problem.motions is None:
            raise DynidError(
                "The motions did not fit the memory budget, so terms that are not linear cannot be evaluated "
                "at full rate; use fewer experiments or a larger budget_bytes in build_problem."
            )
        return cls(problem, terms, slots_of(problem.robot, terms), problem.motions, rows, kept)

    def with_loads(self, values: FloatArray) -> AugmentedRows:
        """The system with the loads that base parameters give; itself when no term holds them."""
        if not needs_load(self.terms):
            return self
        loads = tuple(load_torques(self.problem.base, values, motion) for motion in self.motions)
        return replace(self, loads=loads, _last={})

    def bounds(self) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest values of the constants."""
        pairs = [slot.term.bound(name) for slot in self.slots for name in slot.term.constants]
        low, high = np.array(pairs, dtype=float).reshape(-1, 2).T
        return low, high

    def columns(self, theta: FloatArray) -> list[FloatArray]:
        """Φ: per slot, the column at the rows of its joint."""
        for i, (slot, own) in enumerate(zip(self.slots, own_constants(self.slots, theta), strict=True)):
            # A descent and a scan move one constant at a time: the other columns are still right.
            if i not in self._last or not np.array_equal(self._last[i][0], own):
                self._last[i] = own.copy(), self._column(slot, own)
        return [self._last[i][1] for i in range(len(self.slots))]

    def _column(self, slot: Slot, constants: FloatArray) -> FloatArray:
        rows = self.rows[slot.joint]
        column = np.empty(len(rows))
        for e, motion in enumerate(self.motions):
            values = slot.values(motion, constants, None if self.loads is None else self.loads[e])
            own, every = rows.experiment == e, slice(0, motion.samples)
            counted = motion.counted_values(every, np.array(values)[None], [slot.joint])
            column[own] = self._decimate(counted)[0, rows.sample[own]]
        return column

    def _decimate(self, rows: FloatArray) -> FloatArray:
        """Rows (·, samples) at full rate as the regression has them."""
        plan = self.problem.plan
        return rows if plan.decimation == 1 else decimate_rows(rows, plan.decimation, plan.convention)

    def own_sigma(self, theta: FloatArray) -> FloatArray:
        """σ̂_j of each joint from its own rows with the terms in place (P2 §II.C)."""
        columns = self.columns(theta)
        norms, degrees = np.zeros((2, len(self.rows)))
        for j, rows in enumerate(self.rows):
            own = [c for slot, c in zip(self.slots, columns, strict=True) if slot.joint == j]
            solved = spectrum(np.column_stack([rows.W, *own, rows.y]))
            norms[j], degrees[j] = solved.residual_norm, len(rows) - solved.rank
        return with_undriven_sigma(self.problem, residual_sigma(self.problem, norms, degrees))

    def projection(self, weights: FloatArray) -> Callable[[FloatArray], FloatArray]:
        """θ ↦ the weighted residual with everything linear solved for."""
        edges = np.concatenate([[0], np.cumsum([len(rows) for rows in self.rows])])
        width = len(self.kept)
        W = np.vstack(
            [w * rows.wide(width)[:, self.kept] for w, rows in zip(weights, self.rows, strict=True)]
        )
        y = np.concatenate([w * rows.y for w, rows in zip(weights, self.rows, strict=True)])
        lengths = np.linalg.norm(W, axis=0)
        Q = np.linalg.qr(W[:, lengths > 0])[0]
        left = y - Q @ (Q.T @ y)

        def residual(theta: FloatArray) -> FloatArray:
            phi = np.zeros((len(y), len(self.slots)))
            for i, (slot, column) in enumerate(zip(self.slots, self.columns(theta), strict=True)):
                phi[edges[slot.joint] : edges[slot.joint + 1], i] = weights[slot.joint] * column
            phi -= Q @ (Q.T @ phi)
            c = np.linalg.lstsq(phi, left, rcond=1e-10)[0]
            return np.asarray(left - phi @ c, dtype=float)

        return residual

    def solve(self, theta: FloatArray, weights: FloatArray) -> Spectrum:
        """Kept base parameters and coefficients at given constants."""
        return self.jacobian_spectrum(self._slot_columns(theta, len(self.slots)), weights)

    def jacobian(self, theta: FloatArray, coefficients: FloatArray) -> tuple[FloatArray, ...]:
        """Per joint, derivatives of the torque by coefficients and constants, (rows, slots + constants)."""
        parts = self._slot_columns(theta, len(self.slots) + len(theta))
        for i in range(len(theta)):
            step = np.zeros(len(theta))
            step[i] = _STEP * abs(theta[i])
            ahead, behind = self.columns(theta + step), self.columns(theta - step)
            for s, slot in enumerate(self.slots):
                slope = coefficients[s] * (ahead[s] - behind[s]) / (2 * step[i])
                parts[slot.joint][:, len(self.slots) + i] += slope
        return parts

    def load_jacobian(self, theta: FloatArray, coefficients: FloatArray) -> tuple[FloatArray, ...] | None:
        """Derivatives of the terms by the base parameters through the load, (rows, base) per joint."""
        if self.loads is None:
            return None
        parts = tuple(np.zeros((len(rows), len(self.kept))) for rows in self.rows)
        for slot, c, own in zip(self.slots, coefficients, own_constants(self.slots, theta), strict=True):
            if "load" not in slot.term.signals:
                continue
            j = slot.joint
            for e, (motion, load) in enumerate(zip(self.motions, self.loads, strict=True)):
                step = _STEP * max(float(np.sqrt(np.mean(load[:, j] ** 2))), 1e-12)
                ahead, behind = slot.values(motion, own, load + step), slot.values(motion, own, load - step)
                columns = load_columns(self.problem.base, motion, j) * (c * (ahead - behind) / (2 * step))
                here = self.rows[j].experiment == e
                parts[j][here] += self._decimate(columns)[:, self.rows[j].sample[here]].T
        return parts

    def _slot_columns(self, theta: FloatArray, width: int) -> tuple[FloatArray, ...]:
        """Columns of the slots at the rows of their joints, zero elsewhere: per joint (rows, width)."""
        parts = tuple(np.zeros((len(rows), width)) for rows in self.rows)
        for i, (slot, column) in enumerate(zip(self.slots, self.columns(theta), strict=True)):
            parts[slot.joint][:, i] = column
        return parts

    def jacobian_spectrum(
        self, parts: tuple[FloatArray, ...], weights: FloatArray, beside: tuple[FloatArray, ...] | None = None
    ) -> Spectrum:
        """Spectrum of the weighted [W, parts] of all joints.

        Args:
            parts: columns beside W, per joint.
            weights: of the joints' rows.
            beside: what the terms add to the columns of the base parameters, (rows, base) per joint.
        """
        stack = []
        for j, (w, rows, part) in enumerate(zip(weights, self.rows, parts, strict=True)):
            W = rows.wide(len(self.kept)) + (0.0 if beside is None else beside[j])
            block = np.column_stack([W[:, self.kept], part, rows.y])
            stack.append(triangular(w * block))
        return spectrum(np.vstack(stack))

    def residual(
        self, values: FloatArray, coefficients: FloatArray, theta: FloatArray
    ) -> tuple[FloatArray, ...]:
        """y minus everything, per joint (rows,)."""
        left = [rows.residual(values) for rows in self.rows]
        for slot, c, column in zip(self.slots, coefficients, self.columns(theta), strict=True):
            left[slot.joint] = left[slot.joint] - c * column
        return tuple(left)
