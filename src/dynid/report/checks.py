"""Data checks as the page shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from dynid.checks import DataCheck
from dynid.core.finding import Finding, Level, Name, Where, worst_level
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


def _summary(content: Mapping[str, Any], findings: Sequence[Mapping[str, Any]], level: Level) -> str:
    grave = [_text(f) for f in findings if level >= Level.CARE and _level(f) is level]
    if not grave:
        return str(content.get("summary", ""))
    return grave[0] + (f" ({len(grave) - 1} more)" if len(grave) > 1 else "")


def _text(finding: Mapping[str, Any]) -> str:
    return " ".join(str(finding[part]) for part in ("sentence", "remedy") if finding.get(part))


def _finding(item: Mapping[str, Any], mended: bool, use: str) -> dict[str, Any]:
    """A finding about a log, weighed for what the log was used for."""
    level = str(item.get("level") or _SEVERITIES.get(str(item.get("severity")), "care"))
    name, remedy = str(item.get("name", "")), str(item.get("remedy", ""))
    if mended and item.get("repairable"):
        level, remedy = "note", "Repaired."
    elif use == "validation" and name in _ABOUT_EXCITATION:
        level = "note"
    kept = {key: value for key, value in item.items() if key != "severity"}
    return kept | {"name": name, "level": level, "remedy": remedy}


def findings_of(checks: Sequence[Mapping[str, Any]]) -> list[Finding]:
    """What the checks of all logs say for or against the model, each warning in a sentence of its own.

    Notes of the same name share a sentence, which names the other logs. Notes on logs to validate with are
    left out: such a log need not excite much.
    """
    found, notes = list[Finding](), dict[str, list[Finding]]()
    for check in checks:
        kept = [f for f in check["findings"] if _level(f) > Level.NOTE or check.get("use") != "validation"]
        told = [_about_log(check, _level(f), f["sentence"], f["remedy"], f["name"]) for f in kept]
        if _level(check) > worst_level(told):
            told.append(_about_log(check, _level(check), check["summary"]))
        found += [finding for finding in told if finding.level is not Level.NOTE]
        for finding in told:
            if finding.level is Level.NOTE:
                notes.setdefault(finding.name, []).append(finding)
    for group in notes.values():
        own = [finding for finding in group if finding.where.log == group[0].where.log]
        others = dict.fromkeys(finding.where.log for finding in group[len(own) :])
        also = f"{own[-1].remedy} Also in {', '.join(others)}.".strip() if others else own[-1].remedy
        found += [*own[:-1], replace(own[-1], remedy=also)]
    if checks and not found:
        logs = "the log" if len(checks) == 1 else f"the {len(checks)} logs"
        good = f"The data check found nothing that would harm a fit in {logs}."
        found.append(Finding(Name.LOG_CHECKED, Level.GOOD, good))
    return found


def _about_log(
    check: Mapping[str, Any], level: Level, sentence: str, remedy: str = "", name: str = ""
) -> Finding:
    """A finding that says which log it is about; of an unknown name, that the log was checked."""
    kind = next((known for known in Name if known == name), Name.LOG_CHECKED)
    title = f"{'Validation log' if check.get('use') == 'validation' else 'Log'} {check['log']}"
    said = f"{title} ({check['verdict']}): {sentence}".rstrip(" :")
    return Finding(kind, level, said, remedy, Where(log=str(check["log"])))
