"""Results side by side: parameters, residuals and time of several estimators or several logs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynid.base.find import base_of
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.core.finding import Finding, Level
from dynid.core.kinds import require_kinds
from dynid.model.robot import Robot
from dynid.results.result import SavedResult
from dynid.results.view import ResultView
from dynid.validation.cross import CONTRADICTION, Gap, contradiction, gaps_between

_MATTERS = f"{100 * CONTRADICTION.matters:g} %"
_NAMED = 3
"""Parameters that the sentence names at most."""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Several results of one robot.

    Args:
        labels: one per result.
        names: base parameters of any of them, then parameters of nonlinear friction.
        units: their units.
        values: (results, names); not a number where a result has no such parameter.
        sigma: (results, names); zero where a parameter was removed as not essential.
        summaries: per result, method, residual, time, outcome and verdict.
        incomparable: friction parameters, where results differ in friction that is not linear: what one puts
            into a term of its own, another spreads over the others.
    """

    labels: tuple[str, ...]
    names: tuple[str, ...]
    units: tuple[str, ...]
    values: FloatArray
    sigma: FloatArray
    summaries: tuple[dict[str, Any], ...]
    incomparable: tuple[str, ...] = ()

    @property
    def gaps(self) -> FloatArray:
        """Largest distance of each parameter between two results, in their combined σ, (names,).

        Not a number where no two results estimate it: what one removed as not essential is no disagreement.
        """
        largest = dict.fromkeys(self.names, np.nan)
        for gap in self._pairs():
            largest[gap.name] = np.fmax(largest[gap.name], gap.sigmas)
        return np.array([largest[name] for name in self.names], dtype=float)

    @property
    def conflicts(self) -> tuple[Gap, ...]:
        """Per parameter the worst gap that matters, worst first."""
        worst: dict[str, Gap] = {}
        found = (g for g in self._pairs() if g.matters and g.name not in self.incomparable)
        for gap in sorted(found, key=lambda g: -g.sigmas):
            worst.setdefault(gap.name, gap)
        return tuple(worst.values())

    @property
    def contradiction(self) -> Finding | None:
        """That the results contradict each other beyond chance, or None."""
        return contradiction([gap for gap in self._pairs() if gap.name not in self.incomparable])

    @property
    def agree(self) -> bool:
        """Whether no parameter differs by more than its doubt and by more than matters, nor too many."""
        found = self.contradiction
        return not self.conflicts and (found is None or found.level < Level.CARE)

    @property
    def sentence(self) -> str:
        """Whether the results agree, and what differs most where they do not."""
        conflicts, found = self.conflicts, self.contradiction
        if not conflicts and not self.agree and found is not None:
            return found.text
        if not conflicts:
            return f"The results agree{self._why_they_agree()}."
        named = "; ".join(
            f"{g.name} is {g.values[0]:.4g} in {g.labels[0]} and {g.values[1]:.4g} in {g.labels[1]} "
            f"({g.sigmas:.1f} σ, {100 * g.share:.0f} %)"
            for g in conflicts[:_NAMED]
        )
        more = f"; and {len(conflicts) - _NAMED} more" if len(conflicts) > _NAMED else ""
        bound = f"both more than {CONTRADICTION.lone_gap:g} combined σ and more than {_MATTERS} of the value"
        return f"The results disagree by {bound}: {named}{more}."

    def _why_they_agree(self) -> str:
        """Why results agree: all within their doubt, or the largest gaps in σ are too small to matter."""
        among = " but of friction, whose models differ," if self.incomparable else ""
        pairs = [gap for gap in self._pairs() if gap.name not in self.incomparable]
        worst = max(pairs, key=lambda gap: gap.sigmas, default=None)
        if worst is None:
            return ", as far as they estimate the same parameters: there are none"
        if worst.sigmas <= CONTRADICTION.lone_gap:
            return f": no parameter{among} is more than {CONTRADICTION.lone_gap:g} combined σ apart"
        return (
            f": no parameter{among} differs by more than {_MATTERS} of its value where it is more than "
            f"{CONTRADICTION.lone_gap:g} combined σ apart (largest gap: {worst.name}, {worst.sigmas:.1f} σ, "
            f"but only {100 * worst.share:.2g} % of the value)"
        )

    def _pairs(self) -> Iterator[Gap]:
        """Every parameter in every two results that both estimate it."""
        return gaps_between(self.names, self.labels, self.values, self.sigma)

    def to_dict(self) -> dict[str, Any]:
        """Ready for JSON."""
        gaps = self.gaps
        return {
            "agree": self.agree,
            "sentence": self.sentence,
            "findings": [] if self.contradiction is None else [self.contradiction.to_dict()],
            "results": [
                {"label": label, **row} for label, row in zip(self.labels, self.summaries, strict=True)
            ],
            "parameters": [
                {
                    "name": name,
                    "unit": self.units[i],
                    "values": [float(v) for v in self.values[:, i]],
                    "sigma": [float(s) for s in self.sigma[:, i]],
                    "largest_gap_sigma": float(gaps[i]),
                }
                for i, name in enumerate(self.names)
            ],
        }


