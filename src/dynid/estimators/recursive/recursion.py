"""What every linear recursion is: start → update → estimate, with a state that can be kept and restored."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from dynid.compile.fold import FoldedRows
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, ShapeError
from dynid.estimators.honest import RULES
from dynid.estimators.recursive.forgetting import Forgetting, Remember
from dynid.estimators.recursive.limits import CovarianceLimits
from dynid.estimators.recursive.prior import ParameterPrior
from dynid.estimators.recursive.stretches import Stretches
from dynid.problem.factor import RANK_TOLERANCE, spectrum


@dataclass(frozen=True, kw_only=True, eq=False)
class RecursionOptions:
    """What a recursion does beside folding rows.

    Args:
        forgetting: how old rows lose weight.
        limits: of the standard deviations; None for none.
        blocks: blocks of time that σ is made from; 0 for the classical σ.
        stretch: updates of a stretch of time to begin with: short enough for ten blocks in a short log.
        checked: updates between two looks at the least σ, which costs one inversion.
        backend: of the compiled code.
    """

    forgetting: Forgetting = field(default_factory=Remember)
    limits: CovarianceLimits | None = None
    blocks: int = 10
    stretch: int = 50
    checked: int = 250
    backend: str = "auto"


@dataclass(frozen=True, eq=False)
class RecursiveEstimate:
    """Parameters at one moment.

    Args:
        values: (base,).
        covariance: (base, base).
        uncertainty: "classical" or "blocks".
        undetermined: parameters that neither rows nor prior tell, (base,).
        updates: instants used.
        rows: rows used.
    """

    values: FloatArray
    covariance: FloatArray
    uncertainty: str
    undetermined: FloatArray
    updates: int
    rows: int

    @property
    def sigma(self) -> FloatArray:
        """Standard deviations; infinite where undetermined."""
        known = np.sqrt(np.maximum(np.diag(self.covariance), 0.0))
        return np.where(self.undetermined, np.inf, known)


class Recursion(ABC):
    """Recursive estimation of τ = W χ, one instant at a time, in square-root form.

    Rows of joint j are divided by σ_j, so that P is a covariance in the units of χ (P4 eq 9 with I_n
    replaced by diag(σ_j²)). Least squares that remembers takes its memory at the start, and none later.

    Args:
        names: of the base parameters.
        joint_sigma: σ_j of each joint's torque error [N m or N], (joints,).
        prior: where it starts; nothing is known when None.
        options: forgetting, limits, σ.
    """

    def __init__(
        self,
        names: Sequence[str],
        joint_sigma: FloatArray,
        prior: ParameterPrior | None = None,
        options: RecursionOptions | None = None,
    ) -> None:
        """Begin."""
        self.names = tuple(names)
        sigma = np.array(joint_sigma, dtype=float)
        if sigma.ndim != 1 or not np.all(np.isfinite(sigma) & (sigma > 0)):
            raise DynidError(
                f"The standard deviations of the torques are {sigma.tolist()}; give one positive number "
                "per joint."
            )
        self.joint_sigma, self.weights = sigma, 1.0 / sigma
        self.prior = ParameterPrior.unknown(len(self.names)) if prior is None else prior
        if len(self.prior.values) != len(self.names):
            raise ShapeError(
                f"The prior has {len(self.prior.values)} values, but there are {len(self.names)} base "
                "parameters."
            )
        self.options = options or RecursionOptions()
        if self.options.limits is not None and len(self.options.limits.most) != len(self.names):
            raise ShapeError(
                f"The limits of σ are for {len(self.options.limits.most)} parameters; there "
                f"are {len(self.names)}."
            )
        p, joints = len(self.names), len(sigma)
        self._folded = FoldedRows(p, self._width(p), joints, self.options.backend)
        self.updates, self.rows, self.squares, self.surprise = 0, 0, 0.0, 1.0
        self.refused = 0
        self._counted_squares, self._counted_rows, self._given_back = 0.0, 0.0, 0
        self.predicted, self.innovation = np.zeros(joints), np.zeros(joints)
        self._remembers = isinstance(self.options.forgetting, Remember)
        self._set_information(self.prior.root)
        self._stretches: Stretches | None = None
        forgetting = self.options.forgetting
        if self.options.blocks >= RULES.fewest and forgetting.even:
            # Several stretches within the memory, or all that counts would lie in one.
            most = max(5.0, forgetting.kept_updates / (2 * self.options.blocks))
            self._stretches = Stretches(self._folded.factor, int(min(self.options.stretch, most)))

    @staticmethod
    @abstractmethod
    def _width(base: int) -> int:
        """Columns of the factor."""

    @abstractmethod
    def _set_information(self, root: FloatArray) -> None:
        """Begin anew from [R | z] with RᵀR the information and R χ = z, (base, base + 1)."""

    @abstractmethod
    def _fold(self, W: FloatArray, y: FloatArray, Z: FloatArray | None) -> float:
        """Fold the rows, set ``predicted`` and ``innovation``, and give χ² of the innovation."""

    @abstractmethod
    def _add_variance(self, variance: FloatArray) -> None:
        """P ← P + diag(variance), χ as it is."""

    @property
    @abstractmethod
    def values(self) -> FloatArray:
        """χ, (base,); overwritten by the next update."""

    @property
    @abstractmethod
    def root(self) -> FloatArray:
        """T with T Tᵀ = P for unit noise of weighted rows, (base, rank)."""

    def _left_root(self, root: FloatArray) -> FloatArray:
        """L with Lᵀ ZᵀW T = 1, (base, base): T itself, unless there are instruments."""
        return root

    @property
    @abstractmethod
    def working_values(self) -> FloatArray:
        """χ of the last solution, (base,), which predicts torques also while rows do not tell all; a view."""

    @abstractmethod
    def lost_parameters(self) -> FloatArray:
        """Parameters that neither rows nor prior tell, (base,) of bool."""

    def update(
        self,
        W: FloatArray,
        y: FloatArray,
        Z: FloatArray | None = None,
        rows: int | None = None,
        *,
        checked: bool = False,
    ) -> float:
        """Take in one instant (P4 eq 9 and 10).

        Args:
            W: regressor, (joints, base); rows of joints that shall not count are zero.
            y: torques, (joints,) [N m or N]; zero likewise.
            Z: instruments, (joints, base), for a recursion that takes them.
            rows: how many rows count; all when None.
            checked: whether the caller knows that all squares are finite.

        Rows that hold what is no number, or a square that overflows, are refused and counted.

        Returns:
            χ² = eᵀ S⁻¹ e of the innovation e = y − W χ; about one per row where the model and σ_j are right.
        """
        if not (checked or _is_usable(W, y, Z)):  # what is no number would stay for ever
            self.refused += 1
            return 0.0
        count = len(y) if rows is None else rows
        share = 1.0 if self._remembers else self._forget(W if Z is None else Z)
        squares = self._fold(W, y, Z)
        if self._stretches is not None:
            self._stretches.add(self._folded.factor)
        self.updates += 1
        self.rows += count
        self.squares += squares
        self._counted_squares = share * self._counted_squares + squares
        self._counted_rows = share * self._counted_rows + count
        self.surprise = squares / max(count, 1)
        limits = self.options.limits
        if limits is not None and limits.holds_up and self.updates % self.options.checked == 0:
            self._hold_up(limits)
        return squares

    def _forget(self, directions: FloatArray) -> float:
        rows = directions * self.weights[:, None]
        share = self.options.forgetting.apply(self._folded, rows, self.surprise)
        if self._stretches is not None and share < 1.0:
            self._stretches.fade(share)
        limits = self.options.limits
        if limits is not None and limits.holds_down and share < 1.0:
            self._give_back(limits, share)
        return share

    def _give_back(self, limits: CovarianceLimits, share: float) -> None:
        """Information that was forgotten below that of the largest σ, for a few parameters a time.

        Each parameter's turn comes once in a round of base/joints updates; what a round of forgetting takes
        from 1/most² is given back at once: (λ^−round − 1)/most², as a row that agrees with χ.
        """
        p, n = len(self.names), len(self.joint_sigma)
        chosen = (self._given_back + np.arange(n)) % p
        self._given_back = (self._given_back + n) % p
        weight = np.sqrt(share ** (-p / n) - 1.0) / limits.most[chosen]
        pulls = np.zeros((n, p))
        pulls[np.arange(n), chosen] = weight
        rows = self._folded.new_rows
        rows[:, :p] = rows[:, -p - 1 : -1] = pulls
        rows[:, -1] = weight * self.values[chosen]
        self._folded.lengths[chosen] += weight**2
        self._folded.fold()

    def _hold_up(self, limits: CovarianceLimits) -> None:
        """Variance for parameters that have become too sure to follow."""
        sigma = np.sqrt(np.sum(self.root**2, axis=1))
        missing = limits.missing_variance(sigma)
        if missing.any():
            self._change_variance(missing)

    def _write_rows(self, into: FloatArray, W: FloatArray, y: FloatArray, Z: FloatArray | None) -> None:
        """Weighted [W y], or [Z W y]."""
        p, w = len(self.names), self.weights[:, None]
        if Z is not None:
            np.multiply(Z, w, out=into[:, :p])
        np.multiply(W, w, out=into[:, -p - 1 : -1])
        np.multiply(y, self.weights, out=into[:, -1])

    def set_free(self, parameters: Sequence[str], sigma: float | Mapping[str, float] = float("inf")) -> None:
        """Covariance resetting: variance is added to some parameters, as after a repair or a new tool.

        Args:
            parameters: base names.
            sigma: of what is added, one for all or by name; infinite forgets them.
        """
        variance = np.zeros(len(self.names))
        for name in parameters:
            if name not in self.names:
                raise DynidError(f"There is no base parameter {name!r}; there are {', '.join(self.names)}.")
            own = sigma[name] if isinstance(sigma, Mapping) else sigma
            if not own > 0:
                raise DynidError(f"The deviation given to {name} is {own:g}; it must be positive.")
            variance[self.names.index(name)] = own**2
        self._change_variance(variance)

    def _change_variance(self, variance: FloatArray) -> None:
        self._add_variance(variance)
        if self._stretches is not None:
            self._stretches.begin_anew(self._folded.factor)

    @property
    def noise_scale(self) -> float:
        """σ̂ of weighted innovations: one where σ_j are right."""
        return float(np.sqrt(self._counted_squares / self._counted_rows)) if self._counted_rows >= 1 else 1.0

    def estimate(self) -> RecursiveEstimate:
        """Values and their covariance: from blocks of time where there are enough, else classical."""
        root, values = self.root, self.values.copy()
        scale = self.noise_scale**2
        classical = scale * root @ root.T
        undetermined = self.lost_parameters()
        blocks = None
        if self._stretches is not None and root.shape[1] == len(values):
            roots = (self._left_root(root), root)
            blocks = self._stretches.blocks(self._folded.factor, roots, values, self.options.blocks)
        if blocks is None or blocks.count < RULES.fewest or not scale > 0:
            return RecursiveEstimate(values, classical, "classical", undetermined, self.updates, self.rows)
        ratio = float(np.sum(blocks.pulls(0.5) ** 2) / (scale * root.shape[1]))
        if blocks.is_white(ratio, root, classical):
            return RecursiveEstimate(values, classical, "classical", undetermined, self.updates, self.rows)
        meat = blocks.jackknife() / min(1.0, ratio) ** RULES.half_way + scale * blocks.prior_share()
        return RecursiveEstimate(
            values, root @ meat @ root.T, "blocks", undetermined, self.updates, self.rows
        )

    def sigma(self) -> FloatArray:
        """Standard deviations of ``estimate``, (base,)."""
        return self.estimate().sigma

    def covariance(self) -> FloatArray:
        """Covariance of χ for noise as large as ``joint_sigma`` says, (base, base): P of P4 eq 9."""
        return np.asarray(self.root @ self.root.T, dtype=float)

    def state(self) -> dict[str, Any]:
        """All that is needed to go on, as arrays and numbers."""
        numbers = [self.updates, self.rows, self.squares, self.surprise]
        numbers += [self._counted_squares, self._counted_rows, self._given_back]
        stretches = {} if self._stretches is None else self._stretches.state()
        return {
            "factor": self._folded.factor.copy(),
            "lengths": self._folded.lengths.copy(),
            "numbers": np.array(numbers, dtype=float),
            "joint_sigma": self.joint_sigma,
            **{f"stretch_{name}": value for name, value in stretches.items()},
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of a recursion with the same parameters."""
        factor = np.asarray(state["factor"])
        if factor.dtype.kind != "f" or not np.all(np.isfinite(factor)):
            raise DynidError("The kept factor of a recursion holds what is no number; begin anew.")
        self._folded.set_factor(factor)
        self._folded.lengths[...] = state["lengths"]
        updates, rows, self.squares, self.surprise, *others = np.asarray(state["numbers"]).tolist()
        self.updates, self.rows = int(updates), int(rows)
        self._counted_squares, self._counted_rows = others[:2]
        self._given_back = int(others[2])
        if self._stretches is not None and "stretch_A" in state:
            found = ("A", "b", "numbers")
            self._stretches.restore({name: np.asarray(state[f"stretch_{name}"]) for name in found})
        self._solve()

    @abstractmethod
    def _solve(self) -> None:
        """Find ``values`` from the factor."""


def shortest_solution(factor: FloatArray) -> FloatArray:
    """χ where rows do not tell all parameters: the shortest one in scaled columns.

    Args:
        factor: [R | z], (base, base + 1).
    """
    return spectrum(factor).solution


def _is_usable(W: FloatArray, y: FloatArray, Z: FloatArray | None) -> bool:
    """Whether all squares are finite."""
    total = float(np.vdot(W, W)) + float(y @ y)
    return math.isfinite(total if Z is None else total + float(np.vdot(Z, Z)))


def is_full(ratio: float) -> bool:
    """Whether the least R_ii² over its column's says that all directions are seen."""
    return ratio > RANK_TOLERANCE**2
