"""A clock that was set forward, and a gap: the same stamps, told apart by the motion."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from dynid.checks import check_log, repair_log, split_log
from dynid.logs.log import Log
from support.damage import sheet, sound_sheet
from support.logs import pendulum_log, with_channel, with_rows

LOG = pendulum_log()


def set_forward(log: Log, row: int, seconds: float) -> Log:
    return replace(log, time=log.time + seconds * (np.arange(log.samples) >= row))


def with_gap(log: Log, row: int, missing: int) -> Log:
    return with_rows(log, np.delete(np.arange(log.samples), range(row, row + missing)))


def names(log: Log) -> set[str]:
    return {finding.name.value for finding in check_log(log).findings}


@pytest.mark.parametrize("seconds", [0.06, 3600.0, 1.7e9])
def test_a_clock_set_forward_goes_on_and_nothing_is_lost(seconds: float) -> None:
    log = set_forward(LOG, 1100, seconds)
    check = check_log(log)
    (finding,) = [f for f in check.findings if f.name == "clock set forward"]
    assert (
        finding.sentence
        == f"The clock was set forward once, most by {seconds:.4g} s; the motion goes on over it."
    )
    assert finding.where.moment == f"sample 1101, t = {LOG.time[1099]:.4f} s"
    assert check.verdict == "usable with repairs"
    assert "long gaps" not in {f.name for f in check.findings}
    mended = repair_log(log)
    assert mended.samples == LOG.samples
    assert np.allclose(np.diff(mended.time), np.diff(LOG.time), atol=1e-6)
    assert (
        mended.history[-1].note
        == f"Stamps go on with the usual step where the clock was set forward (by {seconds:.4g} s)."
    )
    assert check_log(mended).verdict == "good"


def test_a_gap_stays_a_gap() -> None:
    assert "long gaps" in names(with_gap(LOG, 300, 12))
    assert "long gaps" in names(with_gap(LOG, 300, 400))
    assert "clock set forward" not in names(with_gap(LOG, 300, 12)) | names(with_gap(LOG, 300, 400))


def test_at_rest_nothing_tells_them_apart() -> None:
    q = LOG.array("position").copy()
    q[1000:1200] = q[1000]
    found = names(set_forward(with_channel(LOG, position=q), 1100, 3600.0))
    assert "long gaps" in found
    assert "clock set forward" not in found


def _drawn_logs(seeds: range) -> Iterator[tuple[np.random.Generator, Log]]:
    """Plain and coarse, slow, resting logs in turn."""
    for seed in seeds:
        made = sheet(seed)
        plain = Log(
            "plain",
            made.values[:, 0] - made.values[0, 0],
            {"position": made.values[:, 1 : 1 + made.axes], "torque": made.values[:, 1 + made.axes :]},
        )
        yield np.random.default_rng([seed, 7]), plain if seed % 2 else sound_sheet(seed)


def test_a_log_is_cut_at_its_gaps() -> None:
    rows = np.delete(np.arange(LOG.samples), [*range(600, 1000), *range(1010, 1500), 1700, 1701])
    first, second = split_log(with_rows(LOG, rows))
    assert (first.name, second.name) == ("made-1", "made-2")
    assert np.array_equal(first.time, LOG.time[:600])
    assert np.allclose(second.time, LOG.time[1500:])  # ten rows alone are no log, and short gaps are filled
    assert "part" in [step.name for step in second.history]
    (finding,) = [f for f in check_log(with_rows(LOG, rows)).findings if f.name == "long gaps"]
    assert "dynid check LOG --repair OUT.npz --parts" in finding.remedy


def test_a_short_log_is_told_to_be_short() -> None:
    for order in (np.arange(20), np.random.default_rng(0).permutation(20)):
        check = check_log(with_rows(LOG, order))
        (finding,) = [f for f in check.findings if f.name == "too short"]
        assert finding.sentence == "The log lasts 76 ms; at least 100 ms are needed."
        assert check.facts["rate_hz"] == pytest.approx(250)


@pytest.mark.slow
def test_rates_on_logs_that_set_no_threshold() -> None:
    """Seeds below 100 set the thresholds; the table is in docs/data-check.md."""
    seen, alarms, leaps, gaps = 0, 0, 0, 0
    for rng, log in _drawn_logs(range(200, 300)):
        row = int(rng.integers(20, log.samples - 20))
        leaps += 1
        seen += "clock set forward" in names(set_forward(log, row, float(rng.choice([1.0, 3600.0]))))
        for missing in (11, 15, 30, 100, log.samples // 4, log.samples // 2):
            if row + missing < log.samples - 20:
                gaps += 1
                alarms += "clock set forward" in names(with_gap(log, row, missing))
    print(f"set forward {seen} of {leaps}; gaps taken for it {alarms} of {gaps}")
    assert seen > 0.75 * leaps  # in the others the robot rests there
    assert alarms <= 0.005 * gaps
