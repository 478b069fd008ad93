"""Does new motion leave the speeds, loads and positions at which added terms were learnt?"""

from __future__ import annotations

from collections.abc import Sequence

from dynid.base.base_map import BaseMap
from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name, Where
from dynid.estimators.estimate import Further
from dynid.estimators.linear.augmented import load_torques, needs_load
from dynid.estimators.linear.terms import Slot, slots_of
from dynid.preparation.motion import Motion

_BEYOND = 0.2
"""Share of the range of a signal by which new motion must leave it before a word is said: a formula that
holds within a range does so a little outside too."""
_WORDS = {
    "q": ("positions", "rad"),
    "qd": ("speeds", "rad/s"),
    "qdd": ("accelerations", "rad/s^2"),
    "tau": ("torques", "N m"),
    "load": ("loads", "N m"),
}


def beyond_terms(
    base: BaseMap, values: FloatArray, further: Further | None, motions: Sequence[Motion]
) -> tuple[Finding, ...]:
    """A note per added term whose signals go well beyond those of the fit.

    Args:
        base: base parameters of the robot.
        values: of the model, (base,).
        further: its terms, which know their ranges; None when there are none.
        motions: new ones, held in memory.
    """
    if further is None or not further.ranges or any(motion.on_disk for motion in motions):
        return ()
    loaded = needs_load(further.terms)
    loads = [load_torques(base, values, m) if loaded else None for m in motions]
    slots = slots_of(base.robot, further.terms)
    found = []
    for slot, learnt in zip(slots, further.ranges, strict=True):
        new = slot.ranges(motions, loads)
        for name, (low, high) in learnt.items():
            margin = _BEYOND * (high - low)
            if new[name][0] < low - margin or new[name][1] > high + margin:
                found.append(_note_beyond(slot, name, (low, high), new[name]))
    return tuple(found)


def _note_beyond(slot: Slot, signal: str, learnt: tuple[float, float], new: tuple[float, float]) -> Finding:
    what, unit = _WORDS[signal]
    own = slot.own_unit(unit)
    return Finding(
        Name.BEYOND_TERMS,
        Level.NOTE,
        f"The {what} of joint {slot.joint + 1} reach from {new[0]:.3g} to {new[1]:.3g} {own}, and the term "
        f"{slot.coefficient} ({slot.term.words or slot.term.expression}) was learnt from {learnt[0]:.3g} to "
        f"{learnt[1]:.3g}: beyond, its formula is a guess.",
        "Fit with motion that reaches as far, or leave the term out.",
        Where(axis=slot.joint + 1, parameter=slot.coefficient),
        {"learnt": list(learnt), "reached": list(new)},
    )
