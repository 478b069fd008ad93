"""The checks that look at every sample, in one pass over a log that comes in pieces."""

from __future__ import annotations

from dynid.checks.finding import Checked
from dynid.checks.jumps import LeapChecks
from dynid.checks.levels import LevelChecks
from dynid.checks.piece import Piece
from dynid.checks.smoothness import check_smoothness
from dynid.checks.stamps import StampChecks
from dynid.checks.survey import Survey
from dynid.checks.values import Values
from dynid.model.robot import Robot

_FATAL = ("too short", "clock", "missing channel", "no motion")
"""Findings after which nothing else can be said."""


class Scan:
    """Stamps, values, levels, smoothness and leaps.

    Args:
        survey: what is usual in the log.
        robot: says which axes turn.
    """

    def __init__(self, survey: Survey, robot: Robot | None) -> None:
        """Begin before the first sample."""
        self._survey = survey
        self._checks = (StampChecks(survey), Values(survey), LevelChecks(survey))
        self._leaps = LeapChecks(survey, robot)

    def take(self, piece: Piece) -> None:
        """The next piece."""
        for check in self._checks:
            check.take(piece)
        self._leaps.take(piece)

    def finish(self) -> tuple[list[Checked], bool]:
        """What was found, and whether more can be said about the log."""
        found = [check.finish() for check in self._checks]
        if any(finding.name in _FATAL for part in found for finding in part.findings):
            return found, False
        return [*found, check_smoothness(self._survey), self._leaps.finish()], True
