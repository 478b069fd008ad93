"""Defects that no small size describes: signs, swapped columns, units, gravity along another axis.

Each is undone on some samples of the logs and all joints are fitted together again. Where the log is right
they agree about as well as each of them agrees with itself; where a candidate mends it they do so again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations

import numpy as np

from dynid.core.arrays import BoolArray, FloatArray, svd
from dynid.core.finding import Finding, Level, Name
from dynid.dynamics.operations import NUMERIC
from dynid.dynamics.regressor import regressor
from dynid.model.joint import JointKind
from dynid.model.robot import Robot
from dynid.problem.problem import Problem


@dataclass(frozen=True)
class DiscreteRules:
    """When candidates are tried and told.

    Args:
        samples: of all logs together that are fitted.
        poor: misfit from which on the joints do not agree, and candidates are tried: 1 is as good as each
            joint alone.
        unexplained: share of the torque that a joint leaves alone, as a median, from which on they are tried
            too: no parameters explain such torques.
        mended: part of the misfit above 1 that a candidate may leave; half of all where the joints agree.
        alike: difference of what candidates leave, over the misfit above 1 as recorded, up to which physics
            decides between them.
        drop: squares that another gravity, or friction that would drive every joint, must explain, in those
            that a joint leaves alone: on 120 sound cases of the population (setting half) none explains more
            than 18; with gravity along a wrong axis it is 350 and more, or gravity is not seen at all.
        far: angle from the file's gravity from which on another one is gross [rad]; less is a tilt, a
            suspect with a size.
        axis: angle from an axis of the base below which gravity is taken to point along it [rad].
        steps: towards the gravity that fits best, at most.
        same: misfit of gravity upside down over that of the file's, up to which neither is told apart …
        seen: … where that without gravity is at least so many times as large.
        least: torques are not taken to be known better than this share of their spread.
        rank: singular value over the largest, columns at unit length, below which a direction is not used.
    """

    samples: int = 400
    poor: float = 1.15
    unexplained: float = 0.3
    mended: float = 0.4
    alike: float = 0.1
    drop: float = 100.0
    far: float = 0.6
    axis: float = 0.02
    steps: int = 8
    same: float = 1.01
    seen: float = 1.2
    least: float = 0.01
    rank: float = 1e-7


DISCRETE = DiscreteRules()


@dataclass(frozen=True, eq=False)
class Sampling:
    """Some samples of all logs, (samples, coordinates) each."""

    robot: Robot
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    tau: FloatArray

    @cached_property
    def columns(self) -> FloatArray:
        """Torques per unit of every standard parameter, (coordinates, samples, parameters)."""
        return self._columns_under(self.robot.gravity, (self.q, self.qd, self.qdd))

    @cached_property
    def gravity_columns(self) -> FloatArray:
        """The same of gravity of 1 m/s² along each axis of the base alone: (3, …)."""
        still = (self.q, np.zeros_like(self.q), np.zeros_like(self.q))
        none = self._columns_under((0.0, 0.0, 0.0), still)
        return np.stack([self._columns_under(tuple(axis), still) - none for axis in np.eye(3).tolist()])

    def with_gravity(self, direction: FloatArray) -> Sampling:
        """Another gravity [m/s²]; columns are linear in it, so that the physics is not evaluated again."""
        made = replace(self, robot=self.robot.with_gravity(*(float(g) for g in direction)))
        change = np.asarray(direction) - np.array(self.robot.gravity)
        made.__dict__["columns"] = self.columns + np.tensordot(change, self.gravity_columns, axes=1)
        made.__dict__["gravity_columns"] = self.gravity_columns
        return made

    def _columns_under(
        self, gravity: Sequence[float], state: tuple[FloatArray, FloatArray, FloatArray]
    ) -> FloatArray:
        q, qd, qdd = (list(x.T) for x in state)
        made = np.zeros((self.q.shape[1], len(self.q), len(self.robot.table)))
        for k, column in enumerate(regressor(self.robot.with_gravity(*gravity), q, qd, qdd, NUMERIC)):
            for j, torque in enumerate(column):
                made[j, :, k] = np.asarray(torque, dtype=float)
        return made

    def with_scale(self, joints: Sequence[int], scale: float) -> Sampling:
        """Positions, speeds and accelerations of some joints times a factor."""
        by = np.ones(self.q.shape[1])
        by[list(joints)] = scale
        return Sampling(self.robot, self.q * by, self.qd * by, self.qdd * by, self.tau)

    def with_order(self, order: Sequence[int], states: bool = False) -> Sampling:
        """Torques, or positions, in another order of the axes."""
        chosen = list(order)
        if not states:
            return replace(self, tau=self.tau[:, chosen])
        return replace(self, q=self.q[:, chosen], qd=self.qd[:, chosen], qdd=self.qdd[:, chosen])

    @cached_property
    def weights(self) -> tuple[FloatArray, float]:
        """One over what each joint leaves alone, (coordinates,), and its share of the torque as a median."""
        spread = np.std(self.tau, axis=0)
        floor = np.maximum(self.left_alone(), DISCRETE.least * spread)
        shares = np.divide(floor, spread, out=np.zeros_like(floor), where=spread > 0)
        return np.where(spread > 0, 1.0 / np.where(floor > 0, floor, 1.0), 0.0), float(np.median(shares))

    def left_alone(self) -> FloatArray:
        """RMS of what each joint leaves when it alone chooses all parameters, (coordinates,)."""
        pairs = zip(self.columns, self.tau.T, strict=True)
        return np.asarray([_solve(W, y)[1] / np.sqrt(len(self.q)) for W, y in pairs])

    @property
    def _rubs(self) -> BoolArray:
        """Which parameters are friction that takes power, (parameters,)."""
        return np.array([entry.family == "friction" and entry.symbol != "off" for entry in self.robot.table])

    def friction_squares(self, weights: FloatArray) -> float:
        """Squares that friction explains beside all else, in those that a joint leaves alone."""
        W, y = self.stacked(weights)
        return _solve(W[:, ~self._rubs], y)[1] ** 2 - _solve(W, y)[1] ** 2

    def stacked(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Weighted columns and torques of all joints, one below the other."""
        stack = (self.columns * weights[:, None, None]).reshape(-1, self.columns.shape[2])
        return stack, (self.tau * weights).T.reshape(-1)

    def agreement(self, weights: FloatArray) -> tuple[float, int]:
        """RMS of what all joints together leave, and the number of joints that friction would drive.

        Args:
            weights: one over what each joint leaves alone, (coordinates,).
        """
        values, left = _solve(*self.stacked(weights))
        rubs = self._rubs
        power = np.einsum("sj,jsk,k->j", self.qd, self.columns[:, :, rubs], values[rubs])
        return left / float(np.sqrt(self.tau.size)), int(np.count_nonzero(power < 0))


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


