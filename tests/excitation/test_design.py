"""Designs: P3's setting on the TX-90, limits at every instant, seeds, priors, families, couplings."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray

from dynid.compile.kernels import kernels
from dynid.core.finding import Name
from dynid.excitation import Design, DesignTask, LimitChoice, PriorInformation, design_motion
from dynid.excitation.design import condition_number
from dynid.model.joint import BASE, Joint, JointKind, Limits
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.trajectories import FourierSpace, ModifiedFourierSpace, MotionSpace, SplineSpace, Trajectory

Array = NDArray[np.float64]
SIDE = np.radians([180, 130, 140, 270, 115, 270])
"""The smaller side of each range in P3's Table 1."""
P3_LIMITS = LimitChoice(lower=-SIDE, upper=SIDE)  # type: ignore[arg-type]


@cache
def p3(criterion: str, seed: int, starts: int) -> Design:
    """P3 §4.1: five harmonics of 0.1 Hz from rest at zero, 625 samples, the conservative bounds (15)–(17)."""
    task = DesignTask(
        FourierSpace(0.1, 5),
        criterion,
        P3_LIMITS,
        start=np.zeros(6),
        conservative=True,
        rate_hz=62.5,
        samples=625,
    )
    return design_motion(load_robot("tx90"), task, starts=starts, seed=seed, workers=1)


def informations(design: Design) -> list[Array]:
    """WᵀW of the motion that each start led to."""
    return [design.information_of(design.problem.trajectory(run.x)) for run in design.runs]


def assert_kept(design: Design, trajectory: Trajectory | None = None) -> None:
    """No limit of motion is passed at 1 kHz, by more than 1e-6 of it, and none between these samples."""
    motion = trajectory or design.trajectory
    time = np.linspace(0.0, motion.duration, round(1000 * motion.duration) + 1)
    limits = design.limits
    for order in range(4):
        values = limits.joint_values(motion.at(time, order), order)
        low, high = limits.low[order], limits.high[order]
        air = 1e-6 * np.where(np.isfinite(high - low), high - low, 0.0) / 2
        assert np.all(values <= high + air)
        assert np.all(values >= low - air)
        least, largest = motion.extremes(order)
        own = list(limits.own)
        assert np.all(largest <= (high + air)[own])
        assert np.all(least >= (low - air)[own])
        # The proved bounds hold the samples, and are not loose.
        seen = motion.at(time, order)
        scale = np.abs(seen).max()
        assert np.all(least <= seen.min(axis=0) + 1e-9 * scale)
        assert np.all(largest <= seen.max(axis=0) + 0.01 * scale)


def assert_rests(trajectory: Trajectory) -> None:
    for order in (1, 2):
        assert np.max(np.abs(trajectory.at([0.0, trajectory.duration], order))) < 1e-9


def shares(design: Design, quantity: str) -> list[float]:
    return [use.share for use in design.uses if use.quantity == quantity]


def gain(design: Design) -> float:
    """By how much the standard deviations are smaller than before, geometric mean."""
    return float(np.exp(np.mean(np.log(design.sigma_before / design.sigma))))


# ── P3's setting ──────────────────────────────────────────────────────────────────────────────────────────


def test_five_starts_reach_a_small_condition() -> None:
    conditions = [condition_number(G) for G in informations(p3("log-cond", 0, 5))]
    assert len(conditions) == 5
    assert max(conditions) <= 40
    assert min(conditions) <= 35


def test_five_starts_reach_a_large_determinant() -> None:
    for G in informations(p3("log-det", 0, 5)):
        assert np.linalg.slogdet(G)[1] >= 535
        assert condition_number(G) <= 700


def test_the_product_of_columns_never_overflows_and_its_blindness_is_told() -> None:
    designs = [p3("hadamard", seed, 1) for seed in range(5)]
    told = [any(f.name is Name.PARALLEL_COLUMNS for f in design.findings) for design in designs]
    scaled = [design.condition_scaled for design in designs]
    assert np.all(np.isfinite([design.runs[0].value for design in designs]))
    assert told == [value > 100 for value in scaled]
    assert {True, False} <= set(told)  # both happen among five starts
    sentence = next(f for d in designs for f in d.findings if f.name is Name.PARALLEL_COLUMNS)
    assert "Columns of W are nearly parallel: with unit columns its condition number is" in sentence.sentence


@pytest.mark.parametrize("criterion", ["log-cond", "log-det"])
def test_every_start_keeps_its_limits_at_every_instant_and_rests_at_both_ends(criterion: str) -> None:
    design = p3(criterion, 0, 5)
    for run in design.runs:
        motion = design.problem.trajectory(run.x)
        assert_kept(design, motion)
        assert_rests(motion)
        np.testing.assert_allclose(motion.at([0.0, 10.0]), 0.0, atol=1e-12)
        for order in range(3):  # the conservative bounds themselves
            assert np.all(motion.bound(order) <= design.limits.high[order])  # type: ignore[attr-defined]
    assert all(use.verified for use in design.uses if use.quantity != "torque")


