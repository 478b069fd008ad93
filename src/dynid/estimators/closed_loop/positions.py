"""Measured against simulated positions: what output error minimises."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray, svd
from dynid.core.errors import DynidError
from dynid.core.finding import FINE, Finding
from dynid.preparation.motion import Motion
from dynid.problem.closed_loop import LoopExperiment, LoopProblem, Memory, at_motions
from dynid.problem.problem import Problem
from dynid.problem.replay import LoopModel, SimulatedRun, run_experiment, simulated_motion
from dynid.problem.sensitivity import PositionRows, position_problem, position_sensitivities
from dynid.simulation.controller import Controller, Velocity
from dynid.simulation.laws import OpenLoop
from dynid.simulation.programs import STICK

_FLOOR = 1e-5
"""Share of the integration's tolerance below which errors of positions are the integrator's own."""


@dataclass(frozen=True, eq=False)
class Trial:
    """Positions simulated with some parameters.

    Args:
        values: base parameters (base,).
        runs: one per experiment.
        errors: q − q_s at the stamps that count, per experiment (samples, coordinates).
        outcome: the gravest of the simulations.
    """

    values: FloatArray
    runs: tuple[SimulatedRun, ...]
    errors: tuple[FloatArray, ...]
    outcome: Finding

    @property
    def norms(self) -> FloatArray:
        """‖q − q_s‖ of each joint [rad or m]."""
        return np.asarray(np.sqrt(sum(np.sum(e**2, axis=0) for e in self.errors)), dtype=float)

    @property
    def rms(self) -> FloatArray:
        """Root mean square of q − q_s of each joint [rad or m]."""
        return np.asarray(self.norms / np.sqrt(sum(len(e) for e in self.errors)), dtype=float)

    @property
    def substeps(self) -> int:
        """Integration steps per sample, at most."""
        return max(run.substeps for run in self.runs)


@dataclass(frozen=True, eq=False)
class MemoryWhitening:
    """Errors of positions that a doubtful memory of the law makes, of covariance N Σ Nᵀ beside white ones.

    Whitened rows are S e with S = (1 + N Σ Nᵀ)^(−1/2), rows by their joints' weights: what the memory may
    have caused hardly counts. Under an integral the offset of a joint cannot be told from where the integral
    started but by the torques.

    Args:
        U: directions of N Σ^(1/2), (samples · coordinates, memory).
        shares: of each direction that is taken out, (memory,).
        weights: of the joints.
    """

    U: FloatArray
    shares: FloatArray
    weights: FloatArray

    @classmethod
    def of(cls, N: FloatArray, memory: Memory | None, weights: FloatArray) -> MemoryWhitening:
        """From ∂q/∂m (samples, coordinates, memory) and how sure the memory is."""
        if memory is None or not N.shape[2]:
            return cls(np.zeros((N.shape[0] * N.shape[1], 0)), np.zeros(0), weights)
        values, axes = np.linalg.eigh(memory.covariance)
        root = axes * np.sqrt(np.maximum(values, 0.0))
        U, s, _ = svd((N * weights[:, None]).reshape(-1, N.shape[2]) @ root, full_matrices=False)
        return cls(U, 1.0 - 1.0 / np.sqrt(1.0 + s**2), weights)

    def whiten(self, rows: FloatArray) -> FloatArray:
        """S times rows (samples, coordinates, …)."""
        if not len(self.shares):
            return rows
        wide = (*self.weights.shape, *(1,) * (rows.ndim - 2))
        flat = (rows * self.weights.reshape(wide)).reshape(len(self.U), -1)
        flat = flat - self.U @ (self.shares[:, None] * (self.U.T @ flat))
        return np.asarray(flat.reshape(rows.shape) / self.weights.reshape(wide), dtype=float)


@dataclass(frozen=True, eq=False)
class Tangent:
    """One Gauss–Newton step's linear problem.

    Args:
        problem: its rows, whitened.
        doubted: what whitens errors, per experiment.
    """

    problem: Problem
    doubted: tuple[MemoryWhitening, ...]

    def criterion(self, trial: Trial, weights: FloatArray) -> float:
        """Σ w_j² ‖S (q − q_s)‖² over the joints."""
        white = [d.whiten(e) for d, e in zip(self.doubted, trial.errors, strict=True)]
        return float(sum(np.sum((weights * e) ** 2) for e in white))


@dataclass(frozen=True, eq=False)
class PositionErrors:
    """How positions of a problem are simulated and compared.

    Args:
        problem: experiments with positions.
        kept: parameters that are free, (base,).
        trim_s: seconds left out at the beginning.
        controller: what drives the simulation.
        torques: torques from outside, per experiment; None in closed loop.
    """

    problem: LoopProblem
    kept: NDArray[np.bool_]
    trim_s: float
    controller: Controller
    torques: tuple[FloatArray | None, ...]

    @classmethod
    def of(
        cls, problem: LoopProblem, kept: NDArray[np.bool_], trim_s: float, open_loop: bool
    ) -> PositionErrors:
        """Check that positions, and for open loop torques and start, are there."""
        for experiment in problem.experiments:
            _check_positions(experiment)
        if problem.accuracy.friction == STICK:
            raise DynidError(
                "Output error needs derivatives of the simulation, which set-valued friction has not; use "
                "smooth friction (accuracy.friction 'smooth')."
            )
        if not open_loop:
            return cls(problem, kept, trim_s, problem.controller, (None,) * len(problem.experiments))
        law = OpenLoop(problem.controller.axes)
        controller = Controller(law, problem.controller.sample_time, Velocity("exact"))
        cut = replace(problem, experiments=tuple(_open_loop_experiment(e) for e in problem.experiments))
        return cls(cut, kept, trim_s, controller, tuple(e.tau for e in cut.experiments))

    def trial(self, values: FloatArray) -> Trial:
        """Simulate all experiments."""
        model = LoopModel.of(self.problem, values)
        runs, errors = [], []
        for experiment, torque in zip(self.problem.experiments, self.torques, strict=True):
            run = run_experiment(self.problem, experiment, model, self.controller, torque)
            runs.append(run)
            if run.paths is None or not run.outcome.trustworthy:
                return Trial(values, tuple(runs), (), run.outcome)
            assert experiment.position is not None
            keep = self._counted_samples(experiment)
            errors.append(experiment.position[keep] - run.paths.q[0, experiment.samples[keep]])
        return Trial(values, tuple(runs), tuple(errors), FINE)

    def motions(self, trial: Trial) -> tuple[Motion, ...]:
        """The measured motions, or the simulated ones where none were prepared, with measured torques."""
        if all(e.motion is not None for e in self.problem.experiments):
            measured = at_motions(self.problem, "Output error")
            return tuple(e.motion for e in measured.experiments if e.motion is not None)
        model = LoopModel.of(self.problem, trial.values)
        pairs = zip(self.problem.experiments, trial.runs, strict=True)
        return tuple(
            simulated_motion(self.problem, e, model, run.paths, self.trim_s)
            for e, run in pairs
            if run.paths is not None
        )

    def _counted_samples(self, experiment: LoopExperiment) -> NDArray[np.bool_]:
        return np.asarray(experiment.time >= experiment.time[0] + self.trim_s)

    def tangent(self, trial: Trial, weights: FloatArray | None = None) -> Tangent:
        """The linear problem of one Gauss–Newton step.

        Args:
            trial: where it is linearised.
            weights: 1/σ of the joints' positions; that of the errors when None.
        """
        directions = [int(i) for i in np.flatnonzero(self.kept)]
        joint = 1.0 / np.maximum(trial.rms, self.floor) if weights is None else weights
        parts, doubted = [], []
        for experiment, run, error in zip(self.problem.experiments, trial.runs, trial.errors, strict=True):
            keep = self._counted_samples(experiment)
            memories = self.controller.law.memory if experiment.memory is not None else 0
            both = position_sensitivities(run, directions, memories)[experiment.samples[keep]]
            white = MemoryWhitening.of(both[:, :, len(directions) :], experiment.memory, joint)
            J = white.whiten(both[:, :, : len(directions)])
            parts.append(PositionRows(experiment.time[keep], white.whiten(error), J))
            doubted.append(white)
        problem = position_problem(self.problem, parts, trial.values, self.kept)
        return Tangent(problem, tuple(doubted))

    @property
    def floor(self) -> float:
        """Errors of positions that are the integrator's own [rad or m]."""
        return _FLOOR * self.problem.accuracy.tolerance

    def at_floor(self, trial: Trial) -> bool:
        """Whether what is left is the integrator's own error."""
        return bool(np.all(trial.rms <= self.floor))

    def exact(self, linear: Problem) -> float:
        """Share of the linear problem's right side below which residuals are the integrator's own."""
        size = linear.torque_norms() / np.sqrt(np.maximum(linear.row_counts, 1))
        return float(10 * self.problem.accuracy.tolerance / max(float(size.min(initial=np.inf)), 1e-12))


def _check_positions(experiment: LoopExperiment) -> None:
    if experiment.position is None:
        raise DynidError(
            f"Output error needs the measured motion (positions) of experiment {experiment.name!r}; DIDIM "
            "does not. Map the position columns, or use DIDIM."
        )


def _open_loop_experiment(experiment: LoopExperiment) -> LoopExperiment:
    """An experiment that can be run from its torques: every sample of them, and the state at the first."""
    if experiment.start is None:
        raise DynidError(
            f"Open-loop output error needs q and q̇ at the start of experiment {experiment.name!r}, because "
            "nothing brings a wrong start back; give starts to build_loop_problem, or simulate the closed "
            "loop."
        )
    if not np.array_equal(experiment.samples, np.arange(len(experiment.samples))):
        raise DynidError(
            f"Open-loop output error needs the torque of every sample of the controller, from the first "
            f"sample of the reference on; experiment {experiment.name!r} does not have it."
        )
    r = experiment.reference
    count = len(experiment.samples)
    assert r.qd is not None
    assert r.qdd is not None
    cut = replace(r, q=r.q[:count], qd=r.qd[:count], qdd=r.qdd[:count])
    return replace(experiment, reference=cut)
