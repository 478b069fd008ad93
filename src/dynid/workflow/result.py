"""What the main job yields: a judged model, with all that was used and found on the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from dynid.checks import DataCheck
from dynid.core.arrays import FloatArray
from dynid.core.disk import replaced_file
from dynid.core.errors import FileError
from dynid.core.finding import Finding
from dynid.core.kinds import require_kinds
from dynid.estimators.estimate import Estimate
from dynid.estimators.strategy import Strategy
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion, Trail, trails_of
from dynid.preparation.preparation import Preparation
from dynid.preparation.suggestion import Suggestion
from dynid.report.document import build_document
from dynid.report.page import render_report
from dynid.results.result import SavedResult
from dynid.results.save import save_result
from dynid.results.view import ResultView
from dynid.suspects.judgement import SuspectJudgement
from dynid.validation.cross import cross_validate, experiment_stability
from dynid.validation.model import IdentifiedModel, as_model
from dynid.validation.validation import Validation
from dynid.workflow.possibility import Possibility
from dynid.workflow.proof import Proof
from dynid.workflow.usable_log import LogIdentity


@dataclass(frozen=True, eq=False, repr=False)
class FitResult(ResultView):
    """What ``fit`` yields.

    Args:
        robot: the robot.
        logs: logs of the fit, joint side, as they were prepared.
        checks: the data check of each log of the fit.
        suggestion: why the preparation is what it is; None when the user gave it.
        plan: preparation used.
        motions: prepared or simulated motions of the fit.
        strategy: the estimator.
        estimate: parameters with their doubt.
        own: prediction of the fit's own motions.
        proof: prediction of motion that was not used; None when there is none.
        concerns: what was noticed about the parameters beside all that.
        identities: what tells the logs of the fit from others.
        loop: the control law as TOML and the accuracy of the simulation, where there is one.
        suspects: what may be wrong with the logs or missing in the model; None where it could not be asked.
        possibility: the nearest robot that can exist, and whether the estimate is its; None where none was
            found.
    """

    robot: Robot
    logs: tuple[Log, ...]
    checks: tuple[DataCheck, ...]
    suggestion: Suggestion | None
    plan: Preparation
    motions: tuple[Motion, ...]
    strategy: Strategy
    estimate: Estimate
    own: Validation
    proof: Proof | None = None
    concerns: tuple[Finding, ...] = ()
    identities: tuple[LogIdentity, ...] = ()
    loop: Mapping[str, Any] = field(default_factory=dict)
    suspects: SuspectJudgement | None = None
    possibility: Possibility | None = None

    @property
    def standard(self) -> FloatArray | None:
        """Standard parameters of a robot that can exist, in table order; None where none was found."""
        return None if self.possibility is None else self.possibility.found.standard

    @property
    def unseen(self) -> Validation | None:
        """Prediction of motion that was not used; None when there is none."""
        return None if self.proof is None else self.proof.validation

    @property
    def trails(self) -> tuple[Trail, ...]:
        """Where the robot went, to recognise the motion later."""
        return trails_of(self.motions)

    def __repr__(self) -> str:
        """Robot, method, number of parameters and errors."""
        kept, base = int(self.estimate.kept.sum()), len(self.estimate.values)
        lines = [
            f"FitResult of {self.robot.name} by {type(self.strategy).__name__}: {kept} of {base} base "
            f"parameters from {', '.join(log.name for log in self.logs[:3])}"
            + (f" and {len(self.logs) - 3} more logs" if len(self.logs) > 3 else ""),
            f"  its own motion: {self.own.judged.overall_percent:.3g} % of the torque missed",
        ]
        if self.unseen is not None:
            lines.append(f"  {self.unseen.verdict.sentence}")
        return "\n".join([*lines, *(f"  {concern.level.word}: {concern.text}" for concern in self.concerns)])

    @cached_property
    def document(self) -> Mapping[str, Any]:
        """Everything the report shows, ready for JSON."""
        return document_of(self, {})

    @property
    def model(self) -> IdentifiedModel:
        """What predicts torques."""
        return as_model(self.estimate)

    @property
    def as_saved(self) -> SavedResult:
        """The result as it would be read back from a folder."""
        estimate = self.estimate
        return SavedResult(
            Path("this fit"),
            self.robot,
            estimate.problem.base,
            estimate.values,
            estimate.covariance,
            estimate.kept,
            estimate.joint_sigma,
            self.plan,
            self.document,
            estimate.further,
            self.trails,
            self.standard,
        )

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write a result folder: values, covariances, report, and what is needed to run it again.

        Args:
            folder: where to; it must be empty or absent unless ``force``.
            force: whether a result in the folder may be replaced; files that are not dynid's stay.
        """
        require_kinds(FitResult.save, locals())
        inputs = [Path(source.path) for log in self.logs for source in log.sources]
        return save_result(
            Path(folder),
            self.estimate,
            self.document,
            render_report(self.document),
            trails=self.trails,
            standard=self.standard,
            force=force,
            inputs=inputs,
        )

    def report(self, path: str | Path, *, force: bool = False) -> Path:
        """Write the report as one HTML file.

        Args:
            path: the file.
            force: whether an existing file may be replaced.
        """
        require_kinds(FitResult.report, locals())
        target = Path(path)
        if target.exists() and not force:
            raise FileError(f"{target} exists already; choose another file or give force=True.")
        target.parent.mkdir(parents=True, exist_ok=True)
        with replaced_file(target) as file:
            file.write(render_report(self.document).encode())
        return target


def document_of(result: FitResult, run: Mapping[str, Any]) -> dict[str, Any]:
    """Everything the report shows, ready for JSON.

    Args:
        result: the finished fit.
        run: how it was run: the command line, its options, the files it read.
    """
    several = len(result.estimate.problem.experiments) > 1
    # A method that simulates has put simulated motions into the problem: its linear step compares them.
    problem, strategy = result.estimate.problem, result.strategy.linear.unheld
    reasons = list(result.suggestion.reasons) if result.suggestion else ["given by the user"]
    kept = {"preparation_reasons": reasons, "fitted": [log.to_dict() for log in result.identities]}
    kept |= {"logged_speeds": _logged_speeds(result)}
    proof = result.proof
    return build_document(
        result.estimate,
        result.motions,
        result.plan,
        result.own,
        validation=None if proof is None else proof.validation,
        validation_motions=() if proof is None else proof.motions,
        checks=result.checks,
        validation_checks=() if proof is None else proof.checks,
        concerns=result.concerns,
        stability=experiment_stability(problem, strategy) if several else None,
        cross=cross_validate(problem, strategy).to_dict() if several else None,
        suspects=result.suspects,
        possibility=None if result.possibility is None else result.possibility.to_dict(),
        run={**run, **kept, **result.loop},
    )


def _logged_speeds(result: FitResult) -> str:
    """Whether logged speeds and accelerations were used, and why; empty where the logs hold none."""
    held = [name for name in ("velocity", "acceleration") if any(name in log.channels for log in result.logs)]
    if not held or result.loop:
        return ""
    if result.suggestion is not None and "velocity" in result.suggestion.why:
        return result.suggestion.why["velocity"]
    used = [name for name in held if name in result.plan.logged_derivatives]
    return f"Logged {' and '.join(used or held)} {'is' if used else 'is not'} used, as the preparation says."
