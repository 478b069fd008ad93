"""Following closed loops from their start: which positions belong to its branch, and which do not."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import degrees, radians

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.model.assembly import CLOSED, Linkage
from dynid.model.coupling import Coupling
from dynid.model.joint import Joint
from dynid.model.loop import Closure

SINGULAR = 1e-3
"""Smallest scaled singular value of Jₚ on a branch; below it two branches meet within 0.1° of each other."""
_REACH = 0.4
"""Largest step of a joint beside the smallest singular value [rad]: unit vectors that are σ apart from being
dependent turn by less, so no step crosses a singularity unseen."""
_LEAST_STEP = 1e-3
"""Steps shortened to less than this share of the usual one make no progress."""
_MOST_STEPS = 400
"""Steps along one line; a turn of a loop far from singularities takes some 20."""
_SAME = 1e-9
"""Entries of G that differ by less are equal."""
_SPREAD = 0.3
"""Half width of the positions at which a constant G is looked for [rad]: G is analytic, so what is constant
around the start is constant on the whole branch."""
_SAMPLES = 8
_LARGEST_DENOMINATOR = 12
"""Of the fractions that entries of G are taken for."""


@dataclass(frozen=True)
class LoopTangent:
    """What the cuts allow at positions of a linkage.

    Args:
        follow: ∂p/∂q = −Jₚ⁺ Jₐ of the dependent joints (samples, dependent, coordinates).
        singular: smallest singular value of Jₚ with columns of unit length (samples,); 0 where the dependent
            joints can move alone, 1 at best.
    """

    follow: FloatArray
    singular: FloatArray


def tangent(linkage: Linkage, q: FloatArray) -> LoopTangent:
    """How the dependent joints follow the coordinates at closed positions.

    Args:
        linkage: tree with cuts.
        q: positions of all movable joints (samples, movable).
    """
    J = linkage.jacobian(q)
    J_p, J_a = J[:, :, list(linkage.dependent)], J[:, :, list(linkage.coordinates)]
    lengths = np.maximum(np.linalg.norm(J_p, axis=1, keepdims=True), CLOSED * linkage.size)
    u, s, vt = np.linalg.svd(J_p / lengths, full_matrices=False)
    inverse = np.einsum("skp,sk,srk->spr", vt, 1.0 / np.maximum(s, CLOSED), u)
    return LoopTangent(-(inverse @ J_a) / np.moveaxis(lengths, 1, 2), s[:, -1])


def close_loops(
    joints: tuple[Joint, ...], closure: Closure, targets: FloatArray, least: float = SINGULAR
) -> FloatArray:
    """Positions of all movable joints with the loops closed on the branch of the start.

    The coordinates go from the start along straight lines, and Newton steps keep the loops closed; steps are
    short beside the distance to a singularity, so none is crossed.

    Args:
        joints: joints of the tree.
        closure: loops, as a robot holds them.
        targets: coordinates (samples, coordinates) [rad or m].
        least: smallest scaled singular value of Jₚ on the way; below it a position counts as singular.

    Returns:
        (samples, movable); NaN where a target cannot be reached, or only through a singularity.
    """
    linkage = Linkage(joints, closure.cuts, closure.coordinates)
    c, p = list(linkage.coordinates), list(linkage.dependent)
    scale = linkage.scales
    q = np.tile(np.array(closure.start), (len(targets), 1))
    way = np.asarray(targets, dtype=float) - q[:, c]
    done, caution = np.zeros(len(q)), np.ones(len(q))
    going = np.isfinite(way).all(axis=1)
    for _ in range(_MOST_STEPS):
        i = np.flatnonzero(going & (done < 1.0))
        if not len(i):
            break
        at = tangent(linkage, q[i])
        change = np.zeros((len(i), q.shape[1]))
        change[:, c] = way[i]
        change[:, p] = np.einsum("spc,sc->sp", at.follow, way[i])
        reach = _REACH * at.singular
        speed = np.maximum(np.abs(change / scale).max(axis=1), CLOSED)
        share = np.minimum(1.0 - done[i], caution[i] * reach / speed)
        guess = q[i] + share[:, None] * change
        found = linkage.nearest_closed(guess, steps=6)
        near = np.abs((found - guess) / scale).max(axis=1) < reach / 2
        good = near & linkage.is_closed(found)
        q[i[good]], done[i[good]] = found[good], done[i[good]] + share[good]
        done[i[good & (done[i] > 1.0 - 1e-9)]] = 1.0
        caution[i] = np.where(good, np.minimum(1.0, 2 * caution[i]), caution[i] / 2)
        going[i] = (at.singular > least) & (caution[i] > _LEAST_STEP)
    reached = np.flatnonzero(going & (done >= 1.0))
    if len(reached):
        reached = reached[tangent(linkage, q[reached]).singular > least]
    q[:, c] = targets
    result = np.full_like(q, np.nan)
    result[reached] = q[reached]
    return result


def singular_values(joints: tuple[Joint, ...], closure: Closure, q: FloatArray) -> FloatArray:
    """Smallest scaled singular value of Jₚ at closed positions (samples,); NaN where q is.

    Args:
        joints: joints of the tree.
        closure: loops, as a robot holds them.
        q: positions of all movable joints (samples, movable).
    """
    result = np.full(len(q), np.nan)
    known = np.flatnonzero(np.isfinite(q).all(axis=1))
    if len(known):
        linkage = Linkage(joints, closure.cuts, closure.coordinates)
        result[known] = tangent(linkage, q[known]).singular
    return result


# ── loops that are linear couplings ───────────────────────────────────────────────────────────────────────


@lru_cache(maxsize=64)
def constant_coupling(joints: tuple[Joint, ...], closure: Closure) -> Coupling | None:
    """The linear coupling that the loops amount to when G is the same everywhere, as in parallelograms.

    Args:
        joints: joints of the tree.
        closure: loops, as a robot holds them.

    Returns:
        G and g0, fractions with small denominators and whole degrees as such; None where G changes.
    """
    linkage = Linkage(joints, closure.cuts, closure.coordinates)
    start = np.array(closure.start)
    c = list(linkage.coordinates)
    G = _rows_of_g(linkage, start[None])[0]
    offset = start - G @ start[c]
    low, high = _ranges(linkage, start[c])
    rng = np.random.default_rng(_SAMPLES)
    q = close_loops(joints, closure, rng.uniform(low, high, (_SAMPLES, len(c))))
    q = q[np.isfinite(q).all(axis=1)]
    if not len(q) or np.abs(_rows_of_g(linkage, q) - G).max() > _SAME:
        return None
    if np.abs(q - q[:, c] @ G.T - offset).max() > _SAME:
        return None
    rows = [[_fraction(value) for value in row] for row in G]
    exact = np.array(rows)
    return Coupling(
        closure.coordinates,
        tuple(map(tuple, rows)),
        tuple(
            0.0 if i in c else _whole_degrees(x) for i, x in enumerate((start - exact @ start[c]).tolist())
        ),
    )


def _rows_of_g(linkage: Linkage, q: FloatArray) -> FloatArray:
    """G (samples, movable, coordinates)."""
    G = np.zeros((len(q), q.shape[1], len(linkage.coordinates)))
    G[:, list(linkage.coordinates), range(len(linkage.coordinates))] = 1.0
    G[:, list(linkage.dependent)] = tangent(linkage, q).follow
    return G


def _ranges(linkage: Linkage, start: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Positions of the coordinates around the start, within their limits."""
    limits = [linkage.joints[linkage.movable[c]].limits for c in linkage.coordinates]
    width = _SPREAD * linkage.scales[list(linkage.coordinates)]
    low = np.maximum(start - width, [min(one.lower, x) for one, x in zip(limits, start, strict=True)])
    high = np.minimum(start + width, [max(one.upper, x) for one, x in zip(limits, start, strict=True)])
    return low, high


def _fraction(value: float) -> float:
    nearest = float(Fraction(value).limit_denominator(_LARGEST_DENOMINATOR))
    return nearest + 0.0 if abs(nearest - value) < _SAME else float(value)


def _whole_degrees(value: float) -> float:
    nearest = radians(round(degrees(value)))
    return nearest + 0.0 if abs(nearest - value) < _SAME else float(value)
