"""What the Kalman filters share: a square root of the covariance, and the array that takes a measurement in.

P = S Sᵀ is never formed. With spread C, C Cᵀ = P⁻ (prediction and process noise side by side), H C what is
seen of it, and R the covariance of the sensors, one orthogonal transformation gives all that an update
needs (Kailath, Sayed, Hassibi 2000, section 12.3):

    [R^½  H C]       [Sₑ  0 ]
    [0    C  ] Θ  =  [K̄   S⁺],   z⁺ = z⁻ + K̄ Sₑ⁻¹ (y − H z⁻).

P stays symmetric and positive semidefinite by construction, however long the filter runs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, ShapeError, unknown_name
from dynid.estimators.recursive.limits import CovarianceLimits
from dynid.estimators.recursive.prior import ParameterPrior
from dynid.estimators.recursive.recursion import RecursiveEstimate


class RootFilter:
    """Parameters χ and further states x with a common covariance: z = [χ, x].

    Args:
        names: of the base parameters.
        prior: values and finite standard deviations.
        states: number of further states.
        limits: of the standard deviations of the parameters; None for none.
    """

    def __init__(
        self,
        names: Sequence[str],
        prior: ParameterPrior,
        states: int = 0,
        limits: CovarianceLimits | None = None,
    ) -> None:
        """Begin at the prior."""
        self.names, self.prior, self.limits = tuple(names), prior, limits
        p = len(self.names)
        if len(prior.values) != p:
            raise ShapeError(f"The prior has {len(prior.values)} values, but there are {p} base parameters.")
        if not np.all(np.isfinite(prior.sigma)):
            unknown = [n for n, s in zip(self.names, prior.sigma, strict=True) if not np.isfinite(s)]
            raise DynidError(
                f"The prior says nothing about {', '.join(unknown)}; a Kalman filter needs a finite sigma "
                "for every parameter. Give one, or begin with recursive least squares."
            )
        if limits is not None and len(limits.most) != p:
            raise ShapeError(f"The limits of σ are for {len(limits.most)} parameters; there are {p}.")
        self.values: FloatArray = prior.values.copy()
        self._x = np.zeros(states)
        self._root = np.zeros((p + states, p + states))
        self._root[:p, :p] = np.diag(prior.sigma)
        self.updates, self.rows, self.squares = 0, 0, 0.0

    @property
    def root(self) -> FloatArray:
        """T with T Tᵀ = P of the parameters, (base, base)."""
        p = len(self.names)
        return self._root[:p, :p]

    def covariance(self) -> FloatArray:
        """P of the parameters, (base, base)."""
        return np.asarray(self.root @ self.root.T, dtype=float)

    def sigma(self) -> FloatArray:
        """Standard deviations of the parameters, (base,)."""
        return np.asarray(np.sqrt(np.sum(self.root**2, axis=1)), dtype=float)

    @property
    def noise_scale(self) -> float:
        """√(χ² per row) of all innovations: one where the model and the noise of the sensors are right."""
        return float(np.sqrt(self.squares / self.rows)) if self.rows else 1.0

    def estimate(self) -> RecursiveEstimate:
        """Values and the filter's own covariance."""
        undetermined = np.zeros(len(self.names), dtype=bool)
        found = (self.values.copy(), self.covariance(), "classical", undetermined)
        return RecursiveEstimate(*found, self.updates, self.rows)

    def set_free(self, parameters: Sequence[str], sigma: float | Mapping[str, float]) -> None:
        """Covariance resetting: variance is added to some parameters, as after a repair or a new tool.

        Args:
            parameters: base names.
            sigma: of what is added, finite, one for all or by name.
        """
        added = np.zeros(len(self._root))
        for name in parameters:
            if name not in self.names:
                raise unknown_name("base parameter", name, self.names)
            own = sigma[name] if isinstance(sigma, Mapping) else sigma
            if not 0 < own < np.inf:
                raise DynidError(f"The deviation given to {name} is {own:g}; it must be positive and finite.")
            added[self.names.index(name)] = own
        self._root = lower_root(np.hstack([self._root, np.diag(added)]))

    def state(self) -> dict[str, Any]:
        """All that is needed to go on, as arrays and numbers."""
        numbers = np.array([self.updates, self.rows, self.squares])
        return {
            "values": self.values.copy(),
            "x": self._x.copy(),
            "root": self._root.copy(),
            "numbers": numbers,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of a filter with the same parameters."""
        found = {name: np.array(state[name], dtype=float) for name in ("values", "x", "root")}
        own = {"values": self.values, "x": self._x, "root": self._root}
        for name, array in found.items():
            if array.shape != own[name].shape:
                raise ShapeError(
                    f"{name!r} of the kept state has shape {array.shape}; expected {own[name].shape} for "
                    "this robot."
                )
        self.values, self._x, self._root = found["values"], found["x"], found["root"]
        updates, rows, self.squares = np.asarray(state["numbers"], dtype=float).tolist()
        self.updates, self.rows = int(updates), int(rows)

    def _take(
        self,
        spread: FloatArray,
        seen: FloatArray,
        sigma: FloatArray,
        innovation: FloatArray,
        allowed: Callable[[FloatArray], bool] | None = None,
        halvings: int = 8,
    ) -> tuple[float, int]:
        """Take a measurement in.

        A move that is not allowed is tried again with four times the sensors' σ: then less is learnt of this
        instant, and the covariance knows it.

        Args:
            spread: C (base + states, columns), at least as many columns as rows.
            seen: H C (rows, columns).
            sigma: of the sensors (rows,).
            innovation: y − H z⁻ (rows,).
            allowed: whether the parameters (base,) may be taken over; all may when None.
            halvings: how often less is tried; the last, which hardly moves anything, is always taken.

        Returns:
            χ² of the innovation, and how often the move had to be shortened.
        """
        m, p = len(innovation), len(self.names)
        if not (np.all(np.isfinite(seen)) and np.all(np.isfinite(innovation))):
            return 0.0, 0  # what is no number would stay for ever
        table = np.zeros((m + spread.shape[1], m + len(spread)))
        table[m:, :m], table[m:, m:] = seen.T, spread.T
        squares = 0.0
        for attempt in range(halvings + 1):
            table[range(m), range(m)] = sigma * 4.0**attempt
            turned = np.asarray(np.linalg.qr(table, mode="r"))
            white = np.linalg.solve(turned[:m, :m].T, innovation)
            move = white @ turned[:m, m:]
            if attempt == 0:
                squares = float(white @ white)
            if attempt == halvings or allowed is None or allowed(self.values + move[:p]):
                break
        self.values = self.values + move[:p]
        self._x = self._x + move[p:]
        self._root = np.ascontiguousarray(turned[m : m + len(spread), m:].T)
        self._hold_sigma()
        self.updates += 1
        self.rows += m
        self.squares += squares
        return squares, attempt

    def _hold_sigma(self) -> None:
        """σ of the parameters within their limits: rows of S are scaled, which keeps P positive."""
        if self.limits is None:
            return
        sigma = self.sigma()
        wanted = np.clip(sigma, self.limits.least, self.limits.most)
        self._root[: len(sigma)] *= (wanted / np.maximum(sigma, np.finfo(float).tiny))[:, None]


def lower_root(spread: FloatArray) -> FloatArray:
    """Lower triangular S with S Sᵀ = C Cᵀ, from C with at least as many columns as rows."""
    return np.ascontiguousarray(np.asarray(np.linalg.qr(spread.T, mode="r")).T)
