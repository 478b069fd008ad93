"""What an exporter is given, and what it yields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.model.robot import Robot
from dynid.results.result import SavedResult


@dataclass(frozen=True, eq=False)
class ExportModel:
    """A result as exporters see it.

    Args:
        result: the result: base parameters with their doubt, added terms, document.
        standard: standard parameters of a possible robot, in the order of ``robot.table``, SI; their torques
            are those of ``result.base.regroup(standard)``.
    """

    result: SavedResult
    standard: FloatArray

    @property
    def robot(self) -> Robot:
        """The robot, without values."""
        return self.result.robot

    @property
    def by_name(self) -> Mapping[str, float]:
        """The standard parameters by name."""
        return self.robot.table.mapping(self.standard)


@dataclass(frozen=True)
class ExportedFile:
    """A file to be written.

    Args:
        name: its name, without folder.
        content: its bytes.
    """

    name: str
    content: bytes


@dataclass(frozen=True)
class Export:
    """A model in one form.

    Args:
        form: such as "urdf".
        files: what to write; the first is the model itself, the others go beside it.
        lost: what this form cannot hold, in sentences.
        cautions: what the values are worth less than the fit's own verdict says, in sentences.
        figures: what reading it back has shown, by name, such as the largest difference of a torque.
    """

    form: str
    files: tuple[ExportedFile, ...]
    lost: tuple[str, ...] = ()
    cautions: tuple[str, ...] = ()
    figures: Mapping[str, Any] = field(default_factory=dict)


def export_model_of(result: SavedResult) -> ExportModel:
    """What exporters take, from a result.

    Raises:
        DynidError: when the result has no standard parameters of a possible robot.
    """
    if result.standard is None:
        raise DynidError(
            f"The result in {result.folder} has no standard parameters of a possible robot: it was written "
            "by an earlier version, or no such robot fits its logs; fit again with this version."
        )
    return ExportModel(result, result.standard)
