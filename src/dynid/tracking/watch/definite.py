"""M(q) > 0: a model whose inertia matrix is not positive definite cannot be simulated or controlled with."""

from __future__ import annotations

import numpy as np

from dynid.base.base_map import BaseMap
from dynid.compile.kernels import kernels
from dynid.core.arrays import FloatArray
from dynid.tracking.watch.memory import LearntState


class InertiaMonitor(LearntState):
    """Smallest eigenvalue of M(q) along the motion, from the parameters of the moment.

    Args:
        base: the base parameters; M(q) follows from them alone, the dropped parameters being zero.
    """

    def __init__(self, base: BaseMap) -> None:
        """Compile M(q)."""
        self._kernels = kernels(base.robot)
        self._columns = np.array(base.columns)
        self._standard = np.zeros(len(base.robot.table))
        self.smallest = np.nan
        self.indefinite = False

    def take(self, q: FloatArray, values: FloatArray) -> bool:
        """Look at a position (n,) with base parameters (base,); whether definite and indefinite changed."""
        if not np.all(np.isfinite(values)):
            return False
        self._standard[self._columns] = values
        M = self._kernels.inertia_matrix(self._standard, q[None])[0]
        self.smallest = float(np.linalg.eigvalsh(M)[0])
        before, self.indefinite = self.indefinite, self.smallest <= 0.0
        return before != self.indefinite
