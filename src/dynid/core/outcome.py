"""How a computation ended: a name, whether to trust it, the cause and the remedy."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Outcome:
    """How a computation ended.

    Args:
        name: "fine", "rank deficient", "under-excited", "diverged", "not converged" …
        trustworthy: whether the values may be used.
        cause: what happened and why, in a sentence.
        remedy: what to try, in a sentence.
    """

    name: str
    trustworthy: bool
    cause: str = ""
    remedy: str = ""


FINE = Outcome("fine", True)
