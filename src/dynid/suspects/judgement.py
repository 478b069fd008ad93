"""What of a suspects' table lowers a verdict, as findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name, Where
from dynid.core.text import two_digits
from dynid.estimators.estimate import Estimate
from dynid.estimators.fit import Fit
from dynid.estimators.identification import identify
from dynid.estimators.linear.least_squares import WLS
from dynid.preparation.motion import Motion
from dynid.problem.problem import Problem
from dynid.suspects.candidate import Candidate
from dynid.suspects.discrete import discrete_suspects
from dynid.suspects.fast_ripple import fast_ripples
from dynid.suspects.geometry import link_lengths
from dynid.suspects.gravity import gravity_either_way
from dynid.suspects.ledger import Ledger, open_ledger, scenes_of_fit
from dynid.suspects.log_defects import GravityTilt
from dynid.suspects.ranking import RULES as RANKING, Ranked, SuspectTable, rank_ledger, rank_suspects
from dynid.suspects.refinement import Mended, mend_gravity, mend_motions
from dynid.suspects.sampling import sampling_of
from dynid.suspects.stretches import short_problem
from dynid.suspects.suspect import Kind


@dataclass(frozen=True)
class JudgementRules:
    """When a suspect that is ranked asks for care.

    Set on one half of the population of ``tests/population``, shown on the other half (docs/judges.md).

    Args:
        share: part of the residual that a defect of the log, or a change, must explain after better ones; or
            of what noise does not explain, as pairs with the least share of all …
        effect: … and share of a joint's torque that it must make, a defect of the log or a change: what is
            smaller is clear on long logs, and moves nothing …
        moves: … unless it moves a parameter by so many σ and this share of its value, and explains at least
            this share of the residual.
        missed: share of a joint's torque that the model misses without a lacking effect …
        missed_at_rest: … and without one that fades with speed: few rows that matter are that slow.
        missed_by_filter: the same of a ripple that the filter of the fit takes away: no parameter suffers.
        felt: share of a joint's torque that a change since the fit must make.
        unexplained: share of a joint's torque that is left beside noise, whoever explains it, from where on
            the fit is said to lack something.
        bias: σ by which a parameter is moved from where on that is told.
        named: parameters that a sentence names at most.
        mends: squares of the residual left after mending, over 1 less the share explained, beyond which a
            defect does not hold what its first order promises; and part of that share that it must take away.
        main: part of the residual from which on a suspect is the main one …
        beside: … beside which others must explain this part to ask for care.
        turned: angle [rad] of another gravity, see ``_gross_candidates``.
        noted: suspects that are noted below care at most.
        rows: of a joint, on average, from which on suspects are asked: each block of time needs a few.
    """

    share: float = 0.05
    share_beside_noise: tuple[float, float] = (0.3, 0.02)
    effect: tuple[float, float] = (0.012, 0.018)
    moves: tuple[float, float, float] = (5.0, 0.05, 0.1)
    missed: float = 0.038
    missed_at_rest: float = 0.05
    missed_by_filter: float = 0.065
    felt: float = 0.04
    unexplained: float = 0.05
    bias: float = 2.0
    named: int = 2
    mends: tuple[float, float] = (1.5, 0.5)
    main: float = 0.5
    beside: float = 0.1
    turned: float = 1.0
    noted: int = 2
    rows: int = 60


RULES = JudgementRules()


@dataclass(frozen=True, eq=False)
class SuspectJudgement:
    """A table with what follows from it.

    Args:
        table: the suspects.
        findings: the gravest first.
    """

    table: SuspectTable
    findings: tuple[Finding, ...]

    @property
    def changed(self) -> bool:
        """Whether something was not the same in or between the logs."""
        return any(f.name is Name.CHANGE_IN_TIME and f.level >= Level.CARE for f in self.findings)

    @property
    def lacks_physics(self) -> bool:
        """Whether the model lacks an effect that matters."""
        return any(f.name is Name.LACKING_PHYSICS and f.level >= Level.CARE for f in self.findings)


def can_be_judged(estimate: Estimate) -> bool:
    """Whether there are rows and motions enough to look for suspects, and parameters that they could move."""
    problem = estimate.problem
    enough = problem.has_rows and float(np.mean(problem.row_counts)) >= RULES.rows
    return enough and problem.motions is not None and estimate.outcome.trustworthy


def judge_suspects(estimate: Estimate, ledger: Ledger | None = None) -> SuspectJudgement | None:
    """Rank the suspects of an estimate and say what they mean; None where they cannot be looked at.

    Args:
        estimate: by least squares on measured motion.
        ledger: its Grams, where they were made before.
    """
    if not can_be_judged(estimate):
        return None
    table = _with_lengths(estimate, rank_suspects(estimate, ledger))
    noise = min(table.noise_share, 0.98)
    found = [
        _finding(ranked, _refinement(estimate, table, ranked), estimate, noise) for ranked in table.ranked
    ]
    found = [*_less_beside_the_main_one(found), *_fast_findings(estimate.problem, table.ledger.fit)]
    sampling = sampling_of(estimate.problem)
    candidates = _gross_candidates(found, discrete_suspects(estimate.problem, sampling))
    gross = [_gross_finding(one) for one in candidates]
    if gross:  # sizes of first order mean nothing about parameters that are wrong altogether
        found = [replace(finding, level=Level.NOTE) for finding in found]
    elif not any(finding.level >= Level.CARE for finding in found):
        found = [*found, *filter(None, [_lack_of_fit(table)])]
    either_way = gravity_either_way(sampling)
    return SuspectJudgement(table, (*_gravest([*gross, *found]), *([either_way] if either_way else [])))


def _with_lengths(estimate: Estimate, table: SuspectTable) -> SuspectTable:
    """The table with lengths of the robot file, where one of them explains more than a defect of the log.

    Their columns cost as much as all others together, so they are asked only where such a defect is ranked:
    zeros, scales, clocks and gravity look like a length.

    Args:
        estimate: behind the table.
        table: without lengths.
    """
    ranked = [one.suspect for one in table.ranked]
    lengths = link_lengths(estimate.problem.robot)
    if not lengths or all(suspect.kind is not Kind.LOG for suspect in ranked):
        return table
    problem, fit = estimate.problem, table.ledger.fit
    scenes = scenes_of_fit(problem, fit)
    few = rank_ledger(problem, open_ledger(problem, (*ranked, *lengths), fit.kept, scenes, fit=fit), scenes)
    if not few.ranked or few.ranked[0].suspect not in lengths:
        return table
    every = open_ledger(problem, (*table.ledger.suspects, *lengths), fit.kept, scenes, fit=fit)
    return rank_ledger(problem, every, scenes)


def _less_beside_the_main_one(findings: Sequence[Finding]) -> list[Finding]:
    """Findings of which those that explain little beside one that explains most are notes.

    What a first order leaves of a large defect looks like other defects.
    """
    main = [f for f in findings if f.level >= Level.CARE and f.figures["share"] >= RULES.main]
    return [
        replace(f, level=Level.NOTE) if main and f is not main[0] and f.figures["share"] < RULES.beside else f
        for f in findings
    ]


def _fast_findings(problem: Problem, fit: Fit) -> list[Finding]:
    """Ripples that the rows of the fit are too slow for."""
    made = []
    for fast in fast_ripples(problem, scenes_of_fit(problem, fit, full_rate=True)):
        words, joint = fast.ripple.on_robot(problem.robot).words(fast.size), fast.ripple.joint + 1
        made.append(
            Finding(
                Name.LACKING_PHYSICS,
                Level.CARE if fast.missed >= RULES.missed_by_filter else Level.NOTE,
                f"{words[0].upper()}{words[1:]}, {percent(fast.missed)} of the torque: that explains "
                f"{percent(fast.share)} of what is left at the full rate; the fit's filter takes it away.",
                "The parameters are none the worse for it; torques of single instants are. A wider band "
                "(cutoff_hz, decimation) lets it be added.",
                where=Where(axis=joint),
                figures={
                    "suspect": f"fast {fast.ripple.key}",
                    "size": _plain(fast.size),
                    "amount": fast.ripple.amount(fast.size),
                    "z": fast.z,
                    "share": fast.share,
                    "missed": fast.missed,
                    "alike": {},
                },
            )
        )
    return made


def _gross_candidates(findings: Sequence[Finding], candidates: Sequence[Candidate]) -> Sequence[Candidate]:
    """The first candidate; another gravity beside a defect that explains the most only if it does so too.

    A turn by less than ``turned`` looks like the zero of a joint, whose size is told with gravity beside it.
    """
    others = (Name.LACKING_PHYSICS, Name.GRAVITY_DIRECTION)
    main = any(
        f.level >= Level.CARE and f.figures["share"] >= RULES.main and f.name not in others for f in findings
    )
    return [
        one
        for one in candidates[:1]
        if one.gravity is None
        or not main
        or (one.turned > RULES.turned and one.misfit <= (1.0 - RULES.main) * one.before)
    ]


def gross_findings(problem: Problem) -> list[Finding]:
    """What no small size describes, such as a wrong sign: the likeliest one, where there is any."""
    return [_gross_finding(candidate) for candidate in discrete_suspects(problem)[:1]]


def _gross_finding(candidate: Candidate) -> Finding:
    words = f"{candidate.words[0].upper()}{candidate.words[1:]}"
    return Finding(
        candidate.finding,
        Level.FAIL,
        f"{words}, it seems{_gain_of(candidate)}.",
        candidate.remedy,
        where=Where(axis=candidate.joints[0] + 1 if len(candidate.joints) == 1 else None),
        figures={
            "candidate": candidate.key,
            "joints": [j + 1 for j in candidate.joints],
            "before": candidate.before,
            "misfit": candidate.misfit,
            **({} if candidate.gravity is None else {"gravity": list(candidate.gravity)}),
        },
    )


def _gain_of(candidate: Candidate) -> str:
    if candidate.misfit >= candidate.before:
        return ""
    return (
        ": without that, what all joints together leave of the torques falls from "
        f"{candidate.before:.3g} to {candidate.misfit:.3g} times what each of them leaves alone"
    )


def judge_new_rows(table: SuspectTable) -> SuspectJudgement:
    """Say what suspects of rows mean that were not fitted: those ask for care that a joint feels.

    Args:
        table: ranked beside a model that was known before.
    """
    felt = []
    for ranked in table.ranked:
        found = _finding(ranked, None, None)
        clear = ranked.after.z >= RANKING.clear and float(np.max(ranked.together.effect)) >= RULES.felt
        felt.append(found if clear else replace(found, level=Level.NOTE))
    return SuspectJudgement(table, _gravest(felt))


def judge_stretches(estimate: Estimate, motions: Sequence[Motion]) -> SuspectJudgement | None:
    """The same on stretches of logs that were too long to keep rows or motions; None where that is not so.

    Args:
        estimate: by least squares on measured motion.
        motions: its motions, in memory or on disk.
    """
    problem = estimate.problem
    whole = problem.has_rows and problem.motions is not None
    if whole or estimate.further is not None or not estimate.outcome.trustworthy:
        return None
    return judge_suspects(identify(short_problem(estimate.problem, motions), WLS()))


def _refinement(estimate: Estimate, table: SuspectTable, ranked: Ranked) -> Mended | None:
    if ranked.suspect.kind is not Kind.LOG or ranked.after.share < RULES.share_beside_noise[1]:
        return None
    if isinstance(ranked.suspect, GravityTilt):
        return mend_gravity(estimate.problem, ranked.suspect)
    return mend_motions(estimate.problem, ranked.suspect, ranked.alone.size, table.ledger.fit)


def _finding(ranked: Ranked, mended: Mended | None, estimate: Estimate | None, noise: float = 0.0) -> Finding:
    suspect, after = ranked.suspect, ranked.after
    size = ranked.together.size if mended is None else mended.size
    alike = [score for score in ranked.partners if not suspect.is_same_change(score.suspect)]
    others = [score.suspect.words(score.size) for score in alike[: RULES.named]]
    same = f"; it would look nearly the same if {' or '.join(others)}" if others else ""
    words = suspect.words_in_doubt(size, ranked.together.sigma)
    left = "the model leaves" if estimate is None else "the fit leaves"
    moved = "" if estimate is None else _effects(ranked.together.bias, estimate)
    return Finding(
        suspect.finding_of(size),
        _level(ranked, mended, estimate, noise),
        f"{words[0].upper()}{words[1:]}: that explains {percent(after.share)} of what {left}{moved}{same}.",
        suspect.remedy(size),
        where=Where(axis=None if suspect.joint is None else suspect.joint + 1),
        figures={
            "suspect": suspect.key,
            "size": _plain(size),
            "amount": suspect.amount(size),
            "z": after.z,
            "share": after.share,
            "missed": float(np.max(ranked.together.missed)),
            "alike": {score.suspect.key: _plain(score.size) for score in ranked.partners},
        },
    )


def _effects(bias: FloatArray, estimate: Estimate) -> str:
    """The parameters that it moves most, and which way; nothing where they move by less than their doubt."""
    names = [name for name, kept in zip(estimate.names, estimate.kept, strict=True) if kept]
    sigma = estimate.sigma[estimate.kept]
    own = bias[: len(estimate.kept)][estimate.kept]  # the ledger's fit has all base parameters, then terms
    moved = np.divide(own, sigma, out=np.zeros_like(own), where=sigma > 0)
    order = [int(i) for i in np.argsort(-np.abs(moved)) if abs(moved[i]) >= RULES.bias]
    side = ["large" if by > 0 else "small" for by in moved]
    return "".join(
        f", and {names[i]} comes out too {side[i]} by {two_digits(abs(moved[i]))} σ"
        for i in order[: RULES.named]
    )


def _level(ranked: Ranked, mended: Mended | None, estimate: Estimate | None, noise: float) -> Level:
    share, suspect = ranked.after.share, ranked.suspect
    if suspect.kind is Kind.PHYSICS:
        least = RULES.missed_at_rest if suspect.at_rest else RULES.missed
        return Level.CARE if float(np.max(ranked.together.missed)) >= least else Level.NOTE
    most, taken = RULES.mends
    if mended is not None and mended.left > min(most * (1.0 - share), 1.0 - taken * share):
        return Level.NOTE
    felt = float(np.max(ranked.together.effect)) >= RULES.effect[suspect.kind is Kind.CHANGE]
    matters = felt or (estimate is not None and _moves_parameter(ranked, estimate))
    beside_noise, least = RULES.share_beside_noise
    explains = share >= RULES.share or (share >= least and share >= beside_noise * (1.0 - noise))
    return Level.CARE if matters and explains else Level.NOTE


def _moves_parameter(ranked: Ranked, estimate: Estimate) -> bool:
    """Whether it explains much and moves a parameter by more than its doubt."""
    sigmas, part, share = RULES.moves
    known = estimate.kept
    moved = np.abs(ranked.together.bias[: len(known)][known])
    far = (moved > sigmas * estimate.sigma[known]) & (moved > part * np.abs(estimate.values[known]))
    return ranked.after.share >= share and bool(np.any(far))


def _lack_of_fit(table: SuspectTable) -> Finding | None:
    """What is left beside noise, where it is much and no suspect takes the blame.

    Args:
        table: the suspects.
    """
    left = table.ledger.unexplained
    worst = int(np.argmax(left)) if len(left) else 0
    if not len(left) or left[worst] < RULES.unexplained:
        return None
    where = np.flatnonzero(left >= RULES.unexplained)
    listed = ", ".join(f"joint {j + 1} ({percent(left[j])})" for j in where)
    return Finding(
        Name.LACK_OF_FIT,
        Level.CARE,
        f"Something systematic is left of the torque on {listed}, beside what noise would leave, and no "
        "suspect explains it.",
        "Look at the residual of the joint: an effect that is not in the list, or several small ones.",
        where=Where(axis=worst + 1),
        figures={"unexplained": [float(x) for x in left]},
    )


def _gravest(findings: Sequence[Finding]) -> tuple[Finding, ...]:
    """All that ask for care, and the first few notes."""
    notes = [finding for finding in findings if finding.level is Level.NOTE][: RULES.noted]
    return tuple(sorted((f for f in findings if f.level >= Level.CARE or f in notes), key=lambda f: -f.level))


def percent(share: float) -> str:
    """A share in per cent, two digits where it is small."""
    return f"{two_digits(100 * share)} %"


def _plain(size: FloatArray) -> float | list[float]:
    return float(size[0]) if len(size) == 1 else [float(x) for x in size]
