"""What is asked of a design, and the optimisation problem it makes for a robot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike

from dynid.base.base_map import BaseMap
from dynid.base.find import base_of
from dynid.core.arrays import FloatArray, as_numbers
from dynid.core.errors import DynidError, ShapeError, unknown_name
from dynid.core.kinds import require_field_kinds
from dynid.excitation.clearance import CollisionScene
from dynid.excitation.criteria import CRITERIA, Criterion
from dynid.excitation.information import InformationModel
from dynid.excitation.limits import LimitChoice, motion_limits
from dynid.excitation.problem import DesignProblem
from dynid.excitation.starts import possible_pose, require_possible_pose
from dynid.excitation.workcell import Workcell
from dynid.model.robot import Robot
from dynid.trajectories.fourier import FourierSpace
from dynid.trajectories.trajectory import MotionSpace

_SAMPLES_PER_COEFFICIENT = 40
"""Samples of the criterion per coefficient of an axis: 320 for five harmonics; twice as many move log det by
less than 0.1 % of a parameter's σ."""
_LEAST_SAMPLES = 200
_FARTHEST = 1e5
"""Largest position of a start pose [rad or m]: the compiled sines are exact to 1e6 rad."""
MOST_SAMPLES = 200_000
"""Samples of one motion in a log or in the criterion: the rows of six axes then take half a gigabyte."""


@dataclass(frozen=True, eq=False)
class PriorInformation:
    """What is known before the motion: information on the base parameters from earlier logs.

    Args:
        information: G_0 of all base parameters, (base, base), in units of 1/σ².
        noise: standard deviation of the torques in the rows that it rests on, (coordinates,) [N m or N].
        rate_hz: of these rows; a log of another rate is taken to have noise of the same density.
        source: where it comes from, in words.
    """

    information: FloatArray
    noise: FloatArray
    rate_hz: float
    source: str

    def __post_init__(self) -> None:
        """Refuse what is no information."""
        G = as_numbers(self.information, "The prior information")
        object.__setattr__(self, "information", G)
        square = G.ndim == 2 and len(G) == G.shape[1] and bool(np.all(np.isfinite(G)))
        known = square and np.allclose(G, G.T, rtol=1e-6) and np.linalg.eigvalsh(G)[0] >= -1e-9 * np.trace(G)
        if not known or not 0 < self.rate_hz < np.inf:
            raise DynidError(
                f"The prior information has shape {G.shape} and a rate of {self.rate_hz:g} Hz; give a matrix "
                "that is symmetric, finite and not negative, and a positive rate."
            )


