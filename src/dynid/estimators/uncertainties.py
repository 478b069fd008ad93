"""The kinds of uncertainty by name."""

from __future__ import annotations

from collections.abc import Callable

from dynid.core.errors import unknown_name
from dynid.core.lazy import later
from dynid.estimators.uncertainty import Classical, Uncertainty

KINDS: dict[str, Callable[[], Uncertainty]] = {
    "classical": Classical,
    "hac": later("dynid.estimators.hac", "HAC"),
    "bootstrap": later("dynid.estimators.bootstrap", "Bootstrap"),
}


def uncertainty_of(choice: str | Uncertainty) -> Uncertainty:
    """The kind of a name, or the object given.

    Args:
        choice: "classical", "hac", "bootstrap", or an object with options.
    """
    if isinstance(choice, Uncertainty):
        return choice
    if choice not in KINDS:
        raise unknown_name("uncertainty", choice, KINDS)
    return KINDS[choice]()
