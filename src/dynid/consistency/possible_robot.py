"""The verb: the possible robot that is nearest to what a log says and to what is known beside it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.base.base_map import BaseMap
from dynid.consistency.cone_program import ConeProgram, Coordinates, Solution, solve_program
from dynid.consistency.constraint import Constraint, at_least_zero
from dynid.consistency.knowledge import ENTROPIC, QUADRATIC, Knowledge, Prior
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
data say next to nothing. Ten times more or less changes no torque of a measured robot by more than a few
thousandths of the residual (docs/consistency.md)."""
INSIDE_DOUBT = 5.0
"""Doubt of the log-det divergence from the reference where nothing is known: it keeps bodies inside of what
is possible where the data do not press them to the edge. Less doubt predicts weak motion better and other
motion worse (docs/consistency.md)."""
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
        reference: where bodies come from where nothing else is known.
        solution: how it was found.
    """

    base: BaseMap
    standard: FloatArray
    sources: Sources
    cost: float
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

    @cached_property
    def prior_rows(self) -> tuple[FloatArray, FloatArray]:
        """B, t of what is known beforehand, or of the reference where nothing is; unit noise."""
        prior, z = self.knowledge.prior, self.coordinates
        n = len(self.robot.table)
        if prior is None or prior.kind != QUADRATIC:
            doubt = NO_DOUBT if prior is None else prior.doubt
            # Four variables move together where a link's mass and size do: ‖Z − 1‖² = 4 δ².
            sigma = np.full(n, 2.0 * doubt)
            sigma[z.others] = NO_DOUBT
            if prior is not None and prior.kind == ENTROPIC:
                sigma[[i for columns in z.links for i in columns]] = 2.0 * NO_DOUBT
            B, t = np.diag(1.0 / sigma), z.centre / sigma
        else:
            B, t = np.diag(np.full(n, 0.5 / NO_DOUBT)), 0.5 / NO_DOUBT * z.centre
        known = () if prior is None else _known_values(self.robot, prior)
        return _with_values(self, B, t, known)

    def program(self, rows: DataRows) -> ConeProgram:
        """The cone program of the robot nearest to some rows."""
        B, t = self.prior_rows
        prior = self.knowledge.prior
        doubt = prior.doubt if prior is not None and prior.kind == ENTROPIC else INSIDE_DOUBT
        data = rows.standard @ self.coordinates.T
        return ConeProgram(
            self.coordinates,
            np.vstack([data, B]),
            np.concatenate([rows.b, t]),
            self.constraints,
            0.25 / doubt**2,
        )

    def projection(self, rows: DataRows) -> Callable[[FloatArray], FloatArray]:
        """From base parameters to those of the nearest possible robot, by the metric of some rows.

        Bodies may come to the edge of what is possible here, for speed: no torque shows the difference.

        What it gives raises NotTrustworthyError where the solver does not get there.

        Args:
            rows: their A is the metric.
        """
        program = replace(self.program(rows), entropy=0.0)
        known = program.t[len(rows.b) :]
        to_base = rows.base.matrix @ self.coordinates.T

        def project(values: FloatArray) -> FloatArray:
            solution = solve_program(program, np.concatenate([rows.A @ values, known]))
            _require_solved(solution)
            return np.asarray(to_base @ solution.z, dtype=float)

        return project

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
            raise DynidError(_conflict(program))
        _require_solved(solution)
        standard = self.coordinates.T @ solution.z
        sources = find_sources(program, len(rows.b), solution.z)
        cost = rows.norm(rows.base.regroup(standard)) / rows.least if rows.least > 0 else 1.0
        return PossibleRobot(rows.base, standard, sources, cost, self.reference.words, solution)


def _require_solved(solution: Solution) -> None:
    if not solution.solved:
        raise NotTrustworthyError(
            f"No possible robot was found: the solver ended with {solution.status!r} after "
            f"{solution.iterations} iterations; look at the bounds and the prior."
        )


def _conflict(program: ConeProgram) -> str:
    """Which bounds contradict each other: those of which none can be left out of the contradiction."""
    given = [c for c in program.constraints if c.given]
    needed = list(given)
    for one in given:
        fewer = [c for c in needed if c is not one]
        left_out = [c for c in given if not any(c is kept for kept in fewer)]
        if solve_program(program.without(left_out)).infeasible:
            needed = fewer
    names = "; ".join(c.name for c in needed)
    if len(needed) == 1:
        return f"No possible robot satisfies this bound: {names}; loosen it."
    return f"These bounds contradict each other: {names}; loosen one of them."


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
    if prior.kind == QUADRATIC:
        return values
    entries = {entry.name: entry for entry in robot.table}
    for name in values:
        robot.table.index(name)
    return {name: value for name, value in values.items() if entries[name].family != "inertial"}


def _with_values(
    robots: PossibleRobots, B: FloatArray, t: FloatArray, known: dict[str, float] | tuple[()]
) -> tuple[FloatArray, FloatArray]:
    """The rows of a prior with those of single values: (x − x₀) / (doubt · |x₀|)."""
    if not known:
        return B, t
    prior, table = robots.knowledge.prior, robots.robot.table
    assert prior is not None
    usual = _usual_sizes(robots)
    places = [table.index(name) for name in known]
    values = np.array(list(known.values()))
    sigma = prior.doubt * np.maximum(np.abs(values), _LEAST_SHARE * usual[places])
    rows = robots.coordinates.T[places] / sigma[:, None]
    return np.vstack([B, rows]), np.concatenate([t, values / sigma])


def _usual_sizes(robots: PossibleRobots) -> FloatArray:
    """What is usual for every parameter: of links by the reference's mass and size, (standard,)."""
    usual = robots.reference.scales.copy()
    for columns, body in zip(robots.coordinates.links, robots.reference.bodies, strict=True):
        mass, second = float(body[3, 3]), float(np.trace(body[:3, :3]))
        usual[columns] = [*[second] * 6, *[np.sqrt(mass * second)] * 3, mass]
    return usual


def possible_links(robot: Robot, standard: FloatArray) -> NDArray[np.bool_]:
    """Which links are possible bodies: by the eigenvalues of their pseudo-inertia, (links,)."""
    return np.array([np.linalg.eigvalsh(P)[0] > 0 for P in pseudo_inertias(robot, standard)])
