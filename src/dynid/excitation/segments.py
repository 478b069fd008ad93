"""The closest points of many pairs of line segments."""

from __future__ import annotations

import numpy as np

from dynid.core.arrays import FloatArray

_PARALLEL = 1e-14
"""sin² of the angle below which rounding decides where lines are closest; the middle is taken then."""
_CROSSING = 1e-12
"""Distance [m] below which segments cross and the difference of their points has no direction."""


def closest_on_segments(
    start1: FloatArray, along1: FloatArray, start2: FloatArray, along2: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """The shares s and t at which x1 = start1 + s·along1 and x2 = start2 + t·along2 are closest.

    The optimum over both lines, clipped to the first segment, gives t; clipped to the second, t gives s
    (Ericson, Real-Time Collision Detection, §5.1.9). Points (segments of no length) get the share 0.

    Args:
        start1: first ends of the segments, (pairs, 3, samples) [m].
        along1: from the first end to the second.
        start2: of the other segments.
        along2: of the other segments.

    Returns:
        s and t between 0 and 1, (pairs, samples).
    """
    between = start1 - start2
    a, e, b = _dot(along1, along1), _dot(along2, along2), _dot(along1, along2)
    c, f = _dot(along1, between), _dot(along2, between)
    size = a * e
    sine2 = size - b * b
    skew = sine2 > _PARALLEL * size
    s = np.divide(b * f - c * e, sine2, out=np.full_like(a, 0.5), where=skew)
    t = _share(b * np.clip(s, 0.0, 1.0) + f, e)
    return _share(b * t - c, a), t


def directions(gap: FloatArray, distance: FloatArray, along1: FloatArray, along2: FloatArray) -> FloatArray:
    """Unit vectors along which segments part fastest, (pairs, 3, samples).

    Where the segments cross, the common normal takes the place of the gap, which has no direction.

    Args:
        gap: from the closest point of the second segment to that of the first.
        distance: its length, (pairs, samples).
        along1: of the first segments.
        along2: of the second segments.
    """
    crossing = distance < _CROSSING
    result = gap / np.where(crossing, 1.0, distance)[:, None]
    for pair, sample in zip(*np.nonzero(crossing), strict=True):
        result[pair, :, sample] = _common_normal(along1[pair, :, sample], along2[pair, :, sample])
    return result


def _dot(x: FloatArray, y: FloatArray) -> FloatArray:
    return np.asarray(x[:, 0] * y[:, 0] + x[:, 1] * y[:, 1] + x[:, 2] * y[:, 2])


def _share(part: FloatArray, whole: FloatArray) -> FloatArray:
    """part/whole between 0 and 1; 0 where the segment is a point."""
    return np.clip(np.divide(part, whole, out=np.zeros_like(part), where=whole > 0.0), 0.0, 1.0)


def _common_normal(u: FloatArray, v: FloatArray) -> FloatArray:
    normal = np.cross(u, v)
    if not np.linalg.norm(normal) > _CROSSING:  # parallel: any direction across the longer one
        axis = u if u @ u >= v @ v else v
        normal = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis))])
    length = np.linalg.norm(normal)
    return normal / length if length > 0 else np.array([0.0, 0.0, 1.0])
