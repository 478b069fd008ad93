"""Polynomials in named lengths: just enough algebra to write regrouping formulas with D3 and RL4 in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

Monomial = tuple[str, ...]
"""Names in alphabetical order, repeated for powers: ("D3", "D3") is D3², () is 1."""
_JUNK = 1e-12


@dataclass(frozen=True)
class Polynomial:
    """Σ coefficient × monomial, over real coefficients.

    Args:
        terms: coefficient of each monomial; absent monomials have coefficient zero.
    """

    terms: Mapping[Monomial, float]

    def __post_init__(self) -> None:
        """Drop the zeros left by cancellations."""
        kept = {m: float(c) for m, c in self.terms.items() if abs(c) > _JUNK}
        object.__setattr__(self, "terms", MappingProxyType(kept))

    @classmethod
    def constant(cls, value: float) -> Polynomial:
        """A number."""
        return cls({(): value})

    @classmethod
    def variable(cls, name: str) -> Polynomial:
        """A named length."""
        return cls({(name,): 1.0})

    def __add__(self, other: Polynomial | float) -> Polynomial:
        """Sum."""
        terms = dict(self.terms)
        for monomial, value in polynomial(other).terms.items():
            terms[monomial] = terms.get(monomial, 0.0) + value
        return Polynomial(terms)

    __radd__ = __add__

    def __neg__(self) -> Polynomial:
        """Opposite."""
        return Polynomial({m: -c for m, c in self.terms.items()})

    def __sub__(self, other: Polynomial | float) -> Polynomial:
        """Difference."""
        return self + (-polynomial(other))

    def __rsub__(self, other: float) -> Polynomial:
        """Difference from a number."""
        return -self + other

    def __mul__(self, other: Polynomial | float) -> Polynomial:
        """Product."""
        terms: dict[Monomial, float] = {}
        for left, a in self.terms.items():
            for right, b in polynomial(other).terms.items():
                monomial = tuple(sorted(left + right))
                terms[monomial] = terms.get(monomial, 0.0) + a * b
        return Polynomial(terms)

    __rmul__ = __mul__

    def __bool__(self) -> bool:
        """Whether any term is left."""
        return bool(self.terms)

    def is_constant(self) -> bool:
        """Whether no length appears."""
        return all(not monomial for monomial in self.terms)

    def evaluate(self, lengths: Mapping[str, float]) -> float:
        """Value at given lengths [m]; a sum that cancels up to rounding is zero."""
        values = []
        for monomial, value in self.terms.items():
            for name in monomial:
                value *= lengths[name]
            values.append(value)
        total = sum(values)
        return total if abs(total) > _JUNK * sum(abs(value) for value in values) else 0.0


def polynomial(value: Polynomial | float) -> Polynomial:
    """A number or a polynomial as a polynomial."""
    return value if isinstance(value, Polynomial) else Polynomial.constant(value)
