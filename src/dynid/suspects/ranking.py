"""Scores of all suspects, and their ranks: what each explains alone, and after the better ones."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray, pinv
from dynid.core.plain import plain
from dynid.estimators.estimate import Estimate
from dynid.estimators.honest import few_blocks_factor
from dynid.estimators.linear.catalogue import CATALOGUE
from dynid.estimators.linear.terms import NonlinearTerm
from dynid.problem.problem import Problem
from dynid.suspects.all_suspects import suspects_of
from dynid.suspects.ledger import Ledger, open_ledger
from dynid.suspects.picture import SuspectPicture, draw_suspect
from dynid.suspects.scene import Scene
from dynid.suspects.suspect import Suspect


@dataclass(frozen=True)
class RankingRules:
    """What is seen at all, and how far ranking goes.

    Args:
        in_span: share of a column, squared, outside the span of W below which the parameters take its
            place; thinned columns are right to a quarter of a hundredth (6e-6 as a square).
        least_systematic: share of ρᵀρ that is never taken for noise.
        clear: standard errors from none at which a suspect may be ranked: Student's law with 19 degrees of
            freedom leaves 1e-5 beyond 5.9, and there are a hundred suspects …
        large: … or fewer where it explains more, as pairs of standard errors and share: what a first order
            leaves of a large defect makes its standard error large too.
        share: part of ρᵀρ that it must explain after the better ones.
        most: suspects that are ranked.
        alike: part of what a suspect explains that another one explains too where both are named.
        as_much: share of the best one's from which a suspect of fewer columns is preferred.
    """

    in_span: float = 3e-5
    least_systematic: float = 0.02
    clear: float = 5.0
    large: tuple[tuple[float, float], ...] = ((3.9, 0.1), (3.0, 0.25))
    share: float = 0.003
    most: int = 8
    alike: float = 0.8
    as_much: float = 0.97


RULES = RankingRules()


@dataclass(frozen=True, eq=False)
class Score:
    """A suspect as the residual shows it.

    Args:
        suspect: which.
        size: θ̂, (width,).
        sigma: standard errors of θ̂ from blocks of time, (width,).
        z: √(θ̂ᵀ C⁻¹ θ̂ / width): how many standard errors it is from nothing, less what its trials explain.
        share: part of ρᵀρ that it explains.
        systematic: what it explains over what noise does not.
        effect: RMS of s θ̂ over that of the torques, per joint, (coordinates,).
        missed: the same of what W cannot explain of it: what the model misses on such motion, (coordinates,).
        bias: by how much it moves the kept parameters of the estimate, in their own units, (kept,).
        outside: part of the column's square that W cannot explain.
    """

    suspect: Suspect
    size: FloatArray
    sigma: FloatArray
    z: float
    share: float
    systematic: float
    effect: FloatArray
    missed: FloatArray
    bias: FloatArray
    outside: float

    @property
    def clear(self) -> bool:
        """Whether it is more than chance and explains anything."""
        ways = ((RULES.clear, RULES.share), *RULES.large)
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
            "systematic": plain(self.after.systematic),
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
    """The Grams of all suspects of an estimate.

    Args:
        estimate: by least squares on measured motion whose rows and motions were kept.
        terms: physics that the model may lack, by name.
    """
    suspects, scenes = suspects_of(estimate.problem, estimate.kept, terms)
    return open_ledger(estimate.problem, suspects, estimate.kept, scenes)


def rank_suspects(
    estimate: Estimate, ledger: Ledger | None = None, added: Collection[str] = ()
) -> SuspectTable:
    """Score every suspect of an estimate and rank those that are clear.

    Args:
        estimate: by least squares on measured motion whose rows and motions were kept.
        ledger: its Grams, where they were made before.
        added: keys of suspects that are in the model already.
    """
    return rank_ledger(estimate.problem, ledger or suspect_ledger(estimate), added)


def rank_ledger(
    problem: Problem, ledger: Ledger, added: Collection[str] = (), scenes: Sequence[Scene] | None = None
) -> SuspectTable:
    """Score every suspect of a ledger and rank those that are clear.

    Args:
        problem: with rows and motions.
        ledger: its Grams.
        added: keys of suspects that are in the model already.
        scenes: of a model that was known before.
    """
    given = [k for k, suspect in enumerate(ledger.suspects) if suspect.key in added]
    chosen, after = list[int](), list[Score]()
    parts = _sweep(ledger.parts, [c for k in given for c in ledger.spans[k]])
    alone = _scores(ledger, parts)
    while len(chosen) < RULES.most:
        best = _best(_scores(ledger, parts, RULES.share))
        if best is None:
            break
        chosen.append(best[0])
        after.append(best[1])
        parts = _sweep(parts, list(ledger.spans[best[0]]))
    ranked = [
        Ranked(
            alone[k], then, _score_given(ledger, k, [*given, *chosen]) or then, _partners(ledger, k, alone)
        )
        for k, then in zip(chosen, after, strict=True)
    ]
    drawn = draw_suspect(problem, ledger, chosen[0], after[0].size, given, scenes) if chosen else None
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
        least: part of ρᵀρ that a suspect of one column must explain to be looked at.
    """
    power, pull = np.einsum("bii->i", parts)[:-1], parts[:, :-1, -1].sum(axis=0)
    explained = np.divide(pull**2, power, out=np.zeros_like(pull), where=power > 0)
    worth = explained >= least * ledger.residual_squares
    numbers = [k for k, span in enumerate(ledger.spans) if len(span) > 1 or worth[span[0]]]
    made = {k: _score(ledger, parts, k) for k in numbers}
    return {k: score for k, score in made.items() if score is not None}


