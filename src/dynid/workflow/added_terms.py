"""Terms beside the robot's own: which were asked for, what each brought, what others would bring."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from dynid.core.errors import DynidError, option_words, unknown_name
from dynid.core.finding import Finding, Level, Name
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import POOR_CONDITION, identify
from dynid.estimators.linear.catalogue import CATALOGUE, SOUGHT, TERM_NAMES
from dynid.estimators.linear.terms import NonlinearTerm, slots_of
from dynid.estimators.strategy import Strategy
from dynid.model.robot import Robot
from dynid.suspects.ledger import Ledger
from dynid.workflow.term_choice import AddedTerm, choose_terms, contributions, terms_of

AUTO, NONE = "auto", "none"
_NONE_FOUND = Finding(
    Name.TERMS_ADDED,
    Level.GOOD,
    "No term was added: none is clearly seen to predict parts of the logs better that were not used.",
)


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
    auto, catalogue = AUTO in words, {**CATALOGUE, **{term.name: term for term in own}}
    request = TermRequest(auto, () if auto else terms, sought, catalogue)
    if not request.empty:
        strategy.with_terms(terms or (CATALOGUE["load"],))
    return request


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
        in_vain: whether "auto" was asked for and found none.
    """

    added: tuple[AddedTerm, ...] = ()
    lacking: tuple[AddedTerm, ...] = ()
    in_vain: bool = False

    @property
    def keys(self) -> tuple[str, ...]:
        """Added terms as ``--add`` takes them."""
        return tuple(step.effect.key for step in self.added)

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What terms brought or would bring, in a sentence; nothing where there are none."""
        none = (_NONE_FOUND,) if self.in_vain else ()
        return (*none, *_note_on_added(self.added), *_note_on_lacking(self.lacking))


def add_terms(
    estimate: Estimate, strategy: Strategy, request: TermRequest, ledger: Ledger | None
) -> tuple[Estimate, Strategy, Addition]:
    """Add the terms that "auto" finds, and tell what terms brought or would bring.

    Args:
        estimate: by least squares on measured motion, with terms that were asked for by name in it.
        strategy: its estimator.
        request: what was asked for.
        ledger: Grams of the suspects; None where they could not be looked at.
    """
    own_terms = estimate.further is not None and request.empty  # those of Separable itself
    if ledger is None or not strategy.takes_terms or own_terms:
        return estimate, strategy, Addition(in_vain=request.auto)
    if request.terms or request.sought:
        steps = contributions(ledger, _asked_suspects(ledger, request))
        if request.sought:
            strategy = strategy.with_terms(terms_of(steps))
            estimate = identify(estimate.problem, strategy)
        return estimate, strategy, Addition(added=steps)
    steps = () if is_poorly_shown(estimate) else choose_terms(ledger)
    if not request.auto:
        return estimate, strategy, Addition(lacking=steps)
    return _with_found_terms(estimate, strategy, steps)


def is_poorly_shown(estimate: Estimate) -> bool:
    """Whether the motion is too poor for the model as it is: parts that are alike prove nothing then."""
    return float(estimate.facts.get("condition_weighted_scaled") or 0.0) > POOR_CONDITION


def with_trials_told(findings: Sequence[Finding], ledger: Ledger) -> tuple[Finding, ...]:
    """Findings of a fit for which "auto" has tried all terms: what is lacking still was tried in vain."""
    tried = {suspect.key for suspect in ledger.suspects if suspect.terms}
    said = "It was tried as a term, and motion that was not used is not clearly predicted better with it."
    return tuple(
        replace(finding, remedy=said)
        if finding.name is Name.LACKING_PHYSICS and finding.figures.get("suspect") in tried
        else finding
        for finding in findings
    )


def _asked_suspects(ledger: Ledger, request: TermRequest) -> list[int]:
    """Numbers of the suspects that were asked for by name."""
    numbers = []
    for term in request.terms:
        every = term.joints is None
        numbers += [
            k
            for k, suspect in enumerate(ledger.suspects)
            if any(own.name == term.name for own in suspect.terms)
            and (every or suspect.joint in (term.joints or ()))
        ]
    keys = {suspect.key: k for k, suspect in enumerate(ledger.suspects)}
    for key in request.sought:
        if key not in keys:
            raise DynidError(
                f"The logs show nothing that {key} could be: no period over position explains anything "
                "there; leave it out of what is added."
            )
    return [*numbers, *(keys[key] for key in request.sought)]


def _with_found_terms(
    estimate: Estimate, strategy: Strategy, steps: tuple[AddedTerm, ...]
) -> tuple[Estimate, Strategy, Addition]:
    """Solve for everything together; terms that then have a sign which cannot be are left out again."""
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
    return estimate, strategy, Addition(in_vain=True)


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
