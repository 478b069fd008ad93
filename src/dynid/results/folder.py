"""What a result folder holds."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.base.base_map import BaseMap
from dynid.estimators.estimate import Further
from dynid.model.robot import Robot
from dynid.preparation.preparation import Preparation
from dynid.results.trail import Trail
from dynid.validation.model import Model

FloatArray = NDArray[np.float64]
SCHEMA = 1
RESULT, ARRAYS, REPORT, PARAMETERS = "result.json", "arrays.npz", "report.html", "parameters.csv"


@dataclass(frozen=True, eq=False)
class SavedResult:
    """A result read back.

    Args:
        folder: where it lies.
        robot: the robot it belongs to.
        base: its base parameters.
        values: base parameters identified.
        covariance: (base, base).
        kept: which base parameters were estimated.
        joint_sigma: standard deviation of each joint's torque error.
        plan: preparation that was used, and that validation should use.
        document: content of the report.
        further: parameters beside the base ones, of friction that is not linear; None when there are none.
        trails: where the robot went in the fit's motions; () when an earlier version wrote the folder.
    """

    folder: Path
    robot: Robot
    base: BaseMap
    values: FloatArray
    covariance: FloatArray
    kept: NDArray[np.bool_]
    joint_sigma: FloatArray
    plan: Preparation
    document: Mapping[str, Any]
    further: Further | None = None
    trails: tuple[Trail, ...] = ()

    @property
    def model(self) -> Model:
        """What predicts torques."""
        facts = self.document.get("estimate")
        how = str(facts.get("uncertainty", "classical")) if isinstance(facts, dict) else "classical"
        return Model(self.robot, self.base, self.values, self.covariance, self.further, how)

    @property
    def run(self) -> Mapping[str, Any]:
        """How it was made, as far as the document says: command, options, mapping, logs of the fit."""
        found = self.document.get("reproducibility")
        return found if isinstance(found, dict) else {}
