"""Is this robot possible? The nearest one that is, what it costs, and whether a fit recommends it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dynid.consistency.knowledge import Knowledge
from dynid.consistency.possible_robot import SAME, PossibleRobot, PossibleRobots
from dynid.consistency.pseudo_inertia import link_columns
from dynid.consistency.system import DataRows
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, NotTrustworthyError, option_words, unknown_name
from dynid.core.finding import Finding, Level, Name
from dynid.core.plain import plain
from dynid.dynamics.expansion import expand
from dynid.dynamics.kinematics import placements
from dynid.dynamics.operations import NUMERIC
from dynid.dynamics.placement import base_frames
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import identify
from dynid.estimators.linear.terms import friction_beside_terms
from dynid.estimators.strategy import Strategy
from dynid.model.inertia import LinkInertia
from dynid.model.robot import Robot
from dynid.workflow.held_out_parts import PartErrors, held_out_errors

AUTO, ALWAYS, NEVER = CHOICES = ("auto", "always", "never")


@dataclass(frozen=True)
class PossibilityRules:
    """When a possible robot is recommended, and when its lack is told.

    Set on the half "setting" of tests/population; the rates of the other half are in docs/consistency.md.

    Args:
        free: rise of χ² up to which the possible robot is recommended without further questions: its values
            are within the doubt of the fit.
        worse: mean log of the ratio of errors on parts not used up to which the possible robot is
            recommended.
        far: mean log of that ratio from which on a fit is told to be impossible …
        errors: … where it is so many standard errors above zero …
        points: … and so many per cent of the torque more are missed.
        reversed: weighted residual of the possible robot over that with all torques reversed, from which on
            their sign is told …
        upright: … where that one is at most so many times the residual of the fit: the sign of one joint
            alone leaves more.
    """

    free: float = 1.0
    worse: float = 0.01
    far: float = 0.1
    errors: float = 1.0
    points: float = 0.3
    reversed: float = 1.25
    upright: float = 1.3


RULES = PossibilityRules()
_LISTED = 6
"""Bounds written out in a sentence."""


@dataclass(frozen=True, eq=False)
class Possibility:
    """What a fit is beside the nearest possible robot.

    Args:
        choice: "auto", "always" or "never", as it was asked for.
        found: the possible robot.
        rows: what the log says.
        errors: both models on parts of the logs that were not used; None where they are too short, or where
            the possible robot lies within the doubt of the fit.
        reversed_cost: cost of the possible robot with all torques reversed; None where it was not asked,
            because a possible robot costs little as they are.
        bounded: whether the user knew something beside the logs.
    """

    choice: str
    found: PossibleRobot
    rows: DataRows
    errors: PartErrors | None
    reversed_cost: float | None
    bounded: bool = False

    @property
    def as_it_is(self) -> bool:
        """Whether the fit is possible already, as far as any torque shows."""
        return self.found.rise < SAME

    @property
    def is_recommended(self) -> bool:
        """Whether the possible robot takes the place of the fit."""
        if self.choice != AUTO or self.as_it_is:
            return self.choice == ALWAYS
        return is_free(self.found, self.rows) or (
            self.errors is not None and self.errors.gain.mean <= RULES.worse
        )

    @property
    def given_bounds(self) -> list[str]:
        """Bounds of the user's own that hold the possible robot."""
        return [bound.name for bound in self.found.active if bound.given]

    @property
    def torques_reversed(self) -> bool:
        """Whether a robot with all torques of the other sign is much more possible."""
        return is_reversed(self.found.cost, self.reversed_cost)

    @property
    def is_far(self) -> bool:
        """Whether no possible robot predicts nearly as well as the fit."""
        if self.errors is None:
            return False
        if self.found.rise < RULES.free:
            return False  # some possible robot fits, if not the one nearest to the reference
        gain, more = self.errors.gain, self.errors.possible - self.errors.plain
        return gain.mean > max(RULES.far, RULES.errors * gain.error) and more > RULES.points

    @cached_property
    def findings(self) -> tuple[Finding, ...]:
        """What is worth telling."""
        return tuple(
            f for f in (self._sign_finding(), self._far_finding(), self._choice_finding()) if f is not None
        )

    def _sign_finding(self) -> Finding | None:
        if not self.torques_reversed:
            return None
        return Finding(
            Name.REVERSED_TORQUES,
            Level.CARE,
            f"A robot that can exist leaves {self.found.cost:.2g} times the residual of the fit, and with "
            f"all torques reversed {self.reversed_cost:.2g} times: the torques of the log seem to have the "
            "other sign (those on the robot instead of those of its motors).",
            "Give sign = -1 under [torque] in the mapping of the log, and fit again.",
            figures={"cost": self.found.cost, "reversed_cost": self.reversed_cost},
        )

    def _far_finding(self) -> Finding | None:
        if not self.is_far or self.torques_reversed:
            return None
        assert self.errors is not None
        given, known = self.given_bounds, self.bounded
        held_by = given or [bound.name for bound in self.found.active]
        held = f" It is held by {'; '.join(held_by[:_LISTED])}." if held_by else ""
        return Finding(
            Name.IMPOSSIBLE_ROBOT,
            Level.CARE,
            f"No robot {'within what is known' if known else 'that can exist'} fits these logs: on parts "
            f"that were not used the nearest one misses {self.errors.possible:.3g} % of the torque, the fit "
            f"alone {self.errors.plain:.3g} %.{held}",
            "Look at what is known of the robot: its bounds and its prior."
            if known
            else "Something in the robot file or the logs is wrong, or the model lacks a large term: look at "
            "gravity, signs and gains of torques, lengths and couplings, counterbalances and friction.",
            figures=self._figures,
        )

    @property
    def _figures(self) -> dict[str, float]:
        if self.errors is None:
            return {}
        return {"plain_percent": self.errors.plain, "possible_percent": self.errors.possible}

    def _choice_finding(self) -> Finding | None:
        if self.as_it_is or self.is_far or self.torques_reversed:
            return None
        both = "no torque tells it from the fit alone" if is_free(self.found, self.rows) else ""
        if self.errors is not None:
            both = (
                f"on parts that were not used it misses {self.errors.possible:.3g} % of the torque, the fit "
                f"alone {self.errors.plain:.3g} %"
            )
        both = both or "the logs are too short to compare both on parts of them"
        if self.is_recommended:
            said = f"The values are those of a robot that can exist: {both}."
            remedy = "" if self.bounded else f"The fit alone: {option_words('--consistent', NEVER)}."
        else:
            said = f"The values are those of the fit alone, which no robot has. The nearest one: {both}."
            remedy = "Exports for simulators take the possible one."
        return Finding(Name.POSSIBLE_ROBOT, Level.NOTE, said, remedy, figures=self._figures)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        errors = self.errors
        return {
            **self.found.to_dict(),
            "choice": self.choice,
            "as_it_is": self.as_it_is,
            "recommended": self.is_recommended,
            "reversed_cost": self.reversed_cost,
            "plain_percent": None if errors is None else plain(errors.plain),
            "possible_percent": None if errors is None else plain(errors.possible),
            "gain": None
            if errors is None
            else {"mean": plain(errors.gain.mean), "error": plain(errors.gain.error)},
            "names": list(self.found.base.robot.table.names),
            "units": [entry.unit for entry in self.found.base.robot.table],
            "links": link_rows(self.found.base.robot, self.found.standard),
        }


