"""Scores of all suspects, and their ranks: what each explains alone, and after the better ones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray, pinv
from dynid.core.lazy import later
from dynid.core.plain import plain
from dynid.estimators.estimate import Estimate
from dynid.estimators.fit import Fit
from dynid.estimators.linear.catalogue import CATALOGUE
from dynid.estimators.linear.least_squares import WLS
from dynid.estimators.linear.terms import NonlinearTerm
from dynid.problem.problem import Problem
from dynid.suspects.all_suspects import suspects_of
from dynid.suspects.block_fits import BlockFits, take_out
from dynid.suspects.ledger import Ledger, open_ledger, share_of_torque
from dynid.suspects.picture import SuspectPicture, draw_suspect
from dynid.suspects.scene import Scene
from dynid.suspects.suspect import Kind, Suspect

_beside_terms = later("dynid.estimators.linear.separable", "fit_beside_terms")


@dataclass(frozen=True)
class RankingRules:
    """What is seen at all, and how far ranking goes.

    Args:
        in_span: share of a column, squared, outside the span of W below which the parameters take its
            place; thinned columns are right to a quarter of a hundredth (6e-6 as a square).
        clear: standard errors from none at which a suspect may be ranked: Student's law with 19 degrees of
            freedom leaves 1e-5 beyond 5.9, and there are a hundred suspects …
        large: … or fewer where it explains more, as pairs of standard errors and share: what a first order
            leaves of a large defect makes its standard error large too. Not for lacking effects.
        share: part of ρᵀρ that it must explain after the better ones.
        most: suspects that are ranked.
        alike: part of what a suspect explains that another one explains too where both are named.
        as_much: share of the best one's from which a suspect of fewer columns is preferred.
    """

    in_span: float = 3e-5
    clear: float = 5.0
    large: tuple[tuple[float, float], ...] = ((3.9, 0.1), (3.0, 0.25))
    share: float = 0.003
    most: int = 8
    alike: float = 0.8
    as_much: float = 0.97


RULES = RankingRules()
_Seen = tuple[NDArray[np.bool_], FloatArray]


@dataclass(frozen=True, eq=False)
class Score:
    """A suspect as the residual shows it.

    Args:
        suspect: which.
        size: θ̂, (width,).
        sigma: standard errors of θ̂ from blocks of time, (width,).
        z: √(θ̂ᵀ C⁻¹ θ̂ / width): how many standard errors it is from nothing, less what its trials explain.
        share: part of ρᵀρ that it explains.
        effect: RMS of s θ̂ over that of the torques, per joint, (coordinates,).
        missed: the same of what W cannot explain of it: what the model misses on such motion, (coordinates,).
        bias: by how much it moves the parameters of the ledger's fit, in their own units, (columns,).
        outside: part of the column's square that W cannot explain.
    """

    suspect: Suspect
    size: FloatArray
    sigma: FloatArray
    z: float
    share: float
    effect: FloatArray
    missed: FloatArray
    bias: FloatArray
    outside: float

    @property
    def clear(self) -> bool:
        """Whether it is more than chance and explains anything."""
        lenient = () if self.suspect.kind is Kind.PHYSICS else RULES.large
        ways = ((RULES.clear, RULES.share), *lenient)
        return any(self.z >= z and self.share >= share for z, share in ways)

    def to_dict(self, figures: Sequence[str] = ("size", "z", "share")) -> dict[str, Any]:
        """Ready for JSON, with some of its figures."""
        return {
            "suspect": self.suspect.key,
            "kind": self.suspect.kind.value,
            "joint": None if self.suspect.joint is None else self.suspect.joint + 1,
            **plain({name: getattr(self, name) for name in figures}),
        }


@dataclass(frozen=True, eq=False)
class Ranked:
    """A suspect in its place.

    Args:
        alone: its score beside W only.
        after: its score after the better ones.
        together: its score with all ranked ones in the model: its final size.
        partners: suspects that explain nearly the same, alone, those that explain most first.
    """

    alone: Score
    after: Score
    together: Score
    partners: tuple[Score, ...] = ()

    @property
    def suspect(self) -> Suspect:
        """Which."""
        return self.alone.suspect

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: alone, after the better ones, and its size and σ beside all of them."""
        together = self.together.to_dict(("size", "sigma", "effect", "missed", "outside"))
        return {
            **together,
            "unit": self.suspect.in_unit(self.suspect.unit),
            "words": self.suspect.words_in_doubt(self.together.size, self.together.sigma),
            "remedy": self.suspect.remedy(self.together.size),
            "alone": plain({name: getattr(self.alone, name) for name in ("size", "sigma", "z", "share")}),
            "z": plain(self.after.z),
            "share": plain(self.after.share),
            "confusable": [score.suspect.key for score in self.partners],
        }


