"""Terms beside the robot's own: which were asked for, what each brought, what others would bring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from dynid.core.errors import DynidError, option_words, unknown_name
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import POOR_CONDITION, identify
from dynid.estimators.linear.augmented import AugmentedRows
from dynid.estimators.linear.catalogue import CATALOGUE, SOUGHT, TERM_NAMES
from dynid.estimators.linear.terms import NonlinearTerm, own_constants, slots_of
from dynid.estimators.strategy import Strategy
from dynid.model.robot import Robot
from dynid.suspects.judgement import can_be_judged
from dynid.suspects.ledger import Ledger, open_ledger, scenes_of_fit
from dynid.suspects.physics import Effect
from dynid.suspects.position_effects import position_effects
from dynid.suspects.ranking import fit_of, suspect_ledger
from dynid.suspects.row_view import view_rows
from dynid.suspects.scene import scenes_of
from dynid.suspects.suspect import Suspect
from dynid.workflow.term_choice import AddedTerm, choose_terms, contributions, terms_of

AUTO, NONE = "auto", "none"


@dataclass(frozen=True)
class TermRequest:
    """Terms that a fit was asked for.

    Args:
        auto: whether those that predict better are found.
        terms: those that are added in any case.
        sought: suspects whose formula the logs must give, as ``ripple@2``, which are added in any case too.
        catalogue: those that are tried, by name; a user's own are among them.
    """

    auto: bool = False
    terms: tuple[NonlinearTerm, ...] = ()
    sought: tuple[str, ...] = ()
    catalogue: Mapping[str, NonlinearTerm] = field(default_factory=lambda: CATALOGUE)

    @property
    def empty(self) -> bool:
        """Whether nothing is to be added."""
        return not self.auto and not self.terms and not self.sought


def term_request(
    add: str | NonlinearTerm | TermRequest | Sequence[str | NonlinearTerm], robot: Robot, strategy: Strategy
) -> TermRequest:
    """What ``add`` means for a robot, refused with a sentence where it cannot be.

    Args:
        add: "none", "auto", names of the catalogue with or without joints ("load", "load@2,3,stribeck@j1"),
            or terms of one's own, which "auto" beside them tries like the others.
        robot: the robot.
        strategy: the estimator, which must be able to have terms.
    """
    if isinstance(add, TermRequest):
        return add
    given = [add] if isinstance(add, str | NonlinearTerm) else list(add)
    own = [term for term in given if isinstance(term, NonlinearTerm)]
    words = [word.strip() for text in given if isinstance(text, str) for word in text.split(",")]
    for alone in (AUTO, NONE):
        beside = [word for word in words if word != alone] + [term.name for term in own if alone == NONE]
        if alone in words and beside:
            raise DynidError(
                f"add has {alone!r} beside {', '.join(map(repr, beside))}; give auto, which tries every term "
                "by itself, or none, or names."
            )
    joints = _joints_by_name([word for word in words if word not in (AUTO, NONE)], robot)
    sought = tuple(f"{name}@{j + 1}" for name in SOUGHT for j in joints.pop(name, ()))
    terms = (*_terms_by_name(joints, robot), *own)
    slots_of(robot, terms)
    auto = AUTO in words
    _refuse_taken_names(own, auto)
    if auto and strategy.has_terms:
        raise DynidError(
            "auto finds terms beside a model without any, and this estimator has terms of its own; choose "
            "--method wls or ols, or name the terms to add."
        )
    catalogue = {**CATALOGUE, **{term.name: term for term in own if auto}}
    request = TermRequest(auto, () if auto else terms, sought, catalogue)
    if not request.empty:
        strategy.with_terms(terms or (CATALOGUE["load"],))
    return request


def _refuse_taken_names(own: Sequence[NonlinearTerm], auto: bool) -> None:
    """Refuse terms of one's own that could not be told from others: those that "auto" tries beside them."""
    names = [term.name for term in own]
    taken = {*TERM_NAMES, *(term.name for term in CATALOGUE.values() if auto)}
    for k, name in enumerate(names):
        if name in taken or (auto and name in names[:k]):
            raise DynidError(
                f"A term of your own is called {name!r}, and so is another one; give it another name."
            )


def _joints_by_name(words: Sequence[str], robot: Robot) -> dict[str, list[int]]:
    """Joints of each term: all (``load``) or some (``load@2,3``, counted from 1, or ``load@elbow``)."""
    joints = [str(j + 1) for j in range(robot.n_coordinates)]
    numbers = {robot.joints[c].name: number for c, number in zip(robot.coordinates, joints, strict=True)}
    found, name = dict[str, set[int]](), ""
    for word in words:
        head, at, joint = word.partition("@")
        joint, further = numbers.get(joint, joint), numbers.get(word, word)
        if name and further in joints:  # a further joint of the term before
            joint = further
        else:
            name = head
        if name not in TERM_NAMES:
            raise unknown_name("term to add", name, (*TERM_NAMES, AUTO, NONE))
        if (at or joint) and joint not in joints:
            raise unknown_name(f"joint of the term {name!r}", joint, (*joints, *numbers))
        found.setdefault(name, set()).update([int(joint) - 1] if joint else range(len(joints)))
        name = name if joint else ""
    return {name: sorted(on) for name, on in found.items()}


