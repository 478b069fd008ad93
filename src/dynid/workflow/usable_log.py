"""Logs at the door: brought to the joint side, recognised, checked, repaired on request, or refused."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from dynid.base.find import base_of
from dynid.checks import DataCheck, check_log, repair_log
from dynid.checks.check import accept_findings, accepted_names, may_be_accepted
from dynid.checks.data_check import with_accepted
from dynid.core.errors import DynidError, NotTrustworthyError, option_words
from dynid.core.finding import Finding, Level, Name
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log, Step
from dynid.logs.spool import blocks
from dynid.model.robot import Robot

if TYPE_CHECKING:
    from dynid.trajectories.reference import Reference

_NEEDED = ("position", "torque")
RUINOUS = frozenset(
    {
        *(Name.DAMAGED_LINES, Name.UNSIGNED_NUMBERS, Name.GARBAGE_ROWS, Name.REPEATED_ROWS),
        *(Name.CLOCK_SET_BACK, Name.CLOCK_SET_FORWARD, Name.FROZEN_ROWS),
        *(Name.LOST_STAMPS, Name.BACKWARD_STAMPS, Name.REPEATED_STAMPS),
        *(Name.GARBAGE_VALUES, Name.MISSING_VALUES, Name.WRAPPED_POSITION, Name.LONG_GAPS),
    }
)
"""Defects with which a log cannot be fitted, or gives another robot's parameters, unless it is repaired."""
NO_REPAIR = (
    "Repairs (--repair, repair=True) are for measured motions; repair the log first, with dynid "
    "check --repair or dynid.repair."
)


@dataclass(frozen=True)
class LogIdentity:
    """What tells a log from others: the same data under two names is one log.

    Args:
        name: name of the experiment.
        samples: how many it has; None where an earlier version of dynid did not know.
        data: SHA-256 of its positions and torques, joint side and before any repair; None likewise.
        files: SHA-256 of the files it came from.
    """

    name: str
    samples: int | None
    data: str | None
    files: tuple[str, ...]

    def same_log(self, other: LogIdentity) -> bool:
        """Whether both hold the same data, or come from the same files."""
        return (self.data is not None and self.data == other.data) or bool(
            self.files and set(self.files) == set(other.files)
        )

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return asdict(self) | {"files": list(self.files)}

    @classmethod
    def from_dict(cls, content: Mapping[str, Any]) -> LogIdentity:
        """Read back what ``to_dict`` wrote."""
        files = tuple(str(file) for file in content["files"])
        return cls(str(content["name"]), content["samples"], content["data"], files)


@dataclass(frozen=True, eq=False)
class UsableLog:
    """A log that may be used.

    Args:
        log: joint side, repaired if asked for.
        identity: what it was before any repair.
        check: what was found, repaired defects included; None where there are no positions to check.
        reference: what the controller followed; None to take the log's own.
        fitted: whether a log kept for validation is one of the fit's own.
    """

    log: Log
    identity: LogIdentity
    check: DataCheck | None = None
    reference: Reference | None = None
    fitted: bool = False


def as_logs(logs: Log | Sequence[Log], accept: Iterable[str] = ()) -> tuple[Log, ...]:
    """Experiments given to a verb, one or several, with the findings that its user accepts."""
    return tuple(accept_findings(log, accept) for log in ((logs,) if isinstance(logs, Log) else logs))


def as_accepted(findings: Iterable[Finding], logs: Iterable[UsableLog]) -> tuple[Finding, ...]:
    """Findings of a fit or of later logs, those that the user of the logs has accepted as notes."""
    return with_accepted(findings, {name for used in logs for name in accepted_names(used.log)})


def one_reference_each(
    given: Sequence[Reference] | None, logs: int, described: str
) -> tuple[Reference | None, ...]:
    """References of logs: one for all, or one each; None leaves them to the logs.

    Args:
        given: references.
        logs: how many there are.
        described: the same in words, for the sentence.
    """
    if given is None:
        return (None,) * logs
    if len(given) not in (1, logs):
        raise DynidError(
            f"{len(given)} references were given for {described}; give one for all, or one each in that "
            "order."
        )
    return tuple(given) * logs if len(given) == 1 else tuple(given)


