"""Long logs: stretches spread over them show what the whole shows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.core.finding import Level
from dynid.estimators import WLS, identify
from dynid.preparation import Preparation
from dynid.problem import build_problem
from dynid.suspects import rank_suspects, stretches
from dynid.suspects.judgement import judge_stretches, judge_suspects
from dynid.suspects.scene import logs_of
from dynid.suspects.stretches import STRETCHES, short_problem
from support.defect_arms import defect_arm, with_torque

PLAN = Preparation(cutoff_hz=20.0, decimation=5)


def long_problem(monkeypatch: pytest.MonkeyPatch, damage: bool = True):  # type: ignore[no-untyped-def]
    monkeypatch.setattr(stretches, "STRETCHES", replace(STRETCHES, rows=3000))
    arm = defect_arm(2)
    motions = arm.motions(2, logs=2, seconds=60.0, harmonics=15)
    rng = np.random.default_rng(4)
    noisy = [m.tau + 0.02 * np.std(m.tau, axis=0) * rng.standard_normal(m.q.shape) for m in motions]
    if damage:
        noisy[1][:, 1] += 0.2 * np.std(motions[1].tau[:, 1]) * (np.arange(motions[1].samples) > 6000)
    motions = [with_torque(m, tau) for m, tau in zip(motions, noisy, strict=True)]
    return build_problem(arm.robot, motions, PLAN, arm.base, budget_bytes=0.0), motions


def test_a_step_within_one_of_two_long_logs_is_told_by_the_clock_of_that_log(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    problem, motions = long_problem(monkeypatch)
    assert problem.motions is None
    short = short_problem(problem, motions)
    assert short.has_rows
    assert short.motions is not None
    assert short.plan == problem.plan
    assert 3000 <= int(short.row_counts.sum()) < 0.5 * int(problem.row_counts.sum())
    (best, *_) = rank_suspects(identify(short, WLS())).ranked
    assert best.suspect.key == "torque zero step@2"
    words = best.suspect.words(best.together.size)
    assert "of log 'log2' on" in words
    told = float(words.split("from ")[1].split(" s")[0])
    assert told == pytest.approx(30.0, abs=3.0)


def test_a_long_fit_is_judged_by_its_stretches(monkeypatch: pytest.MonkeyPatch) -> None:
    problem, motions = long_problem(monkeypatch)
    estimate = identify(problem, WLS())
    assert judge_suspects(estimate) is None
    judged = judge_stretches(estimate, motions)
    assert judged is not None
    assert judged.findings[0].figures["suspect"] == "torque zero step@2"
    assert judged.findings[0].level is Level.CARE


def test_a_fit_that_kept_its_rows_but_not_its_motions_is_judged_by_stretches(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Ten million samples on disk, whose decimated rows fit into memory."""
    problem, motions = long_problem(monkeypatch)
    kept = replace(short_problem(problem, motions), motions=None)
    assert kept.has_rows
    judged = judge_stretches(identify(kept, WLS()), motions)
    assert judged is not None
    assert judged.findings[0].figures["suspect"] == "torque zero step@2"


def test_a_sound_long_log_shows_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    short = short_problem(*long_problem(monkeypatch, damage=False))
    assert not rank_suspects(identify(short, WLS())).ranked


def test_short_logs_are_taken_whole() -> None:
    arm = defect_arm(0)
    motions = arm.motions(0)
    problem = build_problem(arm.robot, motions, PLAN, arm.base)
    assert np.array_equal(short_problem(problem, motions).row_counts, problem.row_counts)


def test_stretches_know_their_log_whatever_it_is_called(monkeypatch: pytest.MonkeyPatch) -> None:
    """Logs of one name whose clock runs on are not one log, and one too short for a stretch leaves no gap."""
    problem, motions = long_problem(monkeypatch)
    seconds = float(motions[0].time[-1])
    alike = [replace(m, name="data", time=m.time + 2 * k * seconds) for k, m in enumerate(motions)]
    short = short_problem(problem, alike)
    assert short.motions is not None
    assert {motion.stretch_of for motion in short.motions} == {0, 1}
    found = logs_of(short.motions)
    assert [number for number, _ in found] == sorted(number for number, _ in found)
    assert [number for number, _ in logs_of(alike)] == [0, 1]
    (best, *_) = rank_suspects(identify(short, WLS())).ranked
    assert "of log 'data (2)' on" in best.suspect.words(best.together.size)
    apart = [replace(m, stretch_of=k) for m, k in zip(motions, (0, 2), strict=True)]
    assert [number for number, _ in logs_of(apart)] == [0, 1]
