"""A study of resolution as data: everything that its page and its JSON show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dynid.core.plain import plain
from dynid.preparation.motion import Motion
from dynid.report.calibration_document import answer_of, run_facts
from dynid.report.checks import UsedLog
from dynid.resolution.resolution_study import ResolutionStudy

RESOLUTION_SCHEMA = "dynid.resolution/1"


def resolution_document(
    study: ResolutionStudy, motions: Sequence[Motion], logs: Sequence[UsedLog], run: Mapping[str, Any]
) -> dict[str, Any]:
    """Assemble the document of a study.

    Args:
        study: what was found.
        motions: of the logs as they are.
        logs: what the data check says of the logs.
        run: how it was run.
    """
    robot = study.robot
    return {
        "schema": RESOLUTION_SCHEMA,
        "title": f"Sensors for {robot.title or robot.name}",
        **plain(study.to_dict()),
        **answer_of(study.findings, logs),
        "data": [log.to_dict() for log in logs],
        "run": run_facts(run, motions),
    }
