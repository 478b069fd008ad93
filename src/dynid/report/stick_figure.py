"""A robot in motion as lines between the frames of its links, for the moving figure of a page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from dynid.compile.kernels import kernels
from dynid.core.arrays import FloatArray, as_numbers
from dynid.core.errors import ShapeError
from dynid.core.plain import plain
from dynid.model.robot import Robot

MOST_FRAMES = 1500
"""Frames of a figure: some 1 MB of text for seven links."""
_RATE = 50.0
"""Frames per second [Hz]; a page draws straight ways between them."""
_DECIMALS = 6
"""Of places [m] and of rotations: finer than any screen shows."""


def stick_figure(
    robot: Robot,
    time: ArrayLike,
    q: ArrayLike,
    capsules: Sequence[Mapping[str, Any]] = (),
    floor: float | None = None,
    walls: Sequence[Mapping[str, Any]] = (),
) -> dict[str, Any]:
    """Where the frames of the links are during a motion, in the base frame.

    Args:
        robot: the robot.
        time: stamps that increase (samples,) [s].
        q: positions (samples, axes) [rad or m].
        capsules: link (−1 is the base), start and end in the link's frame, radius [m].
        floor: its height [m].
        walls: planes normal·x = offset [m].

    Returns:
        The entry ``stick`` of a design document: times, parents, points (frames, links, 3), rotations by rows
        (frames, links, 9), and what stands around. Frames are thinned to those a page needs.
    """
    stamps, positions = as_numbers(time, "time"), as_numbers(q, "q")
    if stamps.ndim != 1 or len(stamps) < 1 or positions.shape != (len(stamps), robot.n_coordinates):
        raise ShapeError(
            f"time has shape {stamps.shape} and q {positions.shape}; give (samples,) and "
            f"(samples, {robot.n_coordinates})."
        )
    kept = frame_choice(stamps)
    points, rotations = kernels(robot).forward_kinematics(positions[kept])
    return {
        "times": stamps[kept].tolist(),
        "parents": [joint.antecedent for joint in robot.joints],
        "points": points.round(_DECIMALS).tolist(),
        "rotations": rotations.reshape(*points.shape[:2], 9).round(_DECIMALS).tolist(),
        "capsules": plain(list(capsules)),
        "floor": plain(floor),
        "walls": plain(list(walls)),
    }


def frame_choice(stamps: FloatArray) -> list[int]:
    """The samples that a figure shows: evenly chosen, the first and the last among them."""
    wanted = min(len(stamps), MOST_FRAMES, int(_RATE * float(stamps[-1] - stamps[0])) + 2)
    return sorted({round(k) for k in np.linspace(0, len(stamps) - 1, wanted).tolist()})