def score_alone(ledger: Ledger) -> Score | None:
    """The score of the first suspect of a ledger."""
    return _score(ledger, ledger.parts, 0)


def _score(
    ledger: Ledger, parts: FloatArray, number: int, where: Sequence[int] | None = None
) -> Score | None:
    """θ̂ = (zᵀz)⁻¹ zᵀρ with its covariance from the sums of z (ρ − z θ̂) over blocks; None in the span.

    Args:
        ledger: the Grams.
        parts: block Grams of some columns and ρ with all that is in the model taken out.
        number: which suspect.
        where: its columns among those of ``parts``; as in the ledger when None.
    """
    places = np.array(ledger.spans[number] if where is None else where)
    left = np.einsum("bii->i", parts)[places]
    live, outside = _seen_columns(ledger, number, left)
    squares = ledger.residual_squares
    if not live.any() or not squares > 0:
        return None
    span = np.array(ledger.spans[number])[live]
    k, chosen = len(span), [*places[live], parts.shape[1] - 1]
    own = parts[np.ix_(range(len(parts)), chosen, chosen)]
    whole = own.sum(axis=0)
    inverse = 1.0 / whole[:1, :1] if k == 1 else pinv(whole[:k, :k])
    size = inverse @ whole[:k, k]
    # What a block would say of itself is left out: (1 − G_b G⁻¹)⁻¹ is the jackknife over blocks. Without it a
    # column that lives in one block alone, such as a late step, would seem to be free of doubt.
    own, prior = own[: len(own) - ledger.priors], own[len(own) - ledger.priors :]
    others = np.eye(k) * (1.0 + 1e-3) - (taken := own[:, :k, :k] @ inverse)
    pulls = own[:, :k, k] - own[:, :k, :k] @ size
    pulls = pulls / others[:, 0] if k == 1 else np.linalg.solve(others, pulls[:, :, None])[:, :, 0]
    free = max(round(k**2 / float(np.sum(np.einsum("bii->b", taken) ** 2))) - 1, 2)
    doubt = few_blocks_factor(free) ** 2 * pulls.T @ pulls + prior[:, :k, :k].sum(axis=0)
    covariance = inverse @ doubt @ inverse
    squared = _distance(size, covariance)
    z = float(np.sqrt(_without_chance(squared, ledger.suspects[number].trials, free) / k))
    explained = float(size @ whole[:k, k])
    power = size**2 @ ledger.power[span], size**2 @ (outside[:, None] * ledger.power[span])
    effect, missed = (_share_of_torque(one, ledger.torque) for one in power)
    return Score(
        ledger.suspects[number],
        _spread_over(live, size),
        _spread_over(live, np.sqrt(np.maximum(np.diag(covariance), 0.0))),
        z,
        explained / squares,
        explained / max(squares - ledger.noise, RULES.least_systematic * squares),
        effect,
        missed,
        ledger.fit.root @ (ledger.inside[:, span] @ size),
        float(outside.min()),
    )


def _seen_columns(ledger: Ledger, number: int, left: FloatArray) -> tuple[NDArray[np.bool_], FloatArray]:
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


def _share_of_torque(power: FloatArray, torque: FloatArray) -> FloatArray:
    """RMS over that of the torques, per joint; nothing on a joint that no motor drives."""
    return np.sqrt(np.divide(power, torque, out=np.zeros_like(power), where=torque > 0))


def _without_chance(squares: float, trials: int, free: int) -> float:
    """t² that a suspect found in one trial would need to be as rare as the best of several.

    Student's law falls like (1 + t²/ν)^{−ν/2}, so that its tail grows by ``trials`` where
    ν + t² shrinks by trials^{−2/ν}.
    """
    return float(max((free + squares) * trials ** (-2.0 / free) - free, 0.0))


def _distance(size: FloatArray, covariance: FloatArray) -> float:
    """θᵀ C⁻¹ θ; zero where nothing is known of the doubt."""
    if len(size) == 1:
        return float(size[0] ** 2 / covariance[0, 0]) if covariance[0, 0] > 0 else 0.0
    return max(float(size @ pinv(covariance) @ size), 0.0)


def _score_given(ledger: Ledger, number: int, chosen: Sequence[int]) -> Score | None:
    """The score with all other chosen suspects in the model."""
    given = [c for k in chosen if k != number for c in ledger.spans[k]]
    needed = [*given, *ledger.spans[number], ledger.parts.shape[1] - 1]
    small = _sweep(ledger.parts[np.ix_(range(len(ledger.parts)), needed, needed)], range(len(given)))
    return _score(ledger, small[:, len(given) :, len(given) :], number, range(len(ledger.spans[number])))


def _sweep(parts: FloatArray, given: Sequence[int]) -> FloatArray:
    """Block Grams with some columns taken out of all: x − G (GᵀG)⁺ Gᵀ x; the given ones become zero."""
    if not len(given):
        return parts
    whole = parts.sum(axis=0)
    lift = np.eye(len(whole))
    chosen = list(given)
    lift[chosen] -= pinv(whole[np.ix_(chosen, chosen)], rcond=1e-12) @ whole[chosen]
    return np.asarray(lift.T @ (parts @ lift))


def _partners(ledger: Ledger, number: int, alone: dict[int, Score]) -> tuple[Score, ...]:
    """Suspects that explain nearly as much alone, and after which hardly anything is left to this one."""
    own = alone[number].share
    found = []
    for k, other in alone.items():
        if k == number or other.share < RULES.alike * own or not other.suspect.plausible(other.size):
            continue
        left = _score_given(ledger, number, [k])
        if left is None or left.share < (1.0 - RULES.alike) * own:
            found.append(other)
    return tuple(sorted(found, key=lambda score: -score.share))
