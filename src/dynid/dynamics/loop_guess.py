"""Where the loops of a robot close, and a formula near the closed positions, where Newton steps start."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from math import inf, isinf, pi

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import ModelError
from dynid.dynamics.algebra import Scalar, add, dot, mul, sub
from dynid.dynamics.closure import LoopGroup, loop_groups, newton_step
from dynid.dynamics.operations import NUMERIC, Operations
from dynid.model.continuation import SINGULAR, close_loops, singular_values
from dynid.model.joint import Joint, JointKind
from dynid.model.loop import Closure
from dynid.model.robot import Robot

_EXACT = 1e-13
"""Largest change that one more Newton step makes [rad or m]: rounding, so that derivatives are exact too."""
_SAME_BRANCH = 1e-8
"""Largest distance from the position found by continuation [rad or m]; branches are σ apart."""
_BASIN = 0.25
"""Largest error of the guess beside the smallest singular value: Newton steps from there keep the branch."""
_STEPS = (3, 5)
"""Newton steps tried: three make 1e-11 of an error of 0.04, and more only serve loops near a singularity."""
_MOST_TERMS = 300
"""Terms of a guess; more make kernels slower than further steps would."""
_POINTS = 300
"""Positions of the domain that are fitted, and as many that are not."""
_MARGINS = (0.1, 0.03, 0.01, 1e-9)
"""Shares of the range of a coordinate beyond its limits that are tried: logs overshoot, and so do rounded
limits."""
_FIRM = 0.2
"""Least singular value beside that of the start in a range that is found and not given: close to a
singularity joints move as roots, which no polynomial follows."""
_SHRINKS = 7
"""Halvings in the search for the largest range, and how many more there are while none closes: limits that
are degrees, taken for radians, are 57 times too wide."""


@dataclass(frozen=True)
class LoopGuess:
    """Positions of the dependent joints of a group as sums of products of simple functions of coordinates.

    A coordinate with a range has Chebyshev polynomials T_k of ξ = (q − centre)/half; one that turns freely
    has cos kq and sin kq, and the dependent joints may turn with it.

    Args:
        group: the loops.
        ranges: lower and upper bound of each coordinate of the group; infinite where it turns freely.
        terms: for each term, the number of the function of each coordinate, in the order 1, T₁, T₂ … or
            1, cos q, sin q, cos 2q, sin 2q ….
        coefficients: for each dependent joint, one per term.
        turns: for each dependent joint, its turns per turn of each coordinate.
        steps: Newton steps that follow.
    """

    group: LoopGroup
    ranges: tuple[tuple[float, float], ...]
    terms: tuple[tuple[int, ...], ...]
    coefficients: tuple[tuple[float, ...], ...]
    turns: tuple[tuple[float, ...], ...]
    steps: int

    def positions(self, q: Mapping[int, Scalar], ops: Operations) -> dict[int, Scalar]:
        """Positions of the group's joints before any Newton step.

        Args:
            q: positions of the coordinates by joint.
            ops: elementary functions of the scalar type.
        """
        own = [q[j] for j in self.group.coordinates]
        highest = [max((term[i] for term in self.terms), default=0) for i in range(len(own))]
        values = [_functions(x, *r, n, ops) for x, r, n in zip(own, self.ranges, highest, strict=True)]
        products = []
        for term in self.terms:
            value: Scalar = 1.0
            for functions, number in zip(values, term, strict=True):
                value = mul(value, functions[number])
            products.append(value)
        result = dict(zip(self.group.coordinates, own, strict=True))
        for j, row, turns in zip(self.group.dependent, self.coefficients, self.turns, strict=True):
            result[j] = add(dot(row, products), dot(turns, own))
        return result

    def inside(self, q: Mapping[int, Scalar]) -> list[Scalar]:
        """Scalars that are positive where the coordinates are within their ranges."""
        bounded = [
            (q[j], low, high)
            for j, (low, high) in zip(self.group.coordinates, self.ranges, strict=True)
            if not isinf(low)
        ]
        return [mul(sub(x, low), sub(high, x)) for x, low, high in bounded]

    def closed_positions(
        self, joints: Sequence[Joint], q: Mapping[int, Scalar], ops: Operations
    ) -> dict[int, Scalar]:
        """Positions of the group's joints after the Newton steps."""
        positions = self.positions(q, ops)
        for _ in range(self.steps):
            positions = newton_step(joints, self.group, positions, ops)
        return positions


