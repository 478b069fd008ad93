"""The DFKI double pendulum: its makers' parameters, and why plain least squares falls short of them."""

from __future__ import annotations

from dataclasses import replace
from importlib import resources
from pathlib import Path

import numpy as np

from dynid.casestudies.case import Case, CaseResult, Row
from dynid.core.errors import FileError
from dynid.core.finding import Name
from dynid.estimators.linear.least_squares import WLS
from dynid.logs.log import Log
from dynid.logs.read import read_log
from dynid.model.load import load_robot
from dynid.preparation.preparation import Preparation
from dynid.workflow.fitting import fit
from dynid.workflow.result import FitResult

PLAN = Preparation(cutoff_hz=5.0, decimation=10)
MAKERS = {"ZZ1R": 0.0493, "ZZ2": 0.0539, "MX2": 0.1812, "MX1R": 0.2411}
"""I1 + m2 l1², I2, m2 r2 and m1 r1 + m2 l1 of model 3.0 of design C.0."""


def read_pendulum(folder: Path) -> list[Log]:
    """All experiments of the folder."""
    files = sorted(folder.glob("*trajectory_*.csv"))
    if not files:
        raise FileError(f"There are no trajectory files in {folder}.")
    with resources.as_file(resources.files("dynid.casestudies") / "maps" / "double_pendulum.toml") as mapping:
        return [read_log(file, mapping) for file in files]


def fit_pendulum(logs: list[Log], cutoff_hz: float) -> FitResult:
    """Weighted least squares on all experiments; jittered stamps are resampled."""
    plan = replace(PLAN, cutoff_hz=cutoff_hz)
    return fit(load_robot("double_pendulum"), logs, WLS(), plan=plan, repair=True)


def run(folder: Path) -> CaseResult:
    """The four inertial parameters, and how they shrink as the filter lets noise through."""
    logs = read_pendulum(folder)
    result = fit_pendulum(logs, PLAN.cutoff_hz or 5.0)
    values = dict(zip(result.estimate.names, result.estimate.values, strict=True))
    rows = []
    for name, published in MAKERS.items():
        ratio = values[name] / published
        accept = "within 25 % of the makers'"
        rows.append(Row(name, published, float(values[name]), accept, bool(0.75 <= ratio <= 1.25)))
    wide = fit_pendulum(logs, 4 * (PLAN.cutoff_hz or 5.0))
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


CASE = Case("double-pendulum-log", "DFKI double pendulum, measured logs", "double_pendulum", run)
