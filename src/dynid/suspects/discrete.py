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

from dynid.core.arrays import FloatArray, svd
from dynid.core.finding import Finding, Level, Name
from dynid.dynamics.algebra import Scalar
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
        drop: squares that another gravity must explain, in those that a joint leaves alone: on 120 sound
            cases of the population (setting half) none explains more than 18; with gravity along a wrong axis
            it is 350 and more, or gravity is not seen at all.
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
    same: float = 1.01
    seen: float = 1.2
    least: float = 0.01
    rank: float = 1e-7


DISCRETE = DiscreteRules()
GRAVITY = ("M", "MX", "MY", "MZ")
"""Parameters of a link that gravity pulls at."""


@dataclass(frozen=True, eq=False)
class Sampling:
    """Some samples of all logs, (samples, coordinates) each."""

    robot: Robot
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    tau: FloatArray
    columns: FloatArray
    """Torques per unit of every standard parameter, (coordinates, samples, parameters)."""

    @cached_property
    def with_weight(self) -> list[int]:
        """Numbers of the parameters that gravity pulls at."""
        return [k for k, entry in enumerate(self.robot.table) if entry.symbol in GRAVITY]

    @cached_property
    def of_gravity(self) -> FloatArray:
        """What gravity has of their columns, per m/s² along each axis, (3, coordinates, samples, those)."""
        still = [0.0] * self.q.shape[1]
        ways = [self.robot.with_gravity(*way) for way in np.eye(3)]
        return np.stack([_columns(robot, self.q.T, still, still, self.with_weight) for robot in ways])

    def with_gravity(self, way: FloatArray) -> Sampling:
        """The columns of the robot mounted in another way."""
        columns, turned = self.columns.copy(), way - np.array(self.robot.gravity)
        columns[:, :, self.with_weight] += np.tensordot(turned, self.of_gravity, axes=1)
        return replace(self, columns=columns)

    def with_scale(self, joints: Sequence[int], scale: float) -> Sampling:
        """Positions, speeds and accelerations of some joints times a factor."""
        by = np.ones(self.q.shape[1])
        by[list(joints)] = scale
        return _with_columns(self.robot, self.q * by, self.qd * by, self.qdd * by, self.tau)

    def with_order(self, order: Sequence[int], states: bool = False) -> Sampling:
        """Torques, or positions, in another order of the axes."""
        chosen = list(order)
        if not states:
            return replace(self, tau=self.tau[:, chosen])
        q, qd, qdd = (x[:, chosen] for x in (self.q, self.qd, self.qdd))
        return _with_columns(self.robot, q, qd, qdd, self.tau)

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

    @cached_property
    def agreement_as_recorded(self) -> tuple[float, int]:
        """``agreement`` with the weights of these samples."""
        return self.agreement(self.weights[0])

    def agreement(self, weights: FloatArray) -> tuple[float, int]:
        """RMS of what all joints together leave, and the number of joints that friction would drive.

        Args:
            weights: one over what each joint leaves alone, (coordinates,).
        """
        stack = (self.columns * weights[:, None, None]).reshape(-1, self.columns.shape[2])
        values, left = _solve(stack, (self.tau * weights).T.reshape(-1))
        rubs = np.array([entry.family == "friction" and entry.symbol != "off" for entry in self.robot.table])
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
    """

    key: str
    joints: tuple[int, ...]
    finding: Name
    words: str
    remedy: str
    misfit: float = 1.0
    driven: int = 0
    before: float = 1.0


_ALL_REVERSED = Candidate(
    "reversed torques",
    (),
    Name.REVERSED_SIGN,
    "all torques or all positions have the wrong sign: friction would drive every joint",
    "Turn the signs of the torques in the mapping.",
)


def discrete_suspects(problem: Problem, sampling: Sampling | None = None) -> tuple[Candidate, ...]:
    """Candidates that make joints agree which do not, the best first; none where they agree as recorded.

    Torques that are all reversed agree as well: there only friction tells, which must not drive every joint.

    Args:
        problem: with motions.
        sampling: of it, where it was made before.
    """
    sampling = sampling or sampling_of(problem)
    weights, explained = sampling.weights
    before, driven = sampling.agreement_as_recorded
    if driven == len(weights):  # every friction would drive: only all signs together can be wrong
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


def gravity_either_way(sampling: Sampling) -> Finding | None:
    """A note where gravity upside down explains the torques as well, and gravity is seen at all.

    Args:
        sampling: some samples of the logs.
    """
    given = np.array(sampling.robot.gravity)
    if not np.any(given):
        return None
    own = sampling.agreement_as_recorded[0]
    upside_down, none = (sampling.with_gravity(k * given) for k in (-1.0, 0.0))
    if upside_down.agreement(sampling.weights[0])[0] > DISCRETE.same * own:
        return None
    if none.agreement(sampling.weights[0])[0] < DISCRETE.seen * own:
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
    """Gravity along every other axis of the base, and none."""
    given = np.array(sampling.robot.gravity)
    size = float(np.linalg.norm(given)) or 9.81
    ways = [*(sign * size * np.eye(3)[k] for k in range(3) for sign in (1.0, -1.0)), np.zeros(3)]
    for way in ways:
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
            ),
            sampling.with_gravity(way),
        )


def sampling_of(problem: Problem) -> Sampling:
    """Even samples of all motions."""
    assert problem.motions is not None
    step = max(1, sum(motion.samples for motion in problem.motions) // DISCRETE.samples)
    parts = [[np.asarray(x[step // 2 :: step]) for x in (m.q, m.qd, m.qdd, m.tau)] for m in problem.motions]
    return _with_columns(problem.robot, *(np.concatenate(column) for column in zip(*parts, strict=True)))


def _with_columns(robot: Robot, q: FloatArray, qd: FloatArray, qdd: FloatArray, tau: FloatArray) -> Sampling:
    every = range(len(robot.table))
    return Sampling(robot, q, qd, qdd, tau, _columns(robot, q.T, list(qd.T), list(qdd.T), every))


def _columns(
    robot: Robot, q: FloatArray, qd: Sequence[Scalar], qdd: Sequence[Scalar], wanted: Sequence[int]
) -> FloatArray:
    """Torques per unit of some standard parameters, (coordinates, samples, wanted)."""
    made = np.zeros((*q.shape, len(wanted)))
    for k, column in enumerate(regressor(robot, list(q), qd, qdd, NUMERIC, wanted)):
        for j, torque in enumerate(column):
            made[j, :, k] = np.asarray(torque, dtype=float)
    return made


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
