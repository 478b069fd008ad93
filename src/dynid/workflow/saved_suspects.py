"""A saved model and new logs of its robot: what has changed since."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynid.core.errors import DynidError, option_words
from dynid.core.kinds import require_kinds
from dynid.core.threads import with_one_blas_thread
from dynid.logs.log import Log
from dynid.preparation.prepared_motion import prepare
from dynid.problem.build import build_problem
from dynid.problem.problem import Problem
from dynid.results.result import SavedResult
from dynid.results.view import ResultView
from dynid.suspects.account import suspects_document
from dynid.suspects.judgement import SuspectJudgement
from dynid.suspects.new_logs import judge_new_logs
from dynid.workflow.motion_source import Progress
from dynid.workflow.saved_model import fitted_logs
from dynid.workflow.usable_log import UsableLog, as_logs, logs_to_validate


@dataclass(frozen=True, eq=False)
class NewSuspects:
    """Suspects of new logs beside a saved model.

    Args:
        judged: the table and what follows from it.
        logs: names of the logs.
        error_percent: what the model misses of the torque of each joint, in the rows of the regression,
            (coordinates,).
    """

    judged: SuspectJudgement
    logs: tuple[str, ...]
    error_percent: tuple[float, ...]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON, as ``suspects`` of a report's document."""
        own = {"logs": list(self.logs), "error_percent": list(self.error_percent)}
        return own | suspects_document(self.judged)


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
        DynidError: when a log is one of the fit's own, or the model has terms that are not linear.
        NotTrustworthyError: when a log is not usable.
    """
    require_kinds(find_suspects, locals())
    tell = progress or (lambda text: None)
    saved = _linear_result(result.as_saved)
    given = as_logs(logs, accept)
    if not given:
        raise DynidError("There is no log to ask; give at least one that was taken after the fit.")
    tell("checking the data")
    held = logs_to_validate(saved.robot, given, fitted_logs(saved), [None] * len(given), repair=repair)
    _refuse_own(held)
    tell("filtering and differentiating")
    problem = _new_rows(saved, held)
    tell("looking for suspects")
    judged = judge_new_logs(problem, saved.values, saved.covariance, saved.kept, saved.joint_sigma)
    norms = problem.torque_norms()
    missed = np.divide(problem.residual_norms(saved.values), norms, out=np.zeros_like(norms), where=norms > 0)
    return NewSuspects(judged, tuple(used.log.name for used in held), tuple((100 * missed).tolist()))


def _linear_result(saved: SavedResult) -> SavedResult:
    if saved.further is not None:
        names = ", ".join(saved.further.names)
        raise DynidError(
            f"The model in {saved.folder} has parameters that are not linear ({names}), and later logs are "
            f"asked beside a model without any; fit again with {option_words('--add', 'none')}."
        )
    return saved


def _refuse_own(held: Sequence[UsableLog]) -> None:
    for used in held:
        if used.fitted:
            raise DynidError(
                f"Log {used.log.name!r} was used in the fit itself, so nothing can have changed since; give "
                "logs that were taken later, or none to see the suspects of the fit."
            )


def _new_rows(saved: SavedResult, held: Sequence[UsableLog]) -> Problem:
    plan = saved.plan
    motions = [prepare(used.log, plan.for_channels(used.log.channels)) for used in held]
    problem = build_problem(saved.robot, motions, plan, saved.base)
    if not problem.has_rows or problem.motions is None:
        samples = sum(motion.samples for motion in motions)
        raise DynidError(
            f"The logs are too long to look for suspects ({samples:,} samples); give a part of them, such as "
            "ten minutes."
        )
    return problem