def test_the_runs_are_sorted_and_the_best_one_is_the_design() -> None:
    design = p3("log-det", 0, 5)
    values = [run.value for run in design.runs]
    assert values == sorted(values)
    assert design.log_det == pytest.approx(np.linalg.slogdet(informations(design)[0])[1])
    assert design.log_det > np.linalg.slogdet(informations(design)[-1])[1]
    assert gain(design) > 2
    assert repr(design).startswith("<Design of tx90: 10 s, condition ")


# ── seeds and workers ─────────────────────────────────────────────────────────────────────────────────────


def test_the_same_seed_gives_the_same_design_whatever_the_workers() -> None:
    task = DesignTask(FourierSpace(0.1, 5), "log-cond", LimitChoice(lower=-2.0, upper=2.0))  # type: ignore[arg-type]
    one, two = (design_motion(load_robot("scara"), task, starts=4, seed=7, workers=n) for n in (1, 2))
    other = design_motion(load_robot("scara"), task, starts=4, seed=8, workers=2)
    for a, b in zip(one.runs, two.runs, strict=True):
        assert np.array_equal(a.x, b.x)
        assert (a.value, a.evaluations) == (b.value, b.evaluations)
    for part in ("a", "b", "offset"):
        assert np.array_equal(getattr(one.trajectory, part), getattr(two.trajectory, part))
    assert not np.array_equal(one.runs[0].x, other.runs[0].x)


# ── limits ────────────────────────────────────────────────────────────────────────────────────────────────


@cache
def tx90_design(conservative: bool, jerk: float | None = None) -> Design:
    task = DesignTask(
        limits=replace(P3_LIMITS, jerk=None if jerk is None else (jerk,)), conservative=conservative
    )
    return design_motion(load_robot("tx90"), task, starts=1, workers=1)


def test_exact_limits_reach_more_than_conservative_ones() -> None:
    exact, careful = tx90_design(False), tx90_design(True)
    for design in (exact, careful):
        assert_kept(design)
    assert exact.log_det > careful.log_det + 10
    # Full speed and the ends of the ranges come nearer, not only one of them.
    assert np.median(shares(exact, "velocity")) > np.median(shares(careful, "velocity")) + 0.05
    assert np.median(shares(exact, "position")) > np.median(shares(careful, "position")) + 0.05


def test_jerk_limits_hold() -> None:
    jerk = 20.0
    for conservative in (False, True):
        design = tx90_design(conservative, jerk)
        assert_kept(design)
        assert max(shares(design, "jerk")) <= 1 + 1e-6
        assert max(shares(design, "jerk")) > 0.8
        assert np.max(np.abs(tx90_design(conservative).trajectory.extremes(3))) > 2 * jerk
        assert [use.unit for use in design.uses if use.quantity == "jerk"] == ["rad/s³"] * 6


def test_a_share_of_the_limits_is_about_the_middle_of_the_range() -> None:
    task = DesignTask(limits=LimitChoice(share=0.5), conservative=True, start=None)
    design = design_motion(load_robot("tx90"), task, starts=1, workers=1)
    assert_kept(design)
    high = np.radians([90, 8.75 + 69.375, 70, 135, 12.5 + 63.75, 135])
    np.testing.assert_allclose(design.limits.high[0], high)
    np.testing.assert_allclose(design.limits.high[1], np.radians([125, 100, 150, 215, 175, 300]))


def test_torques_use_all_of_their_limits_and_no_more() -> None:
    robot = load_robot("double_pendulum")
    effort = (2.0, 2.0)  # weaker motors than its own, which speeds hold back first
    design = design_motion(robot, DesignTask(limits=LimitChoice(effort=effort)), starts=2, workers=1)
    assert_kept(design)
    motion = design.trajectory
    time = np.linspace(0.0, motion.duration, 10 * round(motion.duration * 1000) + 1)
    torques = kernels(robot).inverse(robot.parameters, *(motion.at(time, order) for order in range(3)))
    # Friction jumps with the sign of the speed: between the samples of 1 kHz a jump may pass by its share.
    used = np.abs(torques).max(axis=0) / effort
    assert np.all(used <= 1 + 1e-3)
    assert np.all(used > 0.95)
    assert shares(design, "torque") == pytest.approx(used, rel=5e-3)


def test_limits_of_joints_that_follow_others_hold_too() -> None:
    """Joint 4 of the haptic device turns against joint 5, joints 3 and 6 with the difference of 2 and 5."""
    pi = float(np.pi)
    choice = LimitChoice(
        lower=(-1.0, -1.0, -pi - 0.6, pi - 0.8, -1.0, -0.7),
        upper=(1.0, 1.0, -pi + 0.6, pi + 0.8, 1.0, 0.7),
        velocity=(3.0, 3.0, 2.0, 2.0, 3.0, 2.5),
    )
    design = design_motion(load_robot("haptic"), DesignTask(limits=choice), starts=1, workers=1)
    assert_kept(design)
    assert_rests(design.trajectory)
    time = np.linspace(0.0, 10.0, 10001)
    q = design.trajectory.at(time)
    followers = np.column_stack([q[:, 2] - q[:, 1] - pi, pi - q[:, 2], q[:, 1] - q[:, 2]])
    low, high = np.array(choice.lower)[[2, 3, 5]], np.array(choice.upper)[[2, 3, 5]]
    assert np.all((followers >= low - 1e-6) & (followers <= high + 1e-6))
    used = {use.joint: use.share for use in design.uses if use.quantity == "position"}
    assert used["joint4"] > 0.9  # closer to its end than joint 5, which turns it
    assert used["joint5"] < 0.81


