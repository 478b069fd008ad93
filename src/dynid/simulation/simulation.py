"""A finished simulation: what truly happened, what was logged, and how far to trust it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.finding import Finding
from dynid.logs.log import Log
from dynid.preparation.motion import Motion

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Simulation:
    """Signals of a closed loop at the controller's samples, (samples, coordinates) each.

    Args:
        log: position, torque and reference as sensors and controller give them.
        q: true positions [rad or m].
        qd: true speeds.
        qdd: true accelerations just after a torque was set.
        tau: torques of the controller.
        substeps: integration steps per sample.
        error: estimate of the integration error of q [rad or m].
        outcome: how it ended.
    """

    log: Log
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    tau: FloatArray
    substeps: int
    error: float
    outcome: Finding

    @property
    def motion(self) -> Motion:
        """The true motion with its torques, free of sensor errors."""
        return Motion(self.log.name, self.log.time, self.q, self.qd, self.qdd, self.tau, self.log.rate_hz)
