"""The first screen: trust it or not, and why."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dynid.report.html import badge, shown, text

_SIGNS = {"good": "✓", "care": "!", "fail": "✕"}


def verdict_section(document: Mapping[str, Any]) -> str:
    """Verdict, three figures, reasons."""
    verdict = document["verdict"]
    grade = verdict["grade"]
    figures = "".join(_figure(figure) for figure in verdict["figures"])
    told = verdict.get("findings") or verdict.get("reasons", ())  # "reasons" in results of version 0.1
    reasons = "".join(
        f'<li class="{text(f["level"])}">{badge(f["level"])}<span>{text(_said(f))}</span></li>' for f in told
    )
    return (
        f'<section id="verdict" class="verdict {text(grade)}" data-grade="{text(grade)}" '
        'aria-labelledby="verdict-h">'
        f'<h1 id="verdict-h"><span class="sign" aria-hidden="true">{_SIGNS.get(grade, "")}</span>'
        f"<span>{text(verdict['words'])}</span></h1>"
        f'<p class="answer">{text(verdict["sentence"])}</p>'
        f'<dl class="figures">{figures}</dl>'
        f'<h2 class="small">Why</h2><ul class="reasons">{reasons}</ul></section>'
    )


def _said(finding: Mapping[str, Any]) -> str:
    return " ".join(str(finding[part]) for part in ("sentence", "remedy") if finding.get(part))


def _figure(figure: Mapping[str, Any]) -> str:
    value = figure["value"]
    raw = "" if value is None else repr(value)
    return (
        f"<div><dt>{text(figure['label'])}</dt>"
        f'<dd><b data-figure="{text(figure["key"])}" data-value="{raw}">{shown(value)}</b> '
        f"<span>{text(figure['unit'])}</span><small>{text(figure['note'])}</small></dd></div>"
    )
