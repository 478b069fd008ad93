"""A model that is known, and motions that were recorded apart from its fit: what is different in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from dynid.base.base_map import BaseMap
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.core.finding import Finding, Level, Name, gravest_first
from dynid.estimators.estimate import Estimate, Further
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem.build import build_problem
from dynid.problem.problem import Problem
from dynid.results.result import SavedResult
from dynid.results.view import document_reader
from dynid.suspects.judgement import SuspectJudgement, gross_findings
from dynid.suspects.known_terms import with_known_terms
from dynid.suspects.new_logs import judge_new_logs
from dynid.suspects.stretches import short_problem
from dynid.validation.figures import ErrorFigures
from dynid.validation.validation import Validation
from dynid.validation.verdict import Thresholds

_SAME_SIZE = 0.8
"""Distance of two sizes over the first, up to which later logs show what the fit has shown already."""


@dataclass(frozen=True, eq=False)
class KnownModel:
    """A model with its doubt, and what its own logs have shown.

    Args:
        base: base parameters of the robot.
        values: theirs, (base,).
        covariance: of the values, (base, base).
        kept: which were estimated, (base,).
        joint_sigma: standard deviation of each joint's torque error in the fit [N m or N], (coordinates,).
        further: added terms; None when there are none.
        shown: sizes of the suspects that the fit has ranked, by their key.
    """

    base: BaseMap
    values: FloatArray
    covariance: FloatArray
    kept: NDArray[np.bool_]
    joint_sigma: FloatArray
    further: Further | None = None
    shown: Mapping[str, FloatArray] = field(default_factory=dict)

    @classmethod
    def of_fit(cls, estimate: Estimate, suspects: SuspectJudgement | None) -> KnownModel:
        """What a fit has just found."""
        ranked = () if suspects is None else suspects.table.ranked
        return cls(
            estimate.problem.base,
            estimate.values,
            estimate.covariance,
            estimate.kept,
            estimate.joint_sigma,
            estimate.further,
            {row.suspect.key: row.together.size for row in ranked},
        )

    @classmethod
    def of_saved(cls, saved: SavedResult) -> KnownModel:
        """What a result holds."""
        return cls(
            saved.base,
            saved.values,
            saved.covariance,
            saved.kept,
            saved.joint_sigma,
            saved.further,
            _sizes_shown(saved),
        )

    def suspects_of(
        self, motions: Sequence[Motion], plan: Preparation
    ) -> tuple[SuspectJudgement, FloatArray]:
        """Suspects of new motions beside the model, which is not fitted again.

        What the fit has shown already at about the same size is a note.

        Args:
            motions: prepared, with torques.
            plan: of the fit.

        Returns:
            The judged table, and the share of each joint's torque that the model misses, (coordinates,).
        """
        problem = self.rows_of(motions, plan)
        kept = problem.has_rows and problem.motions is not None
        asked = problem if kept else short_problem(problem, motions)
        values, covariance, doubted = self.values, self.covariance, self.kept
        if self.further is not None:
            known = with_known_terms(asked, values, doubted, self.further)
            values, covariance, doubted = known.values, known.covariance, known.kept
            problem = asked = known.problem
        judged = judge_new_logs(asked, values, covariance, doubted, self.joint_sigma, self.further)
        norms = problem.torque_norms()
        missed = np.divide(problem.residual_norms(values), norms, out=np.zeros_like(norms), where=norms > 0)
        told = [replace(f, level=min(f.level, Level.NOTE)) if self._knows(f) else f for f in judged.findings]
        return replace(judged, findings=gravest_first(told)), missed

    def rows_of(self, motions: Sequence[Motion], plan: Preparation) -> Problem:
        """New motions as a regression sees them."""
        return build_problem(self.base.robot, motions, plan, self.base)

    def _knows(self, finding: Finding) -> bool:
        """Whether the fit has shown this at about the same size, so that it is no news."""
        before = self.shown.get(finding.figures.get("suspect", ""))
        now = np.atleast_1d(finding.figures.get("size", np.nan))
        if before is None or before.shape != now.shape:
            return False
        return bool(np.linalg.norm(now - before) <= _SAME_SIZE * np.linalg.norm(before))


@document_reader()
def _sizes_shown(saved: SavedResult) -> dict[str, FloatArray]:
    ranked = saved.section("suspects").get("ranked", ())
    return {row["suspect"]: np.asarray(row["size"], dtype=float) for row in ranked}


def causes_of(
    found: Validation,
    fit: ErrorFigures | None,
    known: KnownModel,
    motions: Sequence[Motion],
    plan: Preparation,
) -> tuple[Finding, ...]:
    """Why a model errs on unseen motion: what has changed since, or is wrong with these logs.

    Nothing is asked where every joint is predicted within a few per cent and about as well as in the fit, nor
    of a model that does not explain its own fit or whose doubt explains the errors: what it lacks would pass
    for changes.

    Args:
        found: the validation on these motions.
        fit: errors on the fit's own motions.
        known: the model.
        motions: unseen ones.
        plan: of the fit.

    Returns:
        Findings that ask for care, the one that explains most first; none where too little can be told.
    """
    expected = any(f.name is Name.EXCITATION and f.level >= Level.CARE for f in found.verdict.findings)
    if found.seen or expected or not _errs(found.judged, fit):
        return ()
    try:
        told = [] if found.trustworthy else gross_findings(known.rows_of(motions, plan))
        told = told or list(known.suspects_of(motions, plan)[0].findings)
    except DynidError:  # too short, or nothing left beside rest
        return ()
    told = [_of_unseen(finding) for finding in told if finding.level >= Level.CARE]
    if found.verdict.grade == Level.GOOD.word:  # an effect that a model lacks is judged by its errors
        told = [replace(f, level=Level.NOTE) if f.name is Name.LACKING_PHYSICS else f for f in told]
    return tuple(told)


def _errs(judged: ErrorFigures, fit: ErrorFigures | None) -> bool:
    """Whether a joint misses more than a few per cent of its torque, or clearly more than in a good fit."""
    limits, error = Thresholds(), np.where(judged.undriven, 0.0, judged.relative_percent)
    if fit is not None and not fit.overall_percent <= limits.overall_percent:
        return False
    errs = ~(error <= limits.ratio_from_percent)
    if fit is not None:
        more = limits.ratio_to_fit
        errs |= (error > more * fit.relative_percent) & (judged.rms > more * fit.rms)
    return bool(np.any(errs))


def _of_unseen(finding: Finding) -> Finding:
    """A finding that says that it is about the logs kept for validation; a change since says so itself."""
    if finding.name is Name.CHANGE_IN_TIME:
        return finding
    return replace(finding, sentence=f"In what was kept for validation: {finding.sentence}")
