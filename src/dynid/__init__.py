"""dynid: the dynamic model of robots, identified from motion logs.

The names below are imported when first used, so that ``import dynid`` stays light.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.base.base_map import BaseMap as BaseMap
    from dynid.base.find import find_base as find_base, joint_bases as joint_bases
    from dynid.compile.kernels import RobotKernels as RobotKernels, kernels as kernels
    from dynid.core.errors import DynidError as DynidError
    from dynid.model.drives import Drives as Drives
    from dynid.model.inertia import LinkInertia as LinkInertia
    from dynid.model.joint import Joint as Joint, JointKind as JointKind
    from dynid.model.load import catalog as catalog, load_robot as load_robot
    from dynid.model.loaders.mdh import (
        from_mdh as from_mdh,
        load_drives as load_drives,
        robot_to_toml as robot_to_toml,
    )
    from dynid.model.loaders.mjcf import from_mjcf as from_mjcf
    from dynid.model.loaders.urdf import from_urdf as from_urdf
    from dynid.model.parameters import ParameterTable as ParameterTable
    from dynid.model.payload import attach_payload as attach_payload
    from dynid.model.robot import Robot as Robot
else:
    from dynid.core.lazy import lazy_exports

    _HOMES = {
        "BaseMap": "base.base_map",
        "find_base": "base.find",
        "joint_bases": "base.find",
        "RobotKernels": "compile.kernels",
        "kernels": "compile.kernels",
        "DynidError": "core.errors",
        "Drives": "model.drives",
        "load_drives": "model.loaders.mdh",
        "from_mdh": "model.loaders.mdh",
        "from_mjcf": "model.loaders.mjcf",
        "from_urdf": "model.loaders.urdf",
        "LinkInertia": "model.inertia",
        "Joint": "model.joint",
        "JointKind": "model.joint",
        "catalog": "model.load",
        "load_robot": "model.load",
        "ParameterTable": "model.parameters",
        "attach_payload": "model.payload",
        "Robot": "model.robot",
        "robot_to_toml": "model.loaders.mdh",
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _HOMES)

__version__ = "0.1.0"
