"""The law behind the bias: what is left of a parameter when noise of the encoder reaches the regressor.

White errors of variance v Δ² leave the zero-phase low-pass, two central differences and the decimation as
errors of the accelerations of variance v Δ² s², with s from the frequency response of that chain,

    s² = 2 ∫₀^½ (B(ν)² D(ν)² C(ν)²)² dν,     [1/s⁴]

B² the low-pass forward and backward, D the difference, C² the decimation. They add to the squares
of the columns and to none of their products with the torques. Errors of the speeds turn the sign of
Coulomb friction around where a joint is slow, for as long as the filters remember them: they are drawn, white
noise through the same preparation, and W is averaged over a few draws. Together

    χ̂(Δ) = (E WᵀW + v Δ² C)⁻¹ E Wᵀ Y,   C = Σ_m D_mᵀ D_m,   D_m = s ∂W/∂q̈ · L_m,

with L_m what encoder m does to the joints. For one inertia alone this is χ̂/χ = 1/(1 + κ), κ = v (Δ s/a_rms)².
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from dynid.compile.kernels import kernels
from dynid.core.arrays import BoolArray, FloatArray
from dynid.logs.log import Log
from dynid.preparation.decimate import FILTER
from dynid.preparation.derivative import difference_gain
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.problem.build import fold_motion
from dynid.problem.factor import triangular
from dynid.problem.row_source import RowSource
from dynid.resolution.chain import Chain
from dynid.resolution.outcome import residual_norm
from dynid.resolution.search import largest_fine_step

Regressor = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]

_FREQUENCIES = 1 << 16
"""Frequencies of the integrals, from zero to half the rate: enough for bands above 1e-4 of it."""
_DRAWS = 4
"""Draws of the errors of the speeds: with thousands of rows each, four leave a per mille of friction open."""
_ROWS = 20_000
"""Rows of the regressor held at once."""


def _speed_errors(log: Log, plan: Preparation, root: FloatArray) -> FloatArray:
    """Errors of the joints' speeds for encoder errors of rms 1, (draws, samples, coordinates) [1/s].

    Args:
        log: whose stamps and length they have.
        plan: the whole preparation.
        root: L, (coordinates, axes).
    """
    rng = np.random.default_rng(0)
    drawn = []
    for _ in range(_DRAWS // 2):
        noise = rng.standard_normal((log.samples, root.shape[1])) @ root.T
        qd = np.asarray(prepare(replace(log, channels={**log.channels, "position": noise}), plan).qd)
        drawn += [qd, -qd]
    return np.array(drawn)


@dataclass(frozen=True, eq=False)
class ChainGains:
    """What a chain makes of white errors of rms 1 of the position.

    Args:
        acceleration: s, rms error of q̈ in the regression [1/s²].
        speed: s_v, rms error of q̇ before the decimation [1/s].
    """

    acceleration: float
    speed: float


def chain_gains(plan: Preparation, rate_hz: float) -> ChainGains:
    """The gains of a plan at a rate.

    Args:
        plan: low-pass, differences and decimation.
        rate_hz: samples per second before the decimation.
    """
    frequency = np.linspace(0.0, 0.5, _FREQUENCIES + 1)[1:] * rate_hz
    speed = 2.0 * np.pi * frequency * difference_gain(frequency, rate_hz, plan.difference_points)
    low, kept = _low_pass_gain(plan, frequency, rate_hz), _decimation_gain(plan, frequency, rate_hz)
    return ChainGains(
        float(np.sqrt(np.mean((low * kept * speed**2) ** 2))),
        float(np.sqrt(np.mean((low * speed) ** 2))),
    )


def _bent(frequency_hz: FloatArray | float, rate_hz: float) -> FloatArray:
    """Frequencies as the bilinear transform bends them."""
    return np.asarray(np.tan(np.pi * np.minimum(np.asarray(frequency_hz) / rate_hz, 0.4999999)))


def _low_pass_gain(plan: Preparation, frequency_hz: FloatArray, rate_hz: float) -> FloatArray:
    """What the Butterworth filter, forward and backward, leaves of a sine: B²."""
    if plan.cutoff_hz is None:
        return np.ones_like(frequency_hz)
    ratio = _bent(frequency_hz, rate_hz) / _bent(plan.cutoff_hz, rate_hz)
    return np.asarray(1.0 / (1.0 + ratio ** (2 * plan.order)), dtype=float)


def _decimation_gain(plan: Preparation, frequency_hz: FloatArray, rate_hz: float) -> FloatArray:
    """What the Chebyshev filter of the decimation, forward and backward, leaves of a sine: C²."""
    if plan.decimation == 1:
        return np.ones_like(frequency_hz)
    x = _bent(frequency_hz, rate_hz) / np.tan(np.pi * FILTER.band / (2.0 * plan.decimation))
    inside = np.cos(FILTER.order * np.arccos(np.minimum(x, 1.0)))
    outside = np.cosh(np.minimum(FILTER.order * np.arccosh(np.maximum(x, 1.0)), 300.0))
    # An even order has its ripple at zero frequency, too; the filter is scaled to unit gain there.
    ripple = 10.0 ** (FILTER.ripple_db / 10.0) - 1.0
    return np.asarray((1.0 + ripple) / (1.0 + ripple * np.where(x <= 1.0, inside, outside) ** 2), dtype=float)


@dataclass(frozen=True, eq=False)
class BiasLaw:
    """What the law says of one chain.

    Args:
        chain: how parameters are estimated.
        motions: the reference motions, prepared.
        gains: of the chain, for each of them.
        disturbance: C, (parameters, parameters), for steps of 1.
        speed_errors: of the joints for encoder errors of rms 1, per motion (draws, samples, coordinates).
        acceleration_rms: of each coordinate [rad/s² or m/s²].
    """

    chain: Chain
    motions: tuple[Motion, ...]
    gains: tuple[ChainGains, ...]
    disturbance: FloatArray
    speed_errors: tuple[FloatArray, ...]
    acceleration_rms: FloatArray

    @cached_property
    def factor(self) -> FloatArray:
        """R of the weighted [W Y] without further errors, (parameters + 1, parameters + 1)."""
        return self._mean_rows(0.0)

    @cached_property
    def reference(self) -> FloatArray:
        """Least squares without further errors, (parameters,)."""
        R, z = self.factor[:-1, :-1], self.factor[:-1, -1]
        scale = _lengths(R)
        return np.asarray(np.linalg.lstsq(R / scale, z, rcond=None)[0] / scale, dtype=float)

    @property
    def linear(self) -> bool:
        """Whether the chain is: RLOESS and outlier filters are not, and the law then is a guess."""
        plan = self.chain.plan
        return not (plan.median_window or plan.rloess_acceleration or plan.rloess_torque)

    def values(self, step: float, variance: float = 1.0) -> FloatArray:
        """χ̂ that the law expects at a step Δ, (parameters,).

        Args:
            step: Δ [rad or m].
            variance: of the rounding mode's error, over Δ².
        """
        size = np.sqrt(variance) * step
        return _values_with(self._mean_rows(size), size**2 * self.disturbance)

    def ratios(self, step: float, variance: float = 1.0) -> FloatArray:
        """χ̂(Δ)/χ̂(0) that the law expects, (parameters,)."""
        return np.asarray(self.values(step, variance) / self.reference, dtype=float)

    def kappa(self, step: float, variance: float = 1.0) -> FloatArray:
        """κ = v (Δ s/a_rms)² of each column alone, (parameters,); 0 where accelerations do not enter."""
        squares = np.sum(self.factor[:-1, :-1] ** 2, axis=0)
        return np.asarray(variance * step**2 * np.diag(self.disturbance) / squares, dtype=float)

    def coarsest_step(
        self,
        percent: float,
        judged: BoolArray,
        variance: float,
        start: float,
        largest: float,
        *,
        residual: bool = True,
    ) -> float:
        """The largest Δ at which no judged parameter, nor the residual, shifts by more [rad or m].

        Args:
            percent: the largest shift, such as 5.
            judged: which parameters count, (parameters,).
            variance: of the rounding mode's error, over Δ².
            start: a step of the right order.
            largest: where to end, such as the motion itself.
            residual: whether the residual counts (P1 eq 22).
        """
        first = residual_norm(self.factor, self.reference)

        def excess(step: float) -> tuple[float, str]:
            values = self.values(step, variance)
            shift = 100.0 * np.abs(values / self.reference - 1.0)[judged]
            rise = (
                100.0 * (residual_norm(self.factor, values) / first - 1.0) if residual and first > 0 else 0.0
            )
            return max(float(np.max(shift, initial=0.0)), rise) / percent, ""

        return largest_fine_step(excess, start, largest, narrow=1.02)[0]

    def _mean_rows(self, size: float) -> FloatArray:
        """R of the weighted [W Y] with RᵀR averaged over errors of the speeds.

        Args:
            size: rms of the encoders' errors [rad or m].
        """
        chain, width = self.chain, len(self.chain.base)
        source = RowSource(chain.robot, chain.base)
        stacked = [np.zeros((0, width + 1))]
        for motion, errors in zip(self.motions, self.speed_errors, strict=True):
            draws = errors if size > 0 else np.zeros((1, 1, 1))
            for error in draws:
                moved = replace(motion, qd=np.asarray(motion.qd) + size * error)
                folded = fold_motion(source, moved, chain.plan)
                stacked += [
                    w / np.sqrt(len(draws)) * f.wide(width)
                    for w, f in zip(chain.weights, folded, strict=True)
                ]
        return triangular(np.vstack(stacked))


def _lengths(R: FloatArray) -> FloatArray:
    """Lengths of columns; 1 for those that are zero."""
    lengths = np.linalg.norm(R, axis=0)
    return np.where(lengths > 0, lengths, 1.0)


def _values_with(factor: FloatArray, added: FloatArray) -> FloatArray:
    """(RᵀR + added)⁻¹ Rᵀ z with columns at unit length."""
    R, z = factor[:-1, :-1], factor[:-1, -1]
    scale = _lengths(R)
    scaled = R / scale
    normal = scaled.T @ scaled + added / np.outer(scale, scale)
    return np.asarray(np.linalg.lstsq(normal, scaled.T @ z, rcond=None)[0] / scale, dtype=float)


def bias_law(chain: Chain, motions: Sequence[Motion]) -> BiasLaw:
    """The law of a chain along its reference motions, prepared."""
    root = chain.sensing.joint_root(chain.robot)
    compiled = kernels(chain.robot, chain.base.columns)
    width = len(chain.base)
    disturbance = np.zeros((width, width))
    gains = tuple(chain_gains(chain.plan, motion.rate_hz) for motion in motions)
    for motion, own in zip(motions, gains, strict=True):
        for D in _acceleration_columns(compiled.regressor, motion, chain.plan, root):
            weighted = own.acceleration * chain.weights[:, None] * D
            disturbance += np.einsum("sjk,sjl->kl", weighted, weighted)
    rms = [np.mean(np.asarray(motion.qdd) ** 2, axis=0) for motion in motions]
    return BiasLaw(
        chain,
        tuple(motions),
        gains,
        disturbance,
        tuple(_speed_errors(log, chain.plan, root) for log in chain.logs),
        np.sqrt(np.mean(rms, axis=0)),
    )


def _acceleration_columns(
    regressor: Regressor, motion: Motion, plan: Preparation, root: FloatArray
) -> Iterator[FloatArray]:
    """∂W/∂q̈ · L_m at some rows of a motion, one encoder after the other, (samples, coordinates, columns).

    W is linear in q̈, so a difference of two regressors at rest is exact; gravity and friction cancel.
    """
    q, speed = (np.asarray(signal[:: plan.decimation]) for signal in (motion.q, motion.qd))
    masked = np.zeros_like(q, dtype=bool)
    if plan.speed_thresholds:
        masked = np.abs(speed) < np.array(plan.speed_thresholds)
    for rows in (slice(start, start + _ROWS) for start in range(0, len(q), _ROWS)):
        rest = np.zeros_like(q[rows])
        still = regressor(q[rows], rest, rest)
        for column in root.T[np.any(root.T != 0.0, axis=1)]:
            D = regressor(q[rows], rest, np.broadcast_to(column, rest.shape).copy()) - still
            D[masked[rows]] = 0.0
            yield D
