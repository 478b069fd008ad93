"""The law behind the bias: what is left of a parameter when noise of the encoder reaches the regressor.

White errors of variance v Δ² leave the zero-phase low-pass, two central differences and the decimation as
errors of the accelerations of variance v Δ² s², with s from the frequency response of that chain,

    s² = 2 ∫₀^½ (B(ν)² D(ν)² C(ν)²)² dν,     [1/s⁴]

B² the low-pass forward and backward, D the difference, C² the decimation. They add to the squares of the
columns and to none of their products with the torques. Errors of the speeds, σ_v = √v Δ s_v before the
decimation, turn the sign of Coulomb friction around where a joint is slow: on average its column is
E sign(q̇ + ė). Together

    χ̂(Δ) = (W̄ᵀW̄ + v Δ² C + V)⁻¹ W̄ᵀ Y,   C = Σ_m D_mᵀ D_m,   D_m = s ∂W/∂q̈ · L_m,

with W̄ = E W over the errors of the speeds, V the variance that they leave behind the decimation, and L_m what
encoder m does to the joints. For one inertia alone this is χ̂/χ = 1/(1 + κ), κ = v (Δ s/a_rms)².
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from dynid.compile.kernels import RobotKernels, kernels
from dynid.core.arrays import BoolArray, FloatArray
from dynid.preparation.decimate import FILTER
from dynid.preparation.derivative import difference_gain
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.problem.build import fold_motion
from dynid.problem.factor import triangular
from dynid.problem.row_source import RowSource, structure
from dynid.resolution.chain import Chain
from dynid.resolution.search import largest_fine_step

Regressor = Callable[[FloatArray, FloatArray, FloatArray], FloatArray]

_FREQUENCIES = 1 << 16
"""Frequencies of the integrals, from zero to half the rate: enough for bands above 1e-4 of it."""
_PARTS = 10
"""Equally likely parts of the errors of speed; ten bring the mean of a sign within 0.05 of its own."""


def _quantiles() -> FloatArray:
    """The middles of equally likely parts of a normal distribution, scaled to variance 1."""
    middles = np.array([NormalDist().inv_cdf((k + 0.5) / _PARTS) for k in range(_PARTS)])
    return np.asarray(middles / np.sqrt(np.mean(middles**2)), dtype=float)


_QUANTILES = _quantiles()


@dataclass(frozen=True, eq=False)
class ChainGains:
    """What a chain makes of white errors of rms 1 of the position.

    Args:
        acceleration: s, rms error of q̈ in the regression [1/s²].
        speed: s_v, rms error of q̇ before the decimation [1/s].
        passed: share of the variance of the sign of such errors of speed that the decimation leaves.
    """

    acceleration: float
    speed: float
    passed: float


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
        _passed_share((low * speed) ** 2, kept**2),
    )


def _passed_share(spectrum: FloatArray, kept: FloatArray) -> float:
    """Share of the variance of sign(x) that a filter leaves, x normal with a given power spectrum.

    The autocorrelation of the sign is (2/π) arcsin ρ, ρ that of x (Van Vleck).
    """
    correlation = np.fft.irfft(np.concatenate([[0.0], spectrum]))
    signs = 2.0 / np.pi * np.arcsin(np.clip(correlation / correlation[0], -1.0, 1.0))
    power = np.maximum(np.fft.rfft(signs).real, 0.0)
    return float(power[1:] @ kept / np.sum(power))


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
class _NoisySpeeds(RowSource):
    """W averaged over errors of the speeds; what the average loses of the squares is counted.

    Each row of friction sees the speed of its own joint, so all joints take the same quantile at once. Only
    friction jumps with the speed; other columns keep their mean.

    Args:
        sigma: rms error of the speeds, (coordinates,) [rad/s or m/s].
        thresholds: speeds below which rows are left out, (coordinates,).
        lost: Σ (E W² − (E W)²) over the samples, filled while rows are made, (coordinates, base).
    """

    sigma: FloatArray = field(default_factory=lambda: np.zeros(0))
    thresholds: FloatArray = field(default_factory=lambda: np.zeros(0))
    lost: FloatArray = field(default_factory=lambda: np.zeros((0, 0)))

    @cached_property
    def friction_columns(self) -> NDArray[np.intp]:
        """Columns of friction."""
        entries = [self.robot.table.entries[c] for c in self.base.columns]
        return np.flatnonzero([entry.family in ("friction", "motor") for entry in entries])

    @cached_property
    def friction(self) -> RobotKernels:
        """The regressor of these columns alone."""
        return kernels(self.robot, tuple(self.base.columns[i] for i in self.friction_columns))

    def along(self, motion: Motion, rows: slice, out: FloatArray | None = None) -> FloatArray:
        """W with the mean of its friction columns over the quantiles."""
        W = super().along(motion, rows, out)
        if not len(self.friction_columns):
            return W
        q, qd, qdd = (np.asarray(signal[rows]) for signal in motion.states)
        joint, column = self._places
        total, squares = np.zeros((len(joint), len(q))), np.zeros((len(joint), len(q)))
        for x in _QUANTILES:
            own = self.friction.regressor_blocks(q, qd + x * self.sigma, qdd)[joint, column]
            total += own
            squares += own**2
        mean = total / _PARTS * ~np.isin(self.friction_columns[column], self.absent(motion))[:, None]
        used = np.abs(qd) >= self.thresholds
        spread = (squares / _PARTS - mean**2) * used.T[joint]
        self.lost[joint, self.friction_columns[column]] += spread.sum(axis=1)
        W[joint, self.friction_columns[column]] = mean
        return W

    @cached_property
    def _places(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Joint and column, among those of friction, of every entry that is not zero by structure."""
        own = structure(self.friction)
        pairs = [(j, c) for j, columns in enumerate(own) for c in columns]
        joint, column = np.array(pairs, dtype=np.intp).reshape(-1, 2).T
        return joint, column


