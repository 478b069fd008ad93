"""The unscented Kalman filter on state and parameters: 2N + 1 points integrated side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.estimators.recursive.joint_state import AugmentedModel
from dynid.estimators.recursive.kalman import ParameterFilter
from dynid.estimators.recursive.prior import ParameterPrior
from dynid.estimators.recursive.root_filter import lower_root
from dynid.estimators.recursive.state_filter import StateFilter, StateFilterOptions, StateNoise


@dataclass(frozen=True, eq=False)
class SigmaPoints:
    """Scaled sigma points z ± γ S_i (Julier 2002; Wan and van der Merwe 2000 with α = γ/√N, κ = 0).

    With half differences s_i and half sums e_i of the images of a pair, the latter from the image of the
    centre, and μ = Σ e_i/γ², the weighted sums of the textbook are, term by term,

        mean = centre + μ,   P = Σ s_i s_iᵀ/γ² + Σ e_i e_iᵀ/γ² + (β − α²) μ μᵀ.

    All signs are positive for β ≥ α², so a root of P is a QR of these columns and no weight is ever negative.

    Args:
        spread: γ, distance of the points from the centre in standard deviations. √3 fits the fourth moment of
            normal errors; larger ones look farther and reach values without M(q) > 0 sooner.
        beta: weight of the centre in P; 2 is right for normal errors.
    """

    spread: float = math.sqrt(3.0)
    beta: float = 2.0

    def __post_init__(self) -> None:
        """Refuse points that coincide, and weights that could make P indefinite."""
        if not (0 < self.spread < math.inf and 1.0 <= self.beta < math.inf):
            raise DynidError(
                f"spread is {self.spread!r} and beta {self.beta!r}; give a positive spread and a beta "
                "of at least 1."
            )

    def combine(
        self, centre: FloatArray, ahead: FloatArray, behind: FloatArray, nearer: float = 1.0
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Mean and columns of a root of P.

        Args:
            centre: image of the centre (rows,).
            ahead: images of z + γ S_i (rows, N).
            behind: images of z − γ S_i (rows, N).
            nearer: share of γ at which the points were taken; half sums grow with its square, and are scaled
                to what they would have been.

        Returns:
            Mean (rows,); first-order columns (rows, N), which belong to those of S; others (rows, N + 1).
        """
        g, count = nearer * self.spread, ahead.shape[1]
        first = (ahead - behind) / (2 * g)
        bent = ((ahead + behind) / 2 - centre[:, None]) / g
        mean = bent.sum(axis=1) / g
        share = math.sqrt(max(self.beta - self.spread**2 / count, 0.0))
        return centre + mean, first, np.column_stack([bent / nearer, share * mean])


@dataclass(frozen=True, eq=False)
class UKF:
    """Unscented Kalman filter: the spread is that of points on all sides, without derivatives.

    Args:
        options: holds, walk, limits, guards.
        points: where they lie.
    """

    options: StateFilterOptions = field(default_factory=StateFilterOptions)
    points: SigmaPoints = field(default_factory=SigmaPoints)

    def start(self, model: AugmentedModel, noise: StateNoise, prior: ParameterPrior) -> UnscentedFilter:
        """A filter on [q, q̇] and χ."""
        return UnscentedFilter(model, noise, prior, self.options, self.points)

    def start_parameters(
        self, names: Sequence[str], joint_sigma: FloatArray, prior: ParameterPrior
    ) -> UnscentedParameterFilter:
        """A filter on χ alone with τ = W χ + e as measurement: recursive least squares (P4 eq 9)."""
        return UnscentedParameterFilter(names, joint_sigma, prior, self.points)


class UnscentedFilter(StateFilter):
    """State and parameters with points of both.

    Args:
        model: the robot with its base parameters.
        noise: of the sensors.
        prior: values with M(q) > 0, and finite standard deviations.
        options: holds, walk, limits, guards.
        points: where they lie.
    """

    def __init__(
        self,
        model: AugmentedModel,
        noise: StateNoise,
        prior: ParameterPrior,
        options: StateFilterOptions,
        points: SigmaPoints,
    ) -> None:
        """Begin; the state itself begins with the first sample."""
        super().__init__(model, noise, prior, options)
        self.points = points

    def _ahead(self, tau: tuple[FloatArray, FloatArray], step: float) -> tuple[FloatArray, FloatArray] | None:
        n, p = self.model.axes, len(self.names)
        found = self._images(tau, step)
        if found is None:
            return None
        nearer, images = found
        N = p + 2 * n
        x, first, further = self.points.combine(
            images[:, 0], images[:, 1 : N + 1], images[:, N + 1 :], nearer
        )
        inverse = self.model.slopes(self._x, tau[0], self.values).inverse * self._torque_sigma
        noise = step * np.vstack([0.5 * step * inverse, inverse])
        spread = np.zeros((N, N + 2 * n))
        spread[:p, :N], spread[p:, :N] = self._root[:p], first
        spread[p:, N:] = lower_root(np.hstack([further, noise]))
        return x, spread

    def _images(
        self, tau: tuple[FloatArray, FloatArray], step: float, halvings: int = 4
    ) -> tuple[float, FloatArray] | None:
        """States of the points one sample ahead; drawn nearer while M(q) > 0 fails at any of them.

        Returns:
            Share of γ at which they were taken, and the states; None where M(q) > 0 fails very near.
        """
        p = len(self.names)
        centre = np.concatenate([self.values, self._x])[:, None]
        for attempt in range(halvings + 1):
            nearer = 0.5**attempt
            moved = nearer * self.points.spread * self._root
            cloud = np.hstack([centre, centre + moved, centre - moved])
            images, definite = self.model.ahead_many(cloud[p:], cloud[:p], tau, step, self._substeps)
            if definite and np.all(np.isfinite(images)):
                self.outcomes["points"] += bool(attempt)
                return nearer, images
        return None


class UnscentedParameterFilter(ParameterFilter):
    """Points of the parameters alone; the measurement is linear, so they give what derivatives give.

    Args:
        names: of the base parameters.
        joint_sigma: σ_j of each joint's torque error [N m or N], (joints,).
        prior: values and finite standard deviations.
        points: where they lie.
    """

    def __init__(
        self, names: Sequence[str], joint_sigma: FloatArray, prior: ParameterPrior, points: SigmaPoints
    ) -> None:
        """Begin at the prior."""
        super().__init__(names, joint_sigma, prior)
        self.points = points

    def _seen(self, W: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        moved, centre = self.points.spread * self._root, self.values[:, None]
        images = (W @ self.values, W @ (centre + moved), W @ (centre - moved))
        mean, first, further = self.points.combine(*images)
        spread = np.hstack([self._root, np.zeros((len(self._root), further.shape[1]))])
        return mean, np.hstack([first, further]), spread
