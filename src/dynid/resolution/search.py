"""The largest step that is still fine, by doubling and bisection on a logarithmic scale."""

from __future__ import annotations

from collections.abc import Callable
from math import inf, sqrt

_WIDEN = 2.0
"""By how much a bracket grows until it holds the threshold."""
_FAR = 1e7
"""How far below the largest step a search goes."""


def largest_fine_step(
    excess: Callable[[float], tuple[float, str]], start: float, largest: float, narrow: float = 1.05
) -> tuple[float, str]:
    """The largest step with an excess of at most 1, and what exceeds it just beyond.

    Args:
        excess: of a step, above 1 where it is too coarse, and what is too coarse; grows with the step.
        start: where to begin.
        largest: where to end; it is the answer, with "", when even that is fine.
        narrow: ratio of the ends of the bracket at which the search stops.

    Returns:
        Zero where even a step of 1e-7 of the largest is too coarse.
    """
    low, high, why, step = 0.0, inf, "", min(start, largest)
    while low == 0.0 or high / low > narrow:
        size, what = excess(step)
        low, high, why = (step, high, why) if size <= 1.0 else (low, step, what)
        if low >= largest:
            return largest, ""
        if high < largest / _FAR:
            return 0.0, why
        if high == inf:
            step = min(_WIDEN * step, largest)
        else:
            step = high / _WIDEN if low == 0.0 else sqrt(low * high)
    return low, why