_ALL_REVERSED = Candidate(
    "reversed torques",
    (),
    Name.REVERSED_SIGN,
    "all torques or all positions have the wrong sign: friction would drive every joint",
    "Turn the signs of the torques in the mapping.",
)


def discrete_suspects(problem: Problem) -> tuple[Candidate, ...]:
    """Candidates that make joints agree which do not, the best first; none where they agree as recorded.

    Torques that are all reversed agree as well: there only friction tells, which must not drive every joint.

    Args:
        problem: with motions.
    """
    sampling = sampling_of(problem)
    weights, explained = sampling.weights
    before, driven = sampling.agreement(weights)
    if driven == len(weights) and sampling.friction_squares(weights) > DISCRETE.drop:
        # Every friction would drive, and more than chance would make it: all signs together are wrong.
        return (replace(_ALL_REVERSED, misfit=before, before=before),)
    agree = before < DISCRETE.poor and explained < DISCRETE.unexplained
    most = 1.0 + DISCRETE.mended * (before - 1.0) if before >= DISCRETE.poor else 0.5
    least = np.sqrt(max(before**2 - DISCRETE.drop / sampling.tau.size, 0.0))
    found = []
    for candidate, mended in _gravities(sampling) if agree else _candidates(sampling):
        misfit, driven = mended.agreement(_carried(weights, candidate))
        if misfit < (least if candidate.finding is Name.GRAVITY_DIRECTION else most):
            found.append(replace(candidate, misfit=misfit, driven=driven, before=before))
    alike = min((one.misfit for one in found), default=1.0) + DISCRETE.alike * (before - 1.0)
    return tuple(sorted(found, key=lambda one: (one.misfit > alike, one.driven, one.misfit)))


