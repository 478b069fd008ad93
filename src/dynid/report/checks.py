"""Data checks as the page shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dynid.checks.check import DataCheck
from dynid.core.finding import Finding, Level, Name, Where
from dynid.validation.numbers import plain

_VERDICTS = {"good": Level.GOOD, "usable with repairs": Level.CARE, "not usable": Level.FAIL}
_SEVERITIES = {"note": "note", "warning": "care", "error": "fail"}
_ABOUT_EXCITATION = (Name.EXCITATION, Name.NOT_EXCITED)
"""Findings that harm a fit, but not the prediction of a log."""
USES = ("fit", "validation")


def normalised(
    check: DataCheck | Mapping[str, Any], repaired: Sequence[str] = (), *, use: str = "fit"
) -> dict[str, Any]:
    """A data check with the levels of the page; its level is that of its gravest finding.

    Args:
        check: a ``DataCheck`` or its ``to_dict()``; words that are not known ask for care.
        repaired: names of motions whose log was repaired before use; parts of a log are "name (part)".
        use: "fit" or "validation": what the log was for. A log to validate with need not excite much.
    """
    content = plain(check.to_dict() if isinstance(check, DataCheck) else check)
    log, verdict = str(content.get("log", "log")), str(content.get("verdict", "good"))
    mended = any(name == log or name.startswith(f"{log} (") for name in repaired)
    findings = [_finding(item, mended, use) for item in content.get("findings", [])]
    level = _VERDICTS.get(verdict, Level.CARE)
    if mended and level is Level.CARE:
        level, verdict = Level.NOTE, "repaired"
    # A note beside a good log is worth a line on the page, not a sentence in the verdict.
    worst = max((_level(f) for f in findings if _level(f) is not Level.NOTE), default=Level.GOOD)
    if worst > level:
        level = worst
        verdict = verdict if verdict != "good" else "with warnings"
    return {
        "log": log,
        "use": use,
        "level": level.word,
        "verdict": verdict,
        "summary": _summary(content, findings, level),
        "findings": findings,
        "facts": content.get("facts", {}),
    }


def _level(content: Mapping[str, Any]) -> Level:
    return Level[str(content["level"]).upper()]


def _summary(content: Mapping[str, Any], findings: Sequence[Mapping[str, str]], level: Level) -> str:
    grave = [f["sentence"] for f in findings if level >= Level.CARE and _level(f) is level]
    if not grave:
        return str(content.get("summary", ""))
    return grave[0] + (f" ({len(grave) - 1} more)" if len(grave) > 1 else "")


def _finding(item: Mapping[str, Any], mended: bool, use: str) -> dict[str, str]:
    said = [str(item[key]) for key in ("sentence", "remedy") if item.get(key)]
    level = str(item.get("level") or _SEVERITIES.get(str(item.get("severity")), "care"))
    name = str(item.get("name", ""))
    if mended and item.get("repairable"):
        level, said = "note", [*said[:1], "Repaired."]
    elif use == "validation" and name in _ABOUT_EXCITATION:
        level = "note"
    return {"name": name, "level": level, "sentence": " ".join(said)}


def findings_of(checks: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """What the checks of all logs say for or against the model; logs without a warning share one sentence.

    Notes on logs of the fit are in it; a log to validate with need not excite much.
    """
    found = [
        Finding(
            Name.LOG_CHECKED,
            _level(check),
            f"{_title(check)} ({check['verdict']}): {check['summary']}".rstrip(" :"),
            where=Where(log=str(check["log"])),
        )
        for check in checks
        if _level(check) > Level.GOOD
    ]
    if checks and not found:
        logs = "the log" if len(checks) == 1 else f"the {len(checks)} logs"
        fitted = [check for check in checks if check.get("use") != "validation"]
        noted = [finding["sentence"] for check in fitted for finding in check["findings"]]
        if not noted:
            sound = f"The data check found nothing that would harm a fit in {logs}."
            return [Finding(Name.LOG_CHECKED, Level.GOOD, sound)]
        more = f" ({len(noted) - 1} more)" if len(noted) > 1 else ""
        said = f"The data check has no warning about {logs}, but notes: {noted[0]}{more}"
        found.append(Finding(Name.LOG_CHECKED, Level.NOTE, said))
    return found


def _title(check: Mapping[str, Any]) -> str:
    return f"{'Validation log' if check.get('use') == 'validation' else 'Log'} {check['log']}"
