"""Does the residual show an effect that the model lacks, and which parameters does it move?

An effect changes the torque by s θ to first order. What of s the columns of W cannot explain is
z = s − Q Qᵀ s, Q an orthonormal basis of the weighted W; then θ̂ = zᵀρ / zᵀz, with a standard error from
blocks of time, and the estimate is off by T Qᵀ s θ̂: a bias that no σ tells. Two effects are asked about:
torques that belong to another moment than the motion (s = −ḟ, f = W χ̂), and friction that is not
Fv q̇ + Fc sign(q̇), near rest (s = sign(q̇) exp(−|q̇|/v₀): a smooth sign, Stribeck's, reversals that a mask
is too narrow for) or at speed (s = q̇|q̇|).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import option_words
from dynid.core.finding import Finding, Level, Name, Where
from dynid.estimators.estimate import Estimate
from dynid.estimators.honest import few_blocks_factor
from dynid.estimators.linear.least_squares import WLS, root_over_base
from dynid.problem.problem import Problem
from dynid.problem.regression import JointRows


@dataclass(frozen=True)
class EffectRules:
    """When an effect is told.

    Set on 60 drawn logs of five robots; ``tests/checks/test_lacking_effects.py`` prints the rates on others.

    Args:
        clear: |θ̂| over its standard error above which an effect is seen; sound logs stay below 4.5, those
            with noise of positions inside the loop below 5.5.
        told_sigma: σ that a parameter must be moved by to be worth a note …
        care_sigma: … and to ask for care, where it is not friction itself …
        friction_sigma: … or where it is and friction differs near rest. At speed it never does: there two
            shapes of friction only differ in what they call Fv and Fc.
        near_rest: v₀ as a share of the rms speed.
        blocks: of time, for the standard error.
        most_rows: rows beyond which it would take too long.
    """

    clear: float = 6.0
    told_sigma: float = 1.0
    care_sigma: float = 2.0
    friction_sigma: float = 10.0
    near_rest: float = 0.15
    blocks: int = 10
    most_rows: int = 300_000


RULES = EffectRules()
_NAMED = 3
"""Parameters that a sentence names at most."""


@dataclass(frozen=True, eq=False)
class LackingEffect:
    """An effect as the residual shows it.

    Args:
        size: θ̂, in the unit of its column.
        clarity: |θ̂| over its standard error.
        explained: squares of the weighted residual that it takes away.
        moved: how far it moves the kept parameters, in their σ, (kept,).
    """

    size: float
    clarity: float
    explained: float
    moved: FloatArray

    def level(self, care_sigma: FloatArray | float) -> Level | None:
        """How grave it is; None where it is not seen or moves nothing.

        Args:
            care_sigma: σ from which a parameter that is moved asks for care, (kept,) or one for all.
        """
        moved = np.abs(self.moved)
        if self.clarity < RULES.clear or np.max(moved, initial=0.0) < RULES.told_sigma:
            return None
        return Level.CARE if np.any(moved >= care_sigma) else Level.NOTE


def bias_of_lacking_effects(estimate: Estimate) -> tuple[Finding, ...]:
    """A finding per effect that moves parameters by more than σ; none where the residual shows none.

    Args:
        estimate: by least squares on measured motion.
    """
    problem = estimate.problem
    total = int(problem.row_counts.sum())
    solvable = problem.has_rows and estimate.outcome.trustworthy and estimate.further is None
    if not solvable or not 0 < total <= RULES.most_rows:
        return ()
    court = _Court.of(problem, estimate)
    found = [_lag_finding(court.effect(court.lag_columns()), estimate)]
    for j, shapes in court.friction_columns().items():
        rest, fast = (court.effect({j: column}) for column in shapes)
        near_rest = rest.explained >= fast.explained
        found.append(_friction_finding(rest if near_rest else fast, near_rest, estimate, j))
    return tuple(finding for finding in found if finding is not None)


@dataclass(frozen=True, eq=False)
class _Court:
    """Weighted rows of all joints: the regression in orthonormal columns, and what it leaves.

    Args:
        problem: the problem.
        rows: per joint.
        root: T (kept, rank).
        basis: Q per joint, (rows, rank).
        residual: ρ per joint (rows,), weighted.
        weights: of the joints.
        values: base parameters.
        sigma: of the kept parameters.
    """

    problem: Problem
    rows: tuple[JointRows, ...]
    root: FloatArray
    basis: tuple[FloatArray, ...]
    residual: tuple[FloatArray, ...]
    weights: FloatArray
    values: FloatArray
    sigma: FloatArray

    @classmethod
    def of(cls, problem: Problem, estimate: Estimate) -> _Court:
        """From least squares with the joints' own weights, for the parameters that were kept."""
        fit = WLS().fit(problem, estimate.kept)
        full, w = root_over_base(fit.root, fit.kept), fit.weights
        rows = tuple(problem.rows(j) for j in range(len(w)))
        basis = tuple(w[j] * (r.W @ full[list(r.columns)]) for j, r in enumerate(rows))
        residual = tuple(w[j] * r.residual(fit.values) for j, r in enumerate(rows))
        return cls(problem, rows, fit.root, basis, residual, w, fit.values, estimate.sigma[estimate.kept])

    def effect(self, columns: Mapping[int, FloatArray]) -> LackingEffect:
        """Size, clarity and effect of a column, given per joint that feels it."""
        weighted = {j: self.weights[j] * column for j, column in columns.items()}
        inside = sum((self.basis[j].T @ s for j, s in weighted.items()), np.zeros(self.root.shape[1]))
        outside = [weighted.get(j, 0.0) - Q @ inside for j, Q in enumerate(self.basis)]
        power = sum(float(z @ z) for z in outside)
        if power <= 0:
            return LackingEffect(0.0, 0.0, 0.0, np.zeros(len(self.root)))
        size = sum(float(z @ r) for z, r in zip(outside, self.residual, strict=True)) / power
        pulls = self._block_sums([z * (r - size * z) for z, r in zip(outside, self.residual, strict=True)])
        error = few_blocks_factor(len(pulls) - 1) * float(np.linalg.norm(pulls)) / power
        moved = self.root @ inside * size / self.sigma
        return LackingEffect(size, abs(size) / error if error > 0 else 0.0, size**2 * power, moved)

    def _block_sums(self, parts: list[FloatArray]) -> FloatArray:
        lengths = np.array([e.regression_samples for e in self.problem.experiments])
        before = np.concatenate([[0], np.cumsum(lengths)])
        sums = np.zeros(RULES.blocks)
        for rows, part in zip(self.rows, parts, strict=True):
            where = (before[rows.experiment] + rows.sample) * RULES.blocks // before[-1]
            sums += np.bincount(where, part, RULES.blocks)
        return sums

    def lag_columns(self) -> dict[int, FloatArray]:
        """−ḟ per joint: what torques change by that are one second late."""
        step = np.array([e.step_s for e in self.problem.experiments])
        found = {}
        for j, rows in enumerate(self.rows):
            torque = rows.W @ self.values[list(rows.columns)]
            next_to = (np.diff(rows.sample) == 1) & (np.diff(rows.experiment) == 0)
            slope = np.where(next_to, np.diff(torque) / step[rows.experiment[1:]], 0.0)
            sides = np.append(next_to, 0) + np.append(0, next_to)
            found[j] = -(np.append(slope, 0.0) + np.append(0.0, slope)) / np.maximum(sides, 1)
        return found

    def friction_columns(self) -> dict[int, tuple[FloatArray, FloatArray]]:
        """sign(q̇) exp(−|q̇|/v₀) and q̇|q̇| per joint that has viscous and Coulomb friction."""
        base, robot = self.problem.base, self.problem.robot
        entries = [robot.table.entries[c] for c in base.columns]
        found = {}
        for j, rows in enumerate(self.rows):
            own = {
                entries[c].symbol: rows.W[:, k]
                for k, c in enumerate(rows.columns)
                if entries[c].family == "friction" and entries[c].joint == robot.coordinates[j]
            }
            if "Fv" in own and "Fc" in own and np.any(own["Fv"]):
                speed = np.abs(own["Fv"])
                slow = RULES.near_rest * float(np.sqrt(np.mean(speed**2)))
                found[j] = own["Fc"] * np.exp(-speed / slow), own["Fv"] * speed
        return found


