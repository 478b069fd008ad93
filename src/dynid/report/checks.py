"""Data checks as the page shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dynid.checks.check import DataCheck
from dynid.validation.numbers import plain
from dynid.validation.verdict import LEVELS, Reason

_VERDICTS = {"good": "good", "usable with repairs": "care", "not usable": "fail"}
_SEVERITIES = {"note": "note", "warning": "care", "error": "fail"}
_ABOUT_EXCITATION = ("excitation", "not excited")
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
    level = _VERDICTS.get(verdict, "care")
    if mended and level == "care":
        level, verdict = "note", "repaired"
    # A note beside a good log is worth a line on the page, not a sentence in the verdict.
    worst = max((LEVELS.index(f["level"]) for f in findings if f["level"] != "note"), default=0)
    if worst > LEVELS.index(level):
        level = LEVELS[worst]
        verdict = verdict if verdict != "good" else "with warnings"
    return {
        "log": log,
        "use": use,
        "level": level,
        "verdict": verdict,
        "summary": _summary(content, findings, level),
        "findings": findings,
        "facts": content.get("facts", {}),
    }


def _summary(content: Mapping[str, Any], findings: Sequence[Mapping[str, str]], level: str) -> str:
    grave = [f["sentence"] for f in findings if f["level"] == level and level in ("care", "fail")]
    if not grave:
        return str(content.get("summary", ""))
    return grave[0] + (f" ({len(grave) - 1} more)" if len(grave) > 1 else "")


def _finding(item: Mapping[str, Any], mended: bool, use: str) -> dict[str, str]:
    said = [str(item[key]) for key in ("sentence", "remedy") if item.get(key)]
    level = _SEVERITIES.get(str(item.get("severity", "warning")), "care")
    name = str(item.get("name", ""))
    if mended and item.get("repairable"):
        level, said = "note", [*said[:1], "Repaired."]
    elif use == "validation" and name in _ABOUT_EXCITATION:
        level = "note"
    return {"name": name, "level": level, "sentence": " ".join(said)}


def reasons_of(checks: Sequence[Mapping[str, Any]]) -> list[Reason]:
    """What the checks of all logs say for or against the model; logs without a warning share one sentence.

    Notes on logs of the fit are in it; a log to validate with need not excite much.
    """
    told = [
        Reason(check["level"], f"{_title(check)} ({check['verdict']}): {check['summary']}".rstrip(" :"))
        for check in checks
        if check["level"] != "good"
    ]
    if checks and not told:
        logs = "the log" if len(checks) == 1 else f"the {len(checks)} logs"
        fitted = [check for check in checks if check.get("use") != "validation"]
        noted = [finding["sentence"] for check in fitted for finding in check["findings"]]
        if not noted:
            return [Reason("good", f"The data check found nothing that would harm a fit in {logs}.")]
        more = f" ({len(noted) - 1} more)" if len(noted) > 1 else ""
        said = f"The data check has no warning about {logs}, but notes: {noted[0]}{more}"
        told.append(Reason("note", said))
    return told


def _title(check: Mapping[str, Any]) -> str:
    return f"{'Validation log' if check.get('use') == 'validation' else 'Log'} {check['log']}"
