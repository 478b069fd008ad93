"""The smallest capsules around the solids that robot files hold: boxes, cylinders, ellipsoids, meshes."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from dynid.core.arrays import FloatArray, svd
from dynid.core.errors import ModelError
from dynid.model.joint import BASE
from dynid.model.shapes import Capsule

_RADII = 65
"""Radii tried between the narrowest tube and a sphere; the volume is flat around its minimum."""
_STEPS = 300
"""Steps to the centre of a circle around points; what is missing after k steps is below 1/k of the radius."""
_ROUNDING = 1e-9
"""Added share of a radius, so that rounding leaves no point outside."""
_THINNEST = 1e-6
"""Radius around points on a line [m]."""


def around_ball(radius: float) -> Capsule:
    """A sphere about the origin.

    Args:
        radius: [m].
    """
    return Capsule(BASE, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0), radius)


def around_rod(radius: float, half: float) -> Capsule:
    """A capsule along z about the origin.

    Args:
        radius: [m].
        half: half the length of its axis [m].
    """
    return Capsule(BASE, (0.0, 0.0, -half), (0.0, 0.0, half), radius)


def around_cylinder(radius: float, half: float) -> Capsule:
    """The smallest capsule around a cylinder along z about the origin.

    Args:
        radius: [m].
        half: half its length [m].
    """
    return _along(np.eye(3)[2], np.zeros(3), np.array([-half, half]), np.array([radius, radius]))


def around_box(halves: Sequence[float]) -> Capsule:
    """The smallest capsule along an edge around a box about the origin.

    Args:
        halves: half its lengths along x, y, z [m].
    """
    tried = []
    for axis, half in enumerate(halves):
        across = math.hypot(*(other for i, other in enumerate(halves) if i != axis))
        tried.append(_along(np.eye(3)[axis], np.zeros(3), np.array([-half, half]), np.array([across] * 2)))
    return min(tried, key=volume)


def around_ellipsoid(halves: Sequence[float]) -> Capsule:
    """The smallest capsule along the longest axis of an ellipsoid about the origin.

    With semi-axes a ≤ b ≤ c, radius b and ends at ±(c − b) touch it at its tips and around its waist.

    Args:
        halves: its semi-axes along x, y, z [m].
    """
    _, b, c = sorted(halves)
    end = np.eye(3)[int(np.argmax(halves))] * (c - b)
    return _capsule(-end, end, b)


def around_points(points: FloatArray) -> Capsule:
    """A small capsule around points, along a principal axis or an axis of the frame, whichever is smallest.

    Args:
        points: (count, 3) [m].
    """
    if points.ndim != 2 or points.shape[1] != 3 or not len(points) or not np.all(np.isfinite(points)):
        raise ModelError(f"An array of shape {points.shape} is not a list of finite points; give (count, 3).")
    corners = _corners(points)
    axes = svd(corners - corners.mean(axis=0), full_matrices=False)[2]
    tried = []
    for axis in (*axes, *np.eye(3)):
        across = corners - np.outer(corners @ axis, axis)
        middle = _middle(across)
        tried.append(_along(axis, middle, corners @ axis, np.linalg.norm(across - middle, axis=1)))
    return min(tried, key=volume)


def volume(capsule: Capsule) -> float:
    """Volume of a capsule [m³].

    Args:
        capsule: the capsule.
    """
    length = float(np.linalg.norm(np.subtract(capsule.end, capsule.start)))
    return np.pi * capsule.radius**2 * (length + 4 / 3 * capsule.radius)


def _along(axis: FloatArray, middle: FloatArray, heights: FloatArray, widths: FloatArray) -> Capsule:
    """The smallest capsule on the line middle + height·axis around circles of some widths about this line.

    A circle is inside where its rim is within the radius r of an end: the ends must reach
    height ∓ √(r² − width²).
    """
    centre = (heights.max() + heights.min()) / 2
    largest = np.hypot(heights - centre, widths).max()
    r = np.linspace(max(widths.max(), _THINNEST), max(largest, _THINNEST), _RADII)
    spare = np.sqrt(np.maximum(r[:, None] ** 2 - widths**2, 0.0))
    low, high = np.min(heights + spare, axis=1), np.max(heights - spare, axis=1)
    low, high = np.where(low > high, (low + high) / 2, [low, high])  # a ball, with room to spare
    best = int(np.argmin(r**2 * (high - low + 4 / 3 * r)))
    return _capsule(middle + low[best] * axis, middle + high[best] * axis, float(r[best]))


def _capsule(start: FloatArray, end: FloatArray, radius: float) -> Capsule:
    (a, b, c), (d, e, f) = start.tolist(), end.tolist()
    return Capsule(BASE, (a, b, c), (d, e, f), radius * (1 + _ROUNDING))


def _corners(points: FloatArray) -> FloatArray:
    """The corners of the convex hull; all points where they are flat or few."""
    from scipy.spatial import ConvexHull, QhullError

    try:
        return np.asarray(points[ConvexHull(points).vertices])
    except (QhullError, ValueError):
        return points


def _middle(points: FloatArray) -> FloatArray:
    """Nearly the centre of the smallest ball around points (Bădoiu and Clarkson 2003)."""
    middle = np.asarray(points.mean(axis=0))  # in the plane of the points, where all steps stay
    best, least = middle, np.inf
    for step in range(1, _STEPS):
        distances = np.linalg.norm(points - middle, axis=1)
        far = int(np.argmax(distances))
        if distances[far] < least:
            best, least = middle, distances[far]
        middle = middle + (points[far] - middle) / (step + 1)
    return best