def _terms_by_name(joints: Mapping[str, Sequence[int]], robot: Robot) -> tuple[NonlinearTerm, ...]:
    """Terms of the catalogue on their joints."""
    terms = {
        name: replace(CATALOGUE[name], joints=None if len(on) == robot.n_coordinates else tuple(on))
        for name, on in joints.items()
    }
    for name, term in terms.items():
        _refuse_double(name, term, robot)
    return tuple(terms.values())


def _refuse_double(name: str, term: NonlinearTerm, robot: Robot) -> None:
    """Refuse a term that the robot has as a parameter of its own."""
    for j in range(robot.n_coordinates) if term.joints is None else term.joints:
        own = term.name + robot.joints[robot.coordinates[j]].label
        if own in robot.table.names:
            raise DynidError(
                f"Robot {robot.name!r} has {term.words} already ({own}); leave {name} out of what is added."
            )


@dataclass(frozen=True)
class Addition:
    """Terms beside the robot's own.

    Args:
        added: those in the model, with what each brought.
        lacking: those that "auto" would add where it was not asked for.
        in_vain: whether "auto" was asked for and found none …
        untried: … and why it has tried none, as a clause; empty where it has.
        ledger: Grams of the suspects of the model with its terms; None where they cannot be looked at.
    """

    added: tuple[AddedTerm, ...] = ()
    lacking: tuple[AddedTerm, ...] = ()
    in_vain: bool = False
    untried: str = ""
    ledger: Ledger | None = None

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What terms brought or would bring, in a sentence; nothing where there are none."""
        none = (_none_found(self.untried),) if self.in_vain else ()
        return (*none, *_note_on_added(self.added), *_note_on_lacking(self.lacking))


def add_terms(
    estimate: Estimate, strategy: Strategy, request: TermRequest, regresses: bool
) -> tuple[Estimate, Strategy, Addition]:
    """Add the terms whose formula the logs give or that "auto" finds, and tell what terms brought.

    Args:
        estimate: with terms in it that were asked for by name.
        strategy: its estimator.
        request: what was asked for.
        regresses: whether it is least squares on measured motion, which suspects can be asked of.
    """
    addition = Addition()
    if request.terms or request.sought:
        estimate, strategy, addition = _with_named_terms(estimate, strategy, request)
    ledger = _ledger_of(estimate, request) if regresses else None
    if not (request.terms or request.sought) and strategy.takes_terms and estimate.further is None:
        before = estimate
        estimate, strategy, addition = _with_found_terms(estimate, strategy, request, ledger)
        ledger = ledger if estimate is before else _ledger_of(estimate, request)
    return estimate, strategy, replace(addition, ledger=ledger)


def _ledger_of(estimate: Estimate, request: TermRequest) -> Ledger | None:
    """Grams of the suspects of a model as it is; None where they cannot be looked at."""
    return suspect_ledger(estimate, request.catalogue) if can_be_judged(estimate) else None


def is_poorly_shown(estimate: Estimate) -> bool:
    """Whether the motion is too poor for the model as it is: parts that are alike prove nothing then."""
    return float(estimate.facts.get("condition_weighted_scaled") or 0.0) > POOR_CONDITION


def with_trials_told(findings: Sequence[Finding], ledger: Ledger, untried: str = "") -> tuple[Finding, ...]:
    """Findings of a fit with "auto": what is lacking still was tried in vain, or could not be.

    Args:
        findings: of the suspects.
        ledger: of the suspects.
        untried: why no term was tried; empty where all were.
    """
    tried = {suspect.key for suspect in ledger.suspects if suspect.terms}
    said = "It was tried as a term, and motion that was not used is not clearly predicted better with it."
    return tuple(
        replace(finding, remedy=f"It was not tried as a term: {untried}." if untried else said)
        if finding.name is Name.LACKING_PHYSICS and finding.figures.get("suspect") in tried
        else finding
        for finding in findings
    )


def _with_named_terms(
    estimate: Estimate, strategy: Strategy, request: TermRequest
) -> tuple[Estimate, Strategy, Addition]:
    """Terms that are added in any case, and what each brings at the constants that the fit has found."""
    sought = _sought_suspects(estimate, request.sought) if request.sought else ()
    if sought:
        strategy = strategy.with_terms((*request.terms, *(term for s in sought for term in s.terms)))
        estimate = identify(estimate.problem, strategy)
    problem, further = estimate.problem, estimate.further
    assert further is not None
    assert problem.motions is not None
    slots = slots_of(problem.robot, further.terms)
    constants = own_constants(slots, further.values[len(slots) :])
    labels = {(term.name, term.expression): label for label, term in CATALOGUE.items()}
    named = [
        Effect(slot.joint, labels.get((slot.term.name, slot.term.expression), slot.term.name), slot.term, own)
        for slot, own in zip(slots, map(tuple, constants), strict=True)
    ][: len(slots_of(problem.robot, request.terms))]
    scenes = scenes_of(problem.base, estimate.values, problem.motions, problem.plan)
    ledger = open_ledger(problem, (*named, *sought), np.ones_like(estimate.kept), scenes)
    return estimate, strategy, Addition(added=contributions(ledger, range(len(ledger.suspects))))


def _sought_suspects(estimate: Estimate, keys: Sequence[str]) -> tuple[Suspect, ...]:
    """Suspects by their keys whose formula the logs give, found in what the model leaves."""
    problem = estimate.problem
    AugmentedRows.of(problem, (), estimate.kept)  # says so where rows or motions were not kept
    fit = fit_of(estimate)
    found = position_effects(problem.robot, view_rows(problem, fit, scenes_of_fit(problem, fit)))
    by_key = {suspect.key: suspect for suspect in found}
    for key in keys:
        if key not in by_key:
            raise DynidError(
                f"The logs show nothing that {key} could be: no period over position explains anything "
                "there; leave it out of what is added."
            )
    return tuple(by_key[key] for key in keys)


def _with_found_terms(
    estimate: Estimate, strategy: Strategy, request: TermRequest, ledger: Ledger | None
) -> tuple[Estimate, Strategy, Addition]:
    """Terms that predict better, solved for together; those whose sign cannot be are left out again."""
    untried = _why_untried(estimate, ledger)
    steps = choose_terms(ledger) if ledger is not None and not untried else ()
    if not request.auto:
        return estimate, strategy, Addition(lacking=steps)
    while steps:
        widened = strategy.with_terms(terms_of(steps))
        found = identify(estimate.problem, widened)
        assert found.further is not None
        slots = slots_of(estimate.problem.robot, found.further.terms)
        wrong = {
            (slot.term.name, slot.joint)
            for slot, value in zip(slots, found.further.values, strict=False)
            if slot.term.never_negative and value < 0
        }
        if not wrong:
            return found, widened, Addition(added=steps)
        steps = tuple(s for s in steps if (s.effect.terms[0].name, s.effect.joint) not in wrong)
    return estimate, strategy, Addition(in_vain=True, untried=untried)


def _why_untried(estimate: Estimate, ledger: Ledger | None) -> str:
    """Why no term can be tried, as a clause; empty where nothing speaks against it."""
    if not estimate.outcome.trustworthy:
        return "the fit without any cannot be trusted"
    if ledger is None:
        return "the rows did not fit the memory, and shorter logs or a larger decimation would"
    if is_poorly_shown(estimate):
        return (
            f"above a condition number of {POOR_CONDITION:.0f} the motion is too poor for the model as it is"
        )
    return ""


def _none_found(untried: str) -> Finding:
    if untried:
        said = f"No term was added, and none was tried: {untried}."
        return Finding(Name.TERMS_ADDED, Level.NOTE, said)
    return Finding(
        Name.TERMS_ADDED,
        Level.GOOD,
        "No term was added: none is clearly seen to predict parts of the logs better that were not used.",
    )


def _note_on_added(steps: Sequence[AddedTerm]) -> tuple[Finding, ...]:
    if not steps:
        return ()
    course = ", ".join(f"{step.after:.3g} % with {step.effect.key}" for step in steps)
    useless = [step.effect.key for step in steps if not step.after < step.before]
    return (
        Finding(
            Name.TERMS_ADDED,
            Level.NOTE,
            f"Terms were added to the model. Parts of the logs that were not used are predicted to "
            f"{steps[0].before:.3g} % of the torque without them, {course}.",
            f"Leave out what predicts no better: {', '.join(useless)}." if useless else "",
            figures={"terms": [step.to_dict() for step in steps]},
        ),
    )


def _note_on_lacking(steps: Sequence[AddedTerm]) -> tuple[Finding, ...]:
    if not steps:
        return ()
    joints = dict[str, list[str]]()
    for step in sorted(steps, key=lambda step: step.effect.joint or 0):
        joints.setdefault(step.words, []).append(f"{(step.effect.joint or 0) + 1}")
    named = "; ".join(f"{what} (joint{'s' * (len(on) > 1)} {', '.join(on)})" for what, on in joints.items())
    it = "it" if len(steps) == 1 else "them"
    return (
        Finding(
            Name.TERMS_LACKING,
            Level.NOTE,
            f"The model lacks {named}: with {it}, parts of the logs that were not used are predicted to "
            f"{steps[-1].after:.3g} % of the torque instead of {steps[0].before:.3g} %.",
            f"Fit with {option_words('--add', AUTO)} to have {it} added.",
            figures={"terms": [step.to_dict() for step in steps]},
        ),
    )
