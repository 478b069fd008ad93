"""Which way gravity points: followed by the torques, far from the robot file's, or the other way round."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from dynid.core.arrays import FloatArray, svd
from dynid.core.finding import Finding, Level, Name
from dynid.suspects.candidate import Candidate
from dynid.suspects.sampling import RULES as SAMPLING, Sampling, column_basis, solve


@dataclass(frozen=True)
class GravityRules:
    """When another gravity is told, and how it is found.

    Args:
        far: angle from the file's gravity from which on another one is gross [rad]; less is a tilt, a
            suspect with a size.
        axis: angle from an axis of the base below which gravity is taken to point along it [rad].
        steps: towards the gravity that fits best, at most.
        thinning: every so many samples show which axes of the base are nearest to it …
        starts: … so many of them, of which all samples choose one.
        apart: misfit from which on that axis is followed though the file's gravity fits better.
        same: misfit of gravity upside down over that of the file's, up to which neither is told apart …
        seen: … where that without gravity is at least so many times as large.
    """

    far: float = 0.3
    axis: float = 0.02
    steps: int = 8
    thinning: int = 4
    starts: int = 3
    apart: float = 1.15
    same: float = 1.01
    seen: float = 1.2


GRAVITY = GravityRules()


def gravity_candidates(sampling: Sampling) -> Iterator[tuple[Candidate, Sampling]]:
    """No gravity, and the one that fits best if it is far from the file's.

    A single joint agrees with itself under any gravity: there a weight or counterbalance looks the same.
    """
    given, weights = np.array(sampling.robot.gravity), sampling.weights[0]
    if np.count_nonzero(weights) < 2:
        return
    size = float(np.linalg.norm(given)) or 9.81
    starts = [sign * size * np.eye(3)[k] for k in range(3) for sign in (1.0, -1.0)]
    few = sampling.few_samples(GRAVITY.thinning)
    misfits = [few.with_gravity(way).agreement(weights)[0] for way in (*starts, given)]
    ways = [np.zeros(3)]
    if min(misfits[:-1]) < misfits[-1] or sampling.agreement_as_recorded[0] > GRAVITY.apart:
        nearest = [starts[k] for k in np.argsort(misfits[:-1])[: GRAVITY.starts]]
        best = min(nearest, key=lambda way: sampling.with_gravity(way).agreement(weights)[0])
        found = follow_gravity(sampling, weights, best)
        ways = [best if _angle(found, best) < GRAVITY.axis else found, *ways]
    for way in ways:
        if np.any(given) and np.any(way) and _angle(way, given) < GRAVITY.far:
            continue
        if np.allclose(way, given):
            continue
        shown = ", ".join(f"{g:.3g}" for g in way + 0.0)
        yield (
            Candidate(
                f"gravity [{shown}]",
                (),
                Name.GRAVITY_DIRECTION,
                f"gravity is [{shown}] m/s²",
                f"Check how the robot is mounted; say gravity = [{shown}] in the robot file if it is so.",
                gravity=(float(way[0]), float(way[1]), float(way[2])),
                turned=_angle(way, given),
            ),
            sampling.with_gravity(way),
        )


def follow_gravity(sampling: Sampling, weights: FloatArray, start: FloatArray) -> FloatArray:
    """The direction of gravity that fits best, from a start on, of the same size [m/s²], (3,).

    Gauss–Newton over the two directions across g with the parameters χ eliminated: torques W(g) χ are linear
    in g, so that ∂f/∂g_k = G_k χ.

    Args:
        sampling: samples of the motion.
        weights: of the joints.
        start: gravity to start from.
    """
    direction, size = start, float(np.linalg.norm(start))
    values, left = solve(*sampling.with_gravity(direction).weighted_rows(weights))
    for _ in range(GRAVITY.steps):
        W, y = sampling.with_gravity(direction).weighted_rows(weights)
        across = svd(direction[None])[2][1:]
        turned = np.tensordot(across, sampling.gravity_columns, axes=1) @ values[sampling.gravity_parameters]
        S, Q = (turned * weights[:, None]).reshape(2, -1).T, column_basis(W)
        step = np.linalg.lstsq(S - Q @ (Q.T @ S), y - W @ values, rcond=SAMPLING.rank)[0] @ across
        step *= min(1.0, size / max(float(np.linalg.norm(step)), 1e-300))  # at most by 45°
        before = direction
        for share in (1.0, 0.5, 0.25, 0.1):
            moved = before + share * step
            moved *= size / float(np.linalg.norm(moved))
            tried, misfit = solve(*sampling.with_gravity(moved).weighted_rows(weights))
            if misfit < left:
                direction, values, left = moved, tried, misfit
                break
        if _angle(direction, before) < 0.1 * GRAVITY.axis:
            break
    return direction


def is_tilt(sampling: Sampling, misfit: float) -> bool:
    """Whether gravity near the file's mends as much: then it is a tilt, a suspect with a size.

    Args:
        sampling: samples as recorded.
        misfit: of the best candidate.
    """
    given, weights = np.array(sampling.robot.gravity), sampling.weights[0]
    if not np.any(given) or np.count_nonzero(weights) < 2:
        return False
    tilted = follow_gravity(sampling, weights, given)
    near = GRAVITY.axis < _angle(tilted, given) < GRAVITY.far
    return near and sampling.with_gravity(tilted).agreement(weights)[0] <= GRAVITY.same * misfit


def gravity_either_way(sampling: Sampling) -> Finding | None:
    """A note where gravity upside down explains the torques as well, and gravity is seen at all.

    Args:
        sampling: some samples of the logs.
    """
    given, weights = np.array(sampling.robot.gravity), sampling.weights[0]
    if not np.any(given):
        return None
    own = sampling.agreement_as_recorded[0]
    if sampling.with_gravity(-given).agreement(weights)[0] > GRAVITY.same * own:
        return None
    if sampling.with_gravity(0.0 * given).agreement(weights)[0] < GRAVITY.seen * own:
        return None
    shown = ", ".join(f"{g:.2f}" for g in 0.0 - given)
    return Finding(
        Name.GRAVITY_DIRECTION,
        Level.NOTE,
        f"Gravity along ({shown}) m/s² explains the torques as well as the robot file's: "
        "the log cannot tell.",
        "Make sure how the robot is mounted; the other way round first moments change their signs.",
    )


def _angle(one: FloatArray, other: FloatArray) -> float:
    """Angle between two vectors [rad]."""
    cosine = float(one @ other) / max(float(np.linalg.norm(one) * np.linalg.norm(other)), 1e-300)
    return float(np.arccos(np.clip(cosine, -1.0, 1.0)))