def gravity_either_way(problem: Problem) -> Finding | None:
    """A note where gravity upside down explains the torques as well, and gravity is seen at all.

    Args:
        problem: with motions.
    """
    sampling, given = sampling_of(problem), np.array(problem.robot.gravity)
    if not np.any(given):
        return None
    ways = [sampling.with_gravity(k * given) for k in (1, -1, 0)]
    own, upside_down, none = (way.agreement(sampling.weights[0])[0] for way in ways)
    if upside_down > DISCRETE.same * own or none < DISCRETE.seen * own:
        return None
    shown = ", ".join(f"{g:.2f}" for g in 0.0 - given)
    return Finding(
        Name.GRAVITY_DIRECTION,
        Level.NOTE,
        f"Gravity along ({shown}) m/s² explains the torques as well as the robot file's: "
        "the log cannot tell.",
        "Make sure how the robot is mounted; the other way round first moments change their signs.",
    )


def _carried(weights: FloatArray, candidate: Candidate) -> FloatArray:
    """Weights of the joints; swapped torques take theirs along."""
    if not candidate.key.startswith("swapped torques"):
        return weights
    j, k = candidate.joints
    swapped = weights.copy()
    swapped[[j, k]] = weights[[k, j]]
    return swapped


def _candidates(sampling: Sampling) -> Iterator[tuple[Candidate, Sampling]]:
    """Each candidate with the samples as they would be without it."""
    yield from _signs(sampling)
    yield from _units(sampling)
    yield from _swaps(sampling)
    yield from _gravities(sampling)


def _signs(sampling: Sampling) -> Iterator[tuple[Candidate, Sampling]]:
    turn = "Turn the sign of its {} in the mapping, or of its gear ratio."
    for j in range(sampling.q.shape[1]):
        sign = np.where(np.arange(sampling.q.shape[1]) == j, -1.0, 1.0)
        for what in ("torque", "position"):
            words, remedy = f"has its {what} reversed", turn.format(what)
            mended = (
                replace(sampling, tau=sampling.tau * sign)
                if what == "torque"
                else sampling.with_scale([j], -1.0)
            )
            yield _of_joint(f"reversed {what}", j, Name.REVERSED_SIGN, words, remedy), mended


def _units(sampling: Sampling) -> Iterator[tuple[Candidate, Sampling]]:
    """Degrees for radians, on one joint and on all."""
    robot = sampling.robot
    kinds = [robot.joints[c].kind for c in robot.coordinates]
    turning = [j for j, kind in enumerate(kinds) if kind is JointKind.REVOLUTE]
    remedy = 'Say unit = "deg" of the positions in the mapping.'
    for j in turning:
        candidate = _of_joint("degrees", j, Name.POSITION_UNIT, "is in degrees", remedy)
        yield candidate, sampling.with_scale([j], float(np.pi / 180.0))
    if len(turning) != 1:
        whole = Candidate("degrees", (), Name.POSITION_UNIT, "positions are in degrees", remedy)
        yield whole, sampling.with_scale(turning, float(np.pi / 180.0))


def _swaps(sampling: Sampling) -> Iterator[tuple[Candidate, Sampling]]:
    n = sampling.q.shape[1]
    for j, k in combinations(range(n), 2):
        order = list(range(n))
        order[j], order[k] = k, j
        both = f"of joint {j + 1} and joint {k + 1}"
        for what in ("torques", "positions"):
            candidate = Candidate(
                f"swapped {what}@{j + 1}-{k + 1}",
                (j, k),
                Name.SWAPPED_AXES,
                f"the {what} {both} are swapped",
                f"Swap the {what} {both} in the mapping.",
            )
            yield candidate, sampling.with_order(order, what == "positions")


def _of_joint(name: str, joint: int, finding: Name, words: str, remedy: str) -> Candidate:
    return Candidate(f"{name}@{joint + 1}", (joint,), finding, f"joint {joint + 1} {words}", remedy)


