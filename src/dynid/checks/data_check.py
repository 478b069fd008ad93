"""The judgement of a log: what its checks found and measured, and the verdict."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set as AbstractSet
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any

from dynid.core.finding import Finding, Level, Name, findings_repr, gravest_first

VERDICTS = ("good", "usable with repairs", "not usable")


@dataclass(frozen=True)
class Checked:
    """What one check found, and the figures it measured by name."""

    findings: tuple[Finding, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, repr=False)
class DataCheck:
    """The judgement of a log.

    Args:
        log: name of the experiment.
        verdict: "good", "usable with repairs" or "not usable".
        findings: what was noticed, the gravest first.
        facts: figures by name (rate, jitter, quantisation steps, delay, condition number …), ready for JSON.
    """

    log: str
    verdict: str
    findings: tuple[Finding, ...] = ()
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __repr__(self) -> str:
        """Verdict and findings."""
        return findings_repr(f"DataCheck of {self.log!r}: {self.verdict}", self.findings)

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
        """The main reason of the verdict, in a sentence."""
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


def with_accepted(findings: Iterable[Finding], accepted: AbstractSet[str]) -> tuple[Finding, ...]:
    """Findings with those that the user knows better about as notes that say so.

    Args:
        findings: of a log or a fit.
        accepted: names of findings, or of the suspects that they tell.
    """
    return tuple(
        _as_accepted(finding) if finding.level > Level.NOTE and accepted & names_of(finding) else finding
        for finding in findings
    )


def names_of(finding: Finding) -> set[str]:
    """Names by which a finding can be accepted: its own, and that of its suspect with the joint."""
    return {str(finding.name), str(finding.figures.get("suspect", finding.name))}


def _as_accepted(finding: Finding) -> Finding:
    """A finding that the user knows better about."""
    return replace(
        finding,
        level=Level.NOTE,
        sentence=f"Accepted by the user: {finding.sentence}",
        remedy="",
        figures={**finding.figures, "accepted": finding.level.word},
        repairable=False,
    )


def data_check(log: str, parts: Iterable[Checked], accepted: AbstractSet[str] = frozenset()) -> DataCheck:
    """The verdict on what all checks of a log found.

    A finding that fails the log and cannot be repaired makes it not usable; anything repairable beyond a note
    makes it usable with repairs; else it is good, findings that ask for care included.

    Args:
        log: name of the experiment.
        parts: what each check found.
        accepted: names of findings that the user has accepted: they become notes that say so.
    """
    parts = tuple(parts)
    findings = gravest_first(finding for part in parts for finding in with_accepted(part.findings, accepted))
    facts = {name: value for part in parts for name, value in part.facts.items()}
    if any(f.level is Level.FAIL and not f.repairable for f in findings):
        verdict = VERDICTS[2]
    elif any(f.repairable and f.level > Level.NOTE for f in findings):
        verdict = VERDICTS[1]
    else:
        verdict = VERDICTS[0]
    return DataCheck(log, verdict, findings, MappingProxyType(facts))
