"""What a check says: findings, facts and the verdict."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from types import MappingProxyType
from typing import Any

VERDICTS = ("good", "usable with repairs", "not usable")
SEVERITIES = ("note", "warning", "error")


@dataclass(frozen=True)
class Finding:
    """One thing that was noticed.

    Args:
        name: kind of defect, such as "repeated stamps".
        severity: "note" (worth knowing), "warning" (the fit may suffer) or "error" (no fit can be trusted).
        sentence: what was seen, with numbers.
        remedy: what to do about it.
        channel: channel concerned; None for the stamps or the whole log.
        axis: axis from 1; None for all.
        where: time or sample, in words.
        repairable: whether ``repair_log`` can mend it.
    """

    name: str
    severity: str
    sentence: str
    remedy: str = ""
    channel: str | None = None
    axis: int | None = None
    where: str = ""
    repairable: bool = False


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
        return self.verdict != "not usable"

    @property
    def defects(self) -> tuple[str, ...]:
        """Names of the repairable defects, each once."""
        return tuple(dict.fromkeys(f.name for f in self.findings if f.repairable))

    @property
    def summary(self) -> str:
        """The verdict and its main reason, in a sentence."""
        told = [f for f in self.findings if f.severity != "note"]
        if not told:
            return "Nothing was found that would harm a fit."
        more = f" ({len(told) - 1} more)" if len(told) > 1 else ""
        return f"{told[0].sentence}{more}"

    def to_dict(self) -> dict[str, Any]:
        """Everything, ready for JSON."""
        return {
            "log": self.log,
            "verdict": self.verdict,
            "summary": self.summary,
            "findings": [asdict(finding) for finding in self.findings],
            "facts": dict(self.facts),
        }


def judged(log: str, parts: tuple[Checked, ...]) -> DataCheck:
    """The verdict on everything that was found.

    An error that cannot be repaired makes a log not usable; anything repairable beyond a note makes it usable
    with repairs; else it is good, warnings included.
    """
    findings = [finding for part in parts for finding in part.findings]
    findings.sort(key=lambda finding: -SEVERITIES.index(finding.severity))
    facts = {name: value for part in parts for name, value in part.facts.items()}
    if any(f.severity == "error" and not f.repairable for f in findings):
        verdict = VERDICTS[2]
    elif any(f.repairable and f.severity != "note" for f in findings):
        verdict = VERDICTS[1]
    else:
        verdict = VERDICTS[0]
    return DataCheck(log, verdict, tuple(findings), MappingProxyType(facts))
