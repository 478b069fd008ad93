"""One payload seen by several motors: φ_m = θ_m K_m χ, with θ_m = 1/g_m, solved for θ and χ together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid.calibration.gauss_newton import Function, gauss_newton, inverse_root, shortest
from dynid.calibration.knowledge import PayloadKnowledge
from dynid.calibration.motor_payload import MotorPayload
from dynid.core.arrays import FloatArray


@dataclass(frozen=True, eq=False)
class PayloadPrior:
    """What is known of χ: values that are exact, and rows A χ = b with errors of unit σ.

    Args:
        fixed: exactly known parameters, (payload,).
        values: their values, anything elsewhere, (payload,).
        A: (rows, payload).
        b: (rows,).
    """

    fixed: NDArray[np.bool_]
    values: FloatArray
    A: FloatArray
    b: FloatArray

    def with_rows(self, A: FloatArray, b: FloatArray) -> PayloadPrior:
        """The same with further rows of unit σ."""
        return PayloadPrior(self.fixed, self.values, np.vstack([self.A, A]), np.concatenate([self.b, b]))


def prior_of(knowledge: PayloadKnowledge, names: Sequence[str]) -> PayloadPrior:
    """Known parameters as a prior; those without a σ are exact."""
    known, sigma = knowledge.mask(names), knowledge.deviations(names)
    doubtful = np.flatnonzero(known & (sigma > 0))
    A = np.eye(len(names))[doubtful] / sigma[doubtful, None]
    values = knowledge.vector(names)
    return PayloadPrior(known & (sigma == 0), values, A, A @ values)


@dataclass(frozen=True, eq=False)
class BilinearFit:
    """θ and χ of several motors, linearised at the solution.

    Args:
        theta: 1/g of each motor, (motors,).
        payload: χ, (payload,).
        jacobian: of the whitened residuals by θ and χ; zero columns for exact parameters.
        squares: Σ of the whitened residuals' squares.
        root: B with B Bᵀ the covariance of the whitened rows, one where the weights are right.
    """

    theta: FloatArray
    payload: FloatArray
    jacobian: FloatArray
    squares: float
    root: FloatArray

    @cached_property
    def _inverse(self) -> tuple[FloatArray, NDArray[np.bool_]]:
        return inverse_root(self.jacobian)

    @cached_property
    def covariance(self) -> FloatArray:
        """J⁺ B Bᵀ J⁺ᵀ of θ and χ, (motors + payload,) squared; zero for what is exact or open."""
        T, _ = self._inverse
        spread = T @ (T.T @ self.jacobian.T @ self.root)
        return np.asarray(spread @ spread.T, dtype=float)

    @property
    def open(self) -> NDArray[np.bool_]:
        """Which of θ and χ are not determined, (motors + payload,)."""
        return self._inverse[1]

    @property
    def degrees(self) -> int:
        """Rows less directions determined."""
        return len(self.jacobian) - int(self._inverse[0].shape[1])


def payload_rows(rows: Sequence[MotorPayload], theta: FloatArray) -> tuple[FloatArray, FloatArray]:
    """A, b of unit σ with A χ = b, from motors whose gains are given."""
    T = [row.whitener for row in rows]
    A = [t @ (th * row.matrix) for t, th, row in zip(T, theta, rows, strict=True)]
    return np.vstack(A), np.concatenate([t @ row.values for t, row in zip(T, rows, strict=True)])


def payload_given_gains(rows: Sequence[MotorPayload], theta: FloatArray, prior: PayloadPrior) -> FloatArray:
    """χ by weighted least squares over motors whose gains are given; shortest where they leave it open."""
    A, b = payload_rows(rows, theta)
    whole = prior.with_rows(A, b)
    chi, free = np.where(prior.fixed, prior.values, 0.0), ~prior.fixed
    chi[free] = shortest(whole.A[:, free], whole.b - whole.A[:, prior.fixed] @ chi[prior.fixed])
    return chi


def bilinear_terms(rows: Sequence[MotorPayload], prior: PayloadPrior) -> tuple[Function, Function]:
    """Whitened residuals φ̂_m − θ_m K_m χ and b − A χ as a function of (θ, χ), and minus their Jacobian."""
    T = [row.whitener for row in rows]
    K = [t @ row.matrix for t, row in zip(T, rows, strict=True)]
    z = [t @ row.values for t, row in zip(T, rows, strict=True)]
    n = len(rows)

    def residual(x: FloatArray) -> FloatArray:
        own = [phi - t * (k @ x[n:]) for phi, t, k in zip(z, x[:n], K, strict=True)]
        return np.concatenate([*own, prior.b - prior.A @ x[n:]])

    def jacobian(x: FloatArray) -> FloatArray:
        by_theta = np.zeros((sum(map(len, z)), n))
        ends = np.cumsum([0, *map(len, z)])
        for m, k in enumerate(K):
            by_theta[ends[m] : ends[m + 1], m] = k @ x[n:]
        by_payload = np.vstack([t * k for t, k in zip(x[:n], K, strict=True)])
        return np.block([[by_theta, by_payload], [np.zeros((len(prior.b), n)), prior.A]])

    return residual, jacobian


def bilinear_fit(
    rows: Sequence[MotorPayload], prior: PayloadPrior, theta: FloatArray, payload: FloatArray
) -> BilinearFit:
    """min Σ_m ‖φ̂_m − θ_m K_m χ‖² in units of their σ, with what is known of χ, by Gauss–Newton.

    Args:
        rows: what each motor says of the payload.
        prior: what is known.
        theta: where to start, (motors,).
        payload: likewise, (payload,).
    """
    n, free = len(rows), np.concatenate([np.ones(len(rows), dtype=bool), ~prior.fixed])
    residual, jacobian = bilinear_terms(rows, prior)
    x = np.concatenate([theta, np.where(prior.fixed, prior.values, payload)])
    x = gauss_newton(residual, jacobian, x, free)
    squares = float(np.sum(residual(x) ** 2))
    return BilinearFit(x[:n], x[n:], np.where(free, jacobian(x), 0.0), squares, spread_of(rows, prior))


def spread_of(rows: Sequence[MotorPayload], prior: PayloadPrior) -> FloatArray:
    """B with B Bᵀ the covariance of the whitened rows, motor after motor, and of the prior's rows."""
    blocks = [row.whitener @ row.root for row in rows]
    B = np.eye(sum(map(len, blocks)) + len(prior.b))
    at = 0
    for block in blocks:
        B[at : at + len(block), at : at + len(block)] = block
        at += len(block)
    return B
