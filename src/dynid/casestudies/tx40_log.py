"""The measured log of a Stäubli TX40 with its coupled wrist, against the literature."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

import numpy as np

from dynid.casestudies.case import Case, CaseResult, Row, at_most, exactly, near
from dynid.estimators.linear.least_squares import WLS
from dynid.logs.read import read_log
from dynid.model.load import load_robot
from dynid.preparation.preparation import Preparation
from dynid.workflow.fitting import fit
from dynid.workflow.result import FitResult

PLAN = Preparation(
    cutoff_hz=100.0,
    decimation=100,
    speed_thresholds=(0.0501, 0.0501, 0.0750, 0.0716, 0.0559, 0.1222),
)
"""Filter of 100 Hz, one sample of 100, and rows inside the friction dead zones left out."""


def fit_tx40(folder: Path, terms: tuple[str, ...] | None = None) -> FitResult:
    """Weighted least squares from the raw motor files.

    Args:
        folder: the folder with both CSV files.
        terms: parameter terms; those of the robot file, with the coupling, when None.
    """
    robot = load_robot("tx40_log")
    with resources.as_file(resources.files("dynid.casestudies") / "maps" / "tx40.toml") as mapping:
        log = read_log(folder, mapping)
    return fit(robot if terms is None else robot.with_terms(*terms), [log], WLS(), plan=PLAN)


def run(folder: Path) -> CaseResult:
    """Fit with and without the wrist coupling and compare with the literature row."""
    coupled = fit_tx40(folder)
    estimate, figures = coupled.estimate, coupled.own.judged
    plain = fit_tx40(folder, ("Ia", "Fv", "Fc", "off")).own.judged
    rows = [
        exactly("base parameters", 61, len(estimate.values)),
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
    rows += _literature(estimate.names, estimate.values, estimate.sigma)
    notes = ("Published: Gautier's identification of the same log; frictions, drive inertias and offsets.",)
    return CaseResult("tx40-log", "Stäubli TX40, measured log", tuple(rows), notes)


def _literature(names: tuple[str, ...], values: np.ndarray, sigma: np.ndarray) -> list[Row]:
    published = load_robot("tx40_log").parameters
    rows = []
    for name, value in published.items():
        # Drive inertias of the first joints are regrouped; those published stand alone.
        index = names.index(name)
        rows.append(near(name, value, float(values[index]), float(sigma[index]), 0.03))
    return rows


CASE = Case("tx40-log", "Stäubli TX40, measured log", "tx40", run)
