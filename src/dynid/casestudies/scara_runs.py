"""All estimates of one seed of the SCARA case, made when they are asked for."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from dynid.casestudies.scara_setup import (
    FREQUENCIES_HZ,
    NONE,
    RATE_HZ,
    SLOW,
    WHITE,
    Experiment,
    didim,
    idim,
    loop_problem,
    measured_motion,
    run_experiment,
)
from dynid.estimators.estimate import Estimate

FloatArray = NDArray[np.float64]
FAST_HZ = tuple(100.0 * max(row) for row in FREQUENCIES_HZ)
"""ω_n of a loop a hundred times faster than the fastest part of its trajectory."""
FAST_RATE_HZ = 1000.0
"""Such a loop needs quicker samples: at 200 Hz it is unstable."""

NEEDED = {
    "A": ("idim", "from_idim", "regular"),
    "B": ("idim", "regular", "exact", "white"),
    "C": ("slow_idim", "slow_didim", "distortion"),
    "D": ("raw_idim", "raw_didim"),
    "E": ("half", "fast_half"),
}
"""What each section of the paper asks of a seed."""


@dataclass(frozen=True, eq=False)
class Runs:
    """Experiments and estimates of one seed.

    Args:
        seed: of phases and noise.
        duration: of the experiments [s]; that of section C is four times as long.
    """

    seed: int
    duration: float = 100.0

    def estimate(self, section: str) -> None:
        """Make all that a section needs, so that seeds can be run side by side."""
        for name in NEEDED[section]:
            getattr(self, name)

    @cached_property
    def experiment(self) -> Experiment:
        """The experiment of sections A, B, D, E."""
        return run_experiment(self.seed, duration=self.duration)

    @cached_property
    def idim(self) -> Estimate:
        """Inverse model, 20 Hz filter, decimation 20."""
        return idim(self.experiment)

    @cached_property
    def regular(self) -> Estimate:
        """DIDIM from the regular start."""
        return didim(loop_problem(self.experiment))

    @cached_property
    def from_idim(self) -> Estimate:
        """DIDIM from the inverse model's estimate."""
        return didim(loop_problem(self.experiment), self.idim)

    @cached_property
    def exact(self) -> Estimate:
        """DIDIM on an experiment without noise."""
        return didim(loop_problem(run_experiment(self.seed, noise=NONE, duration=self.duration)))

    @cached_property
    def white(self) -> Estimate:
        """DIDIM where nothing but the logged torque is noisy."""
        return didim(loop_problem(run_experiment(self.seed, noise=WHITE, duration=self.duration)))

    @cached_property
    def long_experiment(self) -> Experiment:
        """The experiment of section C."""
        return run_experiment(self.seed, duration=4 * self.duration)

    @cached_property
    def slow_idim(self) -> Estimate:
        """Inverse model on positions sampled at 0.5 Hz."""
        return idim(self.long_experiment, cutoff_hz=None, decimation=1, every=SLOW)

    @cached_property
    def slow_didim(self) -> Estimate:
        """DIDIM on torques sampled at 0.5 Hz."""
        return didim(loop_problem(self.long_experiment, decimation=1, every=SLOW))

    @cached_property
    def distortion(self) -> FloatArray:
        """Relative errors of speed and acceleration from 0.5 Hz positions, (2, joints): table 6."""
        fine = measured_motion(self.long_experiment, cutoff_hz=RATE_HZ / SLOW)
        coarse = measured_motion(self.long_experiment, cutoff_hz=None, every=SLOW)
        first = round(float(fine.time[0]) * RATE_HZ)
        rows = np.rint(coarse.time * RATE_HZ).astype(int) - first
        kept = (rows >= 0) & (rows < fine.samples)
        pairs = ((fine.qd, coarse.qd), (fine.qdd, coarse.qdd))
        return np.array(
            [
                np.linalg.norm(a[rows[kept]] - b[kept], axis=0) / np.linalg.norm(a[rows[kept]], axis=0)
                for a, b in pairs
            ]
        )

    @cached_property
    def raw_idim(self) -> Estimate:
        """Inverse model without any filter."""
        return idim(self.experiment, cutoff_hz=None, decimation=1)

    @cached_property
    def raw_didim(self) -> Estimate:
        """DIDIM without decimation."""
        return didim(loop_problem(self.experiment, decimation=1))

    @cached_property
    def half(self) -> Estimate:
        """DIDIM that believes in half the bandwidth."""
        return didim(loop_problem(self.experiment, bandwidth=0.5))

    @cached_property
    def fast_half(self) -> Estimate:
        """The same where the loop is a hundred times faster than its trajectory."""
        fast = run_experiment(self.seed, duration=self.duration, frequencies_hz=FAST_HZ, rate_hz=FAST_RATE_HZ)
        return didim(loop_problem(fast, bandwidth=0.5, decimation=round(FAST_RATE_HZ / 10)))
