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
        run: how it was run: the command line, its options, the files it read.
    """
    several = len(result.estimate.problem.experiments) > 1 and len(result.motions) == len(result.logs)
    # A method that simulates has put simulated motions into the problem: its linear step compares them.
    problem, strategy = result.estimate.problem, result.strategy.linear
    reasons = list(result.suggestion.reasons) if result.suggestion else ["given by the user"]
    kept = {"preparation_reasons": reasons, "fitted": [log.to_dict() for log in result.identities]}
    kept |= result.loop
    return build_document(
        result.estimate,
        result.motions,
        result.plan,
        result.own,
        validation=result.unseen,
        validation_motions=result.unseen_motions,
        checks=result.checks,
        validation_checks=result.unseen_checks,
        concerns=result.concerns,
        stability=experiment_stability(problem, strategy) if several else None,
        cross=cross_validate(problem, strategy).to_dict() if several else None,
        run={**run, **kept},
    )
