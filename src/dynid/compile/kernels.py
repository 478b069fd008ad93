"""The kernels of a robot as functions of arrays (samples, joints)."""

from __future__ import annotations

import operator
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import ArrayLike

from dynid.compile.batch import BatchKernel, compile_batch
from dynid.compile.csource import c_source
from dynid.compile.trace import describe
from dynid.core.arrays import FloatArray
from dynid.core.errors import ShapeError
from dynid.core.kinds import require_kinds
from dynid.model.robot import Robot


@dataclass(frozen=True)
class RobotKernels:
    """All compiled kernels of one robot; each is compiled when first used and kept on disk.

    Arrays of q, q̇, q̈ and τ are (samples, coordinates), SI, joint side.

    Args:
        robot: the robot.
        columns: standard parameters (indices into ``robot.table``) of the regressors; all when None.
        backend: "auto", "llvm" or "casadi".
        threads: how many share the samples of a call.
    """

    robot: Robot
    columns: tuple[int, ...] | None = None
    backend: str = "auto"
    threads: int = 1

    @property
    def n_columns(self) -> int:
        """Width of the regressors."""
        return len(self.robot.table) if self.columns is None else len(self.columns)

    def __reduce__(self) -> tuple[type[RobotKernels], tuple[object, ...]]:
        """Pickled without machine code, which another process finds in the cache."""
        return RobotKernels, (self.robot, self.columns, self.backend, self.threads)

    @cached_property
    def _compiled_by_name(self) -> dict[str, BatchKernel]:
        return {}

    def kernel(self, name: str) -> BatchKernel:
        """The compiled kernel of a name in ``dynid.compile.trace.KERNELS``."""
        if name not in self._compiled_by_name:
            columns = self.columns if "regressor" in name else None
            self._compiled_by_name[name] = compile_batch(describe(self.robot, name, columns), self.backend)
        return self._compiled_by_name[name]

    def regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> FloatArray:
        """W of τ = W χ: (samples, coordinates, columns), a view of ``regressor_blocks``."""
        return self.regressor_blocks(q, qd, qdd).transpose(2, 0, 1)

    def regressor_blocks(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, out: FloatArray | None = None
    ) -> FloatArray:
        """W grouped by joint: (coordinates, columns, samples).

        Block j is the observation matrix of joint j in column-major order, ready for LAPACK; columns that
        are zero by structure are never written.

        Args:
            q: positions.
            qd: speeds.
            qdd: accelerations.
            out: zeroed array to write into, (coordinates·columns, samples); the result is a view of it.
        """
        raw = self.kernel("regressor")(q, qd, qdd, out=out, threads=self.threads)
        return _blocks_of_joints(raw, self.robot.n_coordinates, self.n_columns)

    def regressor_adjoint(
        self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike, seed: ArrayLike
    ) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Reverse mode: dJ/dq, dJ/dq̇, dJ/dq̈ (samples, coordinates) from dJ/dW.

        Args:
            q: positions.
            qd: speeds.
            qdd: accelerations.
            seed: dJ/dW in the layout of ``regressor_blocks``.
        """
        bar = np.asarray(seed, dtype=float)
        n, p = self.robot.n_coordinates, self.n_columns
        if bar.ndim != 3 or bar.shape[:2] != (n, p):
            raise ShapeError(
                f"The seed has shape {bar.shape}; expected ({n}, {p}, samples) as regressor_blocks gives."
            )
        raw = self.kernel("regressor_adjoint")(q, qd, qdd, bar.reshape(n * p, -1), threads=self.threads)
        dq, dqd, dqdd = (np.ascontiguousarray(raw[k * n : (k + 1) * n].T) for k in range(3))
        return dq, dqd, dqdd

    def inverse(
        self, parameters: ArrayLike | Mapping[str, float], q: ArrayLike, qd: ArrayLike, qdd: ArrayLike
    ) -> FloatArray:
        """Torques τ (samples, coordinates)."""
        return self._rows("inverse", q, qd, qdd, self.vector(parameters))

    def bias(self, parameters: ArrayLike | Mapping[str, float], q: ArrayLike, qd: ArrayLike) -> FloatArray:
        """Torques at zero acceleration (samples, coordinates)."""
        return self._rows("bias", q, qd, self.vector(parameters))

    def gravity(self, parameters: ArrayLike | Mapping[str, float], q: ArrayLike) -> FloatArray:
        """Torques of gravity alone (samples, coordinates)."""
        return self._rows("gravity", q, self.vector(parameters))

    def direct(
        self, parameters: ArrayLike | Mapping[str, float], q: ArrayLike, qd: ArrayLike, tau: ArrayLike
    ) -> FloatArray:
        """Accelerations q̈ (samples, coordinates)."""
        return self._rows("direct", q, qd, tau, self.vector(parameters))

    def inertia_matrix(self, parameters: ArrayLike | Mapping[str, float], q: ArrayLike) -> FloatArray:
        """M(q) (samples, coordinates, coordinates)."""
        n = self.robot.n_coordinates
        return self._rows("inertia_matrix", q, self.vector(parameters)).reshape(-1, n, n)

    def energy(
        self, parameters: ArrayLike | Mapping[str, float], q: ArrayLike, qd: ArrayLike
    ) -> tuple[FloatArray, FloatArray]:
        """Kinetic and potential energy (samples,) [J]."""
        both = self._rows("energy", q, qd, self.vector(parameters))
        return both[:, 0].copy(), both[:, 1].copy()

    def energy_regressor(self, q: ArrayLike, qd: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Rows of kinetic and potential energy, each (samples, columns)."""
        both = self._rows("energy_regressor", q, qd)
        return both[:, : self.n_columns], both[:, self.n_columns :]

    def power_regressor(self, q: ArrayLike, qd: ArrayLike, qdd: ArrayLike) -> FloatArray:
        """q̇ᵀ W (samples, columns)."""
        return self._rows("power_regressor", q, qd, qdd)

    def forward_kinematics(self, q: ArrayLike) -> tuple[FloatArray, FloatArray]:
        """Positions (samples, links, 3) and rotations (samples, links, 3, 3) of the link frames."""
        frames = self._rows("forward_kinematics", q).reshape(-1, len(self.robot.joints), 12)
        return frames[:, :, :3], frames[:, :, 3:].reshape(*frames.shape[:2], 3, 3)

    def forward_kinematics_adjoint(
        self, q: ArrayLike, seed_positions: ArrayLike, seed_rotations: ArrayLike
    ) -> FloatArray:
        """Reverse mode: dJ/dq (samples, coordinates) from dJ/d(frames).

        Args:
            q: positions.
            seed_positions: dJ/d(positions of the frames), (samples, links, 3).
            seed_rotations: dJ/d(entries of their rotations), (samples, links, 3, 3).
        """
        p, R = np.asarray(seed_positions, dtype=float), np.asarray(seed_rotations, dtype=float)
        links = len(self.robot.joints)
        if p.ndim != 3 or p.shape[1:] != (links, 3) or R.shape != (*p.shape, 3):
            raise ShapeError(
                f"The seeds have shapes {p.shape} and {R.shape}; expected (samples, {links}, 3) and "
                f"(samples, {links}, 3, 3) as forward_kinematics gives."
            )
        seed = np.concatenate([p, R.reshape(*p.shape[:2], 9)], axis=2).reshape(len(p), -1).T
        return self._rows("forward_kinematics_adjoint", q, np.ascontiguousarray(seed))

    def c_source(self, kernel: str, name: str | None = None) -> str:
        """C99 source of a kernel for one sample."""
        columns = self.columns if "regressor" in kernel else None
        return c_source(describe(self.robot, kernel, columns).program(), name)

    def vector(self, parameters: ArrayLike | Mapping[str, float]) -> FloatArray:
        """Parameters as a vector in table order, from values by name or from a vector."""
        if isinstance(parameters, Mapping):
            return self.robot.table.vector(parameters)
        return np.asarray(parameters, dtype=float)

    def _rows(self, name: str, *inputs: ArrayLike) -> FloatArray:
        return np.ascontiguousarray(self.kernel(name)(*inputs, threads=self.threads).T)


