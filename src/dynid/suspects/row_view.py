"""The rows of a regression as suspects see them before they are ranked: cheap products with ρ and W.

Some suspects have a constant that is not a size: the moment of a step, the level of a saturation, the period
of a ripple. Many values are tried at the rows' own instants, and the best one becomes a suspect.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray, pinv
from dynid.estimators.fit import Fit
from dynid.estimators.uncertainty import white_rows
from dynid.problem.problem import Problem
from dynid.suspects.scene import Scene

_RANK = 1e-6
"""Eigenvalue over the largest of scaled columns, W taken out, below which a direction is rounding; what lies
in the span of W is judged later, by ``RankingRules.in_span``."""

WORTH_A_LOOK = 0.002
"""Part of ρᵀρ that a suspect must explain at the rows' own instants before its column is made: less is never
ranked."""


@dataclass(frozen=True, eq=False)
class JointView:
    """Weighted rows of one joint.

    Args:
        experiment: number of each row's experiment, (rows,).
        at: number of each row's sample in its thinned motion, (rows,).
        part: time that has passed in its experiment, 0 … 1, (rows,).
        weight: of the rows.
        Q: orthonormal basis of the weighted W over all joints: its rows of this joint, (rows, rank).
        residual: ρ, (rows,).
    """

    experiment: NDArray[np.int64]
    at: NDArray[np.int64]
    part: FloatArray
    weight: float
    Q: FloatArray
    residual: FloatArray


@dataclass(frozen=True, eq=False)
class Products:
    """What columns have with one another, with W and with ρ, per bin of the rows.

    Args:
        gram: (bins, k, k).
        inside: Qᵀ S, (bins, rank, k).
        pull: Sᵀ ρ, (bins, k).
    """

    gram: FloatArray
    inside: FloatArray
    pull: FloatArray

    def gains(self, courses: FloatArray) -> FloatArray:
        """Squares of ρ that the columns, times each course over the bins, explain together, (courses,).

        Args:
            courses: value in each bin, (courses, bins).
        """
        inside = np.tensordot(courses, self.inside, axes=1)
        left = np.tensordot(courses**2, self.gram, axes=1) - inside.transpose(0, 2, 1) @ inside
        pull = courses @ self.pull
        scale = np.sqrt(np.maximum(np.einsum("cii->ci", left), 1e-300))
        left = left / (scale[:, :, None] * scale[:, None, :])
        solved = pinv(left, rcond=_RANK) @ (pull / scale)[:, :, None]
        return np.asarray(np.sum(solved[:, :, 0] * pull / scale, axis=1))


@dataclass(frozen=True, eq=False)
class RowView:
    """All rows.

    Args:
        scenes: of the experiments.
        names: of the logs, with their number where several are called the same.
        joints: their rows.
    """

    scenes: tuple[Scene, ...]
    names: tuple[str, ...]
    joints: tuple[JointView, ...]

    @property
    def squares(self) -> float:
        """ρᵀρ."""
        return float(sum(joint.residual @ joint.residual for joint in self.joints))

    @property
    def joints_with_rows(self) -> tuple[int, ...]:
        """Joints that have rows: a mask or a torque that never changes may leave a joint none."""
        return tuple(j for j, joint in enumerate(self.joints) if len(joint.residual))

    def signal(self, joint: int, of: Callable[[Scene], FloatArray]) -> FloatArray:
        """A signal of the scenes (samples, …) at the rows of a joint."""
        rows, parts = self.joints[joint], list[FloatArray]()
        for k, scene in enumerate(self.scenes):
            parts.append(of(scene)[np.minimum(rows.at[rows.experiment == k], len(scene.q) - 1)])
        return np.concatenate(parts)

    def gains(self, joint: int, shapes: FloatArray) -> FloatArray:
        """Squares of ρ that shapes on one joint explain, each alone, (shapes,).

        Args:
            joint: which.
            shapes: (shapes, k, rows): columns of a shape explain together.
        """
        own = self.joints[joint]
        weighted = own.weight * shapes
        turned = weighted.transpose(0, 2, 1)
        made = Products(weighted @ turned, own.Q.T @ turned, weighted @ own.residual)
        return made.gains(np.eye(len(shapes)))

    def products(
        self, columns: Sequence[FloatArray | None], bins: Sequence[NDArray[np.int64]], count: int
    ) -> Products:
        """Products of some columns over all joints, by bin.

        Args:
            columns: per joint (rows, k); None where they are zero.
            bins: per joint, number of the bin of each row, ascending.
            count: of bins.
        """
        width = next(c.shape[1] for c in columns if c is not None)
        made = Products(
            np.zeros((count, width, width)),
            np.zeros((count, self.joints[0].Q.shape[1], width)),
            np.zeros((count, width)),
        )
        for rows, column, bin_of in zip(self.joints, columns, bins, strict=True):
            if column is None or not len(bin_of):
                continue
            edges = np.searchsorted(bin_of, np.arange(count + 1))
            # Rows of each bin, filled up to the most: few products of many small matrices.
            at = edges[:-1, None] + np.arange(np.max(np.diff(edges)))
            own, at = at < edges[1:, None], np.minimum(at, len(bin_of) - 1)
            S = np.where(own[:, :, None], rows.weight * column[at], 0.0)
            turned = S.transpose(0, 2, 1)
            made.gram[...] += turned @ S
            made.inside[...] += rows.Q[at].transpose(0, 2, 1) @ S
            made.pull[...] += (turned @ rows.residual[at][:, :, None])[:, :, 0]
        return made


def view_rows(problem: Problem, fit: Fit, scenes: tuple[Scene, ...]) -> RowView:
    """The view of a problem with rows.

    Args:
        problem: the problem.
        fit: weighted least squares of it, with its added terms.
        scenes: its motions with the torques of that fit.
    """
    step = np.array([s.decimation for s in scenes])
    samples = np.array([e.regression_samples for e in problem.experiments])
    first = [
        round((e.start_s - float(s.motion.time[0])) * s.motion.rate_hz)
        for e, s in zip(problem.experiments, scenes, strict=True)
    ]
    joints = []
    for j, w in enumerate(fit.weights):
        rows = white_rows(problem, fit, j)
        k = rows.experiment
        at = np.array(first)[k] + rows.sample * step[k]
        part = rows.sample / np.maximum(samples[k] - 1, 1)
        joints.append(JointView(k, at, part, float(w), w * rows.X, w * rows.residual))
    names = {scene.log: e.name for e, scene in zip(problem.experiments, scenes, strict=True)}
    told = [f"{n} ({k + 1})" if [*names.values()].count(n) > 1 else n for k, n in enumerate(names.values())]
    return RowView(scenes, tuple(told), tuple(joints))
