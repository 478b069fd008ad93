"""The load that a joint carries: the torque of the links' inertia and weight, without friction."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from dynid.base.base_map import BaseMap
from dynid.compile.kernels import kernels
from dynid.estimators.terms import NonlinearTerm
from dynid.preparation.motion import Motion

FloatArray = NDArray[np.float64]
_BLOCK = 5000
"""Samples whose regressor is held at once."""


def needs_load(terms: Iterable[NonlinearTerm]) -> bool:
    """Whether a formula holds the load."""
    return any("load" in term.signals for term in terms)


def inertial_columns(base: BaseMap) -> NDArray[np.bool_]:
    """Base parameters of the links; what is regrouped into them, as Ia1 into ZZ1R, counts with them."""
    entries = base.robot.table.entries
    return np.array([entries[column].family == "inertial" for column in base.columns], dtype=bool)


def load_torques(base: BaseMap, values: FloatArray, motion: Motion) -> FloatArray:
    """W_inertial χ along a motion, (samples, coordinates) [N m or N].

    Args:
        base: base parameters of the robot.
        values: their values, (base,).
        motion: any motion.
    """
    own = np.where(inertial_columns(base), values, 0.0)
    load = np.empty(motion.q.shape)
    for rows, W in regressors(base, motion):
        load[rows] = np.einsum("jcs,c->sj", W, own)
    return load


def load_columns(base: BaseMap, motion: Motion, joint: int) -> FloatArray:
    """Derivatives of one joint's load by the base parameters, (base, samples)."""
    columns = np.empty((len(base.columns), motion.samples))
    for rows, W in regressors(base, motion):
        columns[:, rows] = W[joint]
    columns[~inertial_columns(base)] = 0.0
    return columns


def regressors(base: BaseMap, motion: Motion) -> Iterator[tuple[slice, FloatArray]]:
    """The regressor of successive samples of a motion, (coordinates, base, samples)."""
    compiled = kernels(base.robot, columns=base.columns)
    for start in range(0, motion.samples, _BLOCK):
        rows = slice(start, min(start + _BLOCK, motion.samples))
        yield rows, compiled.regressor_blocks(motion.q[rows], motion.qd[rows], motion.qdd[rows])
