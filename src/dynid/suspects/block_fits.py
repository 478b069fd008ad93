"""Sizes of suspects and their doubt from Gram matrices per block of time, many suspects at once.

Slow errors stay inside a block, so that blocks are taken for independent and neighbouring rows are not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from dynid.core.arrays import FloatArray, pinv
from dynid.estimators.honest import few_blocks_factor


@dataclass(frozen=True, eq=False)
class BlockFits:
    """θ̂ = (zᵀz)⁻¹ zᵀρ of n suspects of k columns each, with its covariance from the blocks.

    Args:
        grams: of [z ρ] per suspect and block, (n, blocks, k + 1, k + 1).
        priors: last blocks that are no time, but what is known of the parameters.
    """

    grams: FloatArray
    priors: int = 0

    @property
    def width(self) -> int:
        """k."""
        return int(self.grams.shape[-1]) - 1

    @cached_property
    def size(self) -> FloatArray:
        """θ̂, (n, k)."""
        return np.asarray((self._inverse @ self._whole[:, :-1, -1:])[:, :, 0])

    @cached_property
    def gains(self) -> FloatArray:
        """Squares of ρ that the columns of each suspect explain, (n,)."""
        return np.asarray(np.einsum("nk,nk->n", self.size, self._whole[:, :-1, -1]))

    @cached_property
    def free(self) -> list[int]:
        """Degrees of freedom: blocks that tell of each suspect less one."""
        alike = np.sum(np.einsum("nbii->nb", self._leverage) ** 2, axis=1)
        return [max(round(self.width**2 / x) - 1, 2) for x in alike.tolist()]

    @cached_property
    def covariance(self) -> FloatArray:
        """C of θ̂ from the sums of z (ρ − z θ̂) over blocks, (n, k, k).

        What a block would say of itself is left out: (1 − G_b G⁻¹)⁻¹ is the jackknife over blocks. Without it
        a column that lives in one block alone, such as a late step, would seem to be free of doubt.
        """
        k, (own, prior) = self.width, self._in_time
        others = np.eye(k) * (1.0 + 1e-3) - self._leverage
        pulls = own[..., :k, k] - (own[..., :k, :k] @ self.size[:, None, :, None])[..., 0]
        pulls = np.asarray(
            pulls / others[..., 0] if k == 1 else np.linalg.solve(others, pulls[..., None])[..., 0]
        )
        wider = np.array([few_blocks_factor(free) ** 2 for free in self.free])[:, None, None]
        doubt = wider * (pulls.transpose(0, 2, 1) @ pulls) + prior[..., :k, :k].sum(axis=1)
        return np.asarray(self._inverse @ doubt @ self._inverse)

    def distances(self, trials: Sequence[int]) -> FloatArray:
        """√(θ̂ᵀ C⁻¹ θ̂ / k) less what the best of so many trials explains by chance, (n,).

        Student's law falls like (1 + t²/ν)^{−ν/2}, so that its tail grows by ``trials`` where
        ν + t² shrinks by trials^{−2/ν}.
        """
        squares = np.einsum("ni,nij,nj->n", self.size, _inverses(self.covariance), self.size)
        free = np.array(self.free)
        rarer = (free + np.maximum(squares, 0.0)) * np.array(trials) ** (-2.0 / free) - free
        return np.asarray(np.sqrt(np.maximum(rarer, 0.0) / self.width))

    @cached_property
    def _whole(self) -> FloatArray:
        return np.asarray(self.grams.sum(axis=1))

    @cached_property
    def _inverse(self) -> FloatArray:
        return _inverses(self._whole[:, :-1, :-1])

    @property
    def _in_time(self) -> tuple[FloatArray, FloatArray]:
        """Blocks of time, and those that are none."""
        blocks = self.grams.shape[1] - self.priors
        return self.grams[:, :blocks], self.grams[:, blocks:]

    @cached_property
    def _leverage(self) -> FloatArray:
        """G_b G⁻¹ of each block, (n, blocks, k, k)."""
        return np.asarray(self._in_time[0][..., :-1, :-1] @ self._inverse[:, None])


def take_out(grams: FloatArray, given: Sequence[int]) -> FloatArray:
    """Block Grams with some columns taken out of all: x − G (GᵀG)⁺ Gᵀ x; the given ones become zero.

    Args:
        grams: (blocks, columns, columns).
        given: numbers of the columns G.
    """
    if not len(given):
        return grams
    rows = grams[:, (chosen := list(given))]
    whole = rows.sum(axis=0)
    taken = pinv(whole[:, chosen], rcond=1e-12) @ whole
    half = taken.T @ (0.5 * rows[:, :, chosen] @ taken - rows)
    left = grams + half
    left += half.transpose(0, 2, 1)
    return np.asarray(left)


def _inverses(matrices: FloatArray) -> FloatArray:
    """A⁺ of several matrices, (n, k, k); single numbers need no decomposition."""
    if matrices.shape[-1] > 1:
        return pinv(matrices)
    return np.divide(1.0, matrices, out=np.zeros_like(matrices), where=matrices > 0)
