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
from dynid.consistency.knowledge import ENTROPIC, GEODESIC, QUADRATIC, Knowledge, Prior
from dynid.consistency.pseudo_inertia import pseudo_inertias
from dynid.consistency.reference import ReferenceBodies, find_reference
from dynid.consistency.sources import ActiveBound, Sources, find_sources
from dynid.consistency.system import DataRows
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.core.plain import plain
from dynid.model.robot import Robot

NO_DOUBT = 10.0
"""Doubt of the reference where nothing is known, as a share of a link's mass and size: it decides where the
data say next to nothing."""
INSIDE_DOUBT = 5.0
"""Doubt of the log-det divergence from the reference where nothing is known: it keeps bodies inside of what
is possible where the data do not press them to the edge."""
SAME = 0.01
"""Rise of χ² below which an estimate is possible as it is: no torque shows the difference."""
_LOOSE = 10.0
"""Factor of the reference's doubt when it is asked whether any possible robot, however odd, fits."""
_LEAST_SHARE = 0.1
"""Deviation of a prior value near zero, as a share of what is usual for such a parameter of its link."""


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
    """

    robot: Robot
    knowledge: Knowledge
    reference: ReferenceBodies
    constraints: tuple[Constraint, ...]

    @classmethod
    def of(
        cls,
        robot: Robot,
        rows: DataRows,
        knowledge: Knowledge | None = None,
        free: Sequence[int] = (),
    ) -> PossibleRobots:
        """The possible robots of a robot file.

        Args:
            robot: the robot.
            rows: what the log says; it gives the masses that are usual.
            knowledge: what is known beside the log.
            free: drive and friction parameters that may have any sign, as places in the table.
        """
        known = knowledge or Knowledge()
        reference = find_reference(robot, rows)
        if known.prior is not None and known.prior.kind != QUADRATIC:
            reference = _prior_reference(robot, known.prior, reference)
        constraints = (*at_least_zero(robot, free), *known.constraints(robot))
        return cls(robot, known, reference, constraints)

    @cached_property
    def coordinates(self) -> Coordinates:
        """The variables of the program."""
        return Coordinates(self.robot, self.reference)

    def prior_rows(self, *, inside: bool) -> PriorRows:
        """What is known beforehand, or the reference where nothing is.

        Args:
            inside: whether log det Z stands beside them; else an entropic prior is its quadratic model.
        """
        prior, z = self.knowledge.prior, self.coordinates
        kind = "" if prior is None else prior.kind
        by_rows = kind == GEODESIC or (kind == ENTROPIC and not inside)
        bodies = np.ones(len(self.robot.table), dtype=bool)
        bodies[z.others] = False
        # Four variables move together where a link's mass and size do: ‖Z − 1‖² = 4 δ².
        doubt = prior.doubt if prior is not None and by_rows else NO_DOUBT
        sigma = np.where(bodies, 2.0 * doubt, NO_DOUBT)
        rows = PriorRows(np.diag(1.0 / sigma), z.centre / sigma, bodies & by_rows)
        return rows if prior is None else _with_values(self, rows, _known_values(self.robot, prior))

    def program(self, rows: DataRows, *, inside: bool = True, doubt: float = 1.0) -> ConeProgram:
        """The cone program of the robot nearest to some rows.

        Args:
            rows: what the log says.
            inside: whether bodies are kept away from the edge by log det Z.
            doubt: factor of the doubt of all that was not given by the user.
        """
        known, prior = self.prior_rows(inside=inside), self.knowledge.prior
        weight = np.where(known.given, 1.0, 1.0 / doubt)
        entropic = prior.doubt if prior is not None and prior.kind == ENTROPIC else INSIDE_DOUBT
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
        given = self.prior_rows(inside=False).given
        return Projection(rows, self.program(rows, inside=False), given)

    def nearest_values(self, rows: DataRows) -> FloatArray:
        """Base parameters of the nearest possible robot, and nothing else, (base,).

        Raises:
            NotTrustworthyError: when the solver does not get there.
        """
        solution = solve_program(self.program(rows))
        _require_solved(solution)
        return rows.base.regroup(self.coordinates.T @ solution.z)

    def nearest(self, rows: DataRows) -> PossibleRobot:
        """The possible robot nearest to the data and to what is known.

        Raises:
            DynidError: when bounds contradict each other; the sentence names them.
            NotTrustworthyError: when the solver does not get there.
        """
        program = self.program(rows)
        solution = solve_program(program)
        if solution.infeasible:
            raise _conflict(program)
        _require_solved(solution)
        standard = self._not_negative(self.coordinates.T @ solution.z)
        edge = self.program(rows, inside=False)
        held = solve_program(edge)  # log det keeps bodies off the edge, so that no bound would hold them
        _require_solved(held)
        return PossibleRobot(
            rows.base,
            standard,
            find_sources(edge, len(rows.b), held),
            rows.norm(rows.base.regroup(standard)) / rows.remainder,
            self._rise(rows, standard),
            self.reference.words,
            solution,
        )

    def _not_negative(self, standard: FloatArray) -> FloatArray:
        """Standard parameters with those at their bound of zero exactly there."""
        signed = np.zeros(len(standard), dtype=bool)
        for constraint in self.constraints:
            signed |= not constraint.given and constraint.G[0] != 0
        return np.where(signed, np.maximum(standard, 0.0), standard)

    def _rise(self, rows: DataRows, standard: FloatArray) -> float:
        """χ² of the nearest possible robot, whatever it looks like, less that of the estimate."""
        own = rows.norm(rows.base.regroup(standard)) ** 2 - rows.remainder**2
        if own < SAME:
            return own
        loose = self.program(rows, inside=False, doubt=_LOOSE)
        solution = solve_program(loose)
        if not solution.solved:
            return own
        values = rows.base.regroup(self.coordinates.T @ solution.z)
        return min(own, rows.norm(values) ** 2 - rows.remainder**2)


@dataclass(frozen=True, eq=False)
class PriorRows:
    """B z = t with unit noise.

    Args:
        B: (rows, standard).
        t: (rows,).
        given: which of them the user has given, so that they have a doubt of their own, (rows,).
    """

    B: FloatArray
    t: FloatArray
    given: NDArray[np.bool_]


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
        _require_solved(solution)
        return self.rows.base.regroup(self.program.coordinates.T @ solution.z)


def _require_solved(solution: Solution) -> None:
    if not solution.solved:
        raise NotTrustworthyError(
            f"No possible robot was found: the solver ended with {solution.status!r} after "
            f"{solution.iterations} iterations; look at the bounds and the prior."
        )


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


def _prior_reference(robot: Robot, prior: Prior, otherwise: ReferenceBodies) -> ReferenceBodies:
    """The bodies of a prior, which must be possible ones."""
    values = {**robot.parameters, **dict(prior.values)}
    bodies = pseudo_inertias(robot, robot.table.vector(values))
    for joint, body in zip(robot.joints, bodies, strict=True):
        sizes = np.linalg.eigvalsh(body)
        if not sizes[0] > 1e-9 * abs(sizes[-1]):
            raise DynidError(
                f"The prior gives the link of joint {joint.name!r} parameters that no body has (least "
                f"eigenvalue of its pseudo-inertia {sizes[0]:.3g}); give mass, centre of mass and inertia of "
                f"every link, or let kind of the prior be {QUADRATIC!r}."
            )
    return replace(otherwise, bodies=bodies, words="the prior")


def _known_values(robot: Robot, prior: Prior) -> dict[str, float]:
    """Values that a prior gives to single parameters: all of them, or those that belong to no body."""
    values = dict(prior.values) or dict(robot.parameters)
    if prior.kind == QUADRATIC and not values:
        raise DynidError(
            f"The prior has no values, and the file of robot {robot.name!r} neither; give values by the "
            "names of standard parameters, or leave out the prior."
        )
    if prior.kind == QUADRATIC:
        return values
    entries = {entry.name: entry for entry in robot.table}
    for name in values:
        robot.table.index(name)
    return {name: value for name, value in values.items() if entries[name].family != "inertial"}


def _with_values(robots: PossibleRobots, rows: PriorRows, known: dict[str, float]) -> PriorRows:
    """The rows of a prior with those of single values: (x − x₀) / (doubt · |x₀|)."""
    if not known:
        return rows
    prior, table = robots.knowledge.prior, robots.robot.table
    assert prior is not None
    usual = _usual_sizes(robots)
    places = [table.index(name) for name in known]
    values = np.array(list(known.values()))
    sigma = prior.doubt * np.maximum(np.abs(values), _LEAST_SHARE * usual[places])
    B = np.vstack([rows.B, robots.coordinates.T[places] / sigma[:, None]])
    given = np.append(rows.given, np.ones(len(places), dtype=bool))
    return PriorRows(B, np.concatenate([rows.t, values / sigma]), given)


def _usual_sizes(robots: PossibleRobots) -> FloatArray:
    """What is usual for every parameter: of links by the reference's mass and size, (standard,)."""
    usual = robots.reference.scales.copy()
    for columns, body in zip(robots.coordinates.links, robots.reference.bodies, strict=True):
        mass, second = float(body[3, 3]), float(np.trace(body[:3, :3]))
        usual[columns] = [*[second] * 6, *[np.sqrt(mass * second)] * 3, mass]
    return usual
