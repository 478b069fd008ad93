"""Which terms of the catalogue a model should have: added one by one, as long as they predict better.

Each step takes the term that explains most of what is left (its share after W and the terms so far), and
keeps it when contiguous parts of the logs, or whole logs, that were not used are predicted better. All of it
is linear algebra on the Grams of the ledger, part by part: no row is touched again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.estimators.linear.terms import NonlinearTerm
from dynid.suspects.ledger import Ledger
from dynid.suspects.suspect import Suspect
from dynid.workflow.choice import Gain, PartGrams, gain_over, part_numbers


@dataclass(frozen=True)
class TermRules:
    """When a term is added. Set on one half of the population of ``tests/population``, shown on the other
    (docs page on added terms). Lower values add more that helps, and more that does not.

    Args:
        gain: least share by which the errors on parts that were not used must shrink, for each term.
        worth: by how much they must fall besides [% of the torque]: below, no formula is worth its trouble.
        errors: standard errors by which the mean gain over the parts must differ from none.
        starved: error on parts over that of the fit itself, above which nothing is added: the motion is too
            poor for the model as it is, and a term that helps there helps by chance.
        share: least part of the squared residual that a term explains before it is tried.
        most: terms that are added at most.
        tried: terms that are tried at each step, those that explain most first.
        span: part of a column outside the span of the model below which it cannot be told from it.
    """

    gain: float = 0.08
    worth: float = 0.1
    errors: float = 1.5
    starved: float = 1.6
    share: float = 0.02
    most: int = 6
    tried: int = 6
    span: float = 1e-6


TERMS = TermRules()


@dataclass(frozen=True)
class AddedTerm:
    """A term that predicts better, and what it brought.

    Args:
        effect: what it is, and on which joint.
        share: of the squared residual that it explains after W and the terms before it.
        before: error on parts that were not used [% of the torque] without it.
        after: with it.
    """

    effect: Suspect
    share: float
    before: float
    after: float

    @property
    def words(self) -> str:
        """What it is, as in "the model lacks …"."""
        first = self.effect.terms[0]
        return first.words or f"{first.name} × {first.expression}"

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {
            "name": self.effect.key,
            "words": self.words,
            "share": self.share,
            "before_percent": self.before,
            "after_percent": self.after,
        }


def choose_terms(ledger: Ledger, rules: TermRules = TERMS) -> tuple[AddedTerm, ...]:
    """Terms that predict better, in the order in which they are added.

    Args:
        ledger: of a fit without them.
        rules: when one is added.
    """
    bench = _TermBench(ledger, rules)
    chosen, steps = list[int](), list[AddedTerm]()
    errors = bench.errors(())
    if bench.percent(errors) > rules.starved * bench.own_percent:
        return ()
    while len(chosen) < rules.most:
        found = next(bench.better_ones(chosen, errors), None)
        if found is None:
            break
        number, share, after = found
        effect = ledger.suspects[number]
        steps.append(AddedTerm(effect, share, bench.percent(errors), bench.percent(after)))
        chosen.append(number)
        errors = after
    return tuple(steps)


def contributions(ledger: Ledger, numbers: Sequence[int]) -> tuple[AddedTerm, ...]:
    """What given terms bring, one after the other, whether they predict better or not.

    Args:
        ledger: of a fit without them.
        numbers: of the suspects that they are.
    """
    bench, steps = _TermBench(ledger, TERMS), list[AddedTerm]()
    errors = bench.errors(())
    for i, k in enumerate(numbers):
        share, after = bench.shares(numbers[:i]).get(k, 0.0), bench.errors(numbers[: i + 1])
        steps.append(AddedTerm(ledger.suspects[k], share, bench.percent(errors), bench.percent(after)))
        errors = after
    return tuple(steps)


def terms_of(steps: Sequence[AddedTerm]) -> tuple[NonlinearTerm, ...]:
    """Added terms as an estimator takes them: each formula once, with all its joints."""
    found = dict[tuple[str, str], NonlinearTerm]()
    for term in (term for step in steps for term in step.effect.terms):
        key = (term.name, term.expression)
        before = found[key].joints if key in found else ()
        found[key] = replace(term, joints=tuple(sorted((*(before or ()), *(term.joints or ())))))
    return tuple(found.values())


@dataclass(frozen=True, eq=False)
class _TermBench:
    """Grams of the parts, and what a model with some terms predicts of each part from the others."""

    ledger: Ledger
    rules: TermRules

    @cached_property
    def _parts(self) -> PartGrams:
        """Of [Q S ρ], weighted to fit and in torques to judge by."""
        part = part_numbers(self.ledger.logs)
        chosen = [part == b for b in range(int(part.max()) + 1)]
        train, test = (
            np.stack([grams[own].sum(axis=0) for own in chosen])
            for grams in (self.ledger.grams, self.ledger.plain)
        )
        return PartGrams(train, test)

    @cached_property
    def _candidates(self) -> NDArray[np.intp]:
        """Numbers of the suspects that can be added and that W does not hold."""
        seen = self.ledger.outside > self.rules.span
        pairs = enumerate(zip(self.ledger.suspects, self.ledger.spans, strict=True))
        return np.array(
            [k for k, (s, span) in pairs if s.terms and all(seen[c] for c in span)], dtype=np.intp
        )

    def _columns(self, numbers: Sequence[int]) -> list[int]:
        """Columns of some suspects in the Grams."""
        return [self.ledger.rank + c for k in numbers for c in self.ledger.spans[k]]

    def percent(self, errors: FloatArray) -> float:
        """Errors on all parts over the torques [%]."""
        return 100.0 * float(np.linalg.norm(errors) / np.sqrt(np.sum(self.ledger.torque)))

    @property
    def own_percent(self) -> float:
        """Error of the fit itself over the torques [%]."""
        return self.percent(np.sqrt(self._parts.test[:, -1, -1]))

    def errors(self, chosen: Sequence[int]) -> FloatArray:
        """‖y_b − ŷ_b‖ on each part b with all that is linear solved for on the others, (parts,)."""
        return self._parts.held_out_errors(lambda gram: self._solve(gram, chosen))

    def better_ones(
        self, chosen: Sequence[int], errors: FloatArray
    ) -> Iterator[tuple[int, float, FloatArray]]:
        """Terms that predict better beside the chosen ones: number, share and errors on the parts."""
        shares = self.shares(chosen)
        for k in sorted(shares, key=lambda k: -shares[k])[: self.rules.tried]:
            if shares[k] < self.rules.share or not self._plausible((*chosen, k)):
                continue
            after = self.errors((*chosen, k))
            if self._holds(gain_over(errors, after), errors, after):
                yield k, shares[k], after

    def _holds(self, gain: Gain, before: FloatArray, after: FloatArray) -> bool:
        least = -float(np.log1p(-self.rules.gain))
        whole = float(np.log(np.linalg.norm(after) / np.linalg.norm(before)))
        clear = gain.mean < -max(self.rules.errors * gain.error, least) and whole < -least
        return clear and self.percent(before) - self.percent(after) > self.rules.worth

    def _solve(self, gram: FloatArray, chosen: Sequence[int]) -> FloatArray:
        """Coefficients of W and of chosen terms by least squares, zero for the others, (k − 1,)."""
        model, values = [*range(self.ledger.rank), *self._columns(chosen)], np.zeros(len(gram) - 1)
        values[model] = np.linalg.pinv(gram[np.ix_(model, model)], hermitian=True) @ gram[model, -1]
        return values

    def _plausible(self, chosen: Sequence[int]) -> bool:
        """Whether no coefficient is negative that cannot be."""
        terms = [term for k in chosen for term in self.ledger.suspects[k].terms]
        sizes = self._solve(self._parts.whole, chosen)[self._columns(chosen)]
        return all(size >= 0 or not term.never_negative for term, size in zip(terms, sizes, strict=True))

    def shares(self, chosen: Sequence[int]) -> dict[int, float]:
        """Part of ρᵀρ that each further term explains after W and the chosen ones."""
        whole = self._parts.whole
        model = [*range(self.ledger.rank), *self._columns(chosen)]
        wanted = [int(k) for k in self._candidates if k not in chosen]
        columns = [*self._columns(wanted), len(whole) - 1]
        lift = np.linalg.pinv(whole[np.ix_(model, model)], hermitian=True) @ whole[np.ix_(model, columns)]
        left = whole[np.ix_(columns, columns)] - whole[np.ix_(columns, model)] @ lift
        seen = np.diag(left)[:-1] > self.rules.span * np.diag(whole)[columns[:-1]]
        rest, shares, first = max(float(left[-1, -1]), 1e-300), dict[int, float](), 0
        for k in wanted:
            own = slice(first, first + len(self.ledger.spans[k]))
            first, pull = own.stop, left[own, -1]
            if not np.all(seen[own]) or not np.any(pull):
                continue
            if len(pull) == 1:
                shares[k] = float(pull[0] ** 2 / left[own, own][0, 0]) / rest
            else:
                shares[k] = float(pull @ np.linalg.pinv(left[own, own], hermitian=True) @ pull) / rest
        return shares