def _functions(x: Scalar, low: float, high: float, highest: int, ops: Operations) -> list[Scalar]:
    """Functions 0 … highest of one coordinate."""
    values: list[Scalar] = [1.0]
    if isinf(low):
        c, s = ops.cos(x), ops.sin(x)
        pair: tuple[Scalar, Scalar] = (c, s)
        while len(values) <= highest:
            values += pair
            pair = (sub(mul(pair[0], c), mul(pair[1], s)), add(mul(pair[1], c), mul(pair[0], s)))
        return values[: highest + 1]
    xi = mul(2.0 / (high - low), sub(x, 0.5 * (low + high)))
    values.append(xi)
    while len(values) <= highest:
        values.append(sub(mul(2.0, mul(xi, values[-1])), values[-2]))
    return values[: highest + 1]


def closed_ranges(robot: Robot) -> dict[int, tuple[float, float]]:
    """Ranges of coordinates, by joint, within which the loops of a robot close; those that are bounded.

    Args:
        robot: the robot; none have ranges where it has no loops, or only such as amount to a coupling.
    """
    ranges: dict[int, tuple[float, float]] = {}
    if robot.closure is None or robot.coupling is not None:
        return ranges
    for group in loop_groups(robot.joints, robot.closure):
        own = loop_guess(robot.joints, robot.closure, group).ranges
        for j, (low, high) in zip(group.coordinates, own, strict=True):
            if not isinf(low):
                before = ranges.get(j, (low, high))
                ranges[j] = (max(low, before[0]), min(high, before[1]))
    return ranges


