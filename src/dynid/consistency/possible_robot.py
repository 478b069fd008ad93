"""The verb: the possible robot that is nearest to what a log says and to what is known beside it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.base.base_map import BaseMap
from dynid.consistency.cone_program import ConeProgram, Coordinates, Solution, solve_program
from dynid.consistency.constraint import Constraint, at_least_zero
from dynid.consistency.knowledge import ENTROPIC, QUADRATIC, Knowledge
from dynid.consistency.prior_rows import prior_reference, prior_rows
from dynid.consistency.pseudo_inertia import pseudo_inertias
from dynid.consistency.reference import ReferenceBodies, find_reference
from dynid.consistency.sources import ActiveBound, Sources, find_sources
from dynid.consistency.system import DataRows
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.core.plain import plain
from dynid.model.robot import Robot

INSIDE_DOUBT = 5.0
"""Doubt of the log-det divergence from the reference where nothing is known: it keeps bodies inside of what
is possible where the data do not press them to the edge."""
SAME = 0.01
"""Rise of χ² below which an estimate is possible as it is: no torque shows the difference."""
_SHARES = (1.0, 0.1, 0.01, 0.001)
"""Weights of the data with which the solver tries again where it fails."""
_LOOSE = 10.0
"""Factor of the reference's doubt when it is asked whether any possible robot, however odd, fits."""
_MUCH = 10.0
"""χ² of the nearest robot over that of any possible one above which the reference does not suit the robot."""


@dataclass(frozen=True, eq=False)
class PossibleRobot:
    """Standard parameters that a robot can have.

    Args:
        base: base parameters of the robot.
        standard: values in table order, SI.
        sources: what fixed each of them, how well each is known, and the bounds that hold them.
        cost: ‖weighted residual‖ over that of the data's own solution; one where nothing was lost.
        rise: χ² of the nearest possible robot, however odd, less that of the data's own solution.
        reference: where bodies come from where nothing else is known.
        solution: how it was found.
    """

    base: BaseMap
    standard: FloatArray
    sources: Sources
    cost: float
    rise: float
    reference: str
    solution: Solution

    @property
    def values(self) -> FloatArray:
        """Its base parameters, (base,)."""
        return self.base.regroup(self.standard)

    @property
    def active(self) -> tuple[ActiveBound, ...]:
        """The bounds that hold it."""
        return self.sources.active

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON; an infinite σ is None."""
        return {
            "standard": plain(self.standard),
            "sigma": plain(self.sources.sigma),
            "fixed_by": list(self.sources.fixed_by),
            "active": [bound.to_dict() for bound in self.active],
            "cost": self.cost,
            "rise": self.rise,
            "reference": self.reference,
            "solver": {"status": self.solution.status, "iterations": self.solution.iterations},
        }


@dataclass(frozen=True, eq=False)
class PossibleRobots:
    """All robots that are possible, ready to be asked for the nearest one again and again.

    Args:
        robot: the robot.
        knowledge: what is known beside the log.
        reference: bodies to measure others by.
        constraints: bounds, and that drives and friction give no power.
        doubt: factor of the doubt of the reference.
    """

    robot: Robot
    knowledge: Knowledge
    reference: ReferenceBodies
    constraints: tuple[Constraint, ...]
    doubt: float = 1.0

    @classmethod
    def of(
        cls,
        robot: Robot,
        rows: DataRows,
        knowledge: Knowledge | None = None,
        free: Sequence[int] = (),
    ) -> PossibleRobots:
        """The possible robots of a robot file.

        A reference that costs far more than possibility itself does not suit the robot, and is doubted more.

        Args:
            robot: the robot.
            rows: what the log says; it gives the masses that are usual.
            knowledge: what is known beside the log.
            free: drive and friction parameters that may have any sign, as places in the table.
        """
        known = knowledge or Knowledge()
        reference = find_reference(robot, rows)
        if known.prior is not None and known.prior.kind != QUADRATIC:
            reference = prior_reference(robot, known.prior, reference)
        constraints = (*at_least_zero(robot, free), *known.constraints(robot))
        robots = cls(robot, known, reference, constraints)
        return robots if robots._suits(rows) else replace(robots, doubt=_LOOSE)

    @cached_property
    def coordinates(self) -> Coordinates:
        """The variables of the program."""
        return Coordinates(self.robot, self.reference)

    def program(self, rows: DataRows, *, inside: bool = True) -> ConeProgram:
        """The cone program of the robot nearest to some rows.

        Args:
            rows: what the log says.
            inside: whether bodies are kept away from the edge by log det Z.
        """
        prior = self.knowledge.prior
        known = prior_rows(self.coordinates, prior, inside=inside)
        weight = np.where(known.given, 1.0, 1.0 / self.doubt)
        given = prior is not None and prior.kind == ENTROPIC
        entropic = prior.doubt if prior is not None and given else INSIDE_DOUBT * self.doubt
        return ConeProgram(
            self.coordinates,
            np.vstack([rows.standard @ self.coordinates.T, weight[:, None] * known.B]),
            np.concatenate([rows.b, weight * known.t]),
            self.constraints,
            0.25 / entropic**2 if inside else 0.0,
        )

    def projection(self, rows: DataRows) -> Projection:
        """From base parameters to those of the nearest possible robot, by the metric of some rows.

        Args:
            rows: their A is the metric.
        """
        known = prior_rows(self.coordinates, self.knowledge.prior, inside=False)
        return Projection(rows, self.program(rows, inside=False), known.given)

    def nearest_values(self, rows: DataRows) -> FloatArray:
        """Base parameters of the nearest possible robot, and nothing else, (base,).

        Raises:
            NotTrustworthyError: when the solver does not get there.
        """
        _, solution = self._solution_of(rows)
        return rows.base.regroup(self.coordinates.T @ solution.z)

    def nearest(self, rows: DataRows) -> PossibleRobot:
        """The possible robot nearest to the data and to what is known.

        Raises:
            DynidError: when bounds contradict each other; the sentence names them.
            NotTrustworthyError: when the solver does not get there.
        """
        _, solution = self._solution_of(rows)
        standard = self._not_negative(self.coordinates.T @ solution.z)
        # log det keeps bodies off the edge, so that no bound would be seen to hold them.
        edge, held = self._solution_of(rows, inside=False)
        return PossibleRobot(
            rows.base,
            standard,
            find_sources(edge, len(rows.b), held),
            rows.norm(rows.base.regroup(standard)) / rows.remainder,
            self._rise(rows, standard),
            self.reference.words,
            solution,
        )

    def _solution_of(self, rows: DataRows, *, inside: bool = True) -> tuple[ConeProgram, Solution]:
        """A program and its solution; data that are too sure for the solver's precision are believed less."""
        refusal = ""
        for share in _SHARES:
            program = self.program(rows.weaker(share), inside=inside)
            solution = solve_program(program)
            if solution.infeasible:
                raise _conflict(program)
            refusal = self._refusal(solution)
            if not refusal or (solution.solved and not inside):  # at the edge the last digit may be beyond it
                return program, solution
        raise NotTrustworthyError(refusal)

    def _refusal(self, solution: Solution) -> str:
        """What is wrong with a solution, in a sentence: not found, not possible, or beyond a bound."""
        if not solution.solved:
            return (
                f"No possible robot was found: the solver ended with {solution.status!r} after "
                f"{solution.iterations} iterations; look at the bounds and the prior, if there are any."
            )
        standard = self.coordinates.T @ solution.z
        least = np.linalg.eigvalsh(pseudo_inertias(self.robot, standard))[:, 0]
        if least.min() <= 0:
            joint = self.robot.joints[int(np.argmin(least))].name
            return (
                f"The solver's precision does not reach a possible body for the link of {joint!r}: what is "
                "known leaves it next to nothing; loosen its bounds."
            )
        missed = next((c.name for c in self.constraints if c.given and not c.holds(standard)), "")
        return f"The solver's precision does not reach this bound: {missed}; loosen it." if missed else ""

    def _not_negative(self, standard: FloatArray) -> FloatArray:
        """Standard parameters with those at their bound of zero exactly there."""
        signed = np.zeros(len(standard), dtype=bool)
        for constraint in self.constraints:
            signed |= not constraint.given and constraint.G[0] != 0
        return np.where(signed, np.maximum(standard, 0.0), standard)

    def _suits(self, rows: DataRows) -> bool:
        """Whether the reference costs little beside what possibility itself costs."""
        solution = solve_program(self.program(rows))
        own = self._chi_squared(rows, solution)
        if not solution.solved or own < _MUCH:
            return True
        loose = solve_program(replace(self, doubt=_LOOSE).program(rows, inside=False))
        return not loose.solved or own < _MUCH * max(self._chi_squared(rows, loose), 1.0)

    def _rise(self, rows: DataRows, standard: FloatArray) -> float:
        """χ² of the nearest possible robot, whatever it looks like, less that of the estimate."""
        own = rows.norm(rows.base.regroup(standard)) ** 2 - rows.remainder**2
        if own < SAME:
            return own
        loose = solve_program(replace(self, doubt=_LOOSE).program(rows, inside=False))
        return min(own, self._chi_squared(rows, loose)) if loose.solved else own

    def _chi_squared(self, rows: DataRows, solution: Solution) -> float:
        """χ² of a solution less that of the estimate."""
        values = rows.base.regroup(self.coordinates.T @ solution.z)
        return rows.norm(values) ** 2 - rows.remainder**2


