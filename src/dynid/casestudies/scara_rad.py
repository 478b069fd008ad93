"""The loop as P0 prints it, ω_n = (1, 10) rad/s: why it cannot be meant, and that DIDIM copes with it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid.casestudies.case import Row, rows_of_table, runs_above, runs_below
from dynid.casestudies.scara_rules import TABLE_2, estimate_rows
from dynid.casestudies.scara_runs import (
    FOLLOW,
    NONE,
    RATE_HZ,
    ScaraExperiment,
    loop,
    loop_problem,
    overall_residual,
    run_experiment,
    sines,
)
from dynid.estimators.closed_loop.didim import DIDIM
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import identify
from dynid.model.load import load_robot
from dynid.simulation.setup import Accuracy
from dynid.simulation.simulation import simulate
from dynid.trajectories.reference import Reference

PRINTED = (1.0, 10.0)
"""ω_n of section V as printed [rad/s]."""
FREQUENCIES_HZ = tuple(w / (2 * np.pi) for w in PRINTED)
STEP, PERIOD_S, RISE_S = 3.0, 10.0, 1.0
"""Joint 1 goes to and fro between ±3 rad every 10 s; the steps are smoothed over one second."""
WIDER = {"ZZ1R": 0.01, "Fc1": 0.04, "ZZ2R": 0.02, "LMX2": 0.02, "LMY2": 0.20, "Fc2": 0.03}
"""Twice the bounds of the Hz reading: steps make large torques, and the disturbance is a share of them."""
CREEP = 0.01
"""Speed of the reference that finds the dead zone [rad/s]."""


def steps(seed: int, duration: float) -> Reference:
    """Steps of joint 1, sines of joint 2."""
    rng = np.random.default_rng(seed)
    followed = sines(rng, duration)
    turns = followed.time / PERIOD_S + rng.uniform()
    square = STEP * np.where(np.floor(turns) % 2 == 0, 1.0, -1.0)
    window = np.hanning(round(RISE_S * RATE_HZ) + 1)
    half = len(window) // 2
    smooth = np.convolve(np.pad(square, half, mode="edge"), window / window.sum(), mode="valid")
    return Reference(followed.sample_time, np.column_stack([smooth, followed.q[:, 1]]))


def fit_steps(seed: int, duration: float = 100.0, follow: str = FOLLOW) -> Estimate:
    """DIDIM from the regular start on the printed loop, with gains that follow the inertia (eq 59) or not."""
    experiment = run_experiment(seed, frequencies_hz=FREQUENCIES_HZ, reference=steps(seed, duration))
    return identify(loop_problem(experiment), DIDIM(follow_inertia=follow))


def _ramp(speed: float, duration: float) -> tuple[Reference, np.ndarray, np.ndarray]:
    """Joint 1 follows a ramp from rest: reference, position and speed of joint 1."""
    robot, step = load_robot("scara"), 1.0 / RATE_HZ
    t = np.arange(round(duration * RATE_HZ)) * step
    followed = Reference(step, np.column_stack([speed * t, np.zeros_like(t)]))
    start = (np.zeros(2), np.zeros(2))
    law = loop(robot, PRINTED, step)
    done = simulate(robot, None, law, followed, accuracy=Accuracy(friction="stick"), start=start)
    return followed, done.q[:, 0], done.qd[:, 0]


def dead_zone() -> float:
    """Error at which joint 1 breaks away from rest, measured on a creeping reference [rad]."""
    followed, q, qd = _ramp(CREEP, 40.0)
    moves = int(np.argmax(np.abs(qd) > 1e-6 * CREEP))
    return float(followed.q[moves, 0] - q[moves])


def lag() -> float:
    """Time joint 1 stays behind, measured from the steady errors on two ramps [s]."""
    errors = []
    for speed in (0.5, 1.0):
        followed, q, _ = _ramp(speed, 20.0)
        errors.append(float(followed.q[-1, 0] - q[-1]))
    return (errors[1] - errors[0]) / 0.5


def tracking_error(experiment: ScaraExperiment) -> float:
    """‖q₁ − q_r₁‖ / ‖q_r₁‖ of joint 1."""
    wanted = experiment.reference.q[:, 0]
    return float(np.linalg.norm(experiment.simulation.q[:, 0] - wanted) / np.linalg.norm(wanted))


def reason_rows(duration: float = 100.0) -> list[Row]:
    """Measured reasons against the printed unit: dead zone, lag, and tracking beside the paper's."""
    printed = run_experiment(0, noise=NONE, duration=duration, frequencies_hz=FREQUENCIES_HZ)
    hertz = run_experiment(0, noise=NONE, duration=duration)
    rows = [
        runs_above("friction dead zone of joint 1 [rad]", None, [dead_zone()], 0.2),
        runs_above("lag of joint 1 [s]", None, [lag()], 1.5),
        runs_above(
            "position error of joint 1 to its reference, rad/s", 0.015, [tracking_error(printed)], 0.5
        ),
        runs_below("the same, Hz", 0.015, [tracking_error(hertz)], np.inf),
    ]
    return rows_of_table("Why rad/s cannot be meant: the loop of section V as printed", rows)


def section_rad(seeds: Sequence[int], duration: float = 100.0) -> list[Row]:
    """The printed loop with large steps of joint 1."""
    found = [fit_steps(seed, duration) for seed in seeds]
    rows = estimate_rows("", TABLE_2, found, WIDER, {})
    rows += [
        runs_below("iterations", 3, [float(e.iterations) for e in found], 7),
        runs_below("‖Y − Wχ‖/‖Y‖", 0.03, [overall_residual(e) for e in found], 0.03),
    ]
    return reason_rows(duration) + rows_of_table(
        "B · table 2 with the printed rad/s, ±3 rad steps of joint 1", rows
    )
