"""What a result folder gives back: the model that was identified, and how."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dynid.base.base_map import BaseMap
from dynid.core.arrays import FloatArray
from dynid.core.lazy import later
from dynid.estimators.estimate import Further
from dynid.model.robot import Robot
from dynid.preparation.motion import Trail
from dynid.preparation.preparation import Preparation
from dynid.results.view import ResultView
from dynid.validation.model import IdentifiedModel

if TYPE_CHECKING:
    from dynid.simulation.added_torques import AddedTorque

_simulated_terms = later("dynid.estimators.linear.terms", "simulated_terms")


@dataclass(frozen=True, eq=False, repr=False)
class SavedResult(ResultView):
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
        further: parameters beside the base ones, of added terms; None when there are none.
        trails: where the robot went in the fit's motions; () when an earlier version wrote the folder.
        standard: standard parameters of a possible robot, in the order of ``robot.table``; None when an
            earlier version wrote the folder, or none was found.
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
    standard: FloatArray | None = None

    def __repr__(self) -> str:
        """Where it lies and of what robot it is."""
        kept = f"{int(self.kept.sum())} of {len(self.values)} base parameters"
        return f"SavedResult({str(self.folder)!r}, robot {self.robot.name!r}, {kept})"

    @property
    def as_saved(self) -> SavedResult:
        """Itself."""
        return self

    @property
    def model(self) -> IdentifiedModel:
        """What predicts torques."""
        how = str(self.section("estimate").get("uncertainty", "classical"))
        return IdentifiedModel(self.robot, self.base, self.values, self.covariance, self.further, how)

    @property
    def added_torques(self) -> tuple[AddedTorque, ...]:
        """Its added terms, as ``simulate`` takes them; () when there are none."""
        if self.further is None:
            return ()
        found: tuple[AddedTorque, ...] = _simulated_terms(self.robot, self.further.terms, self.further.values)
        return found

    @property
    def run(self) -> Mapping[str, Any]:
        """How it was made, as far as the document says: command, options, mapping, logs of the fit."""
        return self.section("reproducibility")

    def section(self, name: str) -> Mapping[str, Any]:
        """A table of the document; empty where it is absent."""
        return self.document.get(name) or {}
