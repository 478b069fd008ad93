"""Trajectories: motions of all axes as exact functions of time, for references, experiments and designs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.trajectories.files import (
        PlannedMotion as PlannedMotion,
        csv_text as csv_text,
        joint_trajectory as joint_trajectory,
    )
    from dynid.trajectories.fourier import Fourier as Fourier, FourierSpace as FourierSpace
    from dynid.trajectories.keys import (
        reference_table as reference_table,
        reference_toml as reference_toml,
        trajectory_from_table as trajectory_from_table,
    )
    from dynid.trajectories.modified_fourier import (
        ModifiedFourier as ModifiedFourier,
        ModifiedFourierSpace as ModifiedFourierSpace,
    )
    from dynid.trajectories.point_to_point import PointToPoint as PointToPoint, random_poses as random_poses
    from dynid.trajectories.quintics import Quintics as Quintics, bridge as bridge
    from dynid.trajectories.reference import Reference as Reference
    from dynid.trajectories.sequence import Sequence as Sequence
    from dynid.trajectories.sines import Sines as Sines
    from dynid.trajectories.spline import QuinticSpline as QuinticSpline, SplineSpace as SplineSpace
    from dynid.trajectories.trajectory import MotionSpace as MotionSpace, Trajectory as Trajectory
    from dynid.trajectories.triangles import Triangles as Triangles
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "files": ("PlannedMotion", "csv_text", "joint_trajectory"),
        "fourier": ("Fourier", "FourierSpace"),
        "keys": ("reference_table", "reference_toml", "trajectory_from_table"),
        "modified_fourier": ("ModifiedFourier", "ModifiedFourierSpace"),
        "point_to_point": ("PointToPoint", "random_poses"),
        "quintics": ("Quintics", "bridge"),
        "reference": ("Reference",),
        "sequence": ("Sequence",),
        "sines": ("Sines",),
        "spline": ("QuinticSpline", "SplineSpace"),
        "trajectory": ("MotionSpace", "Trajectory"),
        "triangles": ("Triangles",),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
