"""Closed-loop experiments at the stamps of their measured motions, and references as motions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import DynidError
from dynid.preparation.derivative import DIFFERENCE_POINTS, central_difference
from dynid.preparation.motion import Motion
from dynid.problem.closed_loop import LoopExperiment, LoopProblem

_BESIDE = 0.3
"""Share of a controller's sample by which a stamp may lie beside it."""

_ROUNDING = 1e-5
"""Share of the acceleration by which its own central differences may miss it."""


def at_motions(problem: LoopProblem, owner: str) -> LoopProblem:
    """The problem with experiments at the stamps of their prepared motions, as instruments need them.

    Central differences at the controller's own rate get centred torques: it holds each torque until its
    next sample.

    Args:
        problem: its experiments may have been trimmed by the preparation.
        owner: who needs motions, for the message.
    """
    return replace(problem, experiments=tuple(_at_motion(e, owner) for e in problem.experiments))


def _at_motion(experiment: LoopExperiment, owner: str) -> LoopExperiment:
    motion = experiment.motion
    if motion is None:
        raise DynidError(
            f"{owner} needs the measured motion of experiment {experiment.name!r}; DIDIM does not. Prepare "
            "its positions and give build_loop_problem the motions, or use DIDIM."
        )
    samples = _samples(experiment, motion)
    if np.all(np.diff(samples) == 1) and _differenced(motion):
        motion = centred_torques(motion)
    return replace(
        experiment,
        time=motion.time,
        tau=np.asarray(motion.tau),
        samples=samples,
        position=np.asarray(motion.q),
        motion=motion,
    )


def _differenced(motion: Motion) -> bool:
    """Whether accelerations are central differences of the speeds, and not those of a sample's beginning."""
    return any(_differs_over(motion, points) for points in DIFFERENCE_POINTS if motion.samples > 2 * points)


def _differs_over(motion: Motion, points: int) -> bool:
    inner = slice(points // 2, -(points // 2))
    told = central_difference(np.asarray(motion.qd), motion.rate_hz, points)[inner]
    return bool(np.linalg.norm(motion.qdd[inner] - told) <= _ROUNDING * np.linalg.norm(told))


def _samples(experiment: LoopExperiment, motion: Motion) -> NDArray[np.int64]:
    reference = experiment.reference
    place = (motion.time - reference.start) / reference.sample_time
    number = np.rint(place).astype(np.int64)
    off = float(np.abs(place - number).max())
    if off > _BESIDE:
        raise DynidError(
            f"Stamps of motion {motion.name!r} lie up to {off:.2f} of a sample beside the controller's "
            f"samples; prepare it at {1 / reference.sample_time:.6g} Hz or a whole fraction of that."
        )
    if number[0] < 0 or number[-1] >= reference.samples:
        raise DynidError(
            f"Motion {motion.name!r} runs from {motion.time[0]:.6g} to {motion.time[-1]:.6g} s, but its "
            f"reference only from {reference.start:.6g} to {reference.time[-1]:.6g} s; give one that covers "
            "it."
        )
    return number


def reference_motions(problem: LoopProblem) -> tuple[Motion, ...]:
    """References at the experiments' stamps as if the robot followed them exactly, with measured torques."""
    found = []
    for e in problem.experiments:
        r = e.reference
        assert r.qd is not None
        assert r.qdd is not None
        rate = float(1.0 / np.median(np.diff(e.time)))
        found.append(Motion(e.name, e.time, r.q[e.samples], r.qd[e.samples], r.qdd[e.samples], e.tau, rate))
    return tuple(found)


def centred_torques(motion: Motion) -> Motion:
    """The motion with torques (τ_{k−1} + τ_k)/2: a central difference at k spans both samples they are held.

    Without it a sampled controller's torque comes half a sample before the motion it belongs to, which ends
    up in Fv. Only for motions at the controller's own rate.
    """
    given = np.asarray(motion.tau)
    tau = given.copy()
    tau[1:] = (given[1:] + given[:-1]) / 2
    return replace(motion, tau=tau)
