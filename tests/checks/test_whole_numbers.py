"""Torques as whole numbers of a bus: signed ones read as unsigned, and such that overflow."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.checks import check_log, repair_log
from dynid.core.arrays import FloatArray
from dynid.preparation.column import column_statistics
from dynid.preparation.wraps import overflowing_bits, unsigned_numbers
from support.damage import sheet, sound_sheet
from support.logs import pendulum_log, with_channel

LOG = pendulum_log()
TAU = LOG.array("torque")


def units(tau: FloatArray, filled: float | FloatArray) -> FloatArray:
    """Units in which the largest torque of each axis fills so much of 15 bits and a sign."""
    return np.asarray(np.abs(tau).max(axis=0) / (np.asarray(filled) * 2**15))


def unsigned(tau: FloatArray, unit: FloatArray) -> FloatArray:
    return np.asarray(np.round(tau / unit) % 2**16 * unit)


def overflown(tau: FloatArray, unit: FloatArray) -> FloatArray:
    return np.asarray(((np.round(tau / unit) + 2**15) % 2**16 - 2**15) * unit)


def test_what_one_axis_shows_holds_for_the_others() -> None:
    """The second torque is mostly friction: it steps over zero so far that it shows no leap."""
    square = np.column_stack([TAU[:, 0], np.sign(TAU[:, 1]) * (3.0 + 0.2 * np.abs(TAU[:, 1]))])
    unit = units(square, 0.95)
    log = with_channel(LOG, torque=unsigned(square, unit))
    assert unsigned_numbers([log.column("torque", 1)]) == (None,)
    found = [f for f in check_log(log).findings if f.name == "unsigned numbers"]
    assert [f.where.axis for f in found] == [1, 2]
    mended = repair_log(log)
    assert np.allclose(mended.array("torque"), np.round(square / unit) * unit)
    assert "unsigned numbers" not in {f.name for f in check_log(mended).findings}


def test_torques_that_overflow_are_refused() -> None:
    log = with_channel(LOG, torque=overflown(TAU, units(TAU, [1.3, 0.7])))
    check = check_log(log)
    (finding,) = [f for f in check.findings if f.name == "overflowing numbers"]
    assert finding.where.axis == 1
    assert finding.sentence.startswith("torque of axis 1 overflows its 16 bits: it leaps between ")
    assert check.verdict == "not usable"


@pytest.mark.slow
def test_rates_on_logs_that_set_no_threshold() -> None:
    """Seeds below 100 set the thresholds; the figures are in docs/data-check.md."""
    right, seen, alarms, one_sided = [], [], [], []
    for seed in range(100, 160):
        made, rng = sheet(seed), np.random.default_rng([seed, 9])
        tau, n = made.values[:, 1 + made.axes :], made.axes
        for filled in (rng.uniform(0.3, 0.98), rng.uniform(0.2, 0.98, n)):
            unit = units(tau, filled)
            columns = unsigned(tau, unit).T
            found = [
                x if u is None else u.as_signed(x)
                for u, x in zip(unsigned_numbers(columns), columns, strict=True)
            ]
            right.append(np.allclose(np.array(found).T, np.round(tau / unit) * unit, atol=1e-9))
        wide = overflown(tau, units(tau, rng.uniform(1.05, 1.6, n)))
        seen += [overflowing_bits(x, column_statistics(x)) == 16 for x in wide.T]
        sound = sound_sheet(seed).array("torque")
        bits = int(rng.choice([8, 12, 16]))
        full = np.abs(sound).max(axis=0) / (rng.uniform(0.5, 0.99, n) * 2 ** (bits - 1))
        for x in (*sound.T, *(np.round(sound / full) * full).T):
            alarms.append(overflowing_bits(x, column_statistics(x)) > 0)
        lifted = sound - sound.min(axis=0) + rng.uniform(0, 0.3) * np.ptp(sound, axis=0)
        lifted = lifted if seed % 2 else np.abs(sound)
        full = lifted.max(axis=0) / (rng.uniform(0.55, 0.99, n) * 2**bits)
        one_sided.append(any(u is not None for u in unsigned_numbers((np.round(lifted / full) * full).T)))
    print(
        f"unsigned, all axes right: {np.mean(right):.1%} of {len(right)} logs, false alarms {sum(one_sided)}"
    )
    print(
        f"overflow: {np.mean(seen):.1%} of {len(seen)} torques, false alarms {sum(alarms)} of {len(alarms)}"
    )
    assert np.mean(right) > 0.95
    assert np.mean(seen) > 0.95
    assert sum(alarms) == sum(one_sided) == 0