def _lag_finding(seen: LackingEffect, estimate: Estimate) -> Finding | None:
    level = seen.level(RULES.care_sigma)
    if level is None:
        return None
    rate = estimate.problem.experiments[0].rate_hz
    late = "late" if seen.size > 0 else "early"
    # Torques that come before the motion are those of a controller that holds them.
    held = "" if seen.size > 0 else ", as a controller that holds its torque makes them"
    return Finding(
        Name.TORQUE_LAG,
        level,
        f"The torques are {1e3 * abs(seen.size):.3g} ms ({abs(seen.size) * rate:.2g} samples) {late} against "
        f"the motion{held}: {_effects(seen, estimate)}.",
        f"Add {seen.size:.2g} to delay_s of the torque in the mapping (0 where it has none), or log faster.",
        figures={"lag_s": seen.size, "clarity": seen.clarity},
    )


def _friction_finding(seen: LackingEffect, near_rest: bool, estimate: Estimate, joint: int) -> Finding | None:
    problem, robot = estimate.problem, estimate.problem.robot
    families = np.array([robot.table.entries[c].family for c in problem.base.columns])[estimate.kept]
    own = RULES.friction_sigma if near_rest else np.inf
    level = seen.level(np.where(families == "friction", own, RULES.care_sigma))
    if level is None:
        return None
    masks = problem.plan.speed_thresholds
    now = f"now {masks[joint]:.2g}" if masks else "now none"
    if near_rest:
        remedy = (
            f"Let {option_words('--method', 'separable', 'Separable()')} find its shape, or leave out slower "
            f"rows with {option_words('--mask')}, {now}; try four times as much, and more until this is gone."
        )
    else:
        remedy = "Take Fv and Fc for the speeds of this log only, or add a friction term with qd*abs(qd)."
    return Finding(
        Name.FRICTION_SHAPE,
        level,
        f"Friction of {robot.joints[robot.coordinates[joint]].name} is not Fv q̇ + Fc sign(q̇) "
        f"{'near rest' if near_rest else 'at speed'}: {_effects(seen, estimate)}.",
        remedy,
        where=Where(axis=joint + 1),
        figures={"size": seen.size, "clarity": seen.clarity},
    )


def _effects(seen: LackingEffect, estimate: Estimate) -> str:
    """The parameters that it moves most, and which way."""
    names = [name for name, kept in zip(estimate.names, estimate.kept, strict=True) if kept]
    order = [int(i) for i in np.argsort(-np.abs(seen.moved)) if abs(seen.moved[i]) >= RULES.told_sigma]
    return ", ".join(
        f"{names[i]} comes out too {'large' if seen.moved[i] > 0 else 'small'} by {abs(seen.moved[i]):.2g} σ"
        for i in order[:_NAMED]
    )
