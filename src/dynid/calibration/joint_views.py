"""Whether the joints agree about the payload: each joint's own view of it against that of all others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynid.calibration.payload_sight import TenParameters
from dynid.calibration.payload_ways import PayloadFit
from dynid.core.arrays import FloatArray
from dynid.core.finding import Finding, Level, Name, Where
from dynid.estimators.fit import Fit
from dynid.estimators.honest import Honest
from dynid.problem.factor import spectrum


@dataclass(frozen=True)
class JointRules:
    """When a joint contradicts the others; docs/payload.md has the rates of both figures.

    Args:
        sigmas: σ by which its factor must differ from one; twice the most that 126 payloads with right
            gains showed beyond ``share``.
        share: by which it must differ at least: smaller ones are within what friction makes of a load.
    """

    sigmas: float = 2.5
    share: float = 0.1


RULES = JointRules()


@dataclass(frozen=True, eq=False)
class PayloadView:
    """What the rows of one joint say: ‖R x − z‖² in units of σ, other columns eliminated.

    Args:
        joint: from 0.
        R: by the payload's parameters, then by the errors of what was held, of unit σ, (rows, 10 + held).
        z: (rows,).
    """

    joint: int
    R: FloatArray
    z: FloatArray


@dataclass(frozen=True)
class JointFactor:
    """By which factor a joint sees a heavier payload than all others.

    Args:
        joint: from 1.
        factor: one where they agree.
        sigma: its standard deviation.
    """

    joint: int
    factor: float
    sigma: float

    @property
    def sigmas(self) -> float:
        """σ by which it differs from one."""
        return (self.factor - 1.0) / self.sigma


def joint_findings(found: PayloadFit, ten: TenParameters) -> tuple[list[Finding], dict[str, Any]]:
    """Joints that contradict the others about the payload, and the factors of all.

    Args:
        found: the fit of all joints together.
        ten: the payload.
    """
    factors = joint_factors(found, ten)
    facts = {"joint_factors": [[f.joint, f.factor, f.sigma] for f in factors]}
    apart = [f for f in factors if abs(f.sigmas) > RULES.sigmas and abs(f.factor - 1) > RULES.share]
    if not apart:
        return [], facts
    worst = max(apart, key=lambda f: abs(f.sigmas))
    others = [str(f.joint) for f in apart if f is not worst]
    one = len(others) == 1
    more = (
        f" Joint{'' if one else 's'} {', '.join(others)} differ{'s' if one else ''} as well."
        if others
        else ""
    )
    said = (
        f"Joint {worst.joint} sees {worst.factor:.2f} ± {worst.sigma:.2g} times the payload that the other "
        f"joints see: its drive gain is wrong, or theirs are.{more}"
    )
    remedy = "Calibrate the gains with a weighed payload: dynid gains."
    figures = {"factors": facts["joint_factors"]}
    return [
        Finding(Name.MOTORS_CONTRADICT, Level.FAIL, said, remedy, Where(axis=worst.joint), figures)
    ], facts


def joint_factors(found: PayloadFit, ten: TenParameters) -> list[JointFactor]:
    """The factor of each joint that feels the payload, against the payload of all others.

    With x₋ of the others, covariance C₋, and a = R χ₋ of the payload: θ − 1 = aᵀ S⁻¹ (z − R x₋) / aᵀ S⁻¹ a
    and σ² = 1 / aᵀ S⁻¹ a, S = 1 + R C₋ Rᵀ. What the others leave open is known to ten times its size.

    Args:
        found: the fit of all joints together.
        ten: the payload.
    """
    views = joint_views(found)
    if len(views) < 2:
        return []
    open_size = 10.0 * np.where(ten.size > 0, ten.size, 1.0)
    size = np.concatenate([open_size, np.ones(views[0].R.shape[1] - 10)])
    made = []
    for view in views:
        chi, C = _seen_by([other for other in views if other is not view], size)
        a = view.R[:, :10] @ chi[:10]
        S = np.eye(len(a)) + view.R @ C @ view.R.T
        weight = np.linalg.solve(S, a)
        strength = float(weight @ a)
        if strength > 0:
            made.append(
                JointFactor(
                    view.joint + 1, 1.0 + float(weight @ (view.z - view.R @ chi)) / strength, strength**-0.5
                )
            )
    return made


def _seen_by(views: Sequence[PayloadView], size: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Payload, errors of what was held, and their covariance from some joints, with prior σ ``size``."""
    A = np.vstack([np.diag(1 / size), *(view.R for view in views)])
    b = np.concatenate([np.zeros(len(size)), *(view.z for view in views)])
    U, s, Vt = np.linalg.svd(A * size, full_matrices=False)
    root = size[:, None] * (Vt.T / s)
    return root @ (U.T @ b), root @ root.T


