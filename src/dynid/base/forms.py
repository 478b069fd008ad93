"""Linear forms over the standard parameters, whose coefficients are polynomials in the named lengths."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from dynid.core.errors import NotTrustworthyError
from dynid.model.frozen import FrozenDict
from dynid.model.joint import LENGTHS, Joint
from dynid.model.robot import Robot

Monomial = tuple[str, ...]
"""Names in alphabetical order, repeated for powers: ("D3", "D3") is D3², () is 1."""
_JUNK = 1e-12
"""Coefficients below this are left over from cancellation."""
CLEAR_GAP = 1e4
"""Least ratio between what is kept and what is dropped for an answer to be trusted."""
REMEDY = "look for lengths or angles that are nearly but not quite zero, or friction laws that hardly differ"


@dataclass(frozen=True)
class Polynomial:
    """Σ coefficient × monomial, over real coefficients.

    Args:
        terms: coefficient of each monomial; absent monomials have coefficient zero.
    """

    terms: Mapping[Monomial, float]

    def __post_init__(self) -> None:
        """Drop the zeros left by cancellations."""
        kept = {m: float(c) for m, c in self.terms.items() if abs(c) > _JUNK}
        object.__setattr__(self, "terms", FrozenDict(kept))

    @classmethod
    def constant(cls, value: float) -> Polynomial:
        """A number."""
        return cls({(): value})

    @classmethod
    def variable(cls, name: str) -> Polynomial:
        """A named length."""
        return cls({(name,): 1.0})

    def __add__(self, other: Polynomial | float) -> Polynomial:
        """Sum."""
        terms = dict(self.terms)
        for monomial, value in polynomial(other).terms.items():
            terms[monomial] = terms.get(monomial, 0.0) + value
        return Polynomial(terms)

    __radd__ = __add__

    def __neg__(self) -> Polynomial:
        """Opposite."""
        return Polynomial({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Polynomial | float) -> Polynomial:
        """Difference."""
        return self + (-polynomial(other))

    def __rsub__(self, other: float) -> Polynomial:
        """Difference from a number."""
        return -self + other

    def __mul__(self, other: Polynomial | float) -> Polynomial:
        """Product."""
        terms: dict[Monomial, float] = {}
        for left, a in self.terms.items():
            for right, b in polynomial(other).terms.items():
                monomial = tuple(sorted(left + right))
                terms[monomial] = terms.get(monomial, 0.0) + a * b
        return Polynomial(terms)

    __rmul__ = __mul__

    def __bool__(self) -> bool:
        """Whether any term is left."""
        return bool(self.terms)

    def evaluate(self, lengths: Mapping[str, float]) -> float:
        """Value at given lengths [m]; a sum that cancels up to rounding is zero."""
        values = []
        for monomial, value in self.terms.items():
            for name in monomial:
                value *= lengths[name]
            values.append(value)
        total = sum(values)
        return total if abs(total) > _JUNK * sum(abs(value) for value in values) else 0.0


def polynomial(value: Polynomial | float) -> Polynomial:
    """A number or a polynomial as a polynomial."""
    return value if isinstance(value, Polynomial) else Polynomial.constant(value)


def joint_length(robot: Robot, joint: Joint, which: str) -> Polynomial | float:
    """A joint's length b, d or r as ± its name where the robot names it, else as a number [m]."""
    value = float(getattr(joint, which))
    named = _signed_name(robot, joint, which)
    if named is None:
        return value
    sign, name = named
    return sign * Polynomial.variable(name)


def _signed_name(robot: Robot, joint: Joint, which: str) -> tuple[float, str] | None:
    text = joint.symbols.get(which, "").replace(" ", "")
    sign, name = (-1.0, text[1:]) if text.startswith("-") else (1.0, text)
    # A length changed without its name would make a formula that lies; one of zero only makes it longer.
    if not robot.lengths.get(name) or not math.isclose(
        sign * robot.lengths[name], getattr(joint, which), rel_tol=1e-12, abs_tol=1e-15
    ):
        return None
    return sign, name


def used_lengths(robot: Robot) -> tuple[str, ...]:
    """Names of the lengths that place the robot's joints, in alphabetical order.

    None where loops close at points of their own, which have no names and would not follow a changed length.
    """
    if robot.closure is not None and robot.coupling is None:
        return ()
    found = {_signed_name(robot, joint, which) for joint in robot.joints for which in LENGTHS}
    return tuple(sorted({named[1] for named in found if named is not None}))


def with_lengths(robot: Robot, values: Mapping[str, float]) -> Robot:
    """The same robot with other values of its named lengths [m]."""
    lengths = {**robot.lengths, **values}
    joints = []
    for joint in robot.joints:
        changed: dict[str, float] = {}
        for which in LENGTHS:
            named = _signed_name(robot, joint, which)
            if named is not None:
                changed[which] = named[0] * lengths[named[1]]
        joints.append(replace(joint, **changed))  # type: ignore[arg-type]
    # A coupling found from loops holds for the lengths that its formulas name, as a given one does.
    return replace(robot, joints=tuple(joints), lengths=lengths, closure=None)


Form = dict[int, Polynomial]
"""A linear form over the standard parameters: coefficient by table index."""


@dataclass(frozen=True)
class Grouping:
    """Kept columns and how the others are regrouped into them.

    Args:
        columns: table indices of the kept columns.
        matrix: K (base, standard).
        gap: how clearly kept and dropped directions are apart.
        forms: rows of K with named lengths, or None where the method knows numbers only.
    """

    columns: tuple[int, ...]
    matrix: NDArray[np.float64]
    gap: float
    forms: tuple[Form, ...] | None = None


def require_clear(robot: Robot, gap: float) -> None:
    """Refuse a rank decision that another rounding could turn.

    Raises:
        NotTrustworthyError: when the gap between kept and dropped directions is small.
    """
    if gap < CLEAR_GAP:
        raise NotTrustworthyError(
            f"The base parameters of robot {robot.name!r} are not clear: the gap between kept and dropped "
            f"directions is {gap:.3g}, where at least {CLEAR_GAP:g} is asked for; {REMEDY}."
        )


def matrix_of(forms: Sequence[Form], width: int, lengths: Mapping[str, float]) -> NDArray[np.float64]:
    """K (base, standard) of linear forms at given lengths [m]."""
    K = np.zeros((len(forms), width))
    for row, form in enumerate(forms):
        for standard, coefficient in form.items():
            K[row, standard] = coefficient.evaluate(lengths)
    return K
