"""The nearest payload that can exist, by the metric of the estimate's own covariance."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from dynid.calibration.motor_payload import whitening
from dynid.calibration.payload_sight import TenParameters
from dynid.consistency.cone_program import MARGIN, ConeRows
from dynid.consistency.pseudo_inertia import as_matrix, as_vector, pseudo_inertia, relative_coordinates
from dynid.core.finding import Finding, Level, Name
from dynid.core.lazy import later
from dynid.model.inertia import LinkInertia

solve_cones = later("dynid.consistency.clarabel_solver", "solve_cones")
_LARGEST_RISE = 18.3
"""Rise of χ² up to which a payload that cannot exist is explained by its errors: 95 % of χ² with ten degrees
of freedom."""


@dataclass(frozen=True, eq=False)
class NearestPayload:
    """A payload that can exist.

    Args:
        body: in the carrier's frame.
        rise: χ² by which it differs from the estimate.
        finding: what to say.
    """

    body: LinkInertia
    rise: float
    finding: Finding


def nearest_payload(ten: TenParameters) -> NearestPayload | None:
    """argmin (χ − χ̂)ᵀ Σ⁻¹ (χ − χ̂) over payloads whose pseudo-inertia is positive definite.

    Args:
        ten: a payload of positive mass whose ten parameters are all determined.

    Returns:
        None where the payload found can exist.
    """
    if np.linalg.eigvalsh(pseudo_inertia(ten.values))[0] > 0:
        return None
    T = relative_coordinates(_reference(ten))
    A = whitening(ten.metric) @ T
    free = np.linalg.solve(T, ten.values)
    one = as_vector(np.eye(4))
    G = np.eye(10) - MARGIN.share / 4 * np.outer(one, one)
    # The solver sees the step from the estimate, so that its objective is what possibility costs.
    rows = ConeRows("psd", G, G @ free - MARGIN.floor * one)
    found = solve_cones(A.T @ A, np.zeros(10), [rows])
    z = free + found.x
    if not found.solved or np.linalg.eigvalsh(as_matrix(z))[0] <= 0:
        said = "No body has these parameters, and the solver found none near them."
        return NearestPayload(LinkInertia.from_standard(_standard(_reference(ten))), np.inf, _finding(said))
    rise = float(np.sum((A @ found.x) ** 2))
    said = (
        "No body has exactly these parameters; the nearest one that can exist differs by "
        f"{np.sqrt(rise):.2g} σ and is given beside them."
    )
    return NearestPayload(LinkInertia.from_standard(T @ z), rise, _finding(said, rise))


def _finding(said: str, rise: float = np.inf) -> Finding:
    likely = rise <= _LARGEST_RISE
    return Finding(
        Name.IMPOSSIBLE_PAYLOAD,
        Level.NOTE if likely else Level.CARE,
        said if likely else f"{said} That is more than its errors explain.",
        "" if likely else "Look at the drive gains and at how the payload is fixed.",
        figures={"rise": rise},
    )


def _standard(P: np.ndarray) -> np.ndarray:
    from dynid.consistency.pseudo_inertia import standard_values

    return standard_values(P)


def _reference(ten: TenParameters) -> np.ndarray:
    """Pseudo-inertia of a ball of the payload's mass and usual size, around its centre of mass, (4, 4)."""
    mass, moment = ten.values[-1], ten.values[6:9]
    P = np.zeros((4, 4))
    P[:3, :3] = ten.size[0] / 10 * np.eye(3) + np.outer(moment, moment) / mass
    P[:3, 3] = P[3, :3] = moment
    P[3, 3] = mass
    return P
