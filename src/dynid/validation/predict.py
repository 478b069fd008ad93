"""Torques of a model along a motion, by the compiled base regressor, block by block."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid.base.base_map import BaseMap
from dynid.compile.kernels import RobotKernels, kernels
from dynid.errors import ShapeError
from dynid.estimators.terms import nonlinear_torques
from dynid.model.robot import Robot
from dynid.signals.motion import Motion
from dynid.validation.model import Model

FloatArray = NDArray[np.float64]
BLOCK = 4096
"""Samples per block: W of a block stays small, so memory does not grow with the log."""


def predict(robot: Robot, base: BaseMap, values: ArrayLike, motion: Motion) -> FloatArray:
    """Torques τ̂ = W(q, q̇, q̈) χ_base along a motion (P0 eq 12).

    Args:
        robot: the robot.
        base: its base parameters.
        values: base parameters, (base,), SI.
        motion: prepared motion.

    Returns:
        Torques (samples, coordinates) [N m or N].
    """
    model = Model(robot, base, np.asarray(values, dtype=float))
    return predictions(model, motion)[0]


def predictions(model: Model, motion: Motion) -> tuple[FloatArray, FloatArray | None]:
    """Torques and, where the covariance C is known, their standard deviations √diag(W C Wᵀ).

    Terms of friction that is not linear count in the torques, not in their doubt.

    Args:
        model: the model.
        motion: prepared motion.

    Returns:
        Torques (samples, coordinates) and their doubt of the same shape, or None.
    """
    check_width(model.robot, motion)
    compiled = kernels(model.robot, columns=model.base.columns)
    torques = np.empty(motion.q.shape)
    root = None if model.covariance is None else square_root(model.covariance)
    doubt = None if root is None else np.empty(motion.q.shape)
    for rows, W in blocks(compiled, motion):
        torques[rows] = np.einsum("jps,p->sj", W, model.values)
        if root is not None and doubt is not None:
            for j in range(W.shape[0]):
                doubt[rows, j] = np.linalg.norm(root @ W[j], axis=0)
    torques += nonlinear_part(model, motion)
    return torques, doubt


def nonlinear_part(model: Model, motion: Motion) -> FloatArray:
    """Torques of the parameters beside the base ones, (samples, coordinates); zero when there are none."""
    if model.further is None:
        return np.zeros(motion.q.shape)
    return nonlinear_torques(model.robot, model.further.terms, model.further.values, motion)


def blocks(compiled: RobotKernels, motion: Motion) -> Iterator[tuple[slice, FloatArray]]:
    """Rows of a motion with their regressor (coordinates, columns, samples), a few thousand at a time."""
    for first in range(0, motion.samples, BLOCK):
        rows = slice(first, min(first + BLOCK, motion.samples))
        yield rows, compiled.regressor_blocks(motion.q[rows], motion.qd[rows], motion.qdd[rows])


def square_root(covariance: FloatArray) -> FloatArray:
    """S with SᵀS = C for a covariance that may be singular: removed parameters have zero rows."""
    symmetric = (covariance + covariance.T) / 2
    sizes, vectors = np.linalg.eigh(symmetric)
    root: FloatArray = np.sqrt(np.maximum(sizes, 0.0))[:, None] * vectors.T
    return root


def check_width(robot: Robot, motion: Motion) -> None:
    """Refuse a motion of another number of coordinates, with a sentence."""
    if motion.q.shape[1] != robot.n_coordinates:
        raise ShapeError(
            f"Motion {motion.name!r} has {motion.q.shape[1]} coordinates, but robot {robot.name!r} has "
            f"{robot.n_coordinates}; validate with logs of the same robot.",
            name="motion",
            value=motion.q.shape[1],
            allowed=str(robot.n_coordinates),
        )
