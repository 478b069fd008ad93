"""What a motion tells of the base parameters: its information matrix, and gradients back to the motion."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.compile.kernels import RobotKernels, kernels
from dynid.core.arrays import FloatArray
from dynid.core.errors import ShapeError
from dynid.excitation.criteria import LEAST_RATIO

SIGN_WIDTH = 0.04
"""Speed below which the sign of Coulomb friction bends in a design [rad/s or m/s]: a jump has no gradient."""


@dataclass(frozen=True, eq=False)
class Observation:
    """Rows of W along a motion, joint by joint; the next observation of the same model overwrites them."""

    states: tuple[FloatArray, FloatArray, FloatArray]
    blocks: FloatArray
    """W_j as (coordinates, base parameters, samples)."""
    information: FloatArray
    """G, (kept, kept)."""
    torques: FloatArray
    """W χ of the a-priori values, (coordinates, samples); zeros where there are none."""


@dataclass(frozen=True, eq=False)
class InformationModel:
    """G(q, q̇, q̈) = Σ_j σ_j⁻² W_jᵀ W_j + G_0 over the kept base parameters.

    Args:
        base: the base parameters.
        noise: standard deviation σ_j of the torque of each coordinate; ones give P3's W as it is.
        kept: indices of the base parameters that count, such as the essential ones; all when None.
        prior: G_0, information that is there already, (kept, kept); none when None.
        values: a-priori base parameters, for torques, (base,).
        sign_width: speed below which the sign in friction bends [rad/s or m/s].
    """

    base: BaseMap
    noise: FloatArray
    kept: tuple[int, ...] | None = None
    prior: FloatArray | None = None
    values: FloatArray | None = None
    sign_width: float = SIGN_WIDTH
    _buffers: dict[str, FloatArray] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        """Check sizes."""
        n, p = self.base.robot.n_coordinates, self.size
        if self.noise.shape != (n,) or not np.all(self.noise > 0) or not np.all(np.isfinite(self.noise)):
            raise ShapeError(f"The noise is {self.noise}; give one positive number per axis, {n} in all.")
        if self.prior is not None and self.prior.shape != (p, p):
            raise ShapeError(f"The prior information has shape {self.prior.shape}; expected ({p}, {p}).")

    @property
    def size(self) -> int:
        """Number of parameters that count."""
        return len(self.base) if self.kept is None else len(self.kept)

    @cached_property
    def kernels(self) -> RobotKernels:
        """Regressor and adjoint of the base columns, with smooth signs."""
        return kernels(self.base.robot.with_sign_width(self.sign_width), self.base.columns)

    @cached_property
    def _first(self) -> tuple[int, ...]:
        """First column that acts on each coordinate: those before it are zero by structure."""
        rng, n = np.random.default_rng(0), self.base.robot.n_coordinates
        blocks = self.kernels.regressor_blocks(*rng.normal(size=(3, 8, n)))
        acts = np.any(blocks != 0, axis=2)
        return tuple(int(np.argmax(row)) if row.any() else len(self.base) for row in acts)

    def observe(self, q: FloatArray, qd: FloatArray, qdd: FloatArray) -> Observation:
        """W, G and torques along a motion, each state (samples, coordinates)."""
        p = len(self.base)
        out = self._buffer("rows", (len(self.noise) * p, len(q)))
        blocks = self.kernels.regressor_blocks(q, qd, qdd, out=out)
        full = np.zeros((p, p))
        torques = np.zeros((len(blocks), len(q)))
        for j, first in enumerate(self._first):
            rows = blocks[j, first:]
            full[first:, first:] += (rows @ rows.T) / self.noise[j] ** 2
            if self.values is not None:
                torques[j] = self.values[first:] @ rows
        G = full if self.kept is None else full[np.ix_(self.kept, self.kept)]
        return Observation((q, qd, qdd), blocks, G if self.prior is None else G + self.prior, torques)

    def gradient(
        self, seen: Observation, by_information: FloatArray | None, by_torque: FloatArray | None
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """dJ/dq, dJ/dq̇, dJ/dq̈ (samples, coordinates) through the adjoint of the regressor.

        dJ/dW_j = 2 σ_j⁻² (∂J/∂G) W_j + (∂J/∂τ_j) χᵀ: torques cost no kernel of their own.

        Args:
            seen: the motion.
            by_information: ∂J/∂G (kept, kept), symmetric.
            by_torque: ∂J/∂τ (coordinates, samples).
        """
        seed = self._buffer("seed", seen.blocks.shape)
        p = len(self.base)
        if by_information is None:
            slope = None
        elif self.kept is None:
            slope = by_information
        else:
            slope = np.zeros((p, p))
            slope[np.ix_(self.kept, self.kept)] = by_information
        for j, first in enumerate(self._first):
            rows = seed[j, first:]
            if slope is not None:
                np.matmul(
                    (2.0 / self.noise[j] ** 2) * slope[first:, first:], seen.blocks[j, first:], out=rows
                )
            else:
                rows[:] = 0.0
            if by_torque is not None and self.values is not None:
                rows += np.outer(self.values[first:], by_torque[j])
        return self.kernels.regressor_adjoint(*seen.states, seed)

    def _buffer(self, name: str, shape: tuple[int, ...]) -> FloatArray:
        """An array that every call uses again; entries that are zero by structure stay zero."""
        held = self._buffers.get(name)
        if held is None or held.shape != shape:
            held = self._buffers[name] = np.zeros(shape)
        return held


def condition_number(G: FloatArray) -> float:
    """cond W = √(λ_max/λ_min) of G = WᵀW; infinite where rounding hides the least eigenvalue."""
    values = np.linalg.eigvalsh(G)
    return float(np.sqrt(values[-1] / values[0])) if values[0] > LEAST_RATIO * values[-1] else np.inf


def unit_diagonal(G: FloatArray) -> FloatArray:
    """G of columns of length 1; those of length 0 stay so."""
    lengths = _lengths(G)
    return np.asarray(G / np.outer(lengths, lengths), dtype=float)


def _lengths(G: FloatArray) -> FloatArray:
    """Lengths of the columns; 1 for those of a parameter that does not show, by which nothing is divided."""
    lengths = np.sqrt(np.diag(G))
    return np.where(lengths > 0, lengths, 1.0)


def standard_deviations(G: FloatArray) -> FloatArray:
    """√ of the diagonal of G⁻¹, infinite where G has no inverse, (parameters,)."""
    lengths = _lengths(G)
    values, vectors = np.linalg.eigh(unit_diagonal(G))
    known = values > LEAST_RATIO * values[-1]
    spread = (vectors[:, known] ** 2 / values[known]).sum(axis=1)
    hidden = (vectors[:, ~known] ** 2).sum(axis=1) > 1e-6
    return np.where(hidden, np.inf, np.sqrt(spread) / lengths)