def identity_of(log: Log) -> LogIdentity:
    """The identity of a log.

    Args:
        log: joint side, before any repair.
    """
    digest = hashlib.sha256()
    for name in _NEEDED:
        if name in log.channels:
            for rows in blocks(log.samples):
                digest.update(log.channels[name][rows].data)
    return LogIdentity(log.name, log.samples, digest.hexdigest(), tuple(s.sha256 for s in log.sources))


def logs_to_fit(
    robot: Robot,
    logs: Sequence[Log],
    references: Sequence[Reference | None],
    *,
    repair: bool = False,
    torques_suffice: bool = False,
) -> tuple[UsableLog, ...]:
    """Check the logs of a fit.

    Args:
        robot: the robot.
        logs: motor or joint side.
        references: what the controller followed, one per log; None takes the log's own.
        repair: whether repairable defects are repaired.
        torques_suffice: whether logs without positions are taken as they are.

    Raises:
        DynidError: when there is none, or one is given twice.
        NotTrustworthyError: when one is not usable.
    """
    if not logs:
        raise DynidError("There is no log to fit; give at least one.")
    _require_conditions(robot, logs)
    joint_side = [to_joint_side(log, robot) for log in logs]
    identities = [identity_of(log) for log in joint_side]
    refuse_duplicates(identities)
    return tuple(
        _usable_log(log, robot, identity, reference, repair, torques_suffice, "fit")
        for log, identity, reference in zip(joint_side, identities, references, strict=True)
    )


def _require_conditions(robot: Robot, logs: Sequence[Log]) -> None:
    """Refuse conditions that the robot does not have, and logs that do not show what lives in some only."""
    for log in logs:
        robot.lives_in(log.condition)  # a misspelt name is named before the one that it was meant to be
    taken = {log.condition for log in logs}
    for condition in robot.conditions:
        if condition.parameters and condition.name not in taken:
            raise DynidError(
                f"No log was taken in the condition {condition.name!r}, so nothing shows what lives in it "
                f"only ({', '.join(condition.parameters)}); name the condition of each log (--condition, "
                "Log.condition, or a key of the mapping), or leave this condition out."
            )


def logs_to_validate(
    robot: Robot,
    logs: Sequence[Log],
    fitted: Sequence[LogIdentity],
    references: Sequence[Reference | None],
    *,
    repair: bool = False,
    torques_suffice: bool = False,
    later: bool = False,
) -> tuple[UsableLog, ...]:
    """Check logs kept for validation, and ask whether they are those of the fit.

    Args:
        robot: the robot.
        logs: motor or joint side.
        fitted: the logs of the fit.
        references: as in ``logs_to_fit``, and likewise the following.
        repair: whether repairable defects are repaired.
        torques_suffice: whether logs without positions are taken as they are.
        later: whether they are asked what has changed, and no validation.

    Raises:
        NotTrustworthyError: when one is not usable.
    """
    held, use = list[UsableLog](), "change" if later else "validation"
    for log, reference in zip(logs, references, strict=True):
        joint_side = to_joint_side(log, robot)
        identity = identity_of(joint_side)
        used = _usable_log(joint_side, robot, identity, reference, repair, torques_suffice, use)
        held.append(replace(used, fitted=any(identity.same_log(own) for own in fitted)))
    return tuple(held)


def split_logs(
    robot: Robot, logs: Sequence[UsableLog], share: float
) -> tuple[tuple[UsableLog, ...], tuple[UsableLog, ...]]:
    """The first share of every log, for the fit, and the rests, for validation.

    Args:
        robot: the robot.
        logs: the logs of a fit.
        share: between 0 and 1.
    """
    parts = [split_log(used.log, share) for used in logs]
    first = [replace(used, log=part) for used, (part, _) in zip(logs, parts, strict=True)]
    rest = []
    for used, (_, part) in zip(logs, parts, strict=True):
        check = None if used.check is None else _usable(part, robot, False, "validation")[1]
        rest.append(replace(used, log=part, check=check))
    return tuple(first), tuple(rest)


