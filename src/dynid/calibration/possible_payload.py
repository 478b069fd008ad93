"""The nearest payload that can exist, by the metric of the estimate's own covariance."""

from __future__ import annotations

import numpy as np

from dynid.calibration.motor_payload import whitening_matrix
from dynid.calibration.payload_sight import TenParameters
from dynid.consistency.cone_program import MARGIN, ConeRows
from dynid.consistency.pseudo_inertia import as_matrix, as_vector, relative_coordinates
from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name
from dynid.core.lazy import later
from dynid.model.inertia import LinkInertia

solve_cones = later("dynid.consistency.clarabel_solver", "solve_cones")
_LARGEST_RISE = 18.3
"""Rise of χ² up to which a payload that cannot exist is explained by its errors: 95 % of χ² with ten degrees
of freedom."""
_ROUNDING = -1e-6
"""Least eigenvalue of the pseudo-inertia, seen from a ball of the same mass, down to which it is rounding."""


def nearest_payload(ten: TenParameters) -> tuple[LinkInertia | None, Finding | None]:
    """argmin (χ − χ̂)ᵀ Σ⁻¹ (χ − χ̂) over payloads whose pseudo-inertia is positive definite.

    Args:
        ten: a payload of positive mass whose ten parameters are all determined.

    Returns:
        The body in the carrier's frame and what to say; None and None where the payload found can exist,
        None and a finding where no body was found.
    """
    T = relative_coordinates(_ball(ten))
    free = np.asarray(np.linalg.solve(T, ten.values), dtype=float)
    if np.linalg.eigvalsh(as_matrix(free))[0] > _ROUNDING:
        return None, None
    A = whitening_matrix(ten.metric) @ T
    scale = np.linalg.norm(A, ord=2) or 1.0
    one = as_vector(np.eye(4))
    G = np.eye(10) - MARGIN.share / 4 * np.outer(one, one)
    # The solver sees the step from the estimate, so that its objective is what possibility costs.
    rows = ConeRows("psd", G, G @ free - MARGIN.floor * one)
    found = solve_cones(A.T @ A / scale**2, np.zeros(10), [rows])
    z = free + found.x
    if not found.solved or np.linalg.eigvalsh(as_matrix(z))[0] <= 0:
        return None, _possible_finding("No body has these parameters, and none was found near them.", np.inf)
    rise = float(np.sum((A @ found.x) ** 2))
    said = (
        "No body has exactly these parameters; the nearest one that can exist, given beside them, differs by "
        f"{np.sqrt(rise):.2g} σ."
    )
    return LinkInertia.from_standard(T @ z), _possible_finding(said, rise)


def _possible_finding(said: str, rise: float) -> Finding:
    likely = rise <= _LARGEST_RISE
    return Finding(
        Name.IMPOSSIBLE_PAYLOAD,
        Level.NOTE if likely else Level.CARE,
        said if likely else f"{said} That is more than its errors explain.",
        "" if likely else "Look at the drive gains and at how the payload is fixed.",
        figures={"rise": rise},
    )


def _ball(ten: TenParameters) -> FloatArray:
    """Pseudo-inertia of a ball of the payload's mass and usual size, around its centre of mass, (4, 4)."""
    mass, moment = ten.values[-1], ten.values[6:9]
    P = np.zeros((4, 4))
    P[:3, :3] = ten.size[0] / 10 * np.eye(3) + np.outer(moment, moment) / mass
    P[:3, 3] = P[3, :3] = moment
    P[3, 3] = mass
    return P