def compare_results(given: Sequence[ResultView]) -> Comparison:
    """Put results of one robot side by side.

    Args:
        given: at least two fits or saved results of one robot; its friction and drive terms may differ.
    """
    require_kinds(compare_results, locals(), "compare")
    results = [result.as_saved for result in given]
    if len(results) < 2:
        raise DynidError(f"{len(results)} result was given; a comparison needs at least two.")
    refuse_different_robots(results)
    units = {name: unit for r in results for name, unit in zip(r.base.names, r.base.units, strict=True)}
    for further in (r.further for r in results if r.further is not None):
        units |= dict(zip(further.names, further.units, strict=True))
    names = tuple(units)
    values = np.full((len(results), len(names)), np.nan)
    sigma = np.full((len(results), len(names)), np.nan)
    for row, result in enumerate(results):
        where = [names.index(name) for name in result.base.names]
        values[row, where] = result.values
        sigma[row, where] = np.sqrt(np.maximum(np.diag(result.covariance), 0.0))
        if result.further is not None:
            where = [names.index(name) for name in result.further.names]
            values[row, where], sigma[row, where] = result.further.values, result.further.sigma
    return Comparison(
        _labels(results),
        names,
        tuple(units[name] for name in names),
        values,
        sigma,
        tuple(_summary(r) for r in results),
        _incomparable_names(results),
    )


def _incomparable_names(results: Sequence[SavedResult]) -> tuple[str, ...]:
    """Linear friction parameters, where results have different terms beside them."""
    if len({r.further.names if r.further is not None else () for r in results}) == 1:
        return ()
    friction = {
        name: None
        for r in results
        for name, column in zip(r.base.names, r.base.columns, strict=True)
        if r.robot.table.entries[column].family == "friction"
    }
    return tuple(friction)


def _labels(results: Sequence[SavedResult]) -> tuple[str, ...]:
    """Names of the folders, or their paths where names repeat."""
    short = [r.folder.name or str(r.folder) for r in results]
    return tuple(
        name if short.count(name) == 1 else str(r.folder) for name, r in zip(short, results, strict=True)
    )


def _summary(result: SavedResult) -> dict[str, Any]:
    estimate = result.section("estimate")
    return {
        "method": str(_table(estimate.get("strategy")).get("name", "")),
        "kept": int(result.kept.sum()),
        "relative_residual_percent": _percent(result.section("fit")),
        "unseen_percent": _percent(result.section("validation")),
        "iterations": estimate.get("iterations"),
        "seconds": result.run.get("seconds"),
        "outcome": _table(estimate.get("outcome")).get("name"),
        "trustworthy": result.section("verdict").get("trustworthy"),
    }


def _percent(validation: Mapping[str, Any]) -> Any:
    """Error over all joints at the regression's rate, or at full rate where it was not decimated."""
    figures = validation.get("decimated") or validation.get("full")
    return _table(figures).get("overall_percent")


def _table(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


Mechanics = tuple[tuple[str, ...], frozenset[str]]
"""Kinds of all joints, and names of the base parameters that the links alone have."""


def refuse_different_robots(results: Sequence[SavedResult]) -> None:
    """Stop where joints or inertial parameters are not the same; friction and drive terms may differ.

    Args:
        results: of one robot, as the user says.

    Raises:
        DynidError: naming the robots and what tells them apart.
    """
    first = _mechanics(results[0].robot)
    other = next((r for r in results[1:] if _mechanics(r.robot) != first), None)
    if other is None:
        return
    named = " and ".join(f"{r.folder} ({r.robot.name}, {_axes(r.robot)})" for r in (results[0], other))
    raise DynidError(
        f"The results belong to different robots: {named}{_difference(first, _mechanics(other.robot))}; "
        "compare results of one robot."
    )


def _mechanics(robot: Robot) -> Mechanics:
    bare = robot.with_terms()
    return tuple(joint.kind.value for joint in robot.joints), frozenset(base_of(bare).names)


def _axes(robot: Robot) -> str:
    kinds = Counter(robot.joints[j].kind.value for j in robot.coordinates)
    listing = " and ".join(f"{count} {kind}" for kind, count in sorted(kinds.items(), reverse=True))
    return f"{listing} axes" if robot.n_coordinates > 1 else f"{listing} axis"


def _difference(first: Mechanics, other: Mechanics) -> str:
    if first[0] != other[0]:
        return ""
    apart = sorted(first[1] ^ other[1])
    more = ", …" if len(apart) > 3 else ""
    return f" with other base parameters ({', '.join(apart[:3])}{more})"
