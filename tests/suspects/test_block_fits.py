"""Sizes and doubt from Grams of blocks are those of the rows."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.estimators.honest import few_blocks_factor
from dynid.suspects.block_fits import BlockFits, take_out

RNG = np.random.default_rng(3)
BLOCKS, ROWS = 20, 30


def grams_of(rows: np.ndarray) -> np.ndarray:
    """(blocks, rows, columns) as Gram matrices."""
    return np.asarray(rows.transpose(0, 2, 1) @ rows)


def test_columns_are_taken_out_of_all_others() -> None:
    rows = RNG.standard_normal((BLOCKS, ROWS, 6))
    rows[:, :, 3] = rows[:, :, 1] + rows[:, :, 0]  # in the span of the others: no division by zero
    flat, given = rows.reshape(-1, 6), [0, 1, 3]
    left = flat - flat[:, given] @ np.linalg.lstsq(flat[:, given], flat, rcond=None)[0]
    swept = take_out(grams_of(rows), given)
    assert swept == pytest.approx(grams_of(left.reshape(rows.shape)), abs=1e-9)
    assert take_out(swept, []) is swept


@pytest.mark.parametrize("width", [1, 3])
def test_many_at_once_are_those_of_the_rows(width: int) -> None:
    z, noise = RNG.standard_normal((4, BLOCKS, ROWS, width)), RNG.standard_normal((BLOCKS, ROWS))
    truth = np.arange(1.0, width + 1.0)
    grams = np.stack([grams_of(np.concatenate([s, (s @ truth + noise)[..., None]], axis=2)) for s in z])
    fits = BlockFits(grams)
    for i, s in enumerate(z):
        flat, y = s.reshape(-1, width), (s @ truth + noise).ravel()
        size = np.linalg.lstsq(flat, y, rcond=None)[0]
        assert fits.size[i] == pytest.approx(size, rel=1e-9)
        assert fits.gains[i] == pytest.approx(np.sum((flat @ size) ** 2), rel=1e-9)
        inverse, doubt = np.linalg.inv(flat.T @ flat), np.zeros((width, width))
        for own, left in zip(s, (y - flat @ size).reshape(BLOCKS, ROWS), strict=True):
            pull = np.linalg.solve(np.eye(width) * 1.001 - own.T @ own @ inverse, own.T @ left)
            doubt += np.outer(pull, pull)
        expected = few_blocks_factor(fits.free[i]) ** 2 * inverse @ doubt @ inverse
        assert fits.covariance[i] == pytest.approx(expected, rel=1e-9)
        z_value = np.sqrt(size @ np.linalg.inv(expected) @ size / width)
        assert fits.distances([1] * 4)[i] == pytest.approx(z_value, rel=1e-9)
    assert np.all(fits.distances([50] * 4) < fits.distances([1] * 4))


def test_what_is_known_beforehand_is_no_block_of_time() -> None:
    rows = RNG.standard_normal((1, BLOCKS + 1, ROWS, 2))
    grams = np.stack([grams_of(one) for one in rows])
    with_prior, without = BlockFits(grams, priors=1), BlockFits(grams)
    assert with_prior.size == pytest.approx(without.size)
    assert not np.allclose(with_prior.covariance, without.covariance)
    empty = BlockFits(np.zeros((1, BLOCKS, 2, 2)))
    assert empty.size.tolist() == [[0.0]]
