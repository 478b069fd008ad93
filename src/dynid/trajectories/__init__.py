"""Trajectories: motions of all axes as exact functions of time, for references, experiments and designs."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dynid.trajectories.fourier import Fourier as Fourier, FourierSpace as FourierSpace
    from dynid.trajectories.trajectory import MotionSpace as MotionSpace, Trajectory as Trajectory
else:
    from dynid.core.lazy import lazy_exports

    _NAMES = {
        "fourier": ("Fourier", "FourierSpace"),
        "trajectory": ("MotionSpace", "Trajectory"),
    }
    __getattr__, __dir__, __all__ = lazy_exports(__name__, _NAMES)
