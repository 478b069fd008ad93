"""A saved model and new logs of its robot: what has changed since."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.core.finding import Level, Name
from dynid.core.kinds import require_kinds
from dynid.core.threads import with_one_blas_thread
from dynid.logs.log import Log
from dynid.preparation.unseen import prepare_unseen
from dynid.problem.problem import Problem
from dynid.results.result import SavedResult
from dynid.results.view import ResultView, document_reader
from dynid.suspects.account import suspects_document
from dynid.suspects.judgement import SuspectJudgement
from dynid.workflow.motion_source import Progress
from dynid.workflow.saved_model import fitted_logs
from dynid.workflow.since import KnownModel
from dynid.workflow.usable_log import UsableLog, as_accepted, as_logs, logs_to_validate, refuse_duplicates


@dataclass(frozen=True, eq=False)
class NewSuspects:
    """Suspects of new logs beside a saved model.

    Args:
        judged: the table and what follows from it.
        logs: names of the logs.
        error_percent: what the model misses of the torque of each joint, in the rows of the regression,
            (coordinates,).
        doubts: names of findings of the fit that ask for care: such a model may err where nothing changed.
    """

    judged: SuspectJudgement
    logs: tuple[str, ...]
    error_percent: tuple[float, ...]
    doubts: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON, as ``suspects`` of a report's document."""
        own = {
            "logs": list(self.logs),
            "error_percent": list(self.error_percent),
            "doubts": list(self.doubts),
        }
        made = own | suspects_document(self.judged)
        if self.doubts:
            asks = f"The fit itself asks for care ({', '.join(self.doubts)})"
            made["sentence"] = f"{made['sentence']} {asks}: errors of the model may pass for changes."
        return made


@with_one_blas_thread
def find_suspects(
    result: ResultView,
    logs: Log | Sequence[Log],
    *,
    repair: bool = False,
    accept: Iterable[str] = (),
    progress: Progress | None = None,
) -> NewSuspects:
    """Ask new logs of a robot what has changed since its model was identified.

    The model is not fitted again: suspects are scored on what it leaves of the torques, and its own doubt
    counts as a prior. Suspects of the fit itself are ``FitResult.suspects``, and ``suspects`` of a document.

    Args:
        result: of a fit, or read back from a folder.
        logs: motor or joint side, with positions.
        repair: whether repairable defects are repaired.
        accept: names of findings of the data check that you know better about.
        progress: told what is being done; nobody is when None.

    Raises:
        DynidError: when a log is one of the fit's own or given twice.
        NotTrustworthyError: when a log is not usable, or shows what the fit has not seen.
    """
    require_kinds(find_suspects, locals())
    tell = progress or (lambda text: None)
    saved = _trusted_result(result.as_saved)
    given = as_logs(logs, accept)
    if not given:
        raise DynidError("There is no log to ask; give at least one that was taken after the fit.")
    tell("checking the data")
    fitted = fitted_logs(saved)
    held = logs_to_validate(saved.robot, given, fitted, [None] * len(given), repair=repair, later=True)
    refuse_duplicates([used.identity for used in held])
    _refuse_own(held, {own.data for own in fitted}, saved)
    tell("filtering and differentiating")
    plan = saved.plan
    motions = [prepare_unseen(used.log, plan) for used in held]
    model = KnownModel.of_saved(saved)
    _refuse_unseen(model.rows_of(motions, plan), saved)
    tell("looking for suspects")
    judged, missed = model.suspects_of(motions, plan)
    names, percent = tuple(used.log.name for used in held), tuple((100 * missed).tolist())
    judged = replace(judged, findings=as_accepted(judged.findings, held))
    return NewSuspects(judged, names, percent, _doubts(saved))


@document_reader()
def _doubts(saved: SavedResult) -> tuple[str, ...]:
    """Names of what speaks against the fit, beside what it lacks and that it was not proven."""
    findings = saved.section("verdict").get("findings", ())
    expected = (Name.NO_UNSEEN_MOTION, Name.LACKING_PHYSICS)
    grave = [f["name"] for f in findings if f["level"] in ("care", "fail") and f["name"] not in expected]
    return tuple(dict.fromkeys(grave))


def _trusted_result(saved: SavedResult) -> SavedResult:
    """The result, where logs can be held against it."""
    outcome = saved.section("estimate").get("outcome") or {}
    if outcome.get("level") == Level.FAIL.word:
        raise NotTrustworthyError(
            f"The parameters in {saved.folder} cannot be trusted themselves ({outcome.get('name')}), so no "
            "log can tell what has changed since; fit logs that determine them."
        )
    return saved


def _refuse_unseen(problem: Problem, saved: SavedResult) -> None:
    """Stop where the rows show nothing, or what the fit has never seen: it would pass for a change."""
    if not problem.row_counts.any():
        raise NotTrustworthyError(
            "No row is left of these logs: every joint is slower than the speed thresholds of the "
            "preparation, or its torque never changes; give logs that show more."
        )
    facts = saved.section("estimate").get("facts") or {}
    lengths = np.linalg.norm(problem.stacked_factor()[:, :-1], axis=0)
    seen = dict(zip(problem.names, lengths > 0, strict=True))
    shown = [name for name in facts.get("undetermined", ()) if seen.get(name)]
    if shown:
        raise NotTrustworthyError(
            f"The model in {saved.folder} has never seen {', '.join(shown)}, and these logs show it, so "
            "nothing tells whether it has changed; fit logs that show it, or give logs that do not."
        )


def _refuse_own(held: Sequence[UsableLog], fitted: Collection[str | None], saved: SavedResult) -> None:
    """Stop at a log that the fit has used as a whole; another part of its file is a log of its own."""
    instead = ", or none to see the suspects of the fit" if saved.section("suspects") else ""
    for used in held:
        if used.identity.data in fitted:
            raise DynidError(
                f"Log {used.log.name!r} was used in the fit itself, so nothing can have changed since; give "
                f"logs that were taken later{instead}."
            )
