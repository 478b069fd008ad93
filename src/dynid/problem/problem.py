"""The problem: τ = W χ over the rows of all experiments, ready for any estimator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from dynid.base.base_map import BaseMap
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, ShapeError
from dynid.logs.log import Source, Step
from dynid.model.robot import Robot
from dynid.preparation.motion import CONSTANT_TORQUE, Motion
from dynid.preparation.preparation import Preparation
from dynid.problem.factor import Spectrum, spectrum, triangular
from dynid.problem.regression import JointRows, Regression


@dataclass(frozen=True)
class Experiment:
    """One motion as the regression saw it.

    Args:
        name: name of the motion.
        samples: its samples at full rate.
        rate_hz: its full rate.
        regression_samples: samples after decimation, before any mask.
        start_s: time of the first regression sample [s].
        step_s: time between regression samples [s].
        rows: rows used, per joint.
        sources: files it came from.
        history: what was done to the log.
    """

    name: str
    samples: int
    rate_hz: float
    regression_samples: int
    start_s: float
    step_s: float
    rows: tuple[int, ...]
    sources: tuple[Source, ...] = ()
    history: tuple[Step, ...] = ()


@dataclass(frozen=True)
class Conditions:
    """Condition numbers of the observation matrix.

    Args:
        plain: W as it is.
        scaled: W with all columns at unit length: what the motion itself is worth.
        weighted: rows weighted, columns as they are.
        weighted_scaled: rows weighted, columns at unit length: what an estimator has to invert.
    """

    plain: float
    scaled: float
    weighted: float
    weighted_scaled: float


@dataclass(frozen=True, eq=False, repr=False)
class Problem:
    """Everything an estimator needs; built by ``build_problem``.

    Args:
        robot: the robot.
        base: its base parameters; columns of W are in this order.
        plan: decimation, masks and convention used.
        experiments: what was read.
        regression: factors per joint, experiment and stretch of time; rows where they fit.
        motions: the motions at full rate, for terms that are not linear; None when they did not fit.
    """

    robot: Robot
    base: BaseMap
    plan: Preparation
    experiments: tuple[Experiment, ...]
    regression: Regression
    motions: tuple[Motion, ...] | None = None

    def __repr__(self) -> str:
        """Robot, size and experiments."""
        names = ", ".join(experiment.name for experiment in self.experiments[:5])
        more = f" and {len(self.experiments) - 5} more" if len(self.experiments) > 5 else ""
        rows = int(self.row_counts.sum())
        return f"Problem of {self.robot.name!r}: {len(self.base)} parameters, {rows} rows of {names}{more}"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the base parameters."""
        return self.base.names

    @property
    def units(self) -> tuple[str, ...]:
        """SI units of the base parameters."""
        return self.base.units

    @property
    def row_counts(self) -> NDArray[np.int64]:
        """Rows of each joint, (coordinates,)."""
        return np.array([factor.rows for factor in self.regression.joints], dtype=np.int64)

    @property
    def has_rows(self) -> bool:
        """Whether the rows themselves were kept, as residuals over time need them."""
        return self.regression.pieces is not None

    def rows(self, joint: int) -> JointRows:
        """Rows of a joint over all experiments.

        Raises:
            DynidError: when they did not fit the budget.
        """
        found = self.regression.rows(joint)
        if found is None:
            total = int(self.row_counts.sum())
            raise DynidError(
                f"The {total} rows of this regression did not fit the memory budget, so only their factor "
                "was kept; use a larger decimation, fewer experiments or a larger budget_bytes in "
                "build_problem, or what needs no rows: OLS, WLS, TLS and Ridge with honest, classical or "
                "bootstrap uncertainty."
            )
        return found

    def time(self, rows: JointRows) -> FloatArray:
        """Time of each row within its experiment [s]."""
        start = np.array([e.start_s for e in self.experiments])
        step = np.array([e.step_s for e in self.experiments])
        return np.asarray(start[rows.experiment] + rows.sample * step[rows.experiment], dtype=float)

    def stacked_factor(self, weights: ArrayLike | None = None) -> FloatArray:
        """R of [W y] over all joints, each joint's rows multiplied by its weight.

        Args:
            weights: one per coordinate, 1/σ_j [1/(N m) or 1/N]; ones when None.

        Returns:
            (base + 1, base + 1), upper triangular.
        """
        factors = self.regression.joints
        w = np.ones(len(factors)) if weights is None else np.asarray(weights, dtype=float)
        if w.shape != (len(factors),):
            raise ShapeError(f"weights have shape {w.shape}; expected ({len(factors)},), one per coordinate.")
        width = len(self.base)
        stack = np.vstack([w_j * factor.wide(width) for w_j, factor in zip(w, factors, strict=True)])
        return triangular(stack)

    @cached_property
    def joint_spectra(self) -> tuple[Spectrum, ...]:
        """Least squares on the rows of each joint alone; columns are those of its factor."""
        return tuple(spectrum(factor.R) for factor in self.regression.joints)

    def spectrum(self, weights: ArrayLike | None = None, kept: NDArray[np.bool_] | None = None) -> Spectrum:
        """Least squares over all joints: singular values of the weighted W, found once for equal arguments.

        Args:
            weights: as in ``stacked_factor``.
            kept: which base parameters, (base,); all when None.
        """
        w = np.ones(len(self.regression.joints)) if weights is None else np.asarray(weights, dtype=float)
        chosen = np.ones(len(self.base), dtype=bool) if kept is None else kept
        key = (w.tobytes(), chosen.tobytes())
        if key not in self._spectra:
            self._spectra[key] = spectrum(self.stacked_factor(w)[:, np.append(chosen, True)])
        return self._spectra[key]

    @cached_property
    def _spectra(self) -> dict[tuple[bytes, bytes], Spectrum]:
        return {}

    def conditions(
        self, weights: ArrayLike | None = None, kept: NDArray[np.bool_] | None = None
    ) -> Conditions:
        """Condition numbers of W, plain, column-scaled and weighted."""
        bare, weighted = self.spectrum(None, kept), self.spectrum(weights, kept)
        return Conditions(bare.plain_condition, bare.condition, weighted.plain_condition, weighted.condition)

    def residual_norms(self, values: FloatArray) -> FloatArray:
        """‖y_j − W_j χ‖ of each joint [N m or N], (coordinates,)."""
        return np.array([np.linalg.norm(f.residual(values)) for f in self.regression.joints])

    def torque_norms(self) -> FloatArray:
        """‖y_j‖ of each joint [N m or N], (coordinates,)."""
        return np.array([factor.torque_norm for factor in self.regression.joints])

    @cached_property
    def undriven(self) -> NDArray[np.bool_]:
        """Joints that no motor moves: passive ones, and those whose torque is zero in every row."""
        passive = np.logical_not(self.robot.driven)
        silent = (self.torque_norms() == 0.0) & (self.row_counts > 0)
        return np.asarray(passive | silent, dtype=bool)

    @cached_property
    def silent(self) -> NDArray[np.bool_]:
        """Joints without a row, because their torques never change in any experiment."""
        histories = [experiment.history for experiment in self.experiments]
        constant = [
            {axis for step in steps if step.name == CONSTANT_TORQUE for axis in step.options["axes"]}
            for steps in histories
        ]
        return np.array([all(j + 1 in axes for axes in constant) for j in range(len(self.row_counts))])

    def subset(self, chosen: Sequence[int]) -> Problem:
        """The problem of some of the experiments, as for k-fold validation."""
        numbers = [int(k) for k in chosen]
        if not numbers or not all(0 <= k < len(self.experiments) for k in numbers):
            raise DynidError(
                f"Experiments {numbers} were asked for; give some of 0 … {len(self.experiments) - 1}."
            )
        return replace(
            self,
            experiments=tuple(self.experiments[k] for k in numbers),
            regression=self.regression.subset(numbers),
            motions=None if self.motions is None else tuple(self.motions[k] for k in numbers),
        )

    def experiment_problem(self, k: int) -> Problem:
        """The problem of one experiment alone."""
        return self.subset((k,))