def require_share(share: object) -> None:
    """Refuse a share of a log that is no number between 0 and 1."""
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 < share < 1:
        raise DynidError(f"The share of the log to fit is {share!r}; it must be a number between 0 and 1.")


def split_log(log: Log, share: float) -> tuple[Log, Log]:
    """The first share of a log and the rest."""
    require_share(share)
    cut = int(log.samples * share)

    def part(name: str, rows: slice) -> Log:
        step = Step("split", {"share": share, "part": name})
        return log.part(rows).with_step(step, name=f"{log.name} ({name})")

    return part(f"first {share:.0%}", slice(0, cut)), part(f"last {1 - share:.0%}", slice(cut, None))


def _usable_log(
    log: Log,
    robot: Robot,
    identity: LogIdentity,
    reference: Reference | None,
    repair: bool,
    torques_suffice: bool,
    use: str,
) -> UsableLog:
    if torques_suffice and "position" not in log.channels:
        return UsableLog(log, identity, None, reference)
    usable, check = _usable(log, robot, repair, use)
    return UsableLog(usable, identity, check, reference)


def _usable(log: Log, robot: Robot, repair: bool, use: str) -> tuple[Log, DataCheck]:
    """A log as it may be used, repaired if asked for, and what was found in it.

    Raises:
        NotTrustworthyError: when the log is not usable, or holds garbage that was not repaired.
    """
    robot.lives_in(log.condition)  # a condition that the robot does not have is refused before any work
    # One log is of one condition, in which all parameters together span what it can show.
    robot = robot.with_conditions()
    base = base_of(robot).columns
    found = check_log(log, robot, base)
    if not repair or not found.defects:
        _refuse_unusable(log, found, use)
        return log, found
    mended = repair_log(log, robot=robot)
    left = check_log(mended, robot, base)
    _refuse_unusable(mended, left, use)
    known = {_kind(finding) for finding in left.findings}
    gone = [f for f in found.findings if f.repairable and _kind(f) not in known]
    # The report shows what was found; what counts is what is left of it.
    return mended, replace(left, verdict=found.verdict, findings=(*gone, *left.findings))


def _kind(finding: Finding) -> tuple[Name, str, int | None]:
    return finding.name, finding.where.channel, finding.where.axis


def _refuse_unusable(log: Log, check: DataCheck, use: str) -> None:
    """Stop at a log that the data check calls not usable, or that must be repaired first."""
    title = "Validation log" if use == "validation" else "Log"
    if check.verdict == "not usable":
        worst = [f for f in check.findings if f.level is Level.FAIL and not f.repairable]
        said = " ".join(finding.text for finding in worst[:2])
        known = dict.fromkeys(finding.name for finding in worst if may_be_accepted(finding.name))
        names = " ".join(option_words("--accept", name.value) for name in known)
        better = f" If you know better, {names} lets it pass, and the report says so." if names else ""
        raise NotTrustworthyError(
            f"{title} {log.name!r} is not usable: {said} See dynid check for all findings.{better}"
        )
    wild = [f.sentence for f in check.findings if f.repairable and f.name in RUINOUS and _is_needed(f)]
    if wild:
        raise NotTrustworthyError(
            f"{title} {log.name!r} must be repaired: {' '.join(wild[:3])} Add {option_words('--repair')}."
        )


def _is_needed(finding: Finding) -> bool:
    """Whether a finding is about what a fit needs."""
    return finding.where.channel in ("", *_NEEDED)


def refuse_duplicates(logs: Sequence[LogIdentity]) -> None:
    """Stop where a log is given twice: counted twice, it would make σ too small by √2."""
    for k, later in enumerate(logs):
        for first in logs[:k]:
            if later.same_log(first):
                raise DynidError(
                    f"Logs {first.name!r} and {later.name!r} hold the same data; a log that counts twice "
                    "makes standard deviations too small. Give each log once."
                )