def joint_views(found: PayloadFit) -> list[PayloadView]:
    """What each joint says, all other columns eliminated from its own triangular factor; σ is honest.

    Args:
        found: the fit, whose columns and torques are used.
    """
    problem, kept = found.problem, found.fit.kept
    root = _root(found)
    views = []
    for j, factor in enumerate(problem.regression.joints):
        payload = [i for i, c in enumerate(factor.columns) if c in found.columns]
        others = [i for i, c in enumerate(factor.columns) if kept[c] and c not in found.columns]
        if not payload or not factor.rows:
            continue
        K = found.matrix[np.searchsorted(found.columns, [factor.columns[i] for i in payload])]
        held = factor.R[:, :-1] @ root[list(factor.columns)]
        left = np.column_stack([factor.R[:, payload] @ K, held, factor.R[:, -1]])
        Q = _basis(factor.R[:, others])
        left = left - Q @ (Q.T @ left)
        sigma = _honest_sigma(found, j)
        if sigma > 0:
            views.append(PayloadView(j, left[:, :-1] / sigma, left[:, -1] / sigma))
    return views


def _root(found: PayloadFit) -> FloatArray:
    """L with L Lᵀ the covariance of what was held, over all base parameters, (base, held)."""
    if found.held_covariance is None:
        return np.zeros((len(found.fit.kept), 0))
    sizes, vectors = np.linalg.eigh(found.held_covariance)
    return np.asarray(vectors[:, sizes > 0] * np.sqrt(sizes[sizes > 0]), dtype=float)


def _basis(W: FloatArray) -> FloatArray:
    """Orthonormal columns that span W."""
    if not W.shape[1]:
        return np.zeros((len(W), 0))
    lengths = np.linalg.norm(W, axis=0)
    U, s, _ = np.linalg.svd(W / np.where(lengths > 0, lengths, 1.0), full_matrices=False)
    rank = int(np.sum(s > 1e-10 * s[0])) if s[0] > 0 else 0
    return np.asarray(U[:, :rank], dtype=float)


def _honest_sigma(found: PayloadFit, joint: int) -> float:
    """σ of a joint's rows as far as the payload is concerned: that of white errors, widened by blocks."""
    problem, kept = found.problem, found.fit.kept
    weights = np.zeros(len(problem.regression.joints))
    weights[joint] = 1.0
    factor = problem.regression.joints[joint]
    solved = spectrum(factor.wide(len(problem.base))[:, np.append(kept, True)])
    degrees = factor.rows - solved.rank
    if degrees <= 0 or solved.rank == 0:
        return 0.0
    values = np.zeros(len(kept))
    values[kept] = solved.solution
    sigma = np.where(weights > 0, solved.residual_norm / degrees**0.5, np.nan)
    fit = Fit.weighted(values, kept, solved, weights, sigma, solved.residual_norm**2, degrees)
    doubt = Honest().doubt(problem, fit)
    places = (np.cumsum(kept) - 1)[[c for c in found.columns if c in factor.columns]]
    own, white = np.diag(doubt.covariance)[places], np.diag(fit.covariance)[places]
    ratio = float(np.median(own[white > 0] / white[white > 0])) if np.any(white > 0) else 1.0
    return float(fit.sigma * max(1.0, ratio) ** 0.5)
