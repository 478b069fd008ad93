"""The next motion, designed to add to what logs already tell (sequential design)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from dynid.core.errors import DynidError
from dynid.core.executor import Progress, no_progress
from dynid.core.kinds import require_kinds
from dynid.estimators.estimate import Estimate
from dynid.excitation.design import Design, design_motion
from dynid.excitation.task import DesignTask, PriorInformation
from dynid.logs.log import Log
from dynid.model.robot import Robot
from dynid.workflow.fitting import fit


def design_next_motion(
    robot: Robot,
    logs: Sequence[Log],
    task: DesignTask | None = None,
    *,
    progress: Progress = no_progress,
    **search: Any,
) -> Design:
    """Design a motion that adds most to what logs already tell.

    Args:
        robot: with limits; values of the fit stand in for a-priori ones that it lacks.
        logs: taken already; they are fitted first.
        task: what else is asked of the motion.
        progress: told what is being done.
        search: ``starts``, ``seed``, ``solver`` and ``workers`` of ``design_motion``.
    """
    require_kinds(design_next_motion, locals())
    progress("fitting the logs given")
    estimate = fit(robot, list(logs), progress=progress).estimate
    known = replace(task or DesignTask(), prior=prior_of(estimate))
    return design_motion(robot_with_values(robot, estimate), known, progress=progress, **search)


def prior_of(estimate: Estimate) -> PriorInformation:
    """The information of an estimate on its base parameters, and the noise that the next log will have.

    Errors of real logs are coloured, so their honest variances are larger than those of white noise: both the
    information and the noise are scaled by the median of that ratio.

    Args:
        estimate: from ``identify`` or ``fit``, of all base parameters.

    Raises:
        DynidError: when the logs tell too little for an estimate.
    """
    rows = estimate.information
    if rows is None:
        raise DynidError(
            f"The logs tell too little to build on ({estimate.outcome.name}); design a first motion without "
            "--given."
        )
    information = rows.A.T @ rows.A
    known = estimate.kept & ~estimate.undetermined
    white = np.diag(np.linalg.pinv(information, rcond=1e-13, hermitian=True))[known]
    honest = np.diag(estimate.covariance)[known]
    usable = (white > 0) & (honest > 0)
    colour = max(1.0, float(np.median(honest[usable] / white[usable]))) if np.any(usable) else 1.0
    experiments = estimate.problem.experiments
    seconds = sum(experiment.regression_samples * experiment.step_s for experiment in experiments)
    count = sum(experiment.regression_samples for experiment in experiments)
    return PriorInformation(
        information / colour,
        estimate.joint_sigma * np.sqrt(colour),
        count / seconds,
        " and ".join(experiment.name for experiment in experiments),
    )


def robot_with_values(robot: Robot, estimate: Estimate) -> Robot:
    """The robot with a-priori values for its torques: its own, else those of the estimate."""
    if robot.parameters:
        return robot
    standard = estimate.problem.base.expand(estimate.values)
    names = robot.table.names
    values = {name: float(value) for name, value in zip(names, standard, strict=True) if value}
    reason = "they are base values of an estimate, which no single robot need have"
    return replace(robot, parameters=values, inverse_only=reason)
