"""How well a model predicts the torques of motions, and what that is worth."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.core.finding import Finding
from dynid.core.plain import plain
from dynid.estimators.estimate import Estimate
from dynid.logs.spool import Samples, by_columns
from dynid.model.joint import JointKind
from dynid.model.robot import Robot
from dynid.preparation.decimate import decimate_rows
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.validation.causes import with_causes_first
from dynid.validation.figures import ErrorFigures, error_figures
from dynid.validation.model import IdentifiedModel, as_model, predictions
from dynid.validation.parts import TorqueShares, torque_shares
from dynid.validation.residual_tests import ResidualTests, residual_tests
from dynid.validation.verdict import Thresholds, Verdict, judge, tested_on, verdict_of

_TESTED_ROWS = 200_000
"""Rows of a motion on disk that the residual tests look at, from its beginning; more would change nothing."""


@dataclass(frozen=True, eq=False)
class MotionFigures:
    """Figures of one motion.

    Args:
        name: name of the experiment.
        samples: samples at full rate.
        rate_hz: samples per second.
        full: errors at full rate, all rows.
        decimated: errors as the regression sees them (low-passed, decimated, slow rows left out), or None
            when the plan does neither.
        tests: residual tests, one per coordinate, on the decimated residual where there is one.
    """

    name: str
    samples: int
    rate_hz: float
    full: ErrorFigures
    decimated: ErrorFigures | None
    tests: tuple[ResidualTests, ...]

    @property
    def judged(self) -> ErrorFigures:
        """The figures comparable with the fit's residual."""
        return self.full if self.decimated is None else self.decimated

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "name": self.name,
            "samples": self.samples,
            "rate_hz": plain(self.rate_hz),
            "full": self.full.to_dict(),
            "decimated": None if self.decimated is None else self.decimated.to_dict(),
            "tests": [test.to_dict() for test in self.tests],
        }


@dataclass(frozen=True, eq=False, repr=False)
class Validation:
    """How well a model predicts the torques of some motions.

    Args:
        joints: names of the coordinates.
        units: of their torques.
        motions: figures of each motion.
        full: errors over all motions at full rate.
        decimated: errors over all motions as the regression sees them, or None; this is the figure to hold
            against the residual of the fit.
        tests: residual tests over all motions, one per coordinate.
        shares: sizes of the parts of the torque.
        doubt_rms: root mean square of the predicted torque's standard deviation that comes from the
            parameters' covariance, per coordinate [N m or N]; None without a covariance.
        seen: whether these are the motions of the fit.
        verdict: may the model be used.
        repeated: whether these are new motions that repeat those of the fit.
    """

    joints: tuple[str, ...]
    units: tuple[str, ...]
    motions: tuple[MotionFigures, ...]
    full: ErrorFigures
    decimated: ErrorFigures | None
    tests: tuple[ResidualTests, ...]
    shares: TorqueShares
    doubt_rms: FloatArray | None
    seen: bool
    verdict: Verdict
    repeated: bool = False

    @property
    def judged(self) -> ErrorFigures:
        """The figures comparable with the fit's residual."""
        return self.full if self.decimated is None else self.decimated

    @property
    def trustworthy(self) -> bool:
        """Whether the model may be used, if need be with care."""
        return self.verdict.trustworthy

    def with_causes(self, causes: Sequence[Finding]) -> Validation:
        """The validation with what was found to be the cause of its errors."""
        if not causes:
            return self
        findings = with_causes_first((*causes, *self.verdict.findings))
        where = tested_on(self.seen, self.repeated)
        return replace(self, verdict=verdict_of(findings, self.judged, self.joints, where))

    def __repr__(self) -> str:
        """Errors of the joints and the verdict."""
        named = enumerate(zip(self.joints, self.units, strict=True))
        errors = ", ".join(f"{joint} {self.judged.share(j, unit)}" for j, (joint, unit) in named)
        return f"Validation({errors})\n{self.verdict!r}"

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON; figures that do not exist are None."""
        return {
            "joints": list(self.joints),
            "units": list(self.units),
            "seen": self.seen,
            "repeated": self.repeated,
            "verdict": self.verdict.to_dict(),
            "full": self.full.to_dict(),
            "decimated": None if self.decimated is None else self.decimated.to_dict(),
            "motions": [motion.to_dict() for motion in self.motions],
            "tests": [test.to_dict() for test in self.tests],
            "parts": self.shares.to_dict(),
            "doubt_rms": None if self.doubt_rms is None else plain(self.doubt_rms),
        }


def validate(
    model: IdentifiedModel | Estimate,
    motions: Sequence[Motion],
    plan: Preparation,
    *,
    fit: Validation | ErrorFigures | None = None,
    thresholds: Thresholds | None = None,
    seen: bool = False,
    repeated: bool = False,
    concerns: Sequence[Finding] = (),
    lacking: bool = False,
) -> Validation:
    """Predict the torques of motions and say what the prediction is worth.

    Errors are given at full rate and, where the plan decimates or masks, on the same low-passed rows that a
    regression uses; only the latter can be held against the residual of a fit (P0 §V, P1 §2.2.3).

    Args:
        model: a model, or the estimate that holds it.
        motions: prepared motions, best such that the fit has not seen.
        plan: the preparation they went through.
        fit: the validation on the fit's own motions, or its figures, to compare with.
        thresholds: where trust ends.
        seen: say that these are the fit's own motions.
        repeated: say that these are new motions that repeat the fit's.
        concerns: what else is known about the motions, for the verdict.
        lacking: say that something else speaks for an effect the model lacks.
    """
    tested = as_model(model)
    if not motions:
        raise DynidError("Validation was given no motion; give at least one.")
    runs = [_run(tested, motion, plan) for motion in motions]
    names = joint_names(tested.robot)
    tests = _tests(runs)
    full, decimated = _figures(runs)
    judged = full if decimated is None else decimated
    own = fit.judged if isinstance(fit, Validation) else fit
    return Validation(
        joints=names,
        units=torque_units(tested.robot),
        motions=tuple(_motion_figures(run) for run in runs),
        full=full,
        decimated=decimated,
        tests=tests,
        shares=torque_shares(tested, tuple(motions)),
        doubt_rms=_doubt(runs),
        seen=seen,
        verdict=judge(
            judged,
            tests,
            names,
            fit=own,
            thresholds=thresholds,
            seen=seen,
            repeated=repeated,
            left_out=_left_out(runs),
            uncertainty=tested.uncertainty,
            concerns=concerns,
            lacking=lacking or not tested.dry_friction,
            doubt_rms=_doubt(runs),
        ),
        repeated=repeated,
    )


@dataclass(frozen=True, eq=False)
class _PredictedMotion:
    """Torques of one motion, as they are and as the regression sees them, in memory or on disk.

    Args:
        motion: the motion.
        predicted: torques at full rate.
        doubt: their standard deviations, where known.
        seen: measured and predicted torques after decimation and which entries count; None when the plan
            changes nothing.
    """

    motion: Motion
    predicted: Samples
    doubt: Samples | None
    seen: tuple[Samples, Samples, NDArray[np.bool_]] | None

    def residual(self, j: int) -> FloatArray:
        """What is left of the torque of a coordinate, NaN where a row does not count."""
        rows = slice(_TESTED_ROWS if self.motion.on_disk else None)
        if self.seen is None:
            return np.asarray(self.motion.tau[rows, j] - self.predicted[rows, j])
        tau, model, counts = self.seen
        return np.where(counts[rows, j], tau[rows, j] - model[rows, j], np.nan)


def joint_names(robot: Robot) -> tuple[str, ...]:
    """Names of the joints that are coordinates."""
    return tuple(robot.joints[c].name for c in robot.coordinates)


def torque_units(robot: Robot) -> tuple[str, ...]:
    """Unit of each coordinate's torque: N m, or N on prismatic joints."""
    prismatic = JointKind.PRISMATIC
    return tuple("N" if robot.joints[c].kind is prismatic else "N m" for c in robot.coordinates)


