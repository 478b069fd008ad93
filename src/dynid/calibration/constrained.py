"""Gains within bounds and a payload that can exist: Gauss–Newton steps, each a cone program."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from dynid.calibration.bilinear import BilinearFit, PayloadPrior, bilinear_terms
from dynid.calibration.gauss_newton import descend
from dynid.calibration.knowledge import PayloadKnowledge, Range
from dynid.calibration.motor_payload import MotorPayload
from dynid.consistency.cone_program import MARGIN, ConeRows
from dynid.consistency.pseudo_inertia import SIZE, as_matrix, as_vector, pseudo_inertia, relative_coordinates
from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError, NotTrustworthyError
from dynid.core.lazy import later

_solve_cones = later("dynid.consistency.clarabel_solver", "solve_cones")
_AT_REST = 1e-8
"""Share of the squares by which a pass may still lower them at the end: the solver's own precision."""
_BODY = 10
"""Parameters of a body."""
_LEAST_SHARE = 0.05
"""Least second moment of the body to begin with, as a share of their sum: well inside what is possible."""


def constrained_fit(
    rows: Sequence[MotorPayload],
    prior: PayloadPrior,
    knowledge: PayloadKnowledge,
    gain_range: Range,
    start: BilinearFit,
) -> BilinearFit:
    """min Σ_m ‖φ̂_m − θ_m K_m χ‖² with 1/θ_m in a range and χ the parameters of bodies that can exist.

    The bodies are seen from a possible one near the start, P = L Z Lᵀ with Z positive definite, so that all
    variables are near one.

    Args:
        rows: what each motor says of the payload.
        prior: what is known of it.
        knowledge: its bounds are held.
        gain_range: least and largest gain relative to the a-priori ones.
        start: the solution without constraints.

    Raises:
        NotTrustworthyError: when no gains and no payload satisfy what is known.
    """
    low, high = gain_range
    if not 0 < low < high:
        raise DynidError(
            f"The gains are held between {low:g} and {high:g}; give two numbers, 0 < low < high."
        )
    n, names = len(rows), rows[0].names
    T = _coordinates(start.payload)
    lift = np.zeros((n + len(names),) * 2)  # from the solver's variables to θ and χ
    lift[:n, :n], lift[n:, n:] = np.eye(n), T
    cones = _cones(names, prior, knowledge, (1 / high, 1 / low), n, T)
    residual, jacobian = bilinear_terms(rows, prior)
    x = np.concatenate([start.theta, np.linalg.solve(T, start.payload)])
    if all(_is_inside(cone, x) for cone in cones):
        return start

    def residual_at(z: FloatArray) -> FloatArray:
        return residual(lift @ z)

    def step(z: FloatArray) -> FloatArray:
        return _step(jacobian(lift @ z) @ lift, residual_at(z), z, cones)

    # The start need not be inside: the first step is taken whole.
    found = lift @ descend(residual_at, step, x + step(x), _AT_REST)
    squares = float(np.sum(residual(found) ** 2))
    free = np.concatenate([np.ones(n, dtype=bool), ~prior.fixed])
    return BilinearFit(found[:n], found[n:], np.where(free, jacobian(found), 0.0), squares, start.root)


def _is_inside(cone: ConeRows, x: FloatArray) -> bool:
    """Whether variables satisfy a cone."""
    value = cone.G @ x + cone.h
    if cone.kind == "zero":
        return bool(np.allclose(value, 0.0, atol=1e-9 * float(np.abs(cone.h).max())))
    least = np.linalg.eigvalsh(as_matrix(value))[0] if cone.kind == "psd" else value.min(initial=0.0)
    return bool(least >= 0.0)


def _step(J: FloatArray, residual: FloatArray, x: FloatArray, cones: Sequence[ConeRows]) -> FloatArray:
    """The step that solves the linearised problem within the cones."""
    scale = float(np.max(np.linalg.norm(J, axis=0)))
    H = (J / scale).T @ (J / scale)
    g = -(J / scale).T @ (residual / scale)
    found = _solve_cones(H, g, [ConeRows(rows.kind, rows.G, rows.h + rows.G @ x) for rows in cones])
    if not found.solved:
        raise NotTrustworthyError(
            "No gains and no payload satisfy what is known and bounded; check the mass, the bounds of the "
            "payload and the range of the gains."
            if found.infeasible
            else f"The solver did not find gains within their bounds ({found.status}); use the global method."
        )
    return np.asarray(found.x, dtype=float)


def _coordinates(payload: FloatArray) -> FloatArray:
    """χ = T z, each body seen from a possible one near it."""
    T = np.zeros((len(payload),) * 2)
    for at in range(0, len(payload), _BODY):
        body = slice(at, at + _BODY)
        T[body, body] = relative_coordinates(_possible_body(pseudo_inertia(payload[body])))
    return T


def _possible_body(P: FloatArray) -> FloatArray:
    """A pseudo-inertia with the same mass and centre whose second moments are all well above zero."""
    mass = max(float(P[3, 3]), 1e-3)
    centre = P[:3, 3] / mass
    values, vectors = np.linalg.eigh(P[:3, :3] - mass * np.outer(centre, centre))
    least = _LEAST_SHARE * max(float(np.abs(values).sum()), 1e-6 * mass)
    second = (vectors * np.maximum(values, least)) @ vectors.T
    made = np.empty((SIZE, SIZE))
    made[:3, :3] = second + mass * np.outer(centre, centre)
    made[:3, 3] = made[3, :3] = mass * centre
    made[3, 3] = mass
    return made


def _cones(
    names: Sequence[str],
    prior: PayloadPrior,
    knowledge: PayloadKnowledge,
    theta_range: Range,
    n: int,
    T: FloatArray,
) -> list[ConeRows]:
    """Exact values, bounds of gains and payload, and bodies that can exist, over θ and z."""
    width = n + len(names)
    chi = np.hstack([np.zeros((len(names), n)), T])
    gains = np.eye(width)[:n]
    rows = [
        ConeRows("positive", gains, np.full(n, -theta_range[0])),
        ConeRows("positive", -gains, np.full(n, theta_range[1])),
    ]
    if prior.fixed.any():
        rows.append(ConeRows("zero", chi[prior.fixed], -prior.values[prior.fixed]))
    for name, (low, high) in knowledge.bounds.items():
        own = chi[[names.index(name)]]
        rows += [ConeRows("positive", own, np.array([-low]))] if np.isfinite(low) else []
        rows += [ConeRows("positive", -own, np.array([high]))] if np.isfinite(high) else []
    inside = -MARGIN.share * as_vector(np.eye(SIZE))
    bodies = range(n, width, _BODY)
    return rows + [ConeRows("psd", np.eye(width)[at : at + _BODY], inside) for at in bodies]
