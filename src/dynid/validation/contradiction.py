"""Do two motions, or two results, tell the same parameters? A finding where they contradict each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name


@dataclass(frozen=True)
class ContradictionRules:
    """When parameters of one robot differ by more than chance.

    Set on half of 600 pairs of simulated motions of six robots (``tests/validation/test_contradiction.py``
    prints the rates of the other half; docs/uncertainty.md).

    Args:
        beyond: combined σ from which a parameter counts as different; 5 % do by chance.
        share: of all parameters that may do so …
        crowd_gap: … where at least one differs by so many combined σ.
        lone_gap: combined σ from which one parameter is enough, between two motions.
        per_pair: added to both gaps per factor e of pairs compared: of many, the worst is further off.
        matters: share of the larger value below which a difference does not count, however sure both are.
    """

    beyond: float = 2.0
    share: float = 0.1
    crowd_gap: float = 3.5
    lone_gap: float = 4.0
    per_pair: float = 0.25
    matters: float = 0.02


RULES = ContradictionRules()


@dataclass(frozen=True)
class Gap:
    """A parameter in two results that both estimate it.

    Args:
        name: of the parameter.
        labels: of the two results.
        values: theirs.
        sigmas: distance in combined σ.
        share: distance as a share of the larger value.
    """

    name: str
    labels: tuple[str, str]
    values: tuple[float, float]
    sigmas: float
    share: float

    @property
    def counted(self) -> float:
        """Distance in combined σ; zero where it is too small a share of the value to matter."""
        return self.sigmas if self.share > RULES.matters else 0.0

    @property
    def matters(self) -> bool:
        """Whether neither doubt nor size excuses it."""
        return self.counted > RULES.lone_gap


def gaps_between(
    names: Sequence[str], labels: Sequence[str], values: FloatArray, sigma: FloatArray
) -> Iterator[Gap]:
    """Every parameter in every two results that both estimate it.

    Args:
        names: of the parameters.
        labels: of the results.
        values: (results, names).
        sigma: (results, names); zero, infinite or not a number where a result does not know the parameter.
    """
    known = (sigma > 0) & np.isfinite(sigma)
    for a, b in combinations(range(len(labels)), 2):
        for i in np.flatnonzero(known[a] & known[b]):
            x, y = float(values[a, i]), float(values[b, i])
            size = max(abs(x), abs(y))
            share = abs(x - y) / size if size > 0 else 0.0
            doubt = float(np.hypot(sigma[a, i], sigma[b, i]))
            yield Gap(names[int(i)], (labels[a], labels[b]), (x, y), abs(x - y) / doubt, share)


def contradiction(gaps: Sequence[Gap]) -> Finding | None:
    """That results contradict each other, or None.

    Args:
        gaps: of all parameters that may be compared, between all pairs.
    """
    if not gaps:
        return None
    worst = max(gaps, key=lambda gap: gap.counted)
    apart = sum(gap.counted > RULES.beyond for gap in gaps)
    more = RULES.per_pair * float(np.log(len({gap.labels for gap in gaps})))
    crowded = apart > RULES.share * len(gaps) and worst.counted > RULES.crowd_gap + more
    if not crowded and worst.counted <= RULES.lone_gap + more:
        return None
    what = f"{worst.name} is {worst.values[0]:.4g} in {worst.labels[0]} and {worst.values[1]:.4g} in "
    return Finding(
        Name.MOTIONS_CONTRADICT,
        Level.CARE,
        f"The motions contradict each other: {apart} of {len(gaps)} parameters differ by more than "
        f"{RULES.beyond:g} combined σ, where {max(1, round(0.05 * len(gaps)))} would by chance; {what}"
        f"{worst.labels[1]} ({worst.sigmas:.1f} σ).",
        "Friction, load, temperature or an effect that the model lacks was not the same: fit motions of one "
        "condition, add friction terms, or take the difference for the true doubt.",
        figures={"beyond": apart, "compared": len(gaps), "largest_gap_sigma": worst.sigmas},
    )