@dataclass(frozen=True, eq=False)
class SuspectTable:
    """All suspects of an estimate.

    Args:
        scores: alone, those that explain most first.
        ranked: those that are clear after the better ones, in order.
        noise_share: part of ρᵀρ that noise alone would leave.
        picture: the best one over the residual; None where none is ranked.
        ledger: behind it.
    """

    scores: tuple[Score, ...]
    ranked: tuple[Ranked, ...]
    noise_share: float
    picture: SuspectPicture | None
    ledger: Ledger = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON: the ranked ones in full, all others short."""
        return {
            "noise_share": plain(self.noise_share),
            "unexplained": plain(self.ledger.unexplained),
            "ranked": [one.to_dict() for one in self.ranked],
            "scores": [score.to_dict() for score in self.scores],
            "picture": None if self.picture is None else self.picture.to_dict(),
        }


def suspect_ledger(estimate: Estimate, terms: Mapping[str, NonlinearTerm] = CATALOGUE) -> Ledger:
    """The Grams of all suspects of an estimate, beside all base parameters and its added terms.

    Parameters that were removed as not essential are no physics that the model lacks: they stay in W.

    Args:
        estimate: by least squares on measured motion whose rows and motions were kept.
        terms: physics that the model may lack, by name.
    """
    fit = fit_of(estimate)
    suspects, scenes = suspects_of(estimate.problem, fit.kept, terms, fit)
    return open_ledger(estimate.problem, suspects, fit.kept, scenes, fit=fit)


def fit_of(estimate: Estimate) -> Fit:
    """Weighted least squares with all base parameters, beside the added terms of an estimate."""
    problem, further = estimate.problem, estimate.further
    if further is None:
        return WLS().fit(problem)
    fit: Fit = _beside_terms(problem, np.ones_like(estimate.kept), estimate.values, further)
    return fit


def rank_suspects(estimate: Estimate, ledger: Ledger | None = None) -> SuspectTable:
    """Score every suspect of an estimate and rank those that are clear.

    Args:
        estimate: by least squares on measured motion whose rows and motions were kept.
        ledger: its Grams, where they were made before.
    """
    return rank_ledger(estimate.problem, ledger or suspect_ledger(estimate))


def rank_ledger(problem: Problem, ledger: Ledger, scenes: Sequence[Scene] | None = None) -> SuspectTable:
    """Score every suspect of a ledger and rank those that are clear.

    Args:
        problem: with rows and motions.
        ledger: its Grams.
        scenes: behind it; those of its fit when None.
    """
    chosen, after = list[int](), list[Score]()
    parts = ledger.parts
    scores, whole = (alone := _scores(ledger, parts)), parts.sum(axis=0)
    while len(chosen) < RULES.most and (best := _best(scores)) is not None:
        chosen.append(best[0])
        after.append(best[1])
        parts = take_out(parts, list(ledger.spans[best[0]]))
        scores = _scores(ledger, parts, RULES.share)
    ranked = [
        Ranked(alone[k], then, _score_given(ledger, k, chosen) or then, _partners(ledger, whole, k, alone))
        for k, then in zip(chosen, after, strict=True)
    ]
    drawn = draw_suspect(problem, ledger, chosen[0], after[0].size, scenes) if chosen else None
    return SuspectTable(
        tuple(sorted(alone.values(), key=lambda score: -score.share)),
        tuple(ranked),
        ledger.noise / max(ledger.residual_squares, 1e-300),
        drawn,
        ledger,
    )


def _best(scores: dict[int, Score]) -> tuple[int, Score] | None:
    """The clear suspect that explains most; of those that explain as much, the one of fewest columns.

    What has changed since a model was known comes before what it may always have lacked.
    """
    clear = {k: s for k, s in scores.items() if s.clear and s.suspect.plausible(s.size)}
    if not clear:
        return None
    most = max(score.share for score in clear.values())
    alike = [(k, s) for k, s in clear.items() if s.share >= RULES.as_much * most]

    def order(item: tuple[int, Score]) -> tuple[bool, int, float]:
        return not item[1].suspect.since_model, len(item[1].size), -item[1].share

    return min(alike, key=order)


def _scores(ledger: Ledger, parts: FloatArray, least: float = 0.0) -> dict[int, Score]:
    """Scores of all suspects that are seen, by number.

    Args:
        ledger: the Grams.
        parts: block Grams of [Z ρ] with all that is in the model taken out.
        least: part of ρᵀρ that a suspect must explain to be looked at.
    """
    power, pull = np.einsum("bii->i", parts)[:-1], parts[:, :-1, -1].sum(axis=0)
    explained = np.divide(pull**2, power, out=np.zeros_like(pull), where=power > 0)
    worth = explained >= least * ledger.residual_squares
    spans = {k: span for k, span in enumerate(ledger.spans) if len(span) > 1 or worth[span[0]]}
    return _scores_at(ledger, parts, spans, least)


def score_alone(ledger: Ledger) -> Score | None:
    """The score of the first suspect of a ledger."""
    return _scores_at(ledger, ledger.parts, {0: ledger.spans[0]}).get(0)


def _scores_at(
    ledger: Ledger, parts: FloatArray, places: Mapping[int, Sequence[int]], least: float = 0.0
) -> dict[int, Score]:
    """Scores of some suspects, by number; none for those in the span of what is in the model.

    Args:
        ledger: the Grams.
        parts: block Grams of some columns and ρ with all that is in the model taken out.
        places: columns of each suspect among those of ``parts``.
        least: part of ρᵀρ that a suspect must explain to be looked at.
    """
    left, alike = np.einsum("bii->i", parts), dict[int, dict[int, _Seen]]()
    for number, where in places.items() if ledger.residual_squares > 0 else ():
        live, outside = _seen_columns(ledger, number, left[list(where)])
        if live.any():
            alike.setdefault(len(outside), {})[number] = live, outside
    found = dict[int, Score]()
    for group in alike.values():
        chosen = np.array([[*np.array(places[k])[live], -1] for k, (live, _) in group.items()])
        grams = parts[:, chosen[:, :, None], chosen[:, None, :]].transpose(1, 0, 2, 3)
        worth = BlockFits(grams, ledger.priors).gains >= least * ledger.residual_squares
        numbers = np.array([*group])[worth].tolist()
        fits = BlockFits(grams[worth], ledger.priors)
        found |= zip(numbers, _scores_of_fits(ledger, fits, {k: group[k] for k in numbers}), strict=True)
    return {number: found[number] for number in places if number in found}


def _scores_of_fits(ledger: Ledger, fits: BlockFits, group: Mapping[int, _Seen]) -> Iterator[Score]:
    """Scores of suspects with as many columns that are seen.

    Args:
        ledger: the Grams.
        fits: sizes and doubt.
        group: by number, which columns of a suspect are seen, and by how much.
    """
    distances = fits.distances([ledger.suspects[number].trials for number in group])
    sigma = np.sqrt(np.maximum(np.einsum("nii->ni", fits.covariance), 0.0))
    for i, (number, (live, outside)) in enumerate(group.items()):
        size, explained = fits.size[i], float(fits.gains[i])
        span = np.array(ledger.spans[number])[live]
        yield Score(
            ledger.suspects[number],
            _spread_over(live, size),
            _spread_over(live, sigma[i]),
            float(distances[i]),
            explained / ledger.residual_squares,
            share_of_torque(size**2 @ ledger.power[span], ledger.torque),
            share_of_torque(size**2 @ (outside[:, None] * ledger.power[span]), ledger.torque),
            ledger.fit.root @ (ledger.inside[:, span] @ size),
            float(outside.min()),
        )


def _seen_columns(ledger: Ledger, number: int, left: FloatArray) -> _Seen:
    """Which columns of a suspect lie outside the span of what is in the model, and by how much those do.

    Args:
        ledger: the Grams.
        number: which suspect.
        left: squares of its columns with all that is in the model taken out.
    """
    span = list(ledger.spans[number])
    whole = ledger.squares_outside[span]
    outside = ledger.outside[span] * np.divide(left, whole, out=np.zeros_like(left), where=whole > 0)
    live = (ledger.outside[span] >= RULES.in_span) & (outside >= RULES.in_span)
    return live, outside[live]


def _spread_over(live: NDArray[np.bool_], values: FloatArray) -> FloatArray:
    """Values of the live columns among all of a suspect; zero for the others."""
    spread = np.zeros(len(live))
    spread[live] = values
    return spread


def _score_given(ledger: Ledger, number: int, chosen: Sequence[int]) -> Score | None:
    """The score with all other chosen suspects in the model."""
    given = [c for k in chosen if k != number for c in ledger.spans[k]]
    needed = [*given, *ledger.spans[number], ledger.parts.shape[1] - 1]
    small = take_out(ledger.parts[np.ix_(range(len(ledger.parts)), needed, needed)], range(len(given)))
    rest = small[:, len(given) :, len(given) :]
    return _scores_at(ledger, rest, {number: range(len(ledger.spans[number]))}).get(number)


def _partners(ledger: Ledger, whole: FloatArray, number: int, alone: dict[int, Score]) -> tuple[Score, ...]:
    """Suspects that explain nearly as much alone, and after which hardly anything is left to this one."""
    own = alone[number].share
    least = (1.0 - RULES.alike) * own * ledger.residual_squares
    found = [
        other
        for k, other in alone.items()
        if k != number
        and other.share >= RULES.alike * own
        and other.suspect.plausible(other.size)
        and _squares_after(ledger, whole, number, other, ledger.spans[k]) < least
    ]
    return tuple(sorted(found, key=lambda score: -score.share))


def _squares_after(
    ledger: Ledger, whole: FloatArray, number: int, other: Score, others: Sequence[int]
) -> float:
    """Squares of ρ that a suspect explains after another one; none where it hardly differs from it."""
    (c, *more), (d, *further) = ledger.spans[number], others
    if not more and not further:  # by far the most pairs
        pull = whole[c, -1] - whole[c, d] * whole[d, -1] / whole[d, d]
        power = whole[c, c] - whole[c, d] ** 2 / whole[d, d]
        return float(pull**2 / power) if power > RULES.in_span * whole[c, c] else 0.0
    columns = [k for k in (c, *more, d, *further) if whole[k, k] > 0 and ledger.outside[k] >= RULES.in_span]
    scale = np.sqrt(np.diag(whole)[columns])
    pulls, alike = whole[columns, -1] / scale, whole[np.ix_(columns, columns)] / np.outer(scale, scale)
    both = float(pulls @ pinv(alike, rcond=RULES.in_span / 4.0) @ pulls)
    return both - other.share * ledger.residual_squares
