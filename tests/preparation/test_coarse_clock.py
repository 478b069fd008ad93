"""Ticks of a coarse clock, and a clock that was set once, which has none."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.preparation.coarse_clock import coarse_clock

EVEN = np.arange(15_000) / 500.0


@pytest.mark.parametrize("tick", [0.01, 0.1, 0.5])
def test_rounded_stamps_are_ticks(tick: float) -> None:
    found = coarse_clock(np.floor(EVEN / tick + 1e-9) * tick)
    assert found is not None
    assert found.tick == pytest.approx(tick)
    assert found.rate_hz == pytest.approx(500.0, rel=1e-2)


@pytest.mark.parametrize("leap", [1.0, 60.0, 3600.0])
def test_a_clock_that_was_set_forward_is_none(leap: float) -> None:
    assert coarse_clock(EVEN + leap * (EVEN > 15.0)) is None
    assert coarse_clock(EVEN) is None
