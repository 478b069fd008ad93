"""A Universal Robots UR10 from its ROS 2 bag: fit on the first 70 %, judged on the rest."""

from __future__ import annotations

from pathlib import Path

from dynid.casestudies.case import Case, CaseResult, at_most, exactly
from dynid.estimators.linear.least_squares import WLS
from dynid.logs.read import read_log
from dynid.model.load import load_robot
from dynid.preparation.preparation import Preparation
from dynid.workflow.fitting import fit
from dynid.workflow.result import FitResult

BAG = "ur10_exciting_trajectory.db3"
SPLIT = 0.7
PLAN = Preparation(cutoff_hz=5.0, decimation=16)


def fit_ur10(folder: Path) -> FitResult:
    """Weighted least squares straight from the bag."""
    return fit(load_robot("ur10"), [read_log(folder / BAG)], WLS(), plan=PLAN, split=SPLIT)


def run(folder: Path) -> CaseResult:
    """Residual of the fit and prediction of the part that was not used."""
    result = fit_ur10(folder)
    assert result.unseen is not None
    rows = (
        exactly("base parameters", 58, len(result.estimate.values)),
        at_most("relative residual of the fit [%]", result.own.judged.overall_percent, 5.3, 5.1),
        at_most("relative error on the last 30 % [%]", result.unseen.judged.overall_percent, 7.3, 7.1),
    )
    notes = ("Effort is drive gain × current, with the gains of the bag's authors.",)
    return CaseResult("ur10-log", "Universal Robots UR10, measured log", rows, notes)


CASE = Case("ur10-log", "Universal Robots UR10, measured log", "ur10", run)
