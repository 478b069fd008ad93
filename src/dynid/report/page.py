"""One page that needs nothing but itself."""

from __future__ import annotations

import json
from collections.abc import Mapping
from importlib import resources
from typing import Any

from dynid.core.errors import DynidError
from dynid.report.data_sections import data_section, robot_section
from dynid.report.document import SCHEMA
from dynid.report.fit_sections import fit_section, parts_section, tests_section, validation_section
from dynid.report.html import text
from dynid.report.parameter_sections import condition_section, essential_section, parameter_section
from dynid.report.run_section import run_section, stability_section
from dynid.report.verdict_section import verdict_section

SECTIONS = (
    ("robot", "Robot"),
    ("data", "Data"),
    ("fit", "Fit"),
    ("parameters", "Parameters"),
    ("essential", "Essential set"),
    ("condition", "Correlation"),
    ("validation", "Unseen motion"),
    ("parts", "Parts"),
    ("tests", "Residuals"),
    ("stability", "Experiments"),
    ("run", "How it was made"),
)


def render_report(document: Mapping[str, Any]) -> str:
    """The report as one HTML page without any reference to the outside.

    Args:
        document: what ``build_document`` gives, or the same read back from JSON.
    """
    if document.get("schema") != SCHEMA:
        raise DynidError(
            f"The report document has schema {document.get('schema')!r}; this version reads {SCHEMA!r}. "
            "Make the document again with build_document."
        )
    try:
        return _page(document)
    except (KeyError, IndexError, TypeError, AttributeError, ValueError) as error:
        lack = (
            f"it lacks {error.args[0]!r}" if isinstance(error, KeyError) else "its content is not as written"
        )
        raise DynidError(
            f"The report document is damaged: {lack}. Make it again with build_document, or fit again."
        ) from error


def _page(document: Mapping[str, Any]) -> str:
    title = text(document["title"])
    content = body(document)
    shown = [(key, label) for key, label in SECTIONS if f'<section id="{key}"' in content]
    links = "".join(f'<a href="#{key}">{label}</a>' for key, label in shown)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n<link rel="icon" href="data:,">\n'
        f"<title>{title} – dynid report</title>\n<style>\n{asset('page.css')}</style>\n</head>\n<body>\n"
        f'<a class="skip" href="#verdict">Skip to the verdict</a>\n'
        f'<header class="top"><p>dynid report</p><p>{title}</p></header>\n<main>\n'
        f"{verdict_section(document)}\n"
        f'<nav aria-label="Sections"><div>{links}</div></nav>\n'
        f"{content}\n</main>\n"
        f'<script type="application/json" id="document">{embedded(document)}</script>\n'
        f"<script>\n{asset('page.js')}</script>\n</body>\n</html>\n"
    )


def body(document: Mapping[str, Any]) -> str:
    """The sections below the verdict, in reading order."""
    parts = (
        robot_section(document),
        data_section(document),
        fit_section(document),
        parameter_section(document),
        essential_section(document),
        condition_section(document),
        validation_section(document),
        parts_section(document),
        tests_section(document),
        stability_section(document),
        run_section(document),
    )
    return "\n".join(part for part in parts if part)


def embedded(document: Mapping[str, Any]) -> str:
    """What the script draws, as JSON that cannot end the script element it stands in."""
    drawn = {"curves": document["curves"], "correlation": document["correlation"]}
    drawn["units"] = document["fit"]["units"]
    drawn["sigma"] = document["estimate"]["joint_sigma"]
    raw = json.dumps(drawn, allow_nan=False, separators=(",", ":"))
    return raw.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def asset(name: str) -> str:
    """A file of the page that ships with the package."""
    return (resources.files("dynid.report") / "assets" / name).read_text(encoding="utf-8")