def _regression_rows(
    motion: Motion, predicted: Samples, plan: Preparation
) -> tuple[Samples, Samples, NDArray[np.bool_]] | None:
    """Measured and predicted torques as a regression sees them, or None when the plan changes nothing.

    The low-pass and decimation of the columns is linear, so that of the predicted torque is the same.

    Returns:
        τ, τ̂ and which entries count, each (rows, coordinates).
    """
    if plan.decimation == 1 and not plan.speed_thresholds:
        return None
    tau, model = _decimated_samples(motion, motion.tau, plan), _decimated_samples(motion, predicted, plan)
    counts = np.ones(tau.shape, dtype=bool)
    if plan.speed_thresholds:
        speed = _decimated_samples(motion, motion.qd, plan)
        for j, threshold in enumerate(plan.speed_thresholds):
            counts[:, j] = np.abs(speed[:, j]) >= threshold
    return tau, model, counts


def _decimated_samples(motion: Motion, values: Samples, plan: Preparation) -> Samples:
    """Values (samples, coordinates) along a motion, zero while a coordinate is at rest, decimated."""
    if plan.decimation == 1 and motion.at_rest is None:
        return values
    every, joints = slice(0, motion.samples), iter(range(values.shape[1]))

    def one_axis(x: FloatArray) -> FloatArray:
        moving = motion.moving_values(every, x[None], [next(joints)])
        return np.asarray(decimate_rows(moving, plan.decimation, plan.convention)[0])

    return by_columns(one_axis, values)


def _run(model: IdentifiedModel, motion: Motion, plan: Preparation) -> _PredictedMotion:
    predicted, doubt = predictions(model, motion)
    return _PredictedMotion(motion, predicted, doubt, _regression_rows(motion, predicted, plan))


def _figures(runs: Sequence[_PredictedMotion]) -> tuple[ErrorFigures, ErrorFigures | None]:
    full = error_figures([run.motion.tau for run in runs], [run.predicted for run in runs])
    rows = [run.seen for run in runs if run.seen is not None]
    if not rows:
        return full, None
    tau, model, counts = zip(*rows, strict=True)
    return full, error_figures(tau, model, counts)


def _motion_figures(run: _PredictedMotion) -> MotionFigures:
    full, decimated = _figures([run])
    motion = run.motion
    return MotionFigures(motion.name, motion.samples, motion.rate_hz, full, decimated, _tests([run]))


def _tests(runs: Sequence[_PredictedMotion]) -> tuple[ResidualTests, ...]:
    n = runs[0].motion.q.shape[1]
    return tuple(residual_tests([run.residual(j) for run in runs]) for j in range(n))


def _left_out(runs: Sequence[_PredictedMotion]) -> float:
    """Share of the regression's rows that a speed threshold leaves out."""
    counts = [run.seen[2] for run in runs if run.seen is not None]
    return 1.0 - float(np.mean(np.concatenate(counts))) if counts else 0.0


def _doubt(runs: Sequence[_PredictedMotion]) -> FloatArray | None:
    known = [run.doubt for run in runs if run.doubt is not None]
    if not known:
        return None
    columns = (np.concatenate([doubt[:, j] for doubt in known]) for j in range(known[0].shape[1]))
    return np.array([np.sqrt(np.mean(column**2)) for column in columns])
