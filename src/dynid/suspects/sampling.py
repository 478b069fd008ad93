"""Some samples of all logs, on which a robot is fitted without compiling it: for questions that change it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dynid.core.arrays import BoolArray, FloatArray, svd
from dynid.dynamics.algebra import Scalar
from dynid.dynamics.operations import NUMERIC
from dynid.dynamics.regressor import regressor
from dynid.model.robot import Robot
from dynid.problem.problem import Problem


@dataclass(frozen=True)
class SamplingRules:
    """How samples are taken and fitted.

    Args:
        samples: of all logs together.
        least: torques are not taken to be known better than this share of their spread.
        rank: singular value over the largest, columns at unit length, below which a direction is not used.
        visible: length of a column over the longest below which it is none: another gravity makes columns
            appear, and rounding must not.
    """

    samples: int = 400
    least: float = 0.01
    rank: float = 1e-7
    visible: float = 1e-6


RULES = SamplingRules()


@dataclass(frozen=True, eq=False)
class Sampling:
    """Some samples of all logs, (samples, coordinates) each, under some gravity [m/s²].

    ``living`` says which parameters live in each sample's condition, (samples, parameters).
    """

    robot: Robot
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    tau: FloatArray
    gravity: tuple[float, ...]
    living: BoolArray

    @cached_property
    def columns(self) -> FloatArray:
        """Torques per unit of every standard parameter, (coordinates, samples, parameters)."""
        every = range(len(self.robot.table))
        return _columns(self.robot, self.q, list(self.qd.T), list(self.qdd.T), every) * self.living

    @cached_property
    def gravity_parameters(self) -> list[int]:
        """Numbers of the parameters that gravity pulls at."""
        return [k for k, entry in enumerate(self.robot.table) if entry.symbol in ("M", "MX", "MY", "MZ")]

    @cached_property
    def gravity_columns(self) -> FloatArray:
        """What gravity has of their columns, per m/s² along each axis, (3, coordinates, samples, those)."""
        still = [0.0] * self.q.shape[1]
        ways = [self.robot.with_gravity(*axis) for axis in np.eye(3).tolist()]
        living = self.living[:, self.gravity_parameters]
        made = [_columns(robot, self.q, still, still, self.gravity_parameters) for robot in ways]
        return np.stack(made) * living

    def few_samples(self, step: int) -> Sampling:
        """Every so many of the samples; weights are not theirs."""
        q, qd, qdd, tau = (x[::step] for x in (self.q, self.qd, self.qdd, self.tau))
        made = Sampling(self.robot, q, qd, qdd, tau, self.gravity, self.living[::step])
        made.__dict__.update(
            columns=self.columns[:, ::step], gravity_columns=self.gravity_columns[:, :, ::step]
        )
        return made

    def with_gravity(self, direction: FloatArray) -> Sampling:
        """Another gravity [m/s²]; columns are linear in it, so that the physics is not evaluated again."""
        made = replace(self, gravity=tuple(direction.tolist()))
        columns, change = self.columns.copy(), direction - np.array(self.gravity)
        columns[:, :, self.gravity_parameters] += np.tensordot(change, self.gravity_columns, axes=1)
        made.__dict__.update(columns=columns, gravity_columns=self.gravity_columns)
        return made

    def with_scale(self, joints: Sequence[int], scale: float) -> Sampling:
        """Positions, speeds and accelerations of some joints times a factor."""
        by = np.ones(self.q.shape[1])
        by[list(joints)] = scale
        return replace(self, q=self.q * by, qd=self.qd * by, qdd=self.qdd * by)

    def with_order(self, order: Sequence[int], states: bool = False) -> Sampling:
        """Torques, or positions, in another order of the axes."""
        chosen = list(order)
        if not states:
            return replace(self, tau=self.tau[:, chosen])
        return replace(self, q=self.q[:, chosen], qd=self.qd[:, chosen], qdd=self.qdd[:, chosen])

    @cached_property
    def weights(self) -> tuple[FloatArray, float]:
        """One over what each joint leaves alone, (coordinates,), and its share of the torque as a median."""
        spread = np.std(self.tau, axis=0)
        floor = np.maximum(self.left_alone(), RULES.least * spread)
        shares = np.divide(floor, spread, out=np.zeros_like(floor), where=spread > 0)
        return np.where(spread > 0, 1.0 / np.where(floor > 0, floor, 1.0), 0.0), float(np.median(shares))

    def left_alone(self) -> FloatArray:
        """RMS of what each joint leaves when it alone chooses all parameters, (coordinates,)."""
        pairs = zip(self.columns, self.tau.T, strict=True)
        return np.asarray([solve(W, y)[1] / np.sqrt(len(self.q)) for W, y in pairs])

    @cached_property
    def agreement_as_recorded(self) -> tuple[float, int]:
        """``agreement`` with the weights of these samples."""
        return self.agreement(self.weights[0])

    @property
    def _rubs(self) -> BoolArray:
        """Which parameters are friction that takes power, (parameters,)."""
        return np.array([entry.family == "friction" and entry.symbol != "off" for entry in self.robot.table])

    def friction_squares(self, weights: FloatArray) -> float:
        """Squares that friction explains beside all else, in those that a joint leaves alone."""
        W, y = self.weighted_rows(weights)
        return solve(W[:, ~self._rubs], y)[1] ** 2 - solve(W, y)[1] ** 2

    def weighted_rows(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weighted columns and torques of all joints, one below the other."""
        stack = (self.columns * weights[:, None, None]).reshape(-1, self.columns.shape[2])
        return stack, (self.tau * weights).T.reshape(-1)

    def agreement(self, weights: FloatArray) -> tuple[float, int]:
        """RMS of what all joints together leave, and the number of joints that friction would drive.

        Args:
            weights: one over what each joint leaves alone, (coordinates,).
        """
        values, left = solve(*self.weighted_rows(weights))
        rubs = self._rubs
        power = np.einsum("sj,jsk,k->j", self.qd, self.columns[:, :, rubs], values[rubs])
        return left / float(np.sqrt(self.tau.size)), int(np.count_nonzero(power < 0))


