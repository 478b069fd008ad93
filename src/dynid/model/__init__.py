"""What the robot is: joints, drives, friction, parameters, and the files they come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.model.condition import Condition as Condition
    from dynid.model.drives import Drives as Drives
    from dynid.model.file_frames import link_frames as link_frames
    from dynid.model.inertia import LinkInertia as LinkInertia
    from dynid.model.joint import Joint as Joint, JointKind as JointKind
    from dynid.model.load import attach_shapes as attach_shapes, catalog as catalog, load_robot as load_robot
    from dynid.model.loaders.mdh import (
        from_mdh as from_mdh,
        load_drives as load_drives,
        robot_to_toml as robot_to_toml,
    )
    from dynid.model.loaders.mjcf import from_mjcf as from_mjcf
    from dynid.model.loaders.urdf import from_urdf as from_urdf
    from dynid.model.parameters import ParameterTable as ParameterTable
    from dynid.model.payload import attach_payload as attach_payload, free_and_loaded as free_and_loaded
    from dynid.model.robot import Robot as Robot
    from dynid.model.shapes import Capsule as Capsule, capsules_from_frames as capsules_from_frames
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "condition": ("Condition",),
        "drives": ("Drives",),
        "inertia": ("LinkInertia",),
        "joint": ("Joint", "JointKind"),
        "file_frames": ("link_frames",),
        "load": ("attach_shapes", "catalog", "load_robot"),
        "loaders.mdh": ("from_mdh", "load_drives", "robot_to_toml"),
        "loaders.mjcf": ("from_mjcf",),
        "loaders.urdf": ("from_urdf",),
        "parameters": ("ParameterTable",),
        "payload": ("attach_payload", "free_and_loaded"),
        "robot": ("Robot",),
        "shapes": ("Capsule", "capsules_from_frames"),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
