"""Logs at the door: checked, repaired on request, refused when no answer from them could be trusted."""

from __future__ import annotations

from dataclasses import dataclass, replace

from dynid.base.find import base_of
from dynid.checks import DataCheck, check_log, repair_log
from dynid.core.errors import NotTrustworthyError
from dynid.core.finding import Finding, Level, Name
from dynid.logs.log import Log
from dynid.model.robot import Robot

_NEEDED = ("position", "torque")


@dataclass(frozen=True, eq=False)
class Screened:
    """A log that may be used.

    Args:
        log: as it was given, or repaired.
        check: what was found, the repaired defects included.
    """

    log: Log
    check: DataCheck


def screened(log: Log, robot: Robot, *, repair: bool = False, use: str = "fit") -> Screened:
    """Check a log, repair it if asked to, and refuse it when it is not usable as it then is.

    Args:
        log: joint side.
        robot: what was moved.
        repair: whether repairable defects are repaired.
        use: "fit" or "validation", for the sentence.

    Raises:
        NotTrustworthyError: when the log is not usable, or holds garbage that was not repaired.
    """
    base = base_of(robot).columns
    found = check_log(log, robot, base)
    if not repair or not found.defects:
        refuse_unusable(log, found, use)
        return Screened(log, found)
    mended = repair_log(log)
    left = check_log(mended, robot, base)
    refuse_unusable(mended, left, use)
    known = {_key(finding) for finding in left.findings}
    gone = [f for f in found.findings if f.repairable and _key(f) not in known]
    # The report shows what was found; what counts is what is left of it.
    return Screened(mended, replace(left, verdict=found.verdict, findings=(*gone, *left.findings)))


def _key(finding: Finding) -> tuple[Name, str, int | None]:
    return finding.name, finding.where.channel, finding.where.axis


def refuse_unusable(log: Log, check: DataCheck, use: str = "fit") -> None:
    """Stop at a log that the data check calls not usable, or that must be repaired first.

    Args:
        log: the log.
        check: its data check.
        use: "fit" or "validation", for the sentence.
    """
    title = "Validation log" if use == "validation" else "Log"
    if check.verdict == "not usable":
        worst = [finding.sentence for finding in check.findings if finding.level is Level.FAIL]
        raise NotTrustworthyError(
            f"{title} {log.name!r} is not usable: {' '.join(worst[:3])} See dynid check for all findings."
        )
    wild = [
        f.sentence for f in check.findings if f.name is Name.GARBAGE_VALUES and f.where.channel in _NEEDED
    ]
    if wild:
        raise NotTrustworthyError(
            f"{title} {log.name!r} holds garbage: {' '.join(wild[:3])} Repair it (--repair)."
        )
