"""All cases by name, and those of measured logs: Stäubli TX40, UR10, DFKI double pendulum."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dynid.casestudies import emps, haptic, iiwa, rx90, scara, tx40, tx90
from dynid.casestudies.case import Case, CaseResult, Row, at_most, equal_to, near, packaged_mapping
from dynid.core.errors import FileError
from dynid.core.finding import Name
from dynid.estimators.linear.least_squares import WLS
from dynid.logs.log import Log
from dynid.logs.read import read_log
from dynid.model.load import load_robot
from dynid.preparation.preparation import Preparation
from dynid.workflow.fitting import fit
from dynid.workflow.result import FitResult

PAPERS = WLS(uncertainty="classical")
"""The σ that the papers print."""
TX40_PLAN = Preparation(
    cutoff_hz=100.0,
    decimation=100,
    speed_thresholds=(0.0501, 0.0501, 0.0750, 0.0716, 0.0559, 0.1222),
)
"""Filter of 100 Hz, one sample of 100, and rows inside the friction dead zones left out."""
UR10_PLAN = Preparation(cutoff_hz=5.0, decimation=16)
UR10_SPLIT = 0.7
"""Share of the log that is fitted; the rest is predicted."""
PENDULUM_CUTOFF_HZ = 5.0
PENDULUM_MAKERS = {"ZZ1R": 0.0493, "ZZ2": 0.0539, "MX2": 0.1812, "MX1R": 0.2411}
"""I1 + m2 l1², I2, m2 r2 and m1 r1 + m2 l1 of model 3.0 of design C.0."""


def fit_tx40(folder: Path, terms: tuple[str, ...] | None = None) -> FitResult:
    """Weighted least squares from the raw motor files.

    Args:
        folder: the folder with both CSV files.
        terms: parameter terms; those of the robot file, with the coupling, when None.
    """
    robot = load_robot("tx40_log")
    with packaged_mapping("tx40") as mapping:
        log = read_log(folder, mapping)
    return fit(robot if terms is None else robot.with_terms(*terms), [log], PAPERS, plan=TX40_PLAN)


def run_tx40(folder: Path) -> CaseResult:
    """Fit with and without the wrist coupling and compare with the literature row."""
    coupled = fit_tx40(folder)
    estimate, figures = coupled.estimate, coupled.own.judged
    plain = fit_tx40(folder, ("Ia", "Fv", "Fc", "off")).own.judged
    rows = [
        equal_to("base parameters", 61, len(estimate.values)),
        at_most("relative residual over all joints [%]", figures.overall_percent, 5.3, 5.1),
        at_most("relative residual of joint 5 [%]", figures.relative_percent[4], 11.0),
        at_most("relative residual of joint 6 [%]", figures.relative_percent[5], 11.0),
    ]
    for joint, wanted in ((4, 25.0), (5, 25.0)):
        rows.append(
            Row(
                f"joint {joint + 1} without the coupling [%]",
                None,
                float(plain.relative_percent[joint]),
                f"above {wanted:g}: the coupling is needed",
                bool(plain.relative_percent[joint] > wanted),
            )
        )
    for name, value in load_robot("tx40_log").parameters.items():
        # Drive inertias of the first joints are regrouped; those published stand alone.
        i = estimate.names.index(name)
        rows.append(near(name, value, float(estimate.values[i]), float(estimate.sigma[i]), 0.03))
    notes = ("Published: Gautier's identification of the same log; frictions, drive inertias and offsets.",)
    return CaseResult("tx40-log", "Stäubli TX40, measured log", tuple(rows), notes)


def fit_ur10(folder: Path) -> FitResult:
    """Weighted least squares straight from the bag."""
    return fit(
        load_robot("ur10"),
        [read_log(folder / "ur10_exciting_trajectory.db3")],
        PAPERS,
        plan=UR10_PLAN,
        split=UR10_SPLIT,
    )


def run_ur10(folder: Path) -> CaseResult:
    """Residual of the fit and prediction of the part that was not used."""
    result = fit_ur10(folder)
    assert result.unseen is not None
    rows = (
        equal_to("base parameters", 58, len(result.estimate.values)),
        at_most("relative residual of the fit [%]", result.own.judged.overall_percent, 5.3, 5.1),
        at_most("relative error on the last 30 % [%]", result.unseen.judged.overall_percent, 7.3, 7.1),
    )
    notes = ("Effort is drive gain × current, with the gains of the bag's authors.",)
    return CaseResult("ur10-log", "Universal Robots UR10, measured log", rows, notes)


def read_pendulum(folder: Path) -> list[Log]:
    """All experiments of the folder."""
    files = sorted(folder.glob("*trajectory_*.csv"))
    if not files:
        raise FileError(f"There are no trajectory files in {folder}.")
    with packaged_mapping("double_pendulum") as mapping:
        return [read_log(file, mapping) for file in files]


def fit_pendulum(logs: list[Log], cutoff_hz: float) -> FitResult:
    """Weighted least squares on all experiments; jittered stamps are resampled."""
    plan = Preparation(cutoff_hz=cutoff_hz, decimation=10)
    return fit(load_robot("double_pendulum"), logs, PAPERS, plan=plan, repair=True)


def run_pendulum(folder: Path) -> CaseResult:
    """The four inertial parameters, and how they shrink as the filter lets noise through."""
    logs = read_pendulum(folder)
    result = fit_pendulum(logs, PENDULUM_CUTOFF_HZ)
    values = dict(zip(result.estimate.names, result.estimate.values, strict=True))
    rows = []
    for name, published in PENDULUM_MAKERS.items():
        ratio = values[name] / published
        accept = "within 25 % of the makers'"
        rows.append(Row(name, published, float(values[name]), accept, bool(0.75 <= ratio <= 1.25)))
    wide = fit_pendulum(logs, 4 * PENDULUM_CUTOFF_HZ)
    index = result.estimate.names.index("ZZ2")
    shrink = float(wide.estimate.values[index] / result.estimate.values[index])
    found = [finding for finding in wide.concerns if finding.name is Name.ATTENUATION]
    rows += [
        Row("ZZ2 at four times the cut-off, relative", None, shrink, "below 0.8", shrink < 0.8),
        Row("attenuation reported by the diagnostic", None, float(len(found)), "1", len(found) == 1),
    ]
    residual = float(np.max(result.own.judged.relative_percent))
    notes = (
        f"Largest relative residual of a joint: {residual:.0f} %.",
        *(f"At four times the cut-off: {finding.text}" for finding in found),
    )
    return CaseResult("double-pendulum-log", "DFKI double pendulum, measured logs", tuple(rows), notes)


CASES: dict[str, Case] = {
    case.name: case
    for case in (
        scara.CASE,
        tx90.CASE,
        haptic.CASE,
        rx90.CASE,
        tx40.CASE,
        iiwa.CASE,
        emps.CASE,
        Case("tx40-log", "Stäubli TX40, measured log", "tx40", run_tx40),
        Case("ur10-log", "Universal Robots UR10, measured log", "ur10", run_ur10),
        Case("double-pendulum-log", "DFKI double pendulum, measured logs", "double_pendulum", run_pendulum),
    )
}