@dataclass(frozen=True, eq=False)
class Projection:
    """To the nearest possible robot, again and again.

    Bodies may come to the edge of what is possible here, for speed.

    Args:
        rows: their A is the metric.
        program: without log det.
        given: rows of the prior that the user has given.
    """

    rows: DataRows
    program: ConeProgram
    given: NDArray[np.bool_]

    @property
    def surprises(self) -> int:
        """How many rows of a given prior may be off."""
        return int(np.sum(self.given))

    def __call__(self, values: FloatArray, surprise: FloatArray | float = 0.0) -> FloatArray:
        """Base parameters of the nearest possible robot, (base,).

        Args:
            values: base parameters, (base,).
            surprise: by how many doubts what was known is off, (surprises,).

        Raises:
            NotTrustworthyError: when the solver does not get there.
        """
        known = self.program.t[len(self.rows.b) :].copy()
        known[self.given] += surprise
        solution = solve_program(self.program, np.concatenate([self.rows.A @ values, known]))
        if not solution.solved:
            raise NotTrustworthyError(f"A drawn estimate has no possible robot: {solution.status}.")
        return self.rows.base.regroup(self.program.coordinates.T @ solution.z)


def _conflict(program: ConeProgram) -> DynidError:
    """Which bounds contradict each other: those of which none can be left out of the contradiction."""
    given = [c for c in program.constraints if c.given]
    if not given:
        return NotTrustworthyError("The solver found no possible robot, although no bound was given.")
    needed = list(given)
    for one in given:
        fewer = [c for c in needed if c is not one]
        left_out = [c for c in given if not any(c is kept for kept in fewer)]
        if solve_program(program.without(left_out)).infeasible:
            needed = fewer
    names = "; ".join(c.name for c in needed)
    if len(needed) == 1:
        return DynidError(f"No possible robot satisfies this bound: {names}; loosen it.")
    return DynidError(f"These bounds contradict each other: {names}; loosen one of them.")
