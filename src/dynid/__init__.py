"""dynid: the dynamic model of robots, identified from motion logs.

The names below are imported when first used, so that ``import dynid`` stays light.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from dynid.base.base_map import BaseMap as BaseMap
    from dynid.base.find import find_base as find_base
    from dynid.base.find import joint_bases as joint_bases
    from dynid.compile.kernels import RobotKernels as RobotKernels
    from dynid.compile.kernels import kernels as kernels
    from dynid.core.errors import DynidError as DynidError
    from dynid.model.drives import Drives as Drives
    from dynid.model.drives_file import load_drives as load_drives
    from dynid.model.from_mdh import from_mdh as from_mdh
    from dynid.model.from_mjcf import from_mjcf as from_mjcf
    from dynid.model.from_urdf import from_urdf as from_urdf
    from dynid.model.inertia import LinkInertia as LinkInertia
    from dynid.model.joint import Joint as Joint
    from dynid.model.joint import JointKind as JointKind
    from dynid.model.load import catalog as catalog
    from dynid.model.load import load_robot as load_robot
    from dynid.model.parameters import ParameterTable as ParameterTable
    from dynid.model.payload import attach_payload as attach_payload
    from dynid.model.robot import Robot as Robot
    from dynid.model.to_toml import robot_to_toml as robot_to_toml

__version__ = "0.1.0"

_HOME = {
    "BaseMap": "base.base_map",
    "find_base": "base.find",
    "joint_bases": "base.find",
    "RobotKernels": "compile.kernels",
    "kernels": "compile.kernels",
    "DynidError": "core.errors",
    "Drives": "model.drives",
    "load_drives": "model.drives_file",
    "from_mdh": "model.from_mdh",
    "from_mjcf": "model.from_mjcf",
    "from_urdf": "model.from_urdf",
    "LinkInertia": "model.inertia",
    "Joint": "model.joint",
    "JointKind": "model.joint",
    "catalog": "model.load",
    "load_robot": "model.load",
    "ParameterTable": "model.parameters",
    "attach_payload": "model.payload",
    "Robot": "model.robot",
    "robot_to_toml": "model.to_toml",
}
__all__ = ["__version__", *_HOME]  # noqa: PLE0604


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used."""
    if name not in _HOME:
        raise AttributeError(f"module 'dynid' has no attribute {name!r}")
    value = getattr(import_module(f"dynid.{_HOME[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """Public names, imported or not."""
    return sorted(__all__)
