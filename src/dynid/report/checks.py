"""Data checks, weighed for what their logs were used for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from dynid.checks import VERDICTS, DataCheck
from dynid.core.finding import Finding, Level, Name, gravest_first, worst_level
from dynid.core.plain import plain
from dynid.logs.log import Log
from dynid.preparation.motion import Motion

_LEVELS = dict(zip(VERDICTS, (Level.GOOD, Level.CARE, Level.FAIL), strict=True))
_ABOUT_EXCITATION = (Name.EXCITATION, Name.NOT_EXCITED)
"""Findings that harm a fit, but not the prediction of a log."""


@dataclass(frozen=True)
class UsedLog:
    """The data check of a log that was used.

    Args:
        check: what the data check found.
        use: "fit" or "validation". A log to validate with need not excite much.
        repaired: whether the log was repaired before use.
        joined: whether other logs were fitted together with it: what one does not excite, others may.
        condition: the robot's condition that the log was taken in; "" when none.
    """

    check: DataCheck
    use: str = "fit"
    repaired: bool = False
    joined: bool = False
    condition: str = ""

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What was found, the gravest first; what was repaired or does not matter for this use is a note."""
        return gravest_first(self._weighed(finding) for finding in self.check.findings)

    def _weighed(self, finding: Finding) -> Finding:
        if self.repaired and finding.repairable:
            return replace(finding, level=Level.NOTE, remedy="Repaired.")
        if (self.joined or self.use == "validation") and finding.name in _ABOUT_EXCITATION:
            return replace(finding, level=min(finding.level, Level.NOTE))
        return finding

    @property
    def level(self) -> Level:
        """The level of the verdict or of a graver finding; a note beside a good log does not count."""
        grave = [finding for finding in self.findings if finding.level > Level.NOTE]
        given = _LEVELS[self.check.verdict]
        mended = self.repaired and given is Level.CARE
        return max(Level.NOTE if mended else given, worst_level(grave))

    @property
    def verdict(self) -> str:
        """In a word or two."""
        if self.repaired and _LEVELS[self.check.verdict] is Level.CARE:
            return "repaired"
        warned = self.level > Level.NOTE and _LEVELS[self.check.verdict] is Level.GOOD
        return "with warnings" if warned else self.check.verdict

    @property
    def summary(self) -> str:
        """The main reason of the verdict, in a sentence."""
        return replace(self.check, findings=self.findings).summary

    def named_findings(self) -> list[Finding]:
        """What the log says for or against a model, with its name; notes only on a log of the fit."""
        title = f"{'Validation log' if self.use == 'validation' else 'Log'} {self.check.log} ({self.verdict})"
        own = [finding for finding in self.findings if finding.level > Level.NOTE or self.use == "fit"]
        if self.level > worst_level(own):
            own.append(Finding(Name.LOG_CHECKED, self.level, self.check.summary))
        return [replace(f.in_log(self.check.log), sentence=f"{title}: {f.sentence}") for f in own]

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "log": self.check.log,
            "use": self.use,
            "condition": self.condition,
            "level": self.level.word,
            "verdict": self.verdict,
            "summary": self.summary,
            "findings": [plain(finding.to_dict()) for finding in self.findings],
            "facts": plain(dict(self.check.facts)),
        }


def used_logs(
    checks: Iterable[DataCheck], used: Sequence[Log | Motion], use: str = "fit"
) -> tuple[UsedLog, ...]:
    """Checks of logs with what became of the logs.

    Args:
        checks: as ``check_log`` gives them.
        used: the logs as they were used, or what was made of them; parts of a log are called "name (part)".
        use: "fit" or "validation".
    """

    def uses_of(log: str) -> list[Log | Motion]:
        return [one for one in used if one.name == log or one.name.startswith(f"{log} (")]

    def repaired(log: str) -> bool:
        return any(step.name.startswith("repair") for one in uses_of(log) for step in one.history)

    def condition(k: int) -> str:
        # Logs from several folders may share a name; they come in the order of their checks.
        name, earlier = given[k].log, [check.log for check in given[:k]]
        return next((one.condition for one in uses_of(name)[earlier.count(name) :]), "")

    given = tuple(checks)
    joined = use == "fit" and len(given) > 1
    return tuple(
        UsedLog(check, use, repaired(check.log), joined, condition(k)) for k, check in enumerate(given)
    )


def findings_of(logs: Sequence[UsedLog]) -> list[Finding]:
    """What the data checks say for or against the model, each warning in a sentence of its own.

    Notes of the same name share a sentence, which names the other logs.
    """
    every = [finding for log in logs for finding in log.named_findings()]
    found = [finding for finding in every if finding.level > Level.NOTE]
    notes = [finding for finding in every if finding.level is Level.NOTE]
    for name in dict.fromkeys(note.name for note in notes):
        same = [note for note in notes if note.name is name]
        first = [note for note in same if note.where.log == same[0].where.log]
        others = dict.fromkeys(note.where.log for note in same[len(first) :])
        also = f"{first[-1].remedy} Also in {', '.join(others)}.".strip() if others else first[-1].remedy
        found += [*first[:-1], replace(first[-1], remedy=also)]
    if logs and not found:
        which = "the log" if len(logs) == 1 else f"the {len(logs)} logs"
        good = f"The data check found nothing that would harm a fit in {which}."
        found.append(Finding(Name.LOG_CHECKED, Level.GOOD, good))
    return found
