"""The closed loop of EMPS against its authors' simulation, and estimates from the raw log."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dynid.casestudies.emps_loop import (
    FILES,
    PERIOD,
    PUBLISHED,
    Record,
    clock_of,
    fit_loop,
    law_error,
    loop_rows,
    read_record,
    simulated_errors,
)
from support.datasets import dataset


@pytest.fixture(scope="module")
def folder() -> Path:
    return dataset("emps")


@pytest.fixture(scope="module", params=range(2), ids=FILES)
def record(request: pytest.FixtureRequest, folder: Path) -> tuple[Record, tuple[float, ...]]:
    return read_record(folder, FILES[request.param]), PUBLISHED[request.param]


def test_the_authors_simulation(record: tuple[Record, tuple[float, ...]]) -> None:
    own, published = record
    found = simulated_errors(own, delay=1, period=clock_of(own.log), held=False)
    assert np.all(np.abs(found / np.array(published) - 1.0) < 0.08)  # 15 % are asked for


def test_the_position_error_is_the_drift_of_the_clock(record: tuple[Record, tuple[float, ...]]) -> None:
    """With the true clock nothing is left of it; the drift alone makes it."""
    own, published = record
    true = simulated_errors(own, delay=1, period=PERIOD, held=False)
    assert true[0] < 0.35 * published[0]
    assert abs(clock_of(own.log) / PERIOD - 1.0) > 5e-6


def test_a_loop_without_delay_is_nearer_to_the_log(record: tuple[Record, tuple[float, ...]]) -> None:
    own, _ = record
    prompt = simulated_errors(own, delay=0, period=PERIOD, held=True)
    late = simulated_errors(own, delay=1, period=PERIOD, held=True)
    assert np.all(prompt[[0, 1, 3]] < late[[0, 1, 3]])


def test_the_law_tells_the_logged_force(folder: Path) -> None:
    assert law_error(read_record(folder, FILES[0])) < 0.3
    pulses = read_record(folder, FILES[1])
    assert law_error(pulses) < 3.1
    without = Record(pulses.log, np.zeros_like(pulses.pulses), pulses.motion)
    assert law_error(without) > 50.0  # the pulses are volts: as newtons they would not matter


def test_rows_that_are_off_are_refused(folder: Path) -> None:
    rows = loop_rows(folder, {"M1": 100.0, "Fv1": 203.5, "Fc1": 20.39, "off1": -3.165})
    assert [row.ok for row in rows if row.quantity == "M1"] == [False, False]
    assert all(row.ok for row in rows if row.quantity != "M1")


def test_the_raw_log_needs_no_filtered_position(folder: Path) -> None:
    found = fit_loop(folder, "DIDIM")
    assert not any("filter" in step.name for step in found.problem.motions[0].history)