def _blocks_of_joints(raw: FloatArray, joints: int, columns: int) -> FloatArray:
    """(joints·columns, samples) with padded rows, as (joints, columns, samples), without a copy."""
    samples, row, item = raw.shape[1], raw.strides[0], raw.strides[1]
    return np.lib.stride_tricks.as_strided(raw, (joints, columns, samples), (row * columns, row, item))


def kernels(
    robot: Robot, columns: Sequence[int | str] | None = None, *, backend: str = "auto", threads: int = 1
) -> RobotKernels:
    """The compiled kernels of a robot.

    Args:
        robot: the robot.
        columns: standard parameters wanted in the regressors, by index or name (base columns); all when None.
        backend: "auto", "llvm" or "casadi".
        threads: how many share the samples of a call.
    """
    require_kinds(kernels, locals())
    chosen = None
    if columns is not None:
        chosen = tuple(robot.table.index(c) if isinstance(c, str) else operator.index(c) for c in columns)
    return _loaded_kernels(robot, chosen, backend, threads, os.environ.get("DYNID_BACKEND"))


@lru_cache(maxsize=32)
def _loaded_kernels(
    robot: Robot, columns: tuple[int, ...] | None, backend: str, threads: int, _: str | None
) -> RobotKernels:
    """One set of loaded kernels per robot and choice, so that repeated calls do not load them again."""
    return RobotKernels(robot, columns, backend, threads)
