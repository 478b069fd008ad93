"""The running median by its definition, and SciPy's for windows of any size."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

from dynid.preparation.median import running_median


@pytest.mark.parametrize("window", [1, 3, 5, 11, 31, 33, 101])
@pytest.mark.parametrize("samples", [3, 12, 200])
def test_median_is_scipy_s(window: int, samples: int) -> None:
    x = np.round(np.random.default_rng(window).standard_normal(samples), 1)  # ties included
    expected = ndimage.median_filter(x, size=window, mode="mirror")
    np.testing.assert_array_equal(running_median(x, window), expected)


@pytest.mark.parametrize("samples", [1, 2])
def test_a_signal_shorter_than_the_window_is_mirrored(samples: int) -> None:
    x = np.arange(samples) + 1.0
    padded = np.pad(x, 2, mode="reflect")
    expected = [np.median(padded[i : i + 5]) for i in range(samples)]
    np.testing.assert_array_equal(running_median(x, 5), expected)


def test_the_signal_itself_is_not_handed_out() -> None:
    x = np.arange(5.0)
    running_median(x, 1)[0] = 9.0
    assert x[0] == 0.0
