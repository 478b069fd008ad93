"""Significant digits by stochastic arithmetic."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.resolution.digits import RandomRounding, digits_finding, significant_digits
from dynid.workflow.fitting import fit
from support.coarse_arms import PLAN, scara, scara_log


def system(condition: float, seed: int = 0, size: int = 6) -> np.ndarray:
    """R of [W y] with a given condition number, all parameters 1."""
    rng = np.random.default_rng(seed)
    U, V = (np.linalg.qr(rng.normal(size=(size, size)))[0] for _ in range(2))
    W = U @ np.diag(np.geomspace(1.0, 1.0 / condition, size)) @ V.T
    return np.linalg.qr(np.column_stack([W, W @ np.ones(size)]), mode="r")


def test_a_good_system_keeps_nearly_all_digits() -> None:
    assert np.min(significant_digits(system(10.0), np.random.default_rng(0))) > 13.0


@pytest.mark.parametrize("power", [4, 6, 8, 10])
def test_every_power_of_ten_of_the_condition_costs_a_digit(power: int) -> None:
    digits = [significant_digits(system(10.0**power, k), np.random.default_rng(k)) for k in range(8)]
    assert np.median([d.min() for d in digits]) == pytest.approx(15.5 - power, abs=1.2)


def test_the_digits_are_those_of_the_true_error() -> None:
    true, told = [], []
    for seed in range(12):
        factor = system(1e9, seed)
        error = np.max(np.abs(np.linalg.solve(factor[:6, :6], factor[:6, 6]) - 1.0))
        true.append(-np.log10(error))
        told.append(significant_digits(factor, np.random.default_rng(seed)).min())
    assert np.median(true) - 2.0 < np.median(told) < np.median(true) + 0.5  # a bound of 95 % is careful


def test_rounding_goes_up_and_down_alike() -> None:
    x = np.random.default_rng(0).normal(size=4000)
    moved = RandomRounding(np.random.default_rng(1))(x)
    assert np.all((moved == np.nextafter(x, np.inf)) | (moved == np.nextafter(x, -np.inf)))
    assert np.mean(moved > x) == pytest.approx(0.5, abs=0.05)
    assert RandomRounding(np.random.default_rng(1))(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


def test_few_digits_are_a_care() -> None:
    assert digits_finding(("A", "B"), np.array([13.0, 3.0])).level.word == "care"
    assert "3.0 significant digits (B)" in digits_finding(("A", "B"), np.array([13.0, 3.0])).sentence
    assert digits_finding(("A", "B"), np.array([13.0, 12.0])).level.word == "note"


def test_a_fit_tells_them_on_request() -> None:
    told = fit(scara(), [scara_log()], plan=PLAN, digits=True).concerns
    assert ["significant digits" in finding.sentence for finding in told].count(True) == 1
    silent = fit(scara(), [scara_log()], plan=PLAN).concerns
    assert not any("significant digits" in finding.sentence for finding in silent)
