"""Rows of the regression along motions: of joints or of motors, with columns where they live."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid.base.base_map import BaseMap
from dynid.compile.kernels import RobotKernels, kernels
from dynid.core.arrays import FloatArray
from dynid.core.errors import ModelError
from dynid.logs.spool import by_rows
from dynid.model.drives import HOW_TO_GIVE
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion


@dataclass(frozen=True, eq=False)
class RowSource:
    """W of the base parameters along motions.

    The columns of parameters that do not live in a motion's condition are zero. With ``mixing`` A = R⁻ᵀ the
    rows are those of the motors, A W χ = diag(gain) u, in which every drive gain stands alone (P2 eq 26 on a
    coupled wrist).

    Args:
        robot: the robot; its signs may be smooth where those of the base's robot jump.
        base: base parameters.
        mixing: A, one row per motor, one column per coordinate; rows of the coordinates when None.
        threads: how many share the samples of a regressor call.
    """

    robot: Robot
    base: BaseMap
    mixing: FloatArray | None = None
    threads: int = 1

    @cached_property
    def kernels(self) -> RobotKernels:
        """The compiled regressor of the base columns."""
        return kernels(self.robot, self.base.columns, threads=self.threads)

    @cached_property
    def columns(self) -> tuple[tuple[int, ...], ...]:
        """Per row of a sample, the base parameters whose columns are not zero by structure."""
        own = structure(self.kernels)
        if self.mixing is None:
            return own
        return tuple(
            tuple(sorted(set[int]().union(*(own[j] for j in np.flatnonzero(row))))) for row in self.mixing
        )

    def along(self, motion: Motion, rows: slice, out: FloatArray | None = None) -> FloatArray:
        """W at some samples of a motion, (rows of a sample, base, samples).

        Args:
            motion: prepared motion.
            rows: the samples.
            out: zeroed array to write into, (coordinates·base, samples); made when None.
        """
        W = self.kernels.regressor_blocks(motion.q[rows], motion.qd[rows], motion.qdd[rows], out=out)
        absent = self.absent(motion)
        if self.mixing is not None:
            W = np.einsum("mj,jcs->mcs", self.mixing, W)
        if absent.size:
            W[:, absent] = 0.0
        return W

    def absent(self, motion: Motion) -> NDArray[np.intp]:
        """Base parameters that do not live in the motion's condition."""
        if not self.robot.conditions and not motion.condition:
            return np.empty(0, dtype=np.intp)
        living = np.array(self.robot.lives_in(motion.condition))
        return np.flatnonzero(~living[list(self.base.columns)])

    def torques(self, motion: Motion) -> Motion:
        """The motion with the torques of the rows: those of the joints, or of the motors before the gears."""
        if self.mixing is None:
            return motion
        A = self.mixing
        at_rest = None if motion.at_rest is None else self.any_joint(motion.at_rest.T).T
        return replace(motion, tau=by_rows(lambda tau: tau @ A.T, motion.tau), at_rest=at_rest)

    def any_joint(self, flags: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Flags of rows, set where any joint's is, from those of the coordinates, (coordinates, samples)."""
        if self.mixing is None:
            return flags
        return np.stack([flags[np.flatnonzero(row)].any(axis=0) for row in self.mixing])


def motor_mixing(robot: Robot) -> FloatArray:
    """A = R⁻ᵀ: torques of the motors before the gears from those of the joints, A τ = diag(gain) u."""
    if robot.drives is None:
        raise ModelError(f"Robot {robot.name!r} has no drives, so it has no rows of motors; {HOW_TO_GIVE}.")
    A = np.asarray(np.linalg.inv(robot.drives.matrix).T, dtype=float)
    # Rounding of the inverse would couple motors that turn with one joint each.
    A[np.abs(A) < np.finfo(float).eps * np.abs(A).max() * len(A)] = 0.0
    return A


def structure(compiled: RobotKernels) -> tuple[tuple[int, ...], ...]:
    """Per joint, the regressor columns that are not zero by structure."""
    width = compiled.n_columns
    found: list[list[int]] = [[] for _ in range(compiled.robot.n_coordinates)]
    for row in compiled.kernel("regressor").rows:
        found[row // width].append(row % width)
    return tuple(tuple(columns) for columns in found)
