"""A model on motion that its fit has not used: predicted, and asked how much of a proof that is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from dynid.checks import DataCheck
from dynid.checks.check import accepted_names
from dynid.checks.data_check import with_accepted
from dynid.checks.novelty import novelty
from dynid.checks.term_ranges import beyond_terms
from dynid.core.finding import Finding
from dynid.preparation.motion import Motion, PositionSeries
from dynid.preparation.preparation import Preparation
from dynid.report.checks import used_logs
from dynid.validation.figures import ErrorFigures
from dynid.validation.model import IdentifiedModel
from dynid.validation.validation import Validation, validate
from dynid.validation.verdict import Verdict
from dynid.workflow.motion_source import MotionSource
from dynid.workflow.since import KnownModel, causes_of
from dynid.workflow.usable_log import UsableLog


@dataclass(frozen=True, eq=False, repr=False)
class Proof:
    """What a model is worth on logs that its fit has not used.

    Args:
        validation: figures and verdict, with what is known about the logs in it.
        motions: measured or simulated motions of the logs.
        checks: the data check of each log that has positions.
    """

    validation: Validation
    motions: tuple[Motion, ...]
    checks: tuple[DataCheck, ...]

    def __repr__(self) -> str:
        """Verdict and findings."""
        return repr(self.validation)

    @property
    def verdict(self) -> Verdict:
        """May the model be used on such motion?"""
        return self.validation.verdict

    @property
    def data(self) -> list[dict[str, Any]]:
        """The data checks as the report shows them."""
        return [log.to_dict() for log in used_logs(self.checks, self.motions, "validation")]


def prove(
    model: IdentifiedModel,
    logs: Sequence[UsableLog],
    source: MotionSource,
    plan: Preparation,
    *,
    fitted: Sequence[PositionSeries],
    fit: ErrorFigures | None,
    concerns: Sequence[Finding] = (),
    lacking: bool = False,
    known: KnownModel | None = None,
) -> Proof:
    """Predict the torques of logs that were kept for validation, and ask whether their motion is new.

    Args:
        model: what was identified.
        logs: at least one.
        source: measured or simulated motion.
        plan: preparation.
        fitted: motions of the fit, or their trails.
        fit: errors on the fit's own motions, to compare with.
        concerns: what else is known about the logs.
        lacking: whether the fit shows that the model lacks an effect.
        known: the model with its doubt, to ask what is different in the logs; nothing is asked when None.
    """
    unseen = source.unseen(model, logs, plan)
    beyond = beyond_terms(model.base, model.values, model.further, unseen.motions)
    news = novelty(unseen.motions, [used.fitted for used in logs], fitted)
    found = validate(
        model,
        unseen.motions,
        plan,
        fit=fit,
        seen=news.own,
        repeated=news.repeated,
        concerns=(*news.findings, *concerns, *beyond),
        lacking=lacking,
    )
    validation = source.conclusion(found, unseen, model, logs, plan)
    if known is not None and source.regresses:
        causes = causes_of(validation, fit, known, unseen.motions, plan)
        accepted = {name for used in logs for name in accepted_names(used.log)}
        validation = validation.with_causes(with_accepted(causes, accepted))
    return Proof(validation, unseen.motions, data_checks(logs))


def data_checks(logs: Sequence[UsableLog]) -> tuple[DataCheck, ...]:
    """The data checks of logs that have positions to check."""
    return tuple(used.check for used in logs if used.check is not None)
