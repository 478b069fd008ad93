"""Put a model to the test on motions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid.base.base_map import BaseMap
from dynid.core.errors import DynidError
from dynid.core.finding import Finding
from dynid.estimators.estimate import Estimate
from dynid.logs.spool import Samples, Spool, by_columns
from dynid.model.joint import JointKind
from dynid.model.robot import Robot
from dynid.preparation.decimate import decimate_rows
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.validation.figures import ErrorFigures, error_figures
from dynid.validation.model import Model, as_model
from dynid.validation.parts import shares
from dynid.validation.predict import predictions
from dynid.validation.residual_tests import ResidualTests, residual_tests
from dynid.validation.validation import MotionFigures, Validation
from dynid.validation.verdict import Thresholds, judge

FloatArray = NDArray[np.float64]


_TESTED_ROWS = 200_000
"""Rows of a motion on disk that the residual tests look at, from its beginning; more would change nothing."""


@dataclass(frozen=True, eq=False)
class _Run:
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


def validate(
    model: Model | Estimate,
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
        shares=shares(tested, tuple(motions)),
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
        ),
        repeated=repeated,
    )


def validate_values(
    robot: Robot,
    base: BaseMap,
    values: ArrayLike,
    motions: Sequence[Motion],
    plan: Preparation,
    covariance: FloatArray | None = None,
) -> Validation:
    """``validate`` for parameters at hand: values of the base parameters, SI, and their covariance."""
    return validate(Model(robot, base, np.asarray(values, dtype=float), covariance), motions, plan)


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
    tau, model = _decimated(motion.tau, plan), _decimated(predicted, plan)
    counts = np.ones(tau.shape, dtype=bool)
    if plan.speed_thresholds:
        speed = _decimated(motion.qd, plan)
        for j, threshold in enumerate(plan.speed_thresholds):
            counts[:, j] = np.abs(speed[:, j]) >= threshold
    return tau, model, counts


def _decimated(values: Samples, plan: Preparation) -> Samples:
    if plan.decimation == 1:
        return values
    if isinstance(values, Spool):
        return by_columns(lambda x: decimate_rows(x[None], plan.decimation, plan.convention)[0], values)
    return np.ascontiguousarray(decimate_rows(values.T, plan.decimation, plan.convention).T)


def _run(model: Model, motion: Motion, plan: Preparation) -> _Run:
    predicted, doubt = predictions(model, motion)
    return _Run(motion, predicted, doubt, _regression_rows(motion, predicted, plan))


def _figures(runs: Sequence[_Run]) -> tuple[ErrorFigures, ErrorFigures | None]:
    full = error_figures([run.motion.tau for run in runs], [run.predicted for run in runs])
    rows = [run.seen for run in runs if run.seen is not None]
    if not rows:
        return full, None
    tau, model, counts = zip(*rows, strict=True)
    return full, error_figures(tau, model, counts)


def _motion_figures(run: _Run) -> MotionFigures:
    full, decimated = _figures([run])
    motion = run.motion
    return MotionFigures(motion.name, motion.samples, motion.rate_hz, full, decimated, _tests([run]))


def _tests(runs: Sequence[_Run]) -> tuple[ResidualTests, ...]:
    n = runs[0].motion.q.shape[1]
    return tuple(residual_tests([run.residual(j) for run in runs]) for j in range(n))


def _left_out(runs: Sequence[_Run]) -> float:
    """Share of the regression's rows that a speed threshold leaves out."""
    counts = [run.seen[2] for run in runs if run.seen is not None]
    return 1.0 - float(np.mean(np.concatenate(counts))) if counts else 0.0


def _doubt(runs: Sequence[_Run]) -> FloatArray | None:
    known = [run.doubt for run in runs if run.doubt is not None]
    if not known:
        return None
    columns = (np.concatenate([doubt[:, j] for doubt in known]) for j in range(known[0].shape[1]))
    return np.array([np.sqrt(np.mean(column**2)) for column in columns])
