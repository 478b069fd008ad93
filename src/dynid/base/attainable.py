"""What the antecedents of a link can do: spans of its velocities, kinetic features and gravity features."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.base.features import SCREW, Passage, kinetic_features
from dynid.base.subspaces import row_space
from dynid.model.robot import Robot

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class Attainable:
    """Spans, in rows, over all positions and speeds of the joints up to a link.

    Args:
        twists: (·, 6 + joints) velocities (ω, v) of the frame beside the joint speeds that make them.
        kinetic: (·, 10) kinetic features k(V).
        gravity: (·, 5) gravity features (g, s, 1); the 1 lets constant torques be told from gravity.
    """

    twists: FloatArray
    kinetic: FloatArray
    gravity: FloatArray


def at_base(robot: Robot) -> Attainable:
    """The base stands still under a constant gravity."""
    n = len(robot.joints)
    return Attainable(
        np.zeros((0, 6 + n)), np.zeros((0, 10)), row_space(np.array([[*robot.gravity, 0.0, 1.0]]))
    )


def at_link(before: Attainable, joint: int, through: Passage) -> Attainable:
    """Spans of link j from those of its antecedent.

    V_j = Σ f_m A_m V_a + S q̇ and the f_m are independent functions, so each harmonic adds its own image:
    𝒱_j = Σ A_m 𝒱_a + S,  ℋ_j = Σ Λ_mᵀ ℋ_a + k(S, A_m 𝒱_a) + k(S),  𝒰_j = Σ B_m 𝒰_a.
    """
    twists = [carried_twists(before.twists, A, m == 0) for m, A in enumerate(through.velocities)]
    kinetic = [before.kinetic @ body for body in through.bodies]
    gravity = []
    for m, weight in enumerate(through.weights):
        kept = before.gravity[:, 4:] if m == 0 else np.zeros((len(before.gravity), 1))
        gravity.append(np.hstack([before.gravity[:, :4] @ weight.T, kept]))
    screw = SCREW.get(through.kind)
    if screw is not None:
        kinetic += [kinetic_features(screw, rows[:, :6]) for rows in twists]
        kinetic.append(kinetic_features(screw, screw[None]))
        own = np.zeros(before.twists.shape[1])
        own[:6], own[6 + joint] = screw, 1.0
        twists.append(own[None])
    return Attainable(
        row_space(np.vstack(twists)), row_space(np.vstack(kinetic)), row_space(np.vstack(gravity))
    )


def carried_twists(twists: FloatArray, A: FloatArray, steady: bool) -> FloatArray:
    """One harmonic of the antecedent's velocities in frame j; joint speeds belong to the steady one."""
    speeds = twists[:, 6:] if steady else np.zeros_like(twists[:, 6:])
    return np.hstack([twists[:, :6] @ A.T, speeds])
