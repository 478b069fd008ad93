"""Figures 10 to 15 of P0: how near the simulated SCARA stays to robot and reference, pass by pass."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from dynid.casestudies.case import Row, rows_of_table, runs_above, runs_below
from dynid.casestudies.scara_rules import TRACKING
from dynid.casestudies.scara_runs import (
    FOLLOW,
    NAMES,
    Runs,
    ScaraExperiment,
    loop_problem,
    measured_motion,
    paper_units,
    truth,
)
from dynid.casestudies.scara_tables import torque_errors
from dynid.core.arrays import FloatArray
from dynid.estimators.closed_loop.strategy import Gains
from dynid.estimators.estimate import Estimate
from dynid.preparation.motion import Motion
from dynid.problem.replay import LoopModel, regular_start, replay
from dynid.report.charts import Chart, Figure, line

SIGNALS = ("position", "speed", "acceleration")
CLOSER = 3.0
"""§VI.B: the simulation is 3 to 5 times closer to the robot than to the reference."""


@dataclass(frozen=True, eq=False)
class Tracking:
    """Relative norm errors of the simulated motion, (passes, signals, joints) each.

    Args:
        actual: to the filtered measured motion.
        reference: to the reference.
        last: the simulated motion after the last pass, with the measured torques.
        torque: the simulated torques of that motion.
    """

    actual: FloatArray
    reference: FloatArray
    last: Motion
    torque: FloatArray


def track(experiment: ScaraExperiment, estimate: Estimate, bandwidth: float = 1.0) -> Tracking:
    """Simulate again what every pass of DIDIM from the regular start had simulated.

    Args:
        experiment: the experiment.
        estimate: of DIDIM.
        bandwidth: the share of the true bandwidth that DIDIM believed in.
    """
    problem = loop_problem(experiment, bandwidth=bandwidth)
    gains = Gains(problem.controller, FOLLOW)
    solved = [np.array(h["solved"]) for h in estimate.facts["history"]]
    models = [regular_start(problem), *(LoopModel(problem.robot, problem.base, values) for values in solved)]
    trim = float(estimate.facts["transient_s"])
    runs = [replay(problem, model, gains.controller(model), trim) for model in models]
    measured, r = measured_motion(experiment), experiment.reference
    assert r.qd is not None
    assert r.qdd is not None
    rate = 1.0 / r.sample_time
    place = np.rint(measured.time * rate).astype(int)
    actual, wanted = [], []
    for run in runs:
        motion = run.motions[0]
        rows = place - round(float(motion.time[0]) * rate)
        kept = (rows >= 0) & (rows < motion.samples)
        own = [s[rows[kept]] for s in (motion.q, motion.qd, motion.qdd)]
        actual.append(_errors(own, [s[kept] for s in (measured.q, measured.qd, measured.qdd)]))
        wanted.append(_errors(own, [s[place[kept]] for s in (r.q, r.qd, r.qdd)]))
    return Tracking(np.array(actual), np.array(wanted), runs[-1].motions[0], runs[-1].torques[0])


def _errors(signals: Sequence[FloatArray], others: Sequence[FloatArray]) -> list[FloatArray]:
    return [
        np.linalg.norm(a - b, axis=0) / np.linalg.norm(b, axis=0)
        for a, b in zip(signals, others, strict=True)
    ]


def tracking_rows(runs: Sequence[Runs]) -> list[Row]:
    """What §VI.B reads from Fig. 11, after the last pass; the larger of the joints."""
    found = [track(r.experiment, r.regular_start) for r in runs]
    rows = []
    for what, k in (("robot", 0), ("reference", 1)):
        for s, signal in enumerate(SIGNALS):
            values = [float((t.reference if k else t.actual)[-1, s].max()) for t in found]
            # How far the loop is from its reference depends on a trajectory the paper does not give.
            bound = np.inf if k else 2 * TRACKING[0][s]
            rows.append(runs_below(f"{signal}, simulated to {what}", TRACKING[k][s], values, bound))
    for s, signal in enumerate(SIGNALS):
        ratios = [float((t.reference[-1, s] / t.actual[-1, s]).min()) for t in found]
        quantity = f"{signal}: times closer to the robot than to the reference"
        # Accelerations jump where a joint turns: the filter of the measured ones smears the jump.
        rule = (
            runs_below(quantity, CLOSER, ratios, np.inf)
            if s == 2
            else runs_above(quantity, CLOSER, ratios, CLOSER)
        )
        rows.append(rule)
    return rows_of_table("B · Fig. 11: relative errors of the simulated motion", rows)


JOINTS = (1, 2)
PASSES = "iteration k"


def figures_of(section: str, runs: Runs) -> list[Figure]:
    """The figures of a section of chapter VI."""
    if section == "A":
        return [_torque_figure("Fig. 10", track(runs.experiment, runs.regular_start))]
    if section == "B":
        tracked = track(runs.experiment, runs.regular_start)
        return [
            _tracking_figure("Fig. 11", tracked),
            _convergence_figure("Fig. 12", runs.regular_start),
            _parameter_figure("Fig. 13", runs.regular_start),
        ]
    if section == "E":
        tracked = track(runs.experiment, runs.half_bandwidth, 0.5)
        return [_tracking_figure("Fig. 14", tracked), _convergence_figure("Fig. 15", runs.half_bandwidth)]
    return []


def _torque_figure(title: str, tracked: Tracking) -> Figure:
    motion = tracked.last
    charts = tuple(
        Chart(
            f"Joint {j}",
            "time [s]",
            "torque [N m]",
            (
                line("measured", motion.time, motion.tau[:, j - 1], colour="measured"),
                line("estimated", motion.time, tracked.torque[:, j - 1]),
                line("left over", motion.time, motion.tau[:, j - 1] - tracked.torque[:, j - 1]),
            ),
        )
        for j in JOINTS
    )
    caption = "DIDIM, validation at 200 Hz: logged torques and those of the identified model, simulated."
    return Figure(title, caption, charts)


def _tracking_figure(title: str, tracked: Tracking) -> Figure:
    passes = np.arange(len(tracked.actual))
    charts = []
    for s, signal in enumerate(SIGNALS):
        lines = [
            line(f"joint {j}, to the {what}", passes, errors[:, s, j - 1], marks=True)
            for what, errors in (("robot", tracked.actual), ("reference", tracked.reference))
            for j in JOINTS
        ]
        charts.append(Chart(signal.capitalize(), PASSES, "relative norm error", tuple(lines), True))
    caption = "Simulated motion against the filtered measured motion and against the reference."
    return Figure(title, caption, tuple(charts))


def _convergence_figure(title: str, estimate: Estimate) -> Figure:
    passes = estimate.iterations + 1
    errors = torque_errors(estimate, passes)
    lines = tuple(line(f"joint {j}", np.arange(passes), errors[j - 1], marks=True) for j in JOINTS)
    caption = "Convergence of the joint torque error ‖Y − W χ^k‖ / ‖Y‖."
    return Figure(title, caption, (Chart("Torque error", PASSES, "‖Y − W χ^k‖ / ‖Y‖", lines, True),))


def _parameter_figure(title: str, estimate: Estimate) -> Figure:
    values = np.array([paper_units(np.array(h["solved"])) for h in estimate.facts["history"]])
    passes = np.arange(1, len(values) + 1)
    charts = []
    for label, chosen in (("Inertias", (0, 3, 4, 5)), ("Frictions", (1, 2, 6, 7))):
        lines = tuple(line(NAMES[i], passes, values[:, i] / truth()[i], marks=True) for i in chosen)
        charts.append(Chart(label, PASSES, "estimate over truth", lines))
    caption = "Convergence of the parameters. The start is the regular one: M = 1, all else zero."
    return Figure(title, caption, tuple(charts))