def _columns(
    robot: Robot, q: FloatArray, qd: Sequence[Scalar], qdd: Sequence[Scalar], wanted: Sequence[int]
) -> FloatArray:
    """Torques per unit of some standard parameters, (coordinates, samples, wanted)."""
    made = np.zeros((q.shape[1], len(q), len(wanted)))
    for k, column in enumerate(regressor(robot, list(q.T), qd, qdd, NUMERIC, wanted)):
        for j, torque in enumerate(column):
            made[j, :, k] = np.asarray(torque, dtype=float)
    return made


def sampling_of(problem: Problem) -> Sampling:
    """Even samples of all motions."""
    assert problem.motions is not None
    step = max(1, sum(motion.samples for motion in problem.motions) // RULES.samples)
    parts = [[np.asarray(x[step // 2 :: step]) for x in (m.q, m.qd, m.qdd, m.tau)] for m in problem.motions]
    q, qd, qdd, tau = (np.concatenate(column) for column in zip(*parts, strict=True))
    own = [np.array(problem.robot.lives_in(motion.condition)) for motion in problem.motions]
    living = np.repeat(own, [len(part[0]) for part in parts], axis=0)
    return Sampling(problem.robot, q, qd, qdd, tau, problem.robot.gravity, living)


def solve(W: FloatArray, y: FloatArray) -> tuple[FloatArray, float]:
    """Parameters of least norm at unit columns, and the norm of what the columns do not explain."""
    sizes, values = np.linalg.norm(W, axis=0), np.zeros(W.shape[1])
    used = sizes > RULES.visible * sizes.max(initial=0.0)
    if not np.any(used):
        return values, float(np.linalg.norm(y))
    R = np.asarray(np.linalg.qr(np.column_stack([W[:, used] / sizes[used], y]), mode="r"))
    U, s, Vt = svd(R[:, :-1], full_matrices=False)
    kept = s > RULES.rank * s[0]
    seen = U[:, kept].T @ R[:, -1]
    values[used] = (Vt[kept].T @ (seen / s[kept])) / sizes[used]
    return values, float(np.linalg.norm(R[:, -1] - U[:, kept] @ seen))


def column_basis(W: FloatArray) -> FloatArray:
    """An orthonormal basis of columns, those below rounding left out."""
    sizes = np.linalg.norm(W, axis=0)
    used = sizes > RULES.visible * sizes.max(initial=0.0)
    U, s, _ = svd(W[:, used] / sizes[used], full_matrices=False)
    return np.asarray(U[:, s > RULES.rank * s.max(initial=0.0)])
