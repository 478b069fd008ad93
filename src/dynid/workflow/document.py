"""The report's document of a finished fit."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dynid.report.document import build_document
from dynid.validation.cross import cross_validate, experiment_stability
from dynid.workflow.fit import FitResult


def document_of(result: FitResult, run: Mapping[str, Any]) -> dict[str, Any]:
    """Everything the report shows, ready for JSON.

    Args:
        result: the finished fit.
        run: how it was run, such as the command line.
    """
    several = len(result.estimate.problem.experiments) > 1 and len(result.motions) == len(result.logs)
    problem, strategy = result.estimate.problem, result.strategy
    reasons = list(result.suggestion.reasons) if result.suggestion else ["given by the user"]
    return build_document(
        result.estimate,
        result.motions,
        result.plan,
        result.own,
        validation=result.unseen,
        validation_motions=result.unseen_motions,
        checks=[check.to_dict() for check in result.checks],
        stability=experiment_stability(problem, strategy) if several else None,
        cross=cross_validate(problem, strategy).to_dict() if several else None,
        run={**run, "preparation_reasons": reasons},
    )