def gantry() -> Robot:
    """A rail, a lift and a wrist: two axes that slide."""
    P = JointKind.PRISMATIC
    joints = (
        Joint("rail", BASE, P, alpha=np.pi / 2, limits=Limits(-0.5, 1.5, 1.0, 400.0, 2.0)),
        Joint("lift", 0, P, alpha=-np.pi / 2, limits=Limits(0.2, 0.8, 0.5, 150.0, 3.0)),
        Joint("wrist", 1, alpha=np.pi / 2, limits=Limits(-2.0, 2.0, 3.0, 5.0, 10.0)),
    )
    values = {"M1": 40.0, "M2": 8.0, "MX3": 0.2, "ZZ3": 0.08, "M3": 2.0, "Fc1": 20.0, "Fc2": 8.0, "Fv3": 0.1}
    return Robot("gantry", joints, terms=("Fv", "Fc")).with_parameters(values)


def test_axes_that_slide() -> None:
    design = design_motion(gantry(), starts=2, workers=1)
    assert_kept(design)
    assert_rests(design.trajectory)
    units = {(use.joint, use.quantity): use.unit for use in design.uses}
    assert units["rail", "position"] == "m"
    assert units["lift", "acceleration"] == "m/s²"
    assert units["lift", "torque"] == "N"
    assert units["wrist", "velocity"] == "rad/s"
    assert max(shares(design, "torque")) <= 1 + 1e-6
    assert max(shares(design, "position")) > 0.5
    assert gain(design) > 1.5


# ── what counts and what is known ─────────────────────────────────────────────────────────────────────────


def test_only_the_essential_parameters_count() -> None:
    """The wrist of the TX-90 alone is shown better by a motion designed for it."""
    everything = tx90_design(True)
    essential = [name for name in everything.names if name.rstrip("R")[-1] in "56"]
    task = DesignTask(limits=P3_LIMITS, conservative=True, essential=essential)
    # One start ends at other optima on other processors; of four the best is better everywhere.
    some = design_motion(load_robot("tx90"), task, starts=4, workers=1)
    kept = [everything.names.index(name) for name in some.names]
    assert set(some.names) == set(essential)
    assert some.information.shape == (len(kept), len(kept))
    of_all = everything.information[np.ix_(kept, kept)]
    assert some.log_det > np.linalg.slogdet(of_all)[1] + 1


def test_a_second_motion_tells_more_than_the_first_again() -> None:
    robot = load_robot("scara")
    limits = LimitChoice(lower=-1.0, upper=1.0)  # type: ignore[arg-type]
    first = design_motion(robot, DesignTask(limits=limits, noise=0.5), starts=1, workers=1)
    prior = PriorInformation(first.information, np.full(2, 0.5), 100.0, "the first log")
    second = design_motion(robot, DesignTask(limits=limits, prior=prior), starts=8, workers=1)
    again = 2 * first.information
    assert (
        second.log_det > np.linalg.slogdet(again)[1]
    )  # by .02 to .1, after the optimum that the first found
    np.testing.assert_allclose(second.sigma_before, first.sigma)
    assert np.all(second.sigma <= second.sigma_before)
    own = second.information - prior.information
    assert np.linalg.eigvalsh(own).min() > 0  # what the motion adds


# ── families ──────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("closed", [True, False], ids=["closed", "open"])
@pytest.mark.parametrize(
    "space", [ModifiedFourierSpace(0.1, 6, 10.0), SplineSpace(10.0, 12)], ids=["modified", "spline"]
)
def test_other_families(space: MotionSpace, closed: bool) -> None:
    own = replace(space, closed=closed)  # type: ignore[type-var]
    limits = LimitChoice(lower=-2.0, upper=2.0)  # type: ignore[arg-type]
    design = design_motion(load_robot("scara"), DesignTask(own, limits=limits), starts=2, workers=1)
    assert_kept(design)
    assert_rests(design.trajectory)
    begin, end = design.trajectory.at([0.0, 10.0])
    assert np.allclose(begin, end, atol=1e-12) == closed
    assert max(shares(design, "position")) > 0.9
    assert gain(design) > 2


@pytest.mark.parametrize("seed", range(8))
def test_every_family_finds_a_start_in_narrow_limits(seed: int) -> None:
    """Quintics that bring a series to rest may move far: starts must be made small enough."""
    task = DesignTask(ModifiedFourierSpace(0.1, 8, 10.0, True), limits=LimitChoice(lower=-0.5, upper=0.5))  # type: ignore[arg-type]
    from dynid.excitation.starts import random_start

    rng = np.random.default_rng(seed)
    problem = task.problem(load_robot("scara"), rng)
    assert np.isfinite(problem.value(random_start(problem, rng)))
