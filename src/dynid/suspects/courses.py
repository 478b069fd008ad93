"""Courses of a change over time: drifts, steps at some moment, one log against the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.suspects.row_view import RowView
from dynid.suspects.scene import Scene


@dataclass(frozen=True)
class ChangeRules:
    """How changes are sought. Chosen by hand; ``tests/suspects/test_changes.py`` holds them on drawn arms.

    Args:
        bins: parts that all logs together are cut into, at least one per log, to find a course …
        fine_bins: … and to find the moment of a step again.
        edge: share of the time before and after a step, at least: less is told by too few blocks of time.
        warm_up: time constant of warming up, as a share of a log.
        plain: what one log alone must explain, over what the best step does, to be named instead of it.
        least: part of ρᵀρ that a change must explain at the rows' own instants to be looked at closely: less
            would not be ranked.
        live: share of a payload's column, squared, beside the columns taken before, from which it is used.
    """

    bins: int = 40
    fine_bins: int = 200
    edge: float = 0.1
    warm_up: float = 0.2
    plain: float = 0.9
    least: float = 0.002
    live: float = 1e-4


CHANGES = ChangeRules()


@dataclass(frozen=True)
class TimeCourse:
    """How something changes over time, from 0 before to 1 after the change.

    Args:
        shape: "drift", "step", "warming" or "log"; "since" where all of it is after the change.
        own: whether it happens within every log, and not once over all of them.
        moment: share of time before a step; number of the log where that is the change.
        words: the moment or the log as a clause.
    """

    shape: str
    own: bool
    moment: float
    words: str

    def over(self, whole: FloatArray, own: FloatArray, number: NDArray[np.int64]) -> FloatArray:
        """Values along time.

        Args:
            whole: share of all time that has passed.
            own: share of the time of its log.
            number: of the log.
        """
        if self.shape == "log":
            return np.asarray(number == self.moment, dtype=float)
        if self.shape == "since":
            return np.ones(len(whole))
        t = own if self.own else whole
        if self.shape == "step":
            return np.asarray(t > self.moment, dtype=float)
        return np.asarray(t if self.shape == "drift" else 1.0 - np.exp(-t / CHANGES.warm_up), dtype=float)

    def along(self, scene: Scene) -> FloatArray:
        """Values along a scene, (samples,)."""
        number = np.full(len(scene.q), scene.log, dtype=np.int64)
        return self.over(scene.time_share, scene.log_share, number)


SINCE = TimeCourse("since", False, 0.0, "since the fit")


@dataclass(frozen=True, eq=False)
class Timetable:
    """Courses that a change may take, over bins of time.

    Args:
        courses: those.
        values: of each course in each bin, (courses, bins).
        bins: per joint, bin of each row.
    """

    courses: tuple[TimeCourse, ...]
    values: FloatArray
    bins: tuple[NDArray[np.int64], ...]

    def gains(self, view: RowView, columns: Sequence[FloatArray | None]) -> FloatArray:
        """Squares of ρ that columns (rows, k) per joint explain along each course, (courses,)."""
        return view.products(columns, self.bins, self.values.shape[1]).gains(self.values)

    def best(self, explained: FloatArray, logs_only: bool) -> int:
        """The course that explains most; one log rather than a step that does hardly more.

        Of two logs, one against the other is the same both ways: the later one has changed.
        """
        is_log = np.array([course.shape == "log" for course in self.courses])
        alone = np.where(is_log, explained, -1.0)
        top = (
            int(np.flatnonzero(alone >= (most := alone.max()) - 1e-9 * abs(most))[-1]) if is_log.any() else 0
        )
        if logs_only or (is_log.any() and alone[top] >= CHANGES.plain * float(explained.max())):
            return top
        return int(np.argmax(explained))


def timetable(view: RowView, parts: int | None = None) -> Timetable:
    """All courses of some logs.

    Args:
        view: the rows.
        parts: that each experiment is cut into; chosen by their number when None.
    """
    scenes = view.scenes
    per_scene = max(1, CHANGES.bins // len(scenes)) if parts is None else parts
    scene_of = np.repeat(np.arange(len(scenes)), per_scene)
    number = np.array([scene.log for scene in scenes])[scene_of]
    edges = np.tile(np.arange(per_scene) / per_scene, len(scenes))
    middle = edges + 0.5 / per_scene
    share, within = (np.array([getattr(scene, name) for scene in scenes]) for name in ("share", "within"))

    def spread(part: FloatArray, ends: FloatArray) -> FloatArray:
        """Shares of an experiment as shares of all time, or of its log."""
        return np.asarray(ends[scene_of, 0] + part * (ends[scene_of, 1] - ends[scene_of, 0]))

    starts, moments = spread(edges, share), spread(edges, within)
    courses = [*_steps(view, starts[1:], number[1:], moments[1:]), *_slow(own=False)]
    if len(view.names) > 1:
        courses += [*_slow(own=True)]
        courses += [
            TimeCourse("step", True, float(t), f"after {100 * t:.0f} % of every log")
            for t in np.arange(1, per_scene) / per_scene
            if CHANGES.edge <= t <= 1 - CHANGES.edge
        ]
        alone = [f"in log {name!r} alone" for name in view.names]
        courses += [TimeCourse("log", False, k, words) for k, words in enumerate(alone)]
    whole, own = spread(middle, share), spread(middle, within)
    values = np.array([course.over(whole, own, number) for course in courses])
    last = per_scene - 1
    bins = [
        j.experiment * per_scene + np.minimum((j.part * per_scene).astype(int), last) for j in view.joints
    ]
    return Timetable(tuple(courses), values, tuple(bins))


def _steps(
    view: RowView, starts: FloatArray, number: NDArray[np.int64], edges: FloatArray
) -> list[TimeCourse]:
    found = []
    for start, k, edge in zip(starts, number, edges, strict=True):
        if not CHANGES.edge <= start <= 1 - CHANGES.edge:
            continue
        times = [scene.motion.time for scene in view.scenes if scene.log == k]
        second = float(edge * (times[-1][-1] - times[0][0]))
        log = f" of log {view.names[k]!r}" if len(view.names) > 1 else ""
        found.append(TimeCourse("step", False, float(start), f"from {second:.3g} s{log} on"))
    return found


def _slow(own: bool) -> tuple[TimeCourse, ...]:
    over = "over every log" if own else "over the logs"
    return TimeCourse("drift", own, 0.0, over), TimeCourse("warming", own, 0.0, f"{over}, most of it early")