@dataclass(frozen=True, eq=False)
class DesignTask:
    """What is asked of a motion.

    Args:
        space: of the motions: family, length, number of coefficients.
        criterion: one of ``CRITERIA`` by name, or your own.
        limits: other limits than the robot's.
        workcell: floor, walls and self-collision; needs a robot with shapes.
        start: pose at rest at both ends, (axes,); chosen with the motion when None.
        conservative: P3's bounds (15)–(17) on amplitudes: faster, less motion.
        noise: standard deviation of the torques, (axes,) [N m or N]; that of the prior, else in proportion to
            the robot's own effort limits, else one for all, when None.
        essential: names of the base parameters that count; all when None.
        prior: information from earlier logs; the motion is designed to add to it.
        rate_hz: of the log that will be recorded, for the promised σ.
        periods: how often the motion is repeated in that log.
        samples: of the motion in the criterion; by the number of coefficients when None.
    """

    space: MotionSpace = field(default_factory=FourierSpace)
    criterion: str | Criterion = "log-det"
    limits: LimitChoice = field(default_factory=LimitChoice)
    workcell: Workcell | None = None
    start: ArrayLike | None = None
    conservative: bool = False
    noise: ArrayLike | float | None = None
    essential: Sequence[str] | None = None
    prior: PriorInformation | None = None
    rate_hz: float = 100.0
    periods: int = 1
    samples: int | None = None

    def __post_init__(self) -> None:
        """Refuse logs without samples."""
        require_field_kinds(self)
        if not 0 < self.rate_hz < np.inf or self.periods < 1:
            raise DynidError(
                f"rate_hz is {self.rate_hz:g} and periods {self.periods}; give a positive rate and at least "
                "one period."
            )
        least = 2 * self.space.size
        length = self.space.duration
        counts = {f"At {self.rate_hz:g} Hz the log": self.rate_hz * length, "The criterion": self.samples}
        for what, count in counts.items():
            if count is not None and not least <= count * (1 + 1e-12) <= MOST_SAMPLES:
                raise DynidError(
                    f"{what} has {count:.6g} samples of a motion of {length:g} s; {self.space.size} "
                    f"coefficients per axis need {least}, and at most {MOST_SAMPLES:,} are taken: give "
                    "another number or length."
                )

    def grade(self) -> Criterion:
        """The criterion itself."""
        if isinstance(self.criterion, Criterion):
            return self.criterion
        if self.criterion not in CRITERIA:
            raise unknown_name("criterion", self.criterion, CRITERIA)
        return CRITERIA[self.criterion]

    def rows(self) -> float:
        """Samples of the log that the motion will give."""
        return self.rate_hz * self.periods * self.space.duration

    def problem(self, robot: Robot, rng: np.random.Generator) -> DesignProblem:
        """The optimisation problem for a robot.

        Args:
            robot: with limits.
            rng: for poses, where the middle of the ranges is not possible.

        Raises:
            DynidError: when limits contradict each other, a pose cannot be held, or something is missing.
        """
        idle = [
            robot.joints[j].name for j, has in zip(robot.coordinates, robot.driven, strict=True) if not has
        ]
        if idle:
            raise DynidError(
                f"No motor drives {', '.join(idle)} of robot {robot.name!r}: such a joint cannot be told "
                "where to go, so its motion cannot be designed; docs/underactuated.md says what can be done."
            )
        limits = motion_limits(robot, self.limits)
        samples = self.samples or max(_LEAST_SAMPLES, _SAMPLES_PER_COEFFICIENT * self.space.size)
        fixed = None if self.start is None else _pose(self.start, robot)
        problem = DesignProblem(
            self._model(robot, samples),
            self.grade(),
            self.space,
            limits,
            np.zeros(robot.n_coordinates) if fixed is None else fixed,
            fixed is None,
            samples,
            None if self.workcell is None else CollisionScene(limits.applied_to(robot), self.workcell),
            self.conservative,
        )
        if fixed is not None:
            require_possible_pose(problem, fixed)
            return problem
        return replace(problem, pose=possible_pose(problem, rng))

    def torque_noise(self, robot: Robot) -> FloatArray:
        """Standard deviation of the torques as it is asked for or known, (axes,)."""
        if self.noise is not None:
            given, n = np.asarray(self.noise, dtype=float), robot.n_coordinates
            noise = np.full(n, float(given)) if given.ndim == 0 else given
            if noise.shape != (n,) or not np.all((noise > 0) & np.isfinite(noise)):
                raise DynidError(
                    f"The noise is {given.tolist()}; give one positive number, or {n}, one per axis."
                )
            return noise
        if self.prior is not None:
            return np.asarray(self.prior.noise * np.sqrt(self.rate_hz / self.prior.rate_hz), dtype=float)
        own = np.array([robot.joints[j].limits.effort for j in robot.coordinates])
        return 0.01 * own if np.all(np.isfinite(own)) else np.ones(robot.n_coordinates)

    def _model(self, robot: Robot, samples: int) -> InformationModel:
        base = base_of(robot.with_conditions())  # a motion is of one condition
        kept = None if self.essential is None else _indices(base, self.essential)
        prior = None if self.prior is None else self.prior.information
        if prior is not None and prior.shape != (len(base), len(base)):
            raise ShapeError(
                f"The prior information has shape {prior.shape}, and the robot has {len(base)} base "
                "parameters."
            )
        if prior is not None and kept is not None:
            prior = prior[np.ix_(kept, kept)]
        # So many samples stand for all rows of the log.
        noise = self.torque_noise(robot) * np.sqrt(samples / self.rows())
        values = base.regroup(robot.parameters) if robot.parameters else None
        return InformationModel(base, noise, kept, prior, values)


def _pose(given: ArrayLike, robot: Robot) -> FloatArray:
    pose = np.asarray(given, dtype=float)
    if pose.shape != (robot.n_coordinates,) or not np.all(np.abs(pose) <= _FARTHEST):
        raise DynidError(
            f"The start pose is {pose.tolist()}; give {robot.n_coordinates} numbers, one per axis, of at "
            f"most {_FARTHEST:g} rad or m."
        )
    return pose


def _indices(base: BaseMap, names: Sequence[str]) -> tuple[int, ...]:
    for name in names:
        if name not in base.names:
            raise unknown_name("base parameter", name, base.names)
    if not names:
        raise DynidError("The list of essential parameters is empty; name at least one base parameter.")
    return tuple(sorted({base.names.index(name) for name in names}))