@dataclass(frozen=True, eq=False)
class BiasLaw:
    """What the law says of one chain.

    Args:
        chain: how parameters are estimated.
        motions: the reference motions, prepared.
        gains: of the chain, for each of them.
        disturbance: C, (parameters, parameters), for steps of 1.
        speed_roots: rms error of each joint's speed for steps of 1, per motion (motions, coordinates).
        acceleration_rms: of each coordinate [rad/s² or m/s²].
    """

    chain: Chain
    motions: tuple[Motion, ...]
    gains: tuple[ChainGains, ...]
    disturbance: FloatArray
    speed_roots: FloatArray
    acceleration_rms: FloatArray

    @cached_property
    def factor(self) -> FloatArray:
        """R of the weighted [W Y] without further errors, (parameters + 1, parameters + 1)."""
        return self._mean_rows(0.0)[0]

    @cached_property
    def reference(self) -> FloatArray:
        """Least squares without further errors, (parameters,)."""
        return _values_with(self.factor, np.zeros_like(self.disturbance))

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
        factor, lost = self._mean_rows(size)
        return _values_with(factor, size**2 * self.disturbance + lost)

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
        first = self._residual_norm(self.reference)

        def excess(step: float) -> tuple[float, str]:
            values = self.values(step, variance)
            shift = 100.0 * np.abs(values / self.reference - 1.0)[judged]
            rise = 100.0 * (self._residual_norm(values) / first - 1.0) if residual and first > 0 else 0.0
            return max(float(np.max(shift, initial=0.0)), rise) / percent, ""

        return largest_fine_step(excess, start, largest, narrow=1.02)[0]

    def _residual_norm(self, values: FloatArray) -> float:
        """‖Y − W χ‖ of the original rows, weighted."""
        return float(np.linalg.norm(self.factor[:, -1] - self.factor[:, :-1] @ values))

    def _mean_rows(self, size: float) -> tuple[FloatArray, FloatArray]:
        """R of the weighted [W̄ Y] and V, for errors of rms ``size``."""
        chain, width = self.chain, len(self.chain.base)
        stacked, lost = [np.zeros((0, width + 1))], np.zeros(width)
        for motion, root, gains in zip(self.motions, self.speed_roots, self.gains, strict=True):
            noisy = _NoisySpeeds(
                chain.robot,
                chain.base,
                sigma=size * root,
                thresholds=np.array(chain.plan.speed_thresholds or (0.0,) * len(root)),
                lost=np.zeros((len(root), width)),
            )
            folded = fold_motion(noisy, motion, chain.plan)
            stacked += [w * f.wide(width) for w, f in zip(chain.weights, folded, strict=True)]
            rows = noisy.lost * chain.weights[:, None] ** 2
            lost += gains.passed / chain.plan.decimation * rows.sum(axis=0)
        return triangular(np.vstack(stacked)), np.diag(lost)


def _values_with(factor: FloatArray, added: FloatArray) -> FloatArray:
    """(RᵀR + added)⁻¹ Rᵀ z with columns at unit length."""
    R, z = factor[:-1, :-1], factor[:-1, -1]
    lengths = np.linalg.norm(R, axis=0)
    scale = np.where(lengths > 0, lengths, 1.0)
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
    spread = np.linalg.norm(root, axis=1)
    rms = [np.mean(np.asarray(motion.qdd) ** 2, axis=0) for motion in motions]
    return BiasLaw(
        chain,
        tuple(motions),
        gains,
        disturbance,
        np.array([own.speed * spread for own in gains]),
        np.sqrt(np.mean(rms, axis=0)),
    )


def _acceleration_columns(
    regressor: Regressor, motion: Motion, plan: Preparation, root: FloatArray
) -> Iterator[FloatArray]:
    """∂W/∂q̈ · L_m at the rows of a motion, one encoder after the other, (samples, coordinates, columns).

    W is linear in q̈, so a difference of two regressors at rest is exact; gravity and friction cancel.
    """
    q, speed = (np.asarray(signal[:: plan.decimation]) for signal in (motion.q, motion.qd))
    rest = np.zeros_like(q)
    still = regressor(q, rest, rest)
    masked = np.zeros_like(q, dtype=bool)
    if plan.speed_thresholds:
        masked = np.abs(speed) < np.array(plan.speed_thresholds)
    for column in root.T[np.any(root.T != 0.0, axis=1)]:
        D = regressor(q, rest, np.broadcast_to(column, q.shape).copy()) - still
        D[masked] = 0.0
        yield D
