"""What logs already tell, as the information from which the next motion is designed (sequential design)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from dynid.core.errors import DynidError
from dynid.estimators.estimate import Estimate
from dynid.excitation.task import Prior
from dynid.model.robot import Robot


def prior_of(estimate: Estimate) -> Prior:
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
    return Prior(
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
