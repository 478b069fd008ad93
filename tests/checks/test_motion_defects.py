"""Clocks set back, counters that wrap, spikes, jumps, noise, speed: told, and mended where that can be."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dynid import check
from dynid.checks import check_log, repair_log
from dynid.checks.check import LookedAt
from dynid.core.errors import NotTrustworthyError
from dynid.core.finding import Finding
from dynid.logs.log import Log
from dynid.logs.read import read_log
from dynid.model.joint import Limits
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.preparation.clock import _longest_increase, read_clock
from dynid.preparation.leaps import find_leaps
from support.logs import csv_text, pendulum_log, with_rows

LOG = pendulum_log()
ROBOT = load_robot("double_pendulum")
Q, TAU, T = LOG.channels["position"], LOG.channels["torque"], LOG.time
STEP = 1 / 250


def found(log: Log, name: str, robot: Robot | None = None) -> list[Finding]:
    return [finding for finding in check_log(log, robot).findings if finding.name == name]


def bare(q: np.ndarray = Q, tau: np.ndarray = TAU, time: np.ndarray = T) -> Log:
    return Log("made", time, {"position": q, "torque": tau})


def largest_step(log: Log) -> float:
    return float(np.abs(np.diff(log.channels["position"], axis=0)).max())


@pytest.mark.parametrize("back", [0.008, 0.1, 1.0, 6.0, 1000.0])
def test_a_clock_that_was_set_back_goes_on(back: float) -> None:
    time = T.copy()
    time[1500:] -= back
    log = bare(time=time)
    check = check_log(log)
    assert check.verdict == "usable with repairs"
    (finding,) = [f for f in check.findings if f.name == "clock set back"]
    assert (
        finding.sentence == f"The clock was set back once, most by {back:.4g} s; the motion goes on over it."
    )
    assert "sample 1501" in finding.where.moment
    assert not {"backward stamps", "repeated stamps", "long gaps"} & set(check.defects)
    mended = repair_log(log)
    assert np.allclose(mended.time, T, atol=1e-9)
    assert np.array_equal(mended.channels["position"], Q)
    assert mended.history[-1].name == "repair: clock set back"
    assert f"where the clock was set back (by {back:.4g} s)" in mended.history[-1].note
    assert check_log(mended, ROBOT).verdict == "good"


def test_pieces_that_do_not_belong_together_are_never_joined() -> None:
    """Two recordings one after the other: the longer is kept; of many short ones none."""
    rows = np.concatenate([np.arange(600, 1400), np.arange(0, 500)])
    log = with_rows(bare(), rows)
    (finding,) = found(log, "clock set back")
    assert "the motion does not go on there; the longest piece holds 62 % of the log" in finding.sentence
    mended = repair_log(log)
    assert np.array_equal(mended.channels["position"], Q[600:1400])
    assert "800 of 1300 samples were kept, the longest piece" in mended.history[-1].note
    assert largest_step(mended) < 1.01 * largest_step(LOG)
    many = with_rows(
        bare(), np.concatenate([np.arange(start, start + 300) for start in (1800, 1300, 900, 100)])
    )
    (finding,) = found(many, "clock set back")
    assert finding.level.word == "fail"
    assert check_log(many).verdict == "not usable"
    with pytest.raises(NotTrustworthyError, match="The clock was set back 3 times"):
        repair_log(many, ["clock set back"])


def test_single_bad_stamps_are_no_set_back_clock() -> None:
    time = T.copy()
    time[[400, 800]] -= 0.05
    time[1200] += 50.0
    time[[1600, 1601]] = time[[1601, 1600]]
    assert read_clock(time).breaks == ()
    assert read_clock(T[::-1]).breaks == ()
    jittered = T + np.random.default_rng(0).uniform(-0.4, 0.4, len(T)) * STEP
    assert read_clock(jittered).breaks == ()


def test_wraps_are_found_and_unwrapped() -> None:
    q = Q.copy()
    q[:, 0] = 2.5 * np.sin(0.9 * T) * 2
    wrapped = q.copy()
    wrapped[:, 0] = (q[:, 0] + np.pi) % (2 * np.pi) - np.pi
    log = bare(wrapped)
    (finding,) = found(log, "wrapped position")
    assert (finding.level.word, finding.where.axis, finding.repairable) == ("care", 1, True)
    assert "position of axis 1 wraps around: it leaps by a full turn" in finding.sentence
    mended = repair_log(log, ["wrapped position"])
    assert np.allclose(mended.channels["position"], q)
    assert mended.history[-1].options == {"position 1": int(np.sum(np.abs(np.diff(wrapped[:, 0])) > 3))}
    assert not found(mended, "wrapped position")
    assert not found(log, "position jump")


def test_spikes_are_found_and_bridged() -> None:
    q, tau = Q.copy(), TAU.copy()
    q[100:2500:400, 1] = 9.0
    q[1330:1333, 0] -= 2.0
    tau[700, 0] = 500.0
    log = bare(q, tau)
    told = {(f.where.channel, f.where.axis): f for f in found(log, "spikes")}
    assert set(told) == {("position", 1), ("position", 2), ("torque", 1)}
    assert (
        "has spikes, wild samples between sound ones (6 of 2500, such as 9)" in told["position", 2].sentence
    )
    assert check_log(log).verdict == "usable with repairs"
    mended = repair_log(log)
    assert np.abs(mended.channels["position"] - Q).max() < 1e-3
    assert mended.history[-1].options == {"position 1": 3, "position 2": 6, "torque 1": 1}
    assert check_log(mended, ROBOT).verdict == "good"


@pytest.mark.parametrize("size", [0.05, -0.4, 3.0])
def test_a_jump_is_not_usable_and_its_place_is_told(size: float) -> None:
    q = Q.copy()
    q[1500:, 1] += size
    log = bare(q)
    check = check_log(log)
    (finding,) = [f for f in check.findings if f.name == "position jump"]
    assert check.verdict == "not usable"
    assert "position of axis 2 jumps between two samples once, most by" in finding.sentence
    assert float(finding.sentence.split("most by ")[1].split(":")[0]) == pytest.approx(size, abs=0.03)
    assert "t = 5.9960 s, sample 1500" in finding.where.moment
    assert repair_log(log) is log


def test_gaps_steps_of_an_encoder_late_samples_and_noise_are_no_leaps() -> None:
    rng = np.random.default_rng(1)
    held = Q[:, 0].copy()
    held[900] = held[899]
    late = np.delete(np.arange(2500), [1000, 1001])
    early = T[late].copy()
    early[999] = T[1001]  # the stamp of the sample before the gap is late
    gap = np.delete(np.arange(2500), range(700, 730))
    for q, time in (
        (Q[gap, 0], T[gap]),
        (held, T),
        (Q[late, 0], T[late]),
        (Q[late, 0], early),
        (np.round(Q[:, 0] / 0.02) * 0.02, T),
        (Q[:, 0] + 0.01 * rng.standard_normal(2500), T),
        (rng.standard_normal(2500), T),
        (np.clip(Q[:, 0], -0.2, 0.2), T),
        (np.where(T < 5, 0.0, 1 - np.cos(3 * np.maximum(T - 5, 0))), T),
    ):
        assert not find_leaps(q, time)


def test_a_long_axis_is_looked_at_in_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    q = Q[:, 0].copy()
    q[[400, 999, 1000, 1750]] += [3.0, 2.0, 2.0, -3.0]
    q[2000:] += 0.5
    whole = find_leaps(q, T)
    monkeypatch.setattr("dynid.preparation.leaps._BLOCK", 500)
    parts = find_leaps(q, T)
    assert whole.spikes.tolist() == parts.spikes.tolist() == [400, 999, 1000, 1750]
    assert whole.jumps.tolist() == parts.jumps.tolist() == [1999]


def test_what_a_long_log_was_looked_at_in_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dynid.checks.check.LOOKED_AT", LookedAt(samples=1000, told_from=2000))
    check = check_log(LOG, ROBOT)
    (finding,) = check.findings
    assert (check.verdict, finding.name, finding.level.word) == ("good", "long log", "note")
    assert re.search(r"were looked at in \d+ of its 2500 samples, from the middle", finding.sentence)


def test_overspeed() -> None:
    joints = tuple(replace(joint, limits=Limits(velocity=6.0)) for joint in ROBOT.joints)
    slow = replace(ROBOT, joints=joints)
    assert not found(LOG, "overspeed", slow)
    told = found(bare(time=T / 10), "overspeed", slow)
    assert {f.level.word for f in told} == {"note"}
    assert "times its limit of 6 rad/s in the robot file" in told[0].sentence
    crawling = replace(ROBOT, joints=tuple(replace(j, limits=Limits(velocity=0.1)) for j in joints))
    assert {f.level.word for f in found(LOG, "overspeed", crawling)} == {"care"}
    assert "unit of the stamps" in told[0].remedy


def test_noise_is_no_motion() -> None:
    rng = np.random.default_rng(4)
    noise = bare(rng.standard_normal(Q.shape), rng.standard_normal(Q.shape))
    for robot in (None, ROBOT):
        check = check_log(noise, robot)
        assert check.verdict == "not usable"
        (finding,) = [f for f in check.findings if f.name == "no smooth motion"]
        assert "position of axes 1, 2 changes as much from sample to sample" in finding.sentence
    shuffled = bare(Q, rng.permutation(TAU))
    (finding,) = found(shuffled, "hardly explained")
    assert "The torques have nothing to do with the motion" in finding.sentence
    assert check_log(shuffled).verdict == "not usable"
    (finding,) = found(shuffled, "hardly explained", ROBOT)
    assert finding.level.word == "fail"
    assert "No parameters of robot 'double_pendulum' explain the torques" in finding.sentence


def test_logs_that_are_too_short_to_say_anything() -> None:
    (finding,) = found(with_rows(bare(), np.arange(24)), "too short")
    assert finding.sentence == "The log lasts 92 ms; at least 100 ms are needed."
    robot = load_robot("tx40_log")
    rng = np.random.default_rng(0)
    t = np.arange(150) * STEP
    q = 0.2 * np.sin(np.outer(t, np.linspace(0.8, 1.2, 6))) + 0.3
    short = Log("short", t, {"position": q, "torque": rng.standard_normal(q.shape) + 20 * q})
    (finding,) = found(short, "excitation", robot)
    assert finding.level.word == "fail"
    assert "directions of the parameters are hardly excited (condition number" in finding.sentence


def test_one_axis_that_lags_is_named() -> None:
    late = 10
    tau = TAU.copy()
    tau[late:, 1] = TAU[:-late, 1]
    rows = np.arange(late, 2500)
    for lagging, axis in ((tau, 2), (np.roll(TAU, late, axis=0), None)):
        (told,) = [
            f for f in check(with_rows(bare(tau=lagging), rows), ROBOT).findings if f.level.word == "care"
        ]
        assert (told.name, told.where.axis) == ("delay", axis)
        assert told.figures["size"] == pytest.approx(late * STEP, rel=0.05)
        assert re.search(r"^Add 0\.0(39|4) to delay_s of the torque", told.remedy)


def test_a_coarse_torque_is_neither_frozen_nor_saturated() -> None:
    step = np.ptp(TAU, axis=0) / 12
    coarse = bare(tau=np.round(TAU / step) * step)
    names = {f.name for f in check_log(coarse).findings}
    assert "coarse quantisation" in names
    assert not {"frozen channel", "saturation"} & names
    stopped = np.round(TAU / step) * step
    stopped[800:1900, 0] = stopped[800, 0]
    assert found(bare(tau=stopped), "frozen channel")
    limit = 0.4 * float(np.abs(TAU[:, 0]).max())
    clipped = np.round(np.clip(TAU, -limit, limit) / (step / 4)) * (step / 4)
    assert found(bare(tau=clipped), "saturation")


def damaged(tmp_path: Path, *places: int, inserted: bool = False) -> Log:
    lines = csv_text(LOG).splitlines()
    for place in places:
        if inserted:
            lines.insert(place, "ERROR: controller fault")
        else:
            lines[place] = "10.0,0.5"
    (tmp_path / "log.csv").write_text("\n".join(lines) + "\n")
    return read_log(tmp_path / "log.csv")


def test_damaged_lines_are_told_once_and_repaired(tmp_path: Path) -> None:
    log = damaged(tmp_path, 500, 501, 900)
    check = check_log(log)
    assert check.verdict == "usable with repairs"
    assert check.defects == ("damaged lines",)
    (finding,) = [f for f in check.findings if f.name == "damaged lines"]
    assert finding.where.moment == "lines 501, 502, 901"
    assert "3 lines are damaged in log.csv (line 501: 2 cells where 5 are expected" in finding.sentence
    mended = repair_log(log)
    assert np.allclose(mended.time, T)
    assert np.abs(mended.channels["position"] - Q).max() < 1e-3
    assert mended.history[-1].note == "Of the samples of damaged lines 3 were interpolated and 0 left out."
    assert check_log(mended, ROBOT).verdict == "good"


def test_lines_between_the_samples_are_left_out(tmp_path: Path) -> None:
    mended = repair_log(damaged(tmp_path, 500, 900, inserted=True))
    assert np.array_equal(mended.time, T)
    assert np.array_equal(mended.channels["position"], Q)
    assert mended.history[-1].options == {"interpolated": 0, "left_out": 2}


def test_many_damaged_lines_are_left_out_or_fail_the_log(tmp_path: Path) -> None:
    assert check_log(damaged(tmp_path, *range(200, 2400, 10))).verdict == "usable with repairs"
    many = damaged(tmp_path, *range(500, 540))
    assert check_log(many).verdict == "usable with repairs"
    mended = repair_log(many)
    assert np.array_equal(mended.channels["position"], Q[540 - 1 :])
    check = check_log(damaged(tmp_path, *range(500, 2000)))
    assert check.verdict == "not usable"
    (finding,) = [f for f in check.findings if f.name == "damaged lines"]
    assert "say delimiter, decimal or skip_lines in [csv] of a mapping" in finding.remedy


def test_the_most_stamps_that_increase_are_kept() -> None:
    """Whatever the disorder, as many stamps are good as the longest increasing subsequence has."""
    rng = np.random.default_rng(0)
    for spread in (0.3, 2.0, 10.0):
        stamps = np.round(np.arange(80) + rng.normal(0, spread, 80), 1)
        length = np.ones(80, dtype=int)
        for i in range(80):
            length[i] += max((length[j] for j in range(i) if stamps[j] < stamps[i]), default=0)
        chain = _longest_increase(stamps, np.arange(80))
        assert len(chain) == length.max()
        assert np.all(np.diff(stamps[chain]) > 0)
