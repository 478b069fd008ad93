"""A reference: a motion sampled at constant steps, as a controller is told to follow it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, FileError, ShapeError, unknown_name
from dynid.model.robot import Robot

METHODS = ("cubic", "linear", "hold")
"""Ways from a slower clock to a faster one; the first is the default."""
MAX_SAMPLES = 20_000_000
"""Samples times axes of a reference."""


@dataclass(frozen=True, eq=False)
class Reference:
    """Samples of a reference at constant steps.

    Args:
        sample_time: time between samples [s].
        q: positions (samples, axes) [rad or m].
        qd: speeds; differences of q when None.
        qdd: accelerations; differences of q when None.
        start: time of the first sample [s].
    """

    sample_time: float
    q: FloatArray
    qd: FloatArray | None = None
    qdd: FloatArray | None = None
    start: float = 0.0

    def __post_init__(self) -> None:
        """Check shapes, fill in derivatives."""
        set_field = object.__setattr__
        q = np.ascontiguousarray(self.q, dtype=float)
        if q.ndim != 2 or len(q) < 2 or not np.all(np.isfinite(q)):
            raise ShapeError(
                f"The reference has shape {q.shape} or values that are not finite; give at least two finite "
                "samples, (samples, axes)."
            )
        if not self.sample_time > 0:
            raise DynidError(f"The reference's sample_time is {self.sample_time!r} s; it must be positive.")
        set_field(self, "q", q)
        for name, before in (("qd", "q"), ("qdd", "qd")):
            given = getattr(self, name)
            if given is None:
                given = np.gradient(getattr(self, before), self.sample_time, axis=0)
            values = np.ascontiguousarray(given, dtype=float)
            if values.shape != q.shape or not np.all(np.isfinite(values)):
                raise ShapeError(
                    f"{name} of the reference has shape {values.shape}; expected finite values {q.shape}."
                )
            set_field(self, name, values)

    @property
    def samples(self) -> int:
        """Number of samples."""
        return len(self.q)

    @property
    def axes(self) -> int:
        """Number of axes."""
        return int(self.q.shape[1])

    @property
    def time(self) -> FloatArray:
        """Stamps [s], (samples,)."""
        return np.asarray(self.start + self.sample_time * np.arange(self.samples), dtype=float)

    def check_robot(self, robot: Robot) -> None:
        """Refuse a reference of another size, or one that leaves the joints' limits."""
        if self.axes != robot.n_coordinates:
            raise DynidError(
                f"The reference has {self.axes} axes, but robot {robot.name!r} has {robot.n_coordinates}."
            )
        for i, j in enumerate(robot.coordinates):
            joint = robot.joints[j]
            low, high = float(self.q[:, i].min()), float(self.q[:, i].max())
            if low < joint.limits.lower or high > joint.limits.upper:
                raise DynidError(
                    f"The reference of joint {joint.name!r} runs from {low:.4g} to {high:.4g}, outside its "
                    f"limits {joint.limits.lower:.4g} … {joint.limits.upper:.4g}; shrink the reference or "
                    "correct the limits."
                )

    def resampled(self, sample_time: float, method: str = METHODS[0]) -> Reference:
        """The reference at another step.

        Args:
            sample_time: the step [s].
            method: what lies between the samples when the step is shorter: "cubic", a spline through the
                positions whose derivatives are the speeds and accelerations; "linear", whose kinks a
                controller feels as jolts; "hold", as a slower planner gives it. A longer step is linear
                unless it is held.
        """
        if method not in METHODS:
            raise unknown_name("way to resample", method, METHODS)
        if not 0 < sample_time < np.inf:
            raise DynidError(f"sample_time is {sample_time!r} s; it must be positive.")
        if np.isclose(sample_time, self.sample_time, rtol=1e-9):
            return self
        count = int(np.floor((self.samples - 1) * self.sample_time / sample_time * (1 + 1e-12))) + 1
        t: FloatArray = np.asarray(np.arange(count) * sample_time, dtype=float)
        own: FloatArray = np.asarray(np.arange(self.samples) * self.sample_time, dtype=float)
        if method == "cubic" and sample_time < self.sample_time:
            parts = _spline(own, self.q, t, "not-a-knot")
        elif method == "hold":
            index = np.minimum(np.floor(t / self.sample_time + 1e-9).astype(int), self.samples - 1)
            parts = [values[index] for values in (self.q, self.qd, self.qdd) if values is not None]
        else:
            parts = [
                np.column_stack([np.interp(t, own, column) for column in values.T])
                for values in (self.q, self.qd, self.qdd)
                if values is not None
            ]
        return Reference(sample_time, parts[0], parts[1], parts[2], self.start)


def from_samples(time: ArrayLike, q: ArrayLike, sample_time: float) -> Reference:
    """A reference through given points by a natural cubic spline, with its derivatives.

    Args:
        time: increasing stamps [s], (points,).
        q: positions (points, axes).
        sample_time: step of the result [s].
    """
    stamps, points = np.asarray(time, dtype=float), np.asarray(q, dtype=float)
    if stamps.ndim != 1 or points.ndim != 2 or len(points) != len(stamps) or np.any(np.diff(stamps) <= 0):
        raise ShapeError(
            f"Reference points have shapes {stamps.shape} and {points.shape}; give increasing stamps "
            "(points,) and positions (points, axes)."
        )
    count = int(np.floor((stamps[-1] - stamps[0]) / sample_time + 1e-9)) + 1
    t = stamps[0] + sample_time * np.arange(count)
    q, qd, qdd = _spline(stamps, points, t, "natural")
    return Reference(sample_time, q, qd, qdd, float(stamps[0]))


def _spline(stamps: FloatArray, points: FloatArray, t: FloatArray, ends: str) -> list[FloatArray]:
    """Positions, speeds and accelerations of a cubic spline at times t."""
    from scipy.interpolate import CubicSpline

    spline = CubicSpline(stamps, points, bc_type=ends)
    return [np.asarray(spline(t, k), dtype=float) for k in range(3)]


def require_size(samples: float, n: int) -> None:
    """Refuse references that no memory should hold."""
    if samples * n > MAX_SAMPLES:
        raise FileError(
            f"It would have {samples:.3g} samples of {n} axes; at most {MAX_SAMPLES:,} values are made, so "
            "shorten it or widen its step."
        )
