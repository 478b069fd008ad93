"""Figures 10 to 15 of P0, drawn again from one seed."""

from __future__ import annotations

import numpy as np

from dynid.casestudies.scara_runs import Runs
from dynid.casestudies.scara_setup import NAMES, paper_units, truth
from dynid.casestudies.scara_tables import torque_errors
from dynid.casestudies.scara_tracking import SIGNALS, Tracking, track
from dynid.estimators.estimate import Estimate
from dynid.report.charts import Chart, Figure, line

JOINTS = (1, 2)
PASSES = "iteration k"


def figures_of(section: str, runs: Runs) -> list[Figure]:
    """The figures of a section of chapter VI."""
    if section == "A":
        return [_torques("Fig. 10", track(runs.experiment, runs.regular))]
    if section == "B":
        tracked = track(runs.experiment, runs.regular)
        return [
            _tracking("Fig. 11", tracked),
            _convergence("Fig. 12", runs.regular),
            _parameters("Fig. 13", runs.regular),
        ]
    if section == "E":
        tracked = track(runs.experiment, runs.half, 0.5)
        return [_tracking("Fig. 14", tracked), _convergence("Fig. 15", runs.half)]
    return []


def _torques(title: str, tracked: Tracking) -> Figure:
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


def _tracking(title: str, tracked: Tracking) -> Figure:
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


def _convergence(title: str, estimate: Estimate) -> Figure:
    passes = estimate.iterations + 1
    errors = torque_errors(estimate, passes)
    lines = tuple(line(f"joint {j}", np.arange(passes), errors[j - 1], marks=True) for j in JOINTS)
    caption = "Convergence of the joint torque error ‖Y − W χ^k‖ / ‖Y‖."
    return Figure(title, caption, (Chart("Torque error", PASSES, "‖Y − W χ^k‖ / ‖Y‖", lines, True),))


def _parameters(title: str, estimate: Estimate) -> Figure:
    values = np.array([paper_units(np.array(h["solved"])) for h in estimate.facts["history"]])
    passes = np.arange(1, len(values) + 1)
    charts = []
    for label, chosen in (("Inertias", (0, 3, 4, 5)), ("Frictions", (1, 2, 6, 7))):
        lines = tuple(line(NAMES[i], passes, values[:, i] / truth()[i], marks=True) for i in chosen)
        charts.append(Chart(label, PASSES, "estimate over truth", lines))
    caption = "Convergence of the parameters. The start is the regular one: M = 1, all else zero."
    return Figure(title, caption, tuple(charts))
