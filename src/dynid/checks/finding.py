"""What a check says: findings, facts and the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Any

from dynid.core.finding import Finding, Level, Name, Where, gravest_first

VERDICTS = ("good", "usable with repairs", "not usable")
_LEVELS = {"note": Level.NOTE, "warning": Level.CARE, "error": Level.FAIL}


def defect(
    name: str,
    severity: str,
    sentence: str,
    remedy: str = "",
    channel: str | None = None,
    axis: int | None = None,
    where: str = "",
    repairable: bool = False,
) -> Finding:
    """A finding about a log."""
    place = Where(channel=channel or "", axis=axis, moment=where)
    return Finding(Name(name), _LEVELS[severity], sentence, remedy, place, repairable=repairable)


@dataclass(frozen=True)
class Checked:
    """What one family of checks found, and the figures it measured."""

    findings: tuple[Finding, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class DataCheck:
    """The judgement of a log.

    Args:
        log: name of the experiment.
        verdict: "good", "usable with repairs" or "not usable".
        findings: what was noticed, the worst first.
        facts: figures by name (rate, jitter, quantisation steps, delay, condition number …), ready for JSON.
    """

    log: str
    verdict: str
    findings: tuple[Finding, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def usable(self) -> bool:
        """Whether a fit may be tried, after repairs if need be."""
        return self.verdict != VERDICTS[2]

    @property
    def defects(self) -> tuple[Name, ...]:
        """Names of the repairable defects, each once."""
        return tuple(dict.fromkeys(f.name for f in self.findings if f.repairable))

    @property
    def summary(self) -> str:
        """The verdict and its main reason, in a sentence."""
        grave = [f for f in self.findings if f.level > Level.NOTE]
        if not grave:
            return "Nothing was found that would harm a fit."
        more = f" ({len(grave) - 1} more)" if len(grave) > 1 else ""
        return f"{grave[0].sentence}{more}"

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "log": self.log,
            "verdict": self.verdict,
            "summary": self.summary,
            "findings": [finding.to_dict() for finding in self.findings],
            "facts": dict(self.facts),
        }


def judged(log: str, parts: tuple[Checked, ...]) -> DataCheck:
    """The verdict on everything that was found.

    What cannot be trusted and not be repaired makes a log not usable; anything repairable beyond a note makes
    it usable with repairs; else it is good, what asks for care included.
    """
    findings = gravest_first(finding for part in parts for finding in part.findings)
    facts = {name: value for part in parts for name, value in part.facts.items()}
    if any(f.level is Level.FAIL and not f.repairable for f in findings):
        verdict = VERDICTS[2]
    elif any(f.repairable and f.level > Level.NOTE for f in findings):
        verdict = VERDICTS[1]
    else:
        verdict = VERDICTS[0]
    return DataCheck(log, verdict, findings, MappingProxyType(facts))
