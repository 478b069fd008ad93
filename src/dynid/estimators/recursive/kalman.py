"""The extended Kalman filter on state and parameters (Gautier and Poignet 2001, in P4), and on parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.estimators.recursive.joint_state import AugmentedModel, Slopes
from dynid.estimators.recursive.prior import ParameterPrior
from dynid.estimators.recursive.root_filter import RootFilter
from dynid.estimators.recursive.state_filter import StateFilter, StateFilterOptions, StateNoise


@dataclass(frozen=True, eq=False)
class EKF:
    """Extended Kalman filter: the spread follows the derivatives of the motion.

    Args:
        options: holds, walk, limits, guards.
    """

    options: StateFilterOptions = field(default_factory=StateFilterOptions)

    def start(self, model: AugmentedModel, noise: StateNoise, prior: ParameterPrior) -> ExtendedFilter:
        """A filter on [q, q̇] and χ."""
        return ExtendedFilter(model, noise, prior, self.options)

    def start_parameters(
        self, names: Sequence[str], joint_sigma: FloatArray, prior: ParameterPrior
    ) -> ParameterFilter:
        """A filter on χ alone with τ = W χ + e as measurement: recursive least squares (P4 eq 9)."""
        return ParameterFilter(names, joint_sigma, prior)


class ExtendedFilter(StateFilter):
    """State and parameters with the spread C = [F S, G σ_τ], F = ∂z_k+1/∂z_k of the step as it is taken."""

    def _ahead(self, tau: tuple[FloatArray, FloatArray], step: float) -> tuple[FloatArray, FloatArray] | None:
        n, p = self.model.axes, len(self.names)
        ahead = self.model.ahead(self._x, self.values, tau, step, self._substeps)
        before = ahead.before
        if not before.definite:
            return None
        spread = np.zeros((p + 2 * n, p + 3 * n))
        spread[:p, : p + 2 * n] = self._root[:p]
        spread[p:, : p + 2 * n] = (
            ahead.by[:, : 2 * n] @ self._root[p:] + ahead.by[:, 2 * n :] @ self._root[:p]
        )
        spread[p:, p + 2 * n :] = ahead.torque * np.hypot(self._torque_sigma, self._bent(before))
        return ahead.x, spread

    def _bent(self, at: Slopes) -> FloatArray:
        """Torque error of the derivatives, (n,): the product δM δq̈ of what is unknown of both [N m or N].

        Without it the first instants, when M is known badly and sensors are fine, count far too much. Bounded
        by Σ_j √(σ(M_ii) σ(M_jj)) σ(q̈_j), because δM is a difference of inertia matrices.
        """
        n, p = self.model.axes, len(self.names)
        root = self._root
        inertia = np.sqrt(np.linalg.norm(at.inertia @ root[:p], axis=1))
        rate = np.linalg.norm(at.by[:, : 2 * n] @ root[p:] + at.by[:, 2 * n :] @ root[:p], axis=1)
        return np.asarray(inertia * (inertia @ rate), dtype=float)


class ParameterFilter(RootFilter):
    """A Kalman filter on parameters alone: χ_k = χ_k−1 + P Wᵀ (W P Wᵀ + diag σ_j²)⁻¹ (y − W χ_k−1).

    The measurement is linear, so this is recursive least squares in covariance form, exactly.

    Args:
        names: of the base parameters.
        joint_sigma: σ_j of each joint's torque error [N m or N], (joints,).
        prior: values and finite standard deviations.
    """

    def __init__(self, names: Sequence[str], joint_sigma: FloatArray, prior: ParameterPrior) -> None:
        """Begin at the prior."""
        super().__init__(names, prior)
        sigma = np.array(joint_sigma, dtype=float)
        if sigma.ndim != 1 or not np.all(np.isfinite(sigma) & (sigma > 0)):
            raise DynidError(
                f"The noise of the torques is {sigma.tolist()}; give one positive number for every joint."
            )
        self.joint_sigma = sigma
        self.predicted, self.innovation = np.zeros(len(sigma)), np.zeros(len(sigma))

    def update(self, W: FloatArray, y: FloatArray, Z: FloatArray | None = None) -> float:
        """Take in one instant; χ² of its innovation.

        Args:
            W: regressor (joints, base); rows of joints that shall not count are zero.
            y: torques (joints,) [N m or N]; zero likewise.
            Z: instruments, which a Kalman filter has no use for; must be None.
        """
        if Z is not None:
            raise DynidError("A Kalman filter takes no instruments; use recursive instrumental variables.")
        self.predicted, seen, spread = self._seen(W)
        self.innovation = y - self.predicted
        return self._take(spread, seen, self.joint_sigma, self.innovation)[0]

    def _seen(self, W: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Predicted torques, their spread, and the spread of the parameters it belongs to."""
        return W @ self.values, W @ self._root, self._root