def link_rows(robot: Robot, standard: FloatArray) -> list[dict[str, Any]]:
    """Mass, centre of mass and principal moments about it, of every link, and where it lies at home.

    Args:
        robot: the robot.
        standard: values that a robot can have, in table order, SI.
    """
    rows = []
    frames = base_frames(robot, placements(expand(robot, robot.home, NUMERIC), NUMERIC))
    for joint, columns, frame in zip(robot.joints, link_columns(robot), frames, strict=True):
        mass, com, tensor = LinkInertia.from_standard(standard[columns]).com_form()
        moments = np.linalg.eigvalsh(tensor)
        origin = np.array(frame.position, dtype=float)
        rows.append({
            "joint": joint.name,
            "label": joint.label,
            "antecedent": joint.antecedent,
            "columns": columns,
            "mass": mass,
            "com": plain(com),
            "principal_moments": plain(moments),
            # The largest may not exceed the sum of the others: 1 is a flat plate.
            "triangle": float(moments[2] / (moments[0] + moments[1])),
            # Both in the base frame.
            "origin": plain(origin),
            "com_in_base": plain(origin + np.array(frame.rotation, dtype=float) @ com),
        })  # fmt: skip
    return rows


def require_choice(choice: str, strategy: Strategy, knowledge: Knowledge | None) -> str:
    """The choice that a fit can follow; what is known beside the logs must hold.

    Raises:
        DynidError: for a word that is none of the choices, or that the strategy cannot follow.
    """
    if choice not in CHOICES:
        raise unknown_name("choice of consistent parameters", choice, CHOICES)
    bounded = knowledge is not None and not knowledge.empty
    if bounded and choice == NEVER:
        raise DynidError(
            "What is known of the robot (known) holds consistent parameters only, and consistent is 'never'; "
            "leave out one of the two."
        )
    if strategy.knowledge_held is not None and (choice == NEVER or bounded):
        raise DynidError(
            "The estimator is held to possible robots already; leave out consistent and known, or give the "
            "strategy inside it alone."
        )
    if strategy.knowledge_held is not None:
        return ALWAYS
    wanted = ALWAYS if bounded else choice
    if wanted == ALWAYS and strategy.wraps:
        raise DynidError(
            "A possible robot has all its parameters, so that essential and consistent ones exclude each "
            "other; leave out --essential (Essential), or --consistent always and --known (consistent, "
            "known)."
        )
    return NEVER if wanted == AUTO and not strategy.is_least_squares else wanted


