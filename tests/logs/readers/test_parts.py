"""Files of one experiment that have stamps of their own: aligned by them, or refused with a remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dynid.core.errors import DynidError
from dynid.logs.log import Log
from dynid.logs.mapping import mapping_from_table
from dynid.logs.read import read_log

Array = np.ndarray[Any, np.dtype[np.float64]]
PARTS: dict[str, Any] = {
    "position": {"file": "pos.csv", "columns": "q{axis}"},
    "torque": {"file": "torque.csv", "columns": "tau{axis}"},
}
STAMPED = PARTS | {"time": {"file": "pos.csv", "column": "t"}}


def position(t: Array) -> Array:
    return np.column_stack([np.sin(2 * t), np.cos(3 * t)])


def torque(t: Array) -> Array:
    return np.column_stack([10 * np.cos(6 * t), 4 * np.sin(5 * t + 1)])


def write(path: Path, name: str, values: Array, stamps: Any = None) -> None:
    rows = [",".join(f"{x:.12g}" for x in row) for row in values]
    names = [f"{name}{i + 1}" for i in range(values.shape[1])]
    if stamps is not None:
        names = ["t", *names]
        rows = [f"{stamp},{row}" for stamp, row in zip(stamps, rows, strict=True)]
    path.write_text("\n".join([",".join(names), *rows]) + "\n")


def texts(t: Array) -> list[str]:
    return [f"{x:.12g}" for x in t]


def experiment(folder: Path, t: Array, s: Array, **mapping: Any) -> Log:
    """Positions stamped t, torques stamped s."""
    write(folder / "pos.csv", "q", position(t), texts(t))
    write(folder / "torque.csv", "tau", torque(s), texts(s))
    return read_log(folder, mapping_from_table(mapping) if mapping else None)


def step(log: Log, name: str) -> Any:
    (found,) = [step for step in log.history if step.name == name]
    return found


@pytest.mark.parametrize("mapping", [{}, STAMPED, PARTS])
@pytest.mark.parametrize("offset", [0.03, -0.0307, 2.5])
def test_a_recorder_that_began_at_another_time(
    tmp_path: Path, mapping: dict[str, Any], offset: float
) -> None:
    t = np.arange(4000) / 500
    log = experiment(tmp_path, t, t + offset, **mapping)
    assert np.allclose(log.channels["position"], position(log.time), atol=1e-11)
    assert np.allclose(log.channels["torque"], torque(log.time), atol=1e-6)
    assert log.samples == pytest.approx(4000 - abs(offset) * 500, abs=1)
    told = step(log, "aligned by stamps")
    assert told.options["offset_s"] == pytest.approx(offset)
    begins = f"begins {abs(offset):g} s {'later' if offset > 0 else 'earlier'}"
    assert f"torque of torque.csv (500 Hz, {begins}) was read at the stamps of pos.csv (500 Hz)" in told.note
    assert "of 4000 samples were left out, where torque has no values" in step(log, "cut to overlap").note


@pytest.mark.parametrize("rate", [50.0, 125.0, 800.0, 1000.0])
def test_a_recorder_of_another_rate(tmp_path: Path, rate: float) -> None:
    t = np.arange(2000) / 500
    log = experiment(tmp_path, t, np.arange(int(4 * rate) + 1) / rate, **STAMPED)
    assert np.allclose(log.channels["torque"], torque(log.time), atol=5e-4)
    if rate == 50:  # straight lines would be biased by far more
        s = np.arange(int(4 * rate) + 1) / rate
        line = np.interp(log.time, s, torque(s)[:, 0])
        assert np.std(line - torque(log.time)[:, 0]) > 20 * np.std(
            log.channels["torque"][:, 0] - torque(log.time)[:, 0]
        )
    assert step(log, "aligned by stamps").options["rate_hz"] == pytest.approx(rate)
    assert log.samples == 2000


def test_the_same_stamps_leave_every_value_as_it_is(tmp_path: Path) -> None:
    t = np.arange(500) / 500
    log = experiment(tmp_path, t, t, **STAMPED)
    assert np.array_equal(
        log.channels["torque"], np.array([[float(f"{x:.12g}") for x in r] for r in torque(t)])
    )
    assert not {"aligned by stamps", "cut to overlap"} & {step.name for step in log.history}


def test_stamps_in_other_units_and_from_a_calendar_date(tmp_path: Path) -> None:
    t = np.arange(1000) / 500
    write(tmp_path / "pos.csv", "q", position(t), [f"{1_700_000_000 + x:.6f}" for x in t])
    stamps = [str(1_700_000_000_000_000_000 + round((x + 0.5) * 1e9)) for x in t]
    write(tmp_path / "torque.csv", "tau", torque(t + 0.5), stamps)
    log = read_log(tmp_path, mapping_from_table(STAMPED))
    assert log.time[0] == pytest.approx(0.5, abs=1e-5)
    assert np.allclose(log.channels["torque"], torque(log.time), atol=1e-4)  # a float of 1.7e9 s has 0.2 µs
    iso = [str(np.datetime64("2023-11-14T22:13:20", "us") + np.timedelta64(round(x * 1e6), "us")) for x in t]
    write(tmp_path / "pos.csv", "q", position(t), iso)
    assert np.allclose((log := read_log(tmp_path)).channels["torque"], torque(log.time), atol=1e-4)
    assert log.time[0] == pytest.approx(0.5, abs=1e-5)


def test_gaps_and_holes_are_not_filled(tmp_path: Path) -> None:
    t = np.arange(2000) / 500
    s = np.delete(t, np.s_[500:600])  # 0.2 s without torques
    values = torque(s)
    values[300] = np.nan
    write(tmp_path / "pos.csv", "q", position(t), texts(t))
    write(tmp_path / "torque.csv", "tau", values, texts(s))
    log = read_log(tmp_path, mapping_from_table(STAMPED))
    assert not np.any((log.time > s[499] + 1e-6) & (log.time < s[500] - 1e-6))
    holes = np.isnan(log.channels["torque"][:, 0])
    assert np.allclose(log.time[holes], t[300])
    assert np.allclose(log.channels["torque"][~holes], torque(log.time[~holes]), atol=1e-6)


def test_what_cannot_be_related_is_told_with_a_remedy(tmp_path: Path) -> None:
    t = np.arange(500) / 500
    with pytest.raises(DynidError) as caught:
        experiment(tmp_path, t, t + 100, **STAMPED)
    assert (
        "The stamps of pos.csv run from 0 to 0.998 s and those of torque in torque.csv from 100 to 100.998 "
        "s: they have no time in common. Bring them to one clock" in str(caught.value)
    )
    write(tmp_path / "torque.csv", "tau", torque(t[:300]))
    with pytest.raises(DynidError) as caught:
        read_log(tmp_path, mapping_from_table(STAMPED))
    assert (
        "numbers of samples (position 500 in pos.csv, torque 300 in torque.csv, time 500 in pos.csv), and"
        in str(caught.value)
    )
    assert "Give every file a column of stamps" in str(caught.value)
    assert "{" not in str(caught.value)
    s = np.concatenate([t[:300], t[:200]])  # the clock was set back
    with pytest.raises(DynidError, match=r"200 of 500 stamps of torque\.csv are lost, repeated or earlier"):
        experiment(tmp_path, t, s, **STAMPED)


def test_a_rate_does_not_hide_that_the_stamps_disagree(tmp_path: Path) -> None:
    t = np.arange(1000) / 500
    with pytest.raises(DynidError) as caught:
        experiment(tmp_path, t, t + 0.03, **PARTS, rate_hz=500)
    assert "rate_hz pairs rows by number, but the stamps of torque.csv (500 Hz) begin 0.03 s after" in str(
        caught.value
    )
    log = read_log(tmp_path, mapping_from_table(PARTS | {"rate_hz": 500, "time": {"ignore": True}}))
    assert log.samples == 1000
    assert experiment(tmp_path, t, t, **PARTS, rate_hz=500).samples == 1000
