"""Figures 2 to 4 and 7 to 10 of P3, drawn from the simulated experiments of one seed."""

from __future__ import annotations

import numpy as np

from dynid.casestudies.tx90_chain import ChainRuns, Way, averaged_log, predicted_torque, recorded_log
from dynid.casestudies.tx90_measured import CHAIN, LOW_PASSED
from dynid.casestudies.tx90_runs import AXES, CRITERIA, STAMPS, Tx90Runs, validation_motions
from dynid.core.arrays import FloatArray
from dynid.estimators.estimate import Estimate
from dynid.logs.log import Log
from dynid.preparation.prepared_motion import prepare
from dynid.report.charts import Chart, Figure, line
from dynid.trajectories.trajectory import Trajectory

_SIGNALS = (
    ("Fig. 2", "Reference positions", "position [rad]"),
    ("Fig. 3", "Reference speeds", "speed [rad/s]"),
    ("Fig. 4", "Reference accelerations", "acceleration [rad/s²]"),
)


def figures_of(section: str, run: ChainRuns) -> list[Figure]:
    """The figures of a section."""
    if section == "designs":
        return _reference_figures(run)
    if section == "validation":
        return [_validation_figure()]
    return [
        _excitation_figure("Fig. 8", run, CHAIN),
        _new_motion_figure("Fig. 9", run),
        _excitation_figure("Fig. 10", run, LOW_PASSED),
    ]


def _reference_figures(run: Tx90Runs) -> list[Figure]:
    return [
        Figure(
            title,
            f"{what} of one period, designed by each criterion from the same random start.",
            tuple(_motion_chart(name, run.motions[name], order, label) for name in CRITERIA),
        )
        for order, (title, what, label) in enumerate(_SIGNALS)
    ]


def _motion_chart(title: str, motion: Trajectory, order: int, label: str) -> Chart:
    values = motion.at(STAMPS, order)
    lines = tuple(line(f"joint {axis}", STAMPS, values[:, axis - 1]) for axis in AXES)
    return Chart(title, "time [s]", label, lines)


def _validation_figure() -> Figure:
    first = validation_motions()[0]
    charts = tuple(
        _motion_chart(what.split()[1].capitalize(), first, order, label)
        for order, (_, what, label) in enumerate(_SIGNALS)
    )
    return Figure("Fig. 7", "The first of the ten random motions of the validation.", charts)


def _excitation_figure(title: str, run: ChainRuns, way: Way) -> Figure:
    estimate = run.estimate(way, essential=True)
    words = (
        f"Essential parameters from torques smoothed by {way.smoothing}, along the motion of {way.motion}."
    )
    return _torque_figure(title, words, run.log(way), way, estimate)


def _new_motion_figure(title: str, run: ChainRuns) -> Figure:
    rng = np.random.default_rng((run.seed, 200))
    log = averaged_log(recorded_log(validation_motions()[0], rng))
    words = "The same parameters along the random motion of Fig. 7, which the fit has not seen."
    return _torque_figure(title, words, log, CHAIN, run.estimate(CHAIN, essential=True))


def _torque_figure(title: str, caption: str, log: Log, way: Way, estimate: Estimate) -> Figure:
    measured = log.array("torque")
    predicted = predicted_torque(prepare(log, way.plan), estimate.values)
    charts = tuple(_torque_chart(axis, log.time, measured, predicted) for axis in AXES)
    return Figure(title, caption, charts)


def _torque_chart(axis: int, time: FloatArray, measured: FloatArray, predicted: FloatArray) -> Chart:
    own, model = measured[:, axis - 1], predicted[:, axis - 1]
    lines = (
        line("measured", time, own, colour="measured"),
        line("predicted", time, model, colour="predicted"),
        line("left over", time, own - model, colour="residual"),
    )
    return Chart(f"Joint {axis}", "time [s]", "torque [N m]", lines)
