"""What changed while the logs were taken: torque zeros, friction, gains, payload; step by step or slowly."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.finding import Name
from dynid.suspects.courses import CHANGES, SINCE, TimeCourse, Timetable, timetable
from dynid.suspects.row_view import RowView
from dynid.suspects.scene import PAYLOAD, Scene
from dynid.suspects.suspect import Kind, Suspect


@dataclass(frozen=True)
class Changeable:
    """What may change.

    Args:
        name: of it.
        parts: name and unit of each size.
        column: (scene, joint, part) ↦ torque per unit of the part, (samples, coordinates).
        logs_only: whether it changes between logs only.
    """

    name: str
    parts: tuple[tuple[str, str], ...]
    column: Callable[[Scene, int | None, str], FloatArray]
    logs_only: bool = False


def _zero(scene: Scene, joint: int | None, part: str) -> FloatArray:
    assert joint is not None
    return scene.on_joint(joint, np.ones(len(scene.q)))


def _joint_friction(scene: Scene, joint: int | None, part: str) -> FloatArray:
    assert joint is not None
    v = scene.qd[:, joint]
    return scene.on_joint(joint, v if part == "viscous" else np.sign(v))


def _all_friction(scene: Scene, joint: int | None, part: str) -> FloatArray:
    return np.stack([scene.friction(j) for j in range(scene.joints)], axis=1)


def _gain(scene: Scene, joint: int | None, part: str) -> FloatArray:
    return scene.torque if joint is None else scene.on_joint(joint, scene.torque[:, joint])


def _joint_zero(scene: Scene, joint: int | None, part: str) -> FloatArray:
    assert joint is not None
    return scene.along("q", joint)


def _payload(scene: Scene, joint: int | None, part: str) -> FloatArray:
    return scene.of_last_link(part)


OF_JOINT = (
    Changeable("torque zero", (("", "N m or N"),), _zero),
    Changeable("friction", (("viscous", "N m s/rad or N s/m"), ("dry", "N m or N")), _joint_friction),
    Changeable("torque gain", (("", "%"),), _gain),
    Changeable("zero", (("", "rad or m"),), _joint_zero, logs_only=True),
)
OF_ALL = (
    Changeable("friction", (("", "%"),), _all_friction),
    Changeable("torque gain", (("", "%"),), _gain),
    Changeable("payload", (("M", "kg"), ("MX", "kg m"), ("MY", "kg m"), ("MZ", "kg m")), _payload),
)


MOUNTED = replace(OF_ALL[-1], parts=(*OF_ALL[-1].parts, *((part, "kg m²") for part in PAYLOAD[4:])))
"""A payload that is there all the time: no moment is sought, so that its inertia is affordable."""


@dataclass(frozen=True)
class Change(Suspect):
    """Something that is not the same all the time.

    Args:
        joint: the joint; None where it concerns all.
        what: changes.
        parts: of it that can be seen.
        course: over time.
        tried: number of courses that were.
    """

    kind = Kind.CHANGE
    finding = Name.CHANGE_IN_TIME
    what: Changeable
    parts: tuple[tuple[str, str], ...]
    course: TimeCourse
    tried: int = 1

    @property
    def key(self) -> str:
        """What changes, how, and the joint."""
        where = "" if self.joint is None else f"@{self.joint + 1}"
        return f"{self.what.name} {self.course.shape}{where}"

    @property
    def of_torque(self) -> bool:
        """Zero and gain of the torque."""
        return self.what.name.startswith("torque")

    @property
    def since_model(self) -> bool:
        """Whether all rows are after the change."""
        return self.course is SINCE

    @property
    def trials(self) -> int:
        """Courses."""
        return self.tried

    @property
    def width(self) -> int:
        """Number of parts."""
        return len(self.parts)

    def columns(self, scene: Scene) -> tuple[FloatArray, ...]:
        """The course times each part."""
        over = self.course.along(scene)[:, None]
        return tuple(over * self.what.column(scene, self.joint, part) for part, _ in self.parts)

    def words(self, size: FloatArray) -> str:
        """Sizes and moment."""
        return self.words_in_doubt(size, np.zeros(len(size)))

    def words_in_doubt(self, size: FloatArray, sigma: FloatArray) -> str:
        """Sizes and moment; parts in doubt by more than half of their size are named without one."""
        doubtful = [len(size) > 1 and 2.0 * s > abs(x) for x, s in zip(size, sigma, strict=True)]
        told = [self._part(*of, x) for of, x, d in zip(self.parts, size, doubtful, strict=True) if not d]
        unknown = ", ".join(part for (part, _), d in zip(self.parts, doubtful, strict=True) if d)
        sizes = "; ".join(filter(None, [", ".join(told), unknown and f"{unknown} not determined"]))
        verb = "has changed" if self.since_model else "changes"
        return f"{self.what.name}{self.at} {verb} {self.course.words} ({sizes})"

    def _part(self, part: str, unit: str, x: float) -> str:
        if unit == "%":  # of the parameters that the change is told against
            return f"{part} {100 * x:+.3g} %{'' if self.since_model else ' against the fit'}".strip()
        return f"{part} {x:+.3g} {self.in_unit(unit)}".strip()

    def is_same_change(self, other: Suspect) -> bool:
        """What changes, and where, is the same."""
        return isinstance(other, Change) and (other.what.name, other.joint) == (self.what.name, self.joint)

    def remedy(self, size: FloatArray) -> str:
        """Fit apart, or warm up."""
        if self.since_model:
            return "Look what was done to the robot, or fit again with these logs."
        if self.course.shape == "log":
            return "Fit these logs apart, or leave one out."
        if self.course.shape == "step":
            return "Fit what was recorded before and after the change apart."
        return "Warm the robot up first, or fit shorter stretches apart."


def changes(view: RowView) -> tuple[Suspect, ...]:
    """The best course of everything that may change, where it explains something.

    Args:
        view: the rows and scenes of a regression.
    """
    table, found = timetable(view), list[Suspect]()
    fine = timetable(view, max(1, CHANGES.fine_bins // len(view.scenes)))
    for what, joint in _changeables(view):
        parts = _live_parts(view, what, joint)
        if not parts:
            continue
        own = Change(joint, what, parts, table.courses[0])
        columns = _at_rows(view, own)
        explained = table.gains(view, columns)
        best = table.best(explained, what.logs_only)
        if explained[best] >= CHANGES.least * view.squares:
            course = _refine_moment(view, table.courses[best], fine, columns)
            found.append(Change(joint, what, parts, course, len(table.courses)))
    return tuple(found)


def changes_since(view: RowView) -> tuple[Suspect, ...]:
    """What may have changed before the rows were taken and stayed so: torque zeros, friction, gain, payload.

    Args:
        view: the rows and scenes of new logs.
    """
    asked = [
        (MOUNTED if what.name == MOUNTED.name else what, j)
        for what, j in _changeables(view)
        if not what.logs_only
    ]
    live = [(what, j, _live_parts(view, what, j)) for what, j in asked]
    return tuple(Change(j, what, parts, SINCE) for what, j, parts in live if parts)


def _changeables(view: RowView) -> Iterator[tuple[Changeable, int | None]]:
    several = len(view.names) > 1
    for what in OF_JOINT:
        if several or not what.logs_only:
            yield from ((what, j) for j in range(len(view.joints)))
    yield from ((what, None) for what in OF_ALL if len(view.joints) > 1 or what.name == "payload")


def _live_parts(view: RowView, what: Changeable, joint: int | None) -> tuple[tuple[str, str], ...]:
    """Parts whose columns differ from those of the parts before."""
    if len(what.parts) == 1 or joint is not None:
        return what.parts
    columns = [
        np.concatenate([what.column(scene, joint, part).ravel() for scene in view.scenes])
        for part, _ in what.parts
    ]
    live, basis = list[tuple[str, str]](), np.zeros((len(columns[0]), 0))
    for part, column in zip(what.parts, columns, strict=True):
        left = column - basis @ (basis.T @ column)
        if left @ left > CHANGES.live * (column @ column) > 0:
            live.append(part)
            basis = np.column_stack([basis, left / np.linalg.norm(left)])
    return tuple(live)


def _at_rows(view: RowView, change: Change) -> list[FloatArray | None]:
    """Columns of what changes at the rows of each joint, (rows, parts); None where they are zero."""
    made = [
        np.stack([change.what.column(scene, change.joint, part) for part, _ in change.parts], axis=2)
        for scene in view.scenes
    ]
    alone = change.joint is not None and not change.what.logs_only

    def rows_of(j: int) -> FloatArray:
        return view.signal(j, lambda scene: made[scene.number][:, j])

    return [None if alone and j != change.joint else rows_of(j) for j in range(len(view.joints))]


def _refine_moment(
    view: RowView, course: TimeCourse, fine: Timetable, columns: list[FloatArray | None]
) -> TimeCourse:
    """The course with the moment of its step found more finely."""
    if course.shape != "step":
        return course
    near = [k for k, c in enumerate(fine.courses) if c.shape == "step" and c.own == course.own]
    return fine.courses[near[int(np.argmax(fine.gains(view, columns)[near]))]]
