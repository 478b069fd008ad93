"""A defect that no small size describes, and that makes the joints agree when it is undone."""

from __future__ import annotations

from dataclasses import dataclass

from dynid.core.finding import Name


@dataclass(frozen=True)
class Candidate:
    """A defect that, undone, makes the joints agree.

    Args:
        key: name and joints, such as ``reversed torque@2``.
        joints: concerned, from 0; none where it is the whole robot.
        finding: name of the finding that tells it.
        words: what is wrong, as a clause.
        remedy: what to do, in a sentence.
        misfit: what all joints together leave with it undone, over what each leaves alone …
        driven: … and joints that friction would drive then: of reversed signs that fit alike, the one is
            right that leaves none.
        before: the same as recorded.
        gravity: that it takes to be the true one [m/s²]; None where it is about something else.
        turned: angle of that from the robot file's [rad].
    """

    key: str
    joints: tuple[int, ...]
    finding: Name
    words: str
    remedy: str
    misfit: float = 1.0
    driven: int = 0
    before: float = 1.0
    gravity: tuple[float, float, float] | None = None
    turned: float = 0.0
