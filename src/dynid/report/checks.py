"""Data checks as the page shows them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dynid.validation.numbers import plain
from dynid.validation.verdict import Reason

_VERDICTS = {"good": "good", "usable with repairs": "care", "not usable": "fail"}
_SEVERITIES = {"note": "note", "warning": "care", "error": "fail"}


def normalised(check: Mapping[str, Any], repaired: Sequence[str] = ()) -> dict[str, Any]:
    """A data check with the levels of the page.

    Args:
        check: ``DataCheck.to_dict()``; words that are not known ask for care.
        repaired: names of motions whose log was repaired before the fit; parts of a log are "name (part)".
    """
    content = plain(check)
    log, verdict = str(content.get("log", "log")), str(content.get("verdict", "good"))
    findings = [_finding(item) for item in content.get("findings", [])]
    level = _VERDICTS.get(verdict, "care")
    mended = level == "care" and any(name == log or name.startswith(f"{log} (") for name in repaired)
    if mended or (level == "good" and any(finding["level"] == "care" for finding in findings)):
        level = "note"
    return {
        "log": log,
        "level": level,
        "verdict": "repaired" if mended else verdict,
        "summary": str(content.get("summary", "")),
        "findings": findings,
        "facts": content.get("facts", {}),
    }


def _finding(item: Mapping[str, Any]) -> dict[str, str]:
    said = [str(item[key]) for key in ("sentence", "remedy") if item.get(key)]
    level = _SEVERITIES.get(str(item.get("severity", "warning")), "care")
    return {"name": str(item.get("name", "")), "level": level, "sentence": " ".join(said)}


def reasons_of(checks: Sequence[Mapping[str, Any]]) -> list[Reason]:
    """What the checks of all logs say for or against the model; harmless logs share one sentence."""
    told = [
        Reason(check["level"], f"Log {check['log']} ({check['verdict']}): {check['summary']}".rstrip(" :"))
        for check in checks
        if check["level"] != "good"
    ]
    if checks and not told:
        logs = "the log" if len(checks) == 1 else f"the {len(checks)} logs"
        told.append(Reason("good", f"The data check found nothing that would harm a fit in {logs}."))
    return told