def _gravities(sampling: Sampling) -> Iterator[tuple[Candidate, Sampling]]:
    """No gravity, and the one that fits best if it is far from the file's.

    A single joint agrees with itself under any gravity: there a weight or counterbalance looks the same.
    """
    given, weights = np.array(sampling.robot.gravity), sampling.weights[0]
    if np.count_nonzero(weights) < 2:
        return
    size = float(np.linalg.norm(given)) or 9.81
    starts = [*(sign * size * np.eye(3)[k] for k in range(3) for sign in (1.0, -1.0))]
    best = min(starts, key=lambda way: sampling.with_gravity(way).agreement(weights)[0])
    found = follow_gravity(sampling, weights, best)
    near = _angle(found, best) < DISCRETE.axis
    ways = [best if near else found, np.zeros(3)]
    for way in ways:
        if np.any(given) and np.any(way) and _angle(way, given) < DISCRETE.far:
            continue
        if np.allclose(way, given):
            continue
        shown = ", ".join(f"{g:.3g}" for g in way + 0.0)
        yield (
            Candidate(
                f"gravity [{shown}]",
                (),
                Name.GRAVITY_DIRECTION,
                f"gravity is [{shown}] m/s²",
                f"Check how the robot is mounted; say gravity = [{shown}] in the robot file if it is so.",
                gravity=(float(way[0]), float(way[1]), float(way[2])),
            ),
            sampling.with_gravity(way),
        )


def follow_gravity(sampling: Sampling, weights: FloatArray, start: FloatArray) -> FloatArray:
    """The direction of gravity that fits best, from a start on, of the same size [m/s²], (3,).

    Gauss–Newton over the two directions across g with the parameters χ eliminated: torques W(g) χ are linear
    in g, so that ∂f/∂g_k = G_k χ.

    Args:
        sampling: samples of the motion.
        weights: of the joints.
        start: gravity to start from.
    """
    direction, size = start, float(np.linalg.norm(start))
    values, left = _solve(*sampling.with_gravity(direction).stacked(weights))
    for _ in range(DISCRETE.steps):
        W, y = sampling.with_gravity(direction).stacked(weights)
        across = svd(direction[None])[2][1:]
        turned = np.tensordot(across, sampling.gravity_columns, axes=1) @ values
        S, Q = (turned * weights[:, None]).reshape(2, -1).T, _basis(W)
        step = np.linalg.lstsq(S - Q @ (Q.T @ S), y - W @ values, rcond=DISCRETE.rank)[0] @ across
        step *= min(1.0, size / max(float(np.linalg.norm(step)), 1e-300))  # at most by 45°
        before = direction
        for share in (1.0, 0.5, 0.25, 0.1):
            moved = before + share * step
            moved *= size / float(np.linalg.norm(moved))
            tried, misfit = _solve(*sampling.with_gravity(moved).stacked(weights))
            if misfit < left:
                direction, values, left = moved, tried, misfit
                break
        if _angle(direction, before) < 0.1 * DISCRETE.axis:
            break
    return direction


def _angle(one: FloatArray, other: FloatArray) -> float:
    """Angle between two vectors [rad]."""
    cosine = float(one @ other) / max(float(np.linalg.norm(one) * np.linalg.norm(other)), 1e-300)
    return float(np.arccos(np.clip(cosine, -1.0, 1.0)))


def _basis(W: FloatArray) -> FloatArray:
    """An orthonormal basis of columns, those below rounding left out."""
    sizes = np.linalg.norm(W, axis=0)
    U, s, _ = svd(W[:, sizes > 0] / sizes[sizes > 0], full_matrices=False)
    return np.asarray(U[:, s > DISCRETE.rank * s.max(initial=0.0)])


def sampling_of(problem: Problem) -> Sampling:
    """Even samples of all motions."""
    assert problem.motions is not None
    step = max(1, sum(motion.samples for motion in problem.motions) // DISCRETE.samples)
    parts = [[np.asarray(x[step // 2 :: step]) for x in (m.q, m.qd, m.qdd, m.tau)] for m in problem.motions]
    return Sampling(problem.robot, *(np.concatenate(column) for column in zip(*parts, strict=True)))


def _solve(W: FloatArray, y: FloatArray) -> tuple[FloatArray, float]:
    """Parameters of least norm at unit columns, and the norm of what the columns do not explain."""
    sizes, values = np.linalg.norm(W, axis=0), np.zeros(W.shape[1])
    used = sizes > 0
    if not np.any(used):
        return values, float(np.linalg.norm(y))
    R = np.asarray(np.linalg.qr(np.column_stack([W[:, used] / sizes[used], y]), mode="r"))
    U, s, Vt = svd(R[:, :-1], full_matrices=False)
    kept = s > DISCRETE.rank * s[0]
    seen = U[:, kept].T @ R[:, -1]
    values[used] = (Vt[kept].T @ (seen / s[kept])) / sizes[used]
    return values, float(np.linalg.norm(R[:, -1] - U[:, kept] @ seen))
