"""What the log of a random arm says, as rows of unit noise."""

from __future__ import annotations

from dynid.consistency import DataRows, Knowledge, PossibleRobot, PossibleRobots
from dynid.estimators import WLS
from dynid.estimators.data_rows import data_rows_of
from support.possible_arms import PossibleArm


def rows_of(arm: PossibleArm) -> DataRows:
    """By weighted least squares."""
    fit = WLS().fit(arm.problem)
    return data_rows_of(arm.problem.base, fit)


def nearest(arm: PossibleArm, knowledge: Knowledge | None = None) -> PossibleRobot:
    """The possible robot nearest to it."""
    rows = rows_of(arm)
    return PossibleRobots.of(arm.robot, rows, knowledge).nearest(rows)
