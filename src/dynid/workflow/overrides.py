"""A suggested preparation of which the user replaced some keys: plan and reasons say so."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from dynid.preparation.suggest import Suggestion

MARKS = {
    "cutoff_hz": "The cut-off is",
    "difference_points": "Differences over",
    "decimation": "Decimation by",
    "speed_thresholds": "Rows slower than",
}
"""Words by which the reason of a key is known."""
ATTENUATION = "In that band noise"
"""Words of the reason that holds for the suggested cut-off and decimation only, and for least squares."""
_WORDS = {
    "cutoff_hz": "The cut-off is {new} Hz as given (suggested: {old} Hz).",
    "difference_points": "Differences over {new} points as given (suggested: {old}).",
    "decimation": "Decimation by {new} as given (suggested: {old}).",
    "speed_thresholds": "Rows slower than {new} are left out as given (suggested: {old}).",
    "convention": "Filters follow the {new} convention as given (suggested: {old}).",
}


def overridden(suggestion: Suggestion, given: Mapping[str, Any]) -> Suggestion:
    """The suggestion with keys of the user's in place, and reasons that name them.

    Args:
        suggestion: from the data.
        given: keys of the preparation to replace.
    """
    if not given:
        return suggestion
    plan = replace(suggestion.plan, **given)
    stale = [MARKS[key] for key in given if key in MARKS]
    stale += [ATTENUATION] if {"cutoff_hz", "decimation"} & set(given) else []
    kept = [reason for reason in suggestion.reasons if not any(mark in reason for mark in stale)]
    told = [_told(key, value, getattr(suggestion.plan, key)) for key, value in given.items()]
    return Suggestion(plan, (*told, *kept), suggestion.facts)


def _told(key: str, new: Any, old: Any) -> str:
    form = _WORDS.get(key, f"{key} is {{new}} as given (suggested: {{old}}).")
    return form.format(new=_shown(new), old=_shown(old))


def _shown(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(_shown(item) for item in value) or "none"
    return f"{value:g}" if isinstance(value, float) else str(value)
