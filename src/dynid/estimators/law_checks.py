"""Whether the log's own positions bear out the control law and the simulated motion."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.model.robot import Robot
from dynid.outcome import Outcome
from dynid.problem.closed_loop import LoopExperiment, LoopProblem
from dynid.problem.law_torques import law_torques
from dynid.problem.replay import Replayed
from dynid.simulation.model_laws import ComputedTorque, UserLaw

FloatArray = NDArray[np.float64]
MISMATCH = "control law mismatch"
LAW = 0.1
"""Share of the torque by which the law may miss it; right laws stay below 2 %, the noise apart."""
CHECKED = 5000
"""Samples of an experiment that the law is run on."""
NOISES = 3.0
"""Deviations of what noise leaves of the low-passed torque that an error must exceed."""
MOTION = 0.08
"""Share of the tracking error by which the simulated motion may miss the measured one."""
_BEYOND = 1.2
"""Disturbances move the robot by about their share of the torque; a wrong law by more."""
ENCODER = 5.0
"""Deviations of the encoder's noise that a missed position must exceed."""
_SETTLING = 0.02
"""Share of a log left out at its start, where the law's memory is not known."""


@dataclass(frozen=True)
class Finding:
    """What was found: figures, and an outcome where the law is not the robot's."""

    facts: dict[str, Any] = field(default_factory=dict)
    outcome: Outcome | None = None


def _beginning(experiment: LoopExperiment) -> LoopExperiment:
    """The first samples of an experiment: a wrong law shows at once, and long logs should not wait for it."""
    if len(experiment.samples) <= CHECKED or experiment.position is None:
        return experiment
    return replace(
        experiment,
        time=experiment.time[:CHECKED],
        tau=experiment.tau[:CHECKED],
        samples=experiment.samples[:CHECKED],
        position=experiment.position[:CHECKED],
    )


def check_law(problem: LoopProblem) -> Finding:
    """Compare the logged torques with those of the law on the logged positions, low-passed.

    e_j = ‖L(τ − law(q_r, q))‖ / ‖L τ‖ with a running mean L needs no model of the robot. The law is refused
    where e_j exceeds a tenth and three times what white noise leaves after L.
    """
    parts = [
        (e, told)
        for e in map(_beginning, problem.experiments)
        if (told := law_torques(problem.robot, problem.controller, e)) is not None
    ]
    if not parts:
        return Finding()
    sums = np.sum([_squares(problem, experiment, told) for experiment, told in parts], axis=0)
    off, size, noise = np.sqrt(sums / np.maximum(sums[1], 1e-300))
    facts = {"law_error": off.tolist()}
    bad = np.flatnonzero((size > 0) & (off > np.hypot(LAW, NOISES * noise)))
    if not len(bad):
        return Finding(facts)
    worst = int(bad[np.argmax(off[bad])])
    return Finding(
        facts,
        Outcome(
            MISMATCH,
            False,
            f"The control law, fed with the logged positions and reference, misses the logged torques of "
            f"{_names(problem.robot, bad)} by {100 * off[worst]:.3g} % at the worst: the robot did not run "
            "under this law, this reference or these torque units.",
            "Check gains, inertia, damping, velocity estimate, delay and feed-forward of the controller, "
            "scale and stamps of the reference, and signs and units of the torques.",
        ),
    )


def _squares(problem: LoopProblem, experiment: LoopExperiment, told: FloatArray) -> FloatArray:
    """Squared error, torque, and noise left in the error, each summed over the low-passed samples (3, n)."""
    first = min(max(int(_SETTLING * len(told)), 5), len(told) // 2)
    measured = experiment.tau[first:]
    off = measured - told[first:]
    if problem.controller.law.memory:
        off = off - off.mean(axis=0)  # integrals at the first sample of the log are not known
    rate = 1.0 / float(np.median(np.diff(experiment.time)))
    width = averaged(problem, rate)
    smooth = np.column_stack([running_mean(column, width) for column in off.T])
    size = np.column_stack([running_mean(column, width) for column in measured.T])
    white = np.mean(np.diff(off, axis=0) ** 2, axis=0) / (2 * width)
    return np.stack([np.sum(smooth**2, axis=0), np.sum(size**2, axis=0), len(smooth) * white])


def check_motion(problem: LoopProblem, final: Replayed, torque_errors: FloatArray) -> Finding:
    """Compare simulated with measured positions, ‖q − q_s‖ / ‖q − q_r‖ of each joint.

    Only a law whose tracking error is the torque over its stiffness is judged: with feed-forward, integrals
    or a model inside the law, disturbances alone may make up the tracking error.

    Args:
        problem: positions are looked at where there are some.
        final: the simulation with the identified parameters.
        torque_errors: ‖τ − τ_s‖ / ‖τ‖ of each joint, low-passed.
    """
    n = problem.robot.n_coordinates
    off, lag, noise = np.zeros((3, n))
    rows = 0
    for experiment, motion in zip(problem.experiments, final.motions, strict=True):
        if experiment.position is None or not np.all(np.isfinite(experiment.position)):
            continue
        keep = experiment.time >= motion.time[0]
        q = experiment.position[keep]
        off += np.sum((q - motion.q) ** 2, axis=0)
        lag += np.sum((q - experiment.reference.q[experiment.samples[keep]]) ** 2, axis=0)
        noise += np.sum(np.diff(q, 3, axis=0) ** 2, axis=0) / 20
        rows += len(q)
    if not rows:
        return Finding()
    share = np.sqrt(off / np.maximum(lag, 1e-300))
    facts = {"motion_error": share.tolist()}
    law = problem.controller.law
    judged = problem.controller.feedforward is None and not law.memory
    bad = np.flatnonzero((share > np.maximum(MOTION, _BEYOND * torque_errors)) & (off > ENCODER**2 * noise))
    if not judged or isinstance(law, ComputedTorque | UserLaw) or not len(bad):
        return Finding(facts)
    worst = int(bad[np.argmax(share[bad])])
    return Finding(
        facts,
        Outcome(
            MISMATCH,
            False,
            f"The simulated motion of {_names(problem.robot, bad)} misses the measured one by "
            f"{100 * share[worst]:.3g} % of the tracking error at the worst: the simulated loop is not that "
            "of the log.",
            "Check the control law, the reference, the start, and signs and units of the torques.",
        ),
    )


def averaged(problem: LoopProblem, rate_hz: float) -> int:
    """Samples that are averaged: at least a fiftieth of a second, so that noise hides nothing."""
    return max(problem.plan.decimation, int(rate_hz / 50), 1)


def running_mean(values: FloatArray, width: int) -> FloatArray:
    """Running mean over ``width`` samples."""
    if width == 1 or len(values) < 2 * width:
        return values
    return np.convolve(values, np.full(width, 1.0 / width), mode="valid")


def _names(robot: Robot, joints: NDArray[np.int64]) -> str:
    names = [robot.joints[j].name for j in robot.coordinates]
    return ", ".join(names[int(j)] for j in joints)