def judge_possibility(
    estimate: Estimate, choice: str = AUTO, knowledge: Knowledge | None = None
) -> Possibility | None:
    """The nearest possible robot of a fit, and how both predict parts of the logs that were not used.

    Args:
        estimate: a fit of base parameters.
        choice: whether the possible robot is recommended.
        knowledge: what is known beside the logs.

    Returns:
        None where no such robot can be looked for: the fit has no degrees of freedom, or the solver failed.

    Raises:
        DynidError: when bounds contradict each other.
    """
    robot, rows = estimate.problem.robot, estimate.information
    if rows is None or not np.all(np.isfinite(estimate.values)):
        return None
    terms = () if estimate.further is None else estimate.further.terms
    free = friction_beside_terms(robot, terms)
    try:
        robots = PossibleRobots.of(robot, rows, knowledge, free)
        found = robots.nearest(rows)
        errors = None if is_free(found, rows) else held_out_errors(estimate, robots)
        reversed_cost = mirrored_cost(robot, rows, knowledge, free) if found.cost > RULES.reversed else None
    except NotTrustworthyError:
        if choice == ALWAYS or knowledge is not None:
            raise
        return None
    bounded = knowledge is not None and not knowledge.empty
    return Possibility(choice, found, rows, errors, reversed_cost, bounded)


def no_possible_robot(estimate: Estimate) -> tuple[Finding, ...]:
    """That the solver found no possible robot, where there was enough to look for one."""
    if estimate.information is None:
        return ()
    said = "No robot that can exist was found beside the fit: the solver did not get there."
    return (Finding(Name.POSSIBLE_ROBOT, Level.NOTE, said),)


def is_free(found: PossibleRobot, rows: DataRows) -> bool:
    """Whether a possible robot lies within the doubt of what the rows ask for."""
    return (found.cost**2 - 1.0) * rows.remainder**2 < RULES.free


def mirrored_cost(
    robot: Robot, rows: DataRows, knowledge: Knowledge | None = None, free: Sequence[int] = ()
) -> float:
    """Cost of the possible robot with all torques reversed.

    Args:
        robot: the robot.
        rows: as they are.
        knowledge: what is known beside the logs.
        free: parameters that may have any sign.
    """
    mirrored = rows.mirror()
    return PossibleRobots.of(robot, mirrored, knowledge, free).nearest(mirrored).cost


def is_reversed(cost: float, mirrored: float | None) -> bool:
    """Whether torques are reversed, by the costs of the possible robot as they are and mirrored."""
    return mirrored is not None and mirrored < RULES.upright and cost > RULES.reversed * mirrored


def possible_estimate(
    estimate: Estimate, strategy: Strategy, knowledge: Knowledge | None
) -> tuple[Estimate, Strategy]:
    """The estimate of the nearest possible robot, by the same strategy.

    Raises:
        DynidError: for a strategy that cannot be held to possible robots.
    """
    held = strategy.held_to(knowledge or Knowledge())
    return identify(estimate.problem, held), held