# ── the fit of a guess ────────────────────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=64)
def loop_guess(joints: tuple[Joint, ...], closure: Closure, group: LoopGroup) -> LoopGuess:
    """The guess of a group of loops, fitted to positions found by continuation and verified at others.

    Args:
        joints: joints of the robot.
        closure: loops, as the robot holds them.
        group: one of their groups.

    Raises:
        ModelError: when the loops do not close within the limits of the coordinates, or no guess serves.
    """
    branch = _Branch(joints, closure, group)
    ranges = branch.domain()
    rng = np.random.default_rng(_POINTS)
    n = len(group.coordinates)
    fitted = branch.points(ranges, np.cos(pi * rng.random((_POINTS, n))))
    others = np.vstack([_corners(n), rng.uniform(-1.0, 1.0, (_POINTS, n))])
    verified = branch.points(ranges, others)
    points, p = np.vstack([fitted, verified]), branch.follow(np.vstack([fitted, verified]))
    singular = float(np.nan_to_num(branch.singular(points)).min(initial=1.0))
    turns = branch.turns(ranges)
    split = len(fitted)
    for steps in _STEPS if n else (0,):
        for degree in range(1, 64):
            terms = _terms(ranges, degree)
            if len(terms) > min(_MOST_TERMS, split // 2) and degree > 1:
                break
            if singular == 0.0:  # points off the branch, which the search for the range has missed
                break
            guess = _fitted_guess(group, ranges, terms, turns, steps, points[:split], p[:split])
            if _serves(guess, joints, points, p, _BASIN * singular):
                return guess
    raise ModelError(
        f"No formula follows the joints of loop {group.cuts[0].name!r} over the whole range of its "
        f"coordinates{branch.firm_words()}. Limit their range to what is used, away from singularities."
    )


@dataclass(frozen=True)
class _Branch:
    """The closed positions of one group of loops, all other joints at the start."""

    joints: tuple[Joint, ...]
    closure: Closure
    group: LoopGroup

    @property
    def movable(self) -> list[int]:
        return [j for j, joint in enumerate(self.joints) if joint.movable]

    @property
    def own(self) -> Closure:
        """The group alone: joints that follow in other groups are held."""
        held = [i for i, j in enumerate(self.movable) if j not in self.group.dependent]
        return Closure(self.group.cuts, tuple(held), self.closure.start)

    @property
    def start(self) -> FloatArray:
        return np.array([self.closure.start[self.movable.index(j)] for j in self.group.coordinates])

    def _all_positions(self, points: FloatArray, least: float = SINGULAR) -> FloatArray:
        """All movable joints (samples, movable) at coordinates of the group; NaN off the branch."""
        own, movable = self.own, self.movable
        targets = np.tile([self.closure.start[i] for i in own.coordinates], (len(points), 1))
        for k, j in enumerate(self.group.coordinates):
            targets[:, own.coordinates.index(movable.index(j))] = points[:, k]
        return close_loops(self.joints, own, targets, least)

    def follow(self, points: FloatArray) -> FloatArray:
        """Dependent joints of the group (samples, dependent) at its coordinates; NaN off the branch."""
        return self._all_positions(points)[:, [self.movable.index(j) for j in self.group.dependent]]

    def singular(self, points: FloatArray) -> FloatArray:
        """Smallest scaled singular value of Jₚ (samples,)."""
        return singular_values(self.joints, self.own, self._all_positions(points))

    @property
    def firm(self) -> float:
        """Least singular value in ranges that are found and not given."""
        return _FIRM * float(self.singular(self.start[None])[0])

    def points(self, ranges: Sequence[tuple[float, float]], unit: FloatArray) -> FloatArray:
        """Coordinates (samples, coordinates) from numbers between −1 and 1."""
        low, high = np.array([_one_turn(r) for r in ranges]).reshape(-1, 2).T
        return np.asarray(0.5 * (low + high) + 0.5 * (high - low) * unit)

    def turns(self, ranges: Sequence[tuple[float, float]]) -> FloatArray:
        """Turns of the dependent joints per turn of each coordinate that turns freely, whole numbers."""
        n = len(self.group.coordinates)
        targets = self.start + 2 * pi * np.diag([float(isinf(low)) for low, _ in ranges]).reshape(n, n)
        return np.round((self.follow(targets) - self.follow(np.tile(self.start, (n, 1)))) / (2 * pi)).T + 0.0

    def closes(self, ranges: Sequence[tuple[float, float]], least: float = SINGULAR) -> bool:
        """Whether the loops close at the corners of the ranges and at points within, off singularities."""
        n = len(ranges)
        inner = np.random.default_rng(n).uniform(-1.0, 1.0, (150 * n, n))
        points = self.points(ranges, np.vstack([_corners(n), inner]))
        return bool(np.isfinite(self._all_positions(points, least)).all())

    def domain(self) -> tuple[tuple[float, float], ...]:
        """Ranges of the coordinates: their limits with a margin, or as far as the loops close."""
        wanted, given = self._wanted_ranges()
        if not wanted:
            return ()
        if self.closes(wanted, SINGULAR if all(given) else self.firm):
            return self._with_margin(wanted, given)
        found = None if all(given) else self._largest(wanted, given)
        if found is None and any(given):
            raise ModelError(
                f"The loop {self.group.cuts[0].name!r} cannot be closed everywhere within the limits of its "
                f"coordinates{self.firm_words()}. Limit their range, or check the lengths and the start."
            )
        if found is None:
            raise ModelError(
                f"The loop {self.group.cuts[0].name!r} is singular next to its start; start elsewhere."
            )
        return found

    def _wanted_ranges(self) -> tuple[list[tuple[float, float]], list[bool]]:
        """Limits of the coordinates, a free turn where there are none, and whether limits are given."""
        wanted, given = [], []
        for j, x in zip(self.group.coordinates, self.start, strict=True):
            limits, turning = self.joints[j].limits, self.joints[j].kind is JointKind.REVOLUTE
            free = isinf(limits.lower) and isinf(limits.upper)
            reach = 2 * pi if turning else 10.0  # [rad], [m]: more than any loop leaves free
            low = x - reach if isinf(limits.lower) else limits.lower
            high = x + reach if isinf(limits.upper) else limits.upper
            wanted.append((-inf, inf) if free and turning else (low, high))
            given.append(not (isinf(limits.lower) or isinf(limits.upper)))
        return wanted, given

    def _with_margin(
        self, wanted: list[tuple[float, float]], given: list[bool]
    ) -> tuple[tuple[float, float], ...]:
        for margin in _MARGINS:
            wider = tuple(
                (low - margin * (high - low), high + margin * (high - low)) if held else (low, high)
                for (low, high), held in zip(wanted, given, strict=True)
            )
            if not any(given) or self.closes(wider):
                return wider
        return tuple(wanted)

    def _largest(
        self, wanted: list[tuple[float, float]], held: Sequence[bool]
    ) -> tuple[tuple[float, float], ...] | None:
        """Ranges around the start, all shortened by one factor but those that are held, or None."""
        best, low, high = None, 0.0, 1.0
        for halvings in range(2 * _SHRINKS):
            if halvings >= _SHRINKS and best is not None and high - low < low / _SHRINKS:
                break
            share = 0.5 * (low + high)
            ranges = tuple(
                one
                if keep
                else (x - share * (x - _one_turn(one, x)[0]), x + share * (_one_turn(one, x)[1] - x))
                for one, x, keep in zip(wanted, self.start, held, strict=True)
            )
            if self.closes(ranges, self.firm):
                best, low = ranges, share
            else:
                high = share
        return best

    def firm_words(self) -> str:
        """Ranges of the coordinates in which the loops are held firmly, as a clause; empty when none are."""
        wanted, given = self._wanted_ranges()
        found = self._largest(wanted, [False] * len(given))
        if found is None:
            return ""
        rows = [
            f"{self.joints[j].name} {low:.4g} to {high:.4g}"
            for j, (low, high) in zip(self.group.coordinates, found, strict=True)
        ]
        return f"; it closes firmly within {', '.join(rows)}"


def _one_turn(r: tuple[float, float], start: float = 0.0) -> tuple[float, float]:
    return (start - pi, start + pi) if isinf(r[0]) else r


def _corners(n: int) -> FloatArray:
    """All corners of a box for few coordinates, some for many."""
    return np.array(list(product((-1.0, 1.0), repeat=min(n, 8)))).reshape(-1, min(n, 8)) @ np.eye(
        min(n, 8), n
    )


def _terms(ranges: Sequence[tuple[float, float]], degree: int) -> tuple[tuple[int, ...], ...]:
    """Products of functions whose degrees add up to no more than a degree."""
    if not ranges:
        return ((),)
    orders = [
        [(k + 1) // 2 if isinf(low) else k for k in range(1 + (2 * degree if isinf(low) else degree))]
        for low, _ in ranges
    ]
    result: list[tuple[tuple[int, ...], int]] = [((), 0)]
    for own in orders:
        result = [
            ((*term, k), used + order)
            for term, used in result
            for k, order in enumerate(own)
            if used + order <= degree
        ]
    return tuple(term for term, _ in result)


def _fitted_guess(
    group: LoopGroup,
    ranges: tuple[tuple[float, float], ...],
    terms: tuple[tuple[int, ...], ...],
    turns: FloatArray,
    steps: int,
    points: FloatArray,
    p: FloatArray,
) -> LoopGuess:
    """Least squares on positions of the branch."""
    turning = tuple(map(tuple, turns.tolist()))
    design = np.empty((len(points), len(terms)))
    columns = list(points.T)
    values = [
        _functions(x, *r, max(term[i] for term in terms), NUMERIC)
        for i, (x, r) in enumerate(zip(columns, ranges, strict=True))
    ]
    for k, term in enumerate(terms):
        design[:, k] = 1.0
        for functions, number in zip(values, term, strict=True):
            design[:, k] *= functions[number]
    rest = p - points @ turns.T
    found = np.linalg.lstsq(design, rest, rcond=None)[0]
    return LoopGuess(group, ranges, terms, tuple(map(tuple, found.T.tolist())), turning, steps)


def _serves(
    guess: LoopGuess, joints: Sequence[Joint], points: FloatArray, p: FloatArray, basin: float
) -> bool:
    """Whether the guess is near enough everywhere, and its Newton steps end on the branch."""
    q = dict(zip(guess.group.coordinates, points.T, strict=True))
    before, after = guess.positions(q, NUMERIC), guess.closed_positions(joints, q, NUMERIC)
    further = newton_step(joints, guess.group, after, NUMERIC)
    own = dict(zip(guess.group.dependent, p.T, strict=True))
    return (
        _distance(before, own) < basin
        and _distance(after, own) < _SAME_BRANCH
        and _distance(after, {j: further[j] for j in own}) < _EXACT
    )


def _distance(found: Mapping[int, Scalar], own: Mapping[int, Scalar]) -> float:
    return max((float(np.abs(found[j] - x).max()) for j, x in own.items()), default=0.0)
