"""The kinds of uncertainty by name."""

from __future__ import annotations

from dynid.errors import unknown_name
from dynid.estimators.bootstrap import Bootstrap
from dynid.estimators.hac import HAC
from dynid.estimators.uncertainty import Classical, Uncertainty

KINDS: dict[str, type[Uncertainty]] = {kind.name: kind for kind in (Classical, HAC, Bootstrap)}


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
