"""Simulated arms with one defect: the right suspect comes first, with its size; sound ones have none."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from dynid import WLS, build_problem, find_base, identify, kernels, load_robot
from dynid.core.finding import Level, Name
from dynid.preparation import Preparation
from dynid.preparation.motion import Motion
from dynid.suspects.judgement import SuspectJudgement, judge_suspects
from support.motions import base_truth, exact_torques, fourier_motion

Array = NDArray[np.float64]
ROBOT = load_robot("ur10")
BASE = find_base(ROBOT)
VALUES = base_truth(BASE, np.random.default_rng(5))
PLAN = Preparation(cutoff_hz=20.0, decimation=5, speed_thresholds=(0.03,) * 6)
J = 2


def sound(seed: int = 1, name: str = "m") -> Motion:
    made = fourier_motion(ROBOT, np.random.default_rng(seed), seconds=20.0, rate_hz=200.0, speed=1.0)
    return replace(made, tau=exact_torques(BASE, VALUES, made), name=name)


def judged(*motions: Motion, noise: float = 0.02) -> SuspectJudgement:
    rng = np.random.default_rng(7)
    noisy = [
        replace(m, tau=m.tau + noise * m.tau.std(axis=0) * rng.normal(size=m.tau.shape)) for m in motions
    ]
    found = judge_suspects(identify(build_problem(ROBOT, noisy, PLAN, BASE), WLS()))
    assert found is not None
    return found


def on_joint(values: Array, change: Array | float) -> Array:
    made = values.copy()
    made[:, J] = change
    return made


def scaled(motion: Motion, factor: float) -> Motion:
    by = np.where(np.arange(6) == J, factor, 1.0)
    return replace(motion, q=motion.q * by, qd=motion.qd * by, qdd=motion.qdd * by)


def late(motion: Motion, seconds: float, joints: list[int]) -> Motion:
    tau = motion.tau.copy()
    for j in joints:
        tau[:, j] = np.interp(motion.time - seconds, motion.time, tau[:, j])
    return replace(motion, tau=tau)


def tilted(motion: Motion, degrees: float) -> Motion:
    g = 9.81 * np.array([np.sin(np.radians(degrees)), 0.0, -np.cos(np.radians(degrees))])
    W = kernels(ROBOT.with_gravity(*g), BASE.columns).regressor(motion.q, motion.qd, motion.qdd)
    return replace(motion, tau=W @ VALUES)


M = sound()
V = M.qd[:, J]
DEFECTS: dict[str, tuple[Motion, str, float | None]] = {
    "zero 5°": (replace(M, q=on_joint(M.q, M.q[:, J] - np.radians(5))), f"zero@{J + 1}", np.radians(5)),
    "zero 20°": (replace(M, q=on_joint(M.q, M.q[:, J] - np.radians(20))), f"zero@{J + 1}", np.radians(20)),
    "scale 5 %": (scaled(M, 1 / 1.05), f"position scale@{J + 1}", 0.05),
    "scale 20 %": (scaled(M, 1 / 1.2), f"position scale@{J + 1}", 0.2),
    "gain 10 %": (replace(M, tau=on_joint(M.tau, 1.1 * M.tau[:, J])), f"torque gain@{J + 1}", 0.1),
    "delay of a joint": (late(M, 0.01, [J]), f"delay@{J + 1}", 0.01),
    "delay of all": (late(M, 0.01, list(range(6))), "delay", 0.01),
    "clock 5 %": (replace(M, qd=M.qd / 1.05, qdd=M.qdd / 1.05**2), "clock", 0.05),
    "gravity 5°": (tilted(M, 5.0), "gravity direction", None),
    "Stribeck": (
        replace(M, tau=on_joint(M.tau, M.tau[:, J] + 3.0 * np.sign(V) * np.exp(-((V / 0.1) ** 2)))),
        f"stribeck@{J + 1}",
        None,
    ),
}


@pytest.mark.parametrize("defect", DEFECTS)
def test_the_defect_comes_first_with_its_size(defect: str) -> None:
    motion, key, size = DEFECTS[defect]
    found = judged(motion)
    first = found.table.ranked[0]
    assert first.suspect.key == key
    told = next(f for f in found.findings if f.figures["suspect"] == key)
    if size is not None:
        assert told.figures["size"] == pytest.approx(size, rel=0.15)
        assert (told.level >= Level.CARE) == (max(first.together.effect) > 0.012 or "scale" in defect)


def test_a_delay_that_moves_nothing_is_a_note() -> None:
    """10 ms of a slow motion: clear, and less than a hundredth of the torque."""
    found = judged(late(M, 0.01, [J]))
    assert found.table.ranked[0].suspect.key == f"delay@{J + 1}"
    assert found.table.ranked[0].after.z > 5
    assert [finding.level for finding in found.findings] == [Level.NOTE]


@pytest.mark.parametrize("seed", range(4))
def test_a_sound_log_has_no_suspect_that_asks_for_care(seed: int) -> None:
    found = judged(sound(seed))
    assert [f.text for f in found.findings if f.level >= Level.CARE] == []
    assert found.table.noise_share == pytest.approx(1.0, abs=0.2)


def test_what_changed_between_two_logs_is_told() -> None:
    """The zero of a torque sensor moves by a tenth of the torque from one log to the next."""
    other = sound(2, "later")
    moved = 0.1 * float(np.std(other.tau[:, J]))
    found = judged(M, replace(other, tau=on_joint(other.tau, other.tau[:, J] + moved)))
    first = found.table.ranked[0]
    assert first.suspect.key.startswith("torque zero")
    assert first.suspect.joint == J
    assert abs(first.together.size[0]) == pytest.approx(moved, rel=0.1)
    assert found.findings[0].name is Name.CHANGE_IN_TIME


def test_suspects_that_cannot_be_told_apart_are_both_named() -> None:
    found = judged(DEFECTS["zero 5°"][0])
    told, first = found.findings[0], found.table.ranked[0]
    assert list(told.figures["alike"]) == [partner.suspect.key for partner in first.partners]
    assert all(partner.suspect.words(partner.size) in told.sentence for partner in first.partners)
    assert told.sentence.startswith("The zero of joint 3 is off by 4.9")
    assert "explains" in told.sentence
    assert "0.0868 rad more on the joint's side" in told.remedy
    assert "times the gear ratio" in told.remedy
