"""How samples that arrive one by one become regression rows: the live counterpart of a preparation."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.core.keys import key
from dynid.core.tables import check_fields
from dynid.preparation.causal_design import (
    DEGREES,
    CausalKernels,
    half_length,
    highest_cutoff,
    raw_kernels,
    smooth_kernel,
    smoothing_kernels,
)
from dynid.preparation.preparation import DIFFERENTIATED, MEASURED, Preparation

JOINT, ALL = "joint", "all"
"""Whose rows a slow joint takes out: its own, or those of all joints (P4)."""


@dataclass(frozen=True)
class CausalPlan:
    """A plan of causal filters: instants from samples, then rows from instants."""

    rate_hz: float = key("samples per second", unit="Hz", above=0)
    cutoff_hz: float | None = key(
        "where the filter of the positions halves the amplitude",
        None,
        unit="Hz",
        above=0,
        absent="none: central differences over three samples",
    )
    degree: int = key("degree of the polynomials that pass the filters unchanged", 3, choices=DEGREES)
    torque_cutoff_hz: float | None = key(
        "the same for the torques, not below that of the positions",
        None,
        unit="Hz",
        above=0,
        absent="as the rows need it: only delayed, or below half the rate of the instants where these are "
        "filtered as rows, else like the positions",
    )
    held_torque: bool = key(
        "whether torques are commands that hold from their stamp to the next: read half a sample later", False
    )
    velocity: str = key(
        "speeds as derivatives of the positions, or as measured, through the same filter",
        DIFFERENTIATED,
        choices=(DIFFERENTIATED, MEASURED),
    )
    decimation: int = key("samples per instant at which q, q̇, q̈ and τ are evaluated", 1, least=1)
    row_decimation: int = key(
        "instants per regression row: torques and all columns pass one low-pass that halves the amplitude at "
        "half the rows' rate; 1 takes every instant as it is",
        1,
        least=1,
    )
    speed_thresholds: tuple[float, ...] = key(
        "speeds below which rows are left out, one per coordinate", (), unit="rad/s or m/s", least=0
    )
    slow: str = key(
        "what a slow joint takes out: the row of that joint, or those of all joints",
        JOINT,
        choices=(JOINT, ALL),
    )
    stamps: str = key(
        "even takes samples as they come, measured interpolates between stamps that are not",
        "even",
        choices=("even", MEASURED),
    )
    bridged_samples: int = key(
        "missing samples in a row that are interpolated; more begin a new stretch", 3, least=0
    )

    def __post_init__(self) -> None:
        """Refuse filters that cannot be built at this rate."""
        check_fields(self, "CausalPlan")
        if self.cutoff_hz is None and self.torque_cutoff_hz is not None:
            raise DynidError(
                f"torque_cutoff_hz is {self.torque_cutoff_hz:g} Hz, but the positions are not filtered; give "
                "cutoff_hz too, or leave both out."
            )
        _ = self.kernels, self.torque_kernel
        self._refuse_aliases()

    def _refuse_aliases(self) -> None:
        """Refuse instants so rare that what passes the filter folds back into the band of the motion."""
        if self.cutoff_hz is None or self.decimation == 1:
            return
        instants = self.rate_hz / self.decimation
        if instants < 2.0 * self.cutoff_hz:
            most = max(1, int(self.rate_hz / (2.0 * self.cutoff_hz)))
            raise DynidError(
                f"decimation is {self.decimation}: {instants:.4g} instants per second are fewer than twice "
                f"the cut-off, {self.cutoff_hz:g} Hz; give at most {most}, or lower the cut-off."
            )

    @cached_property
    def kernels(self) -> CausalKernels:
        """Those of the positions."""
        if self.cutoff_hz is None:
            return raw_kernels(self.rate_hz)
        half = half_length(self.cutoff_hz, self.rate_hz, self.degree)
        return smoothing_kernels(half, self.degree, self.rate_hz)

    @cached_property
    def torque_kernel(self) -> FloatArray:
        """That of the torques, on the newest samples that those of the positions see too, (L,)."""
        half = self.kernels.half
        kernel = np.zeros(2 * half + 1)
        own = self._torque_half(half)
        if own:
            kernel[half - own : half + own + 1] = smooth_kernel(own, self.degree, 0.5 * self.held_torque)
        elif self.held_torque:
            kernel[half - 1 : half + 1] = 0.5
        else:
            kernel[half] = 1.0
        return kernel

    def _torque_half(self, half: int) -> int:
        """Samples to either side that a torque is smoothed over; 0 where it is only delayed."""
        if self.cutoff_hz is None:
            return 0
        cutoff = self.torque_cutoff_hz
        if cutoff is None:
            if self.row_decimation == 1:
                return half
            cutoff = 0.5 * self.rate_hz / self.decimation
            if cutoff >= highest_cutoff(self.rate_hz, self.degree):
                return 0
        own = half_length(cutoff, self.rate_hz, self.degree)
        if own > half and self.torque_cutoff_hz is not None:
            raise DynidError(
                f"torque_cutoff_hz is {cutoff:g} Hz, below that of the positions, {self.cutoff_hz:g} Hz; a "
                "torque cannot wait longer than its motion. Raise it, or lower cutoff_hz."
            )
        return min(own, half)

    @cached_property
    def row_kernel(self) -> FloatArray:
        """The low-pass of the rows, over instants; a single 1 where there is none."""
        if self.row_decimation == 1:
            return np.ones(1)
        half = half_length(0.5, float(self.row_decimation), self.degree, shortest=(self.degree + 1) // 2)
        return smooth_kernel(half, self.degree)

    @property
    def delay_s(self) -> float:
        """Seconds that an instant lies before the newest sample it is made of."""
        return self.kernels.half / self.rate_hz

    @property
    def row_delay_s(self) -> float:
        """Seconds that a row lies before the newest sample it is made of: ``delay_s`` and the rows' own."""
        return self.delay_s + (len(self.row_kernel) // 2) * self.decimation / self.rate_hz

    @property
    def row_rate_hz(self) -> float:
        """Rows per second and joint."""
        return self.rate_hz / (self.decimation * self.row_decimation)

    def to_dict(self) -> dict[str, Any]:
        """The plan, ready for JSON."""
        return asdict(self)


def suggest_causal(preparation: Preparation, rate_hz: float, instants: int = 32) -> CausalPlan:
    """The live counterpart of a preparation: its cut-off, and its rows at its rate, filtered in parallel.

    Friction turns at once where the speed does. A torque that is filtered beside a sign(q̇) that is not
    differs from it over the length of the filter, on simulated arms by so much that parameters err several
    times as much as in a batch; rows in which torques and columns are filtered alike do not. So torques are
    not filtered before the rows are.

    Args:
        preparation: of the batch, such as ``suggest`` gives for a log of the same motion.
        rate_hz: samples per second of the stream.
        instants: at which the regressor is evaluated, per row at most: fewer cost less time and blur
            reversals. Of 30 drawn arms parameters erred 1.12, 1.09 and 1.04 times as much as in the batch
            with 16, 32 and 64; of 40 others 1.13, 1.07 and 1.07 times.
    """
    rate = rate_hz if preparation.resample_hz is None else preparation.resample_hz
    decimation = max(1, preparation.decimation // instants)
    cutoff, degree = preparation.cutoff_hz, 3
    if cutoff is not None:
        cutoff = min(cutoff, highest_cutoff(rate, degree), 0.5 * rate / decimation)
    return CausalPlan(
        rate_hz=rate,
        cutoff_hz=cutoff,
        degree=degree,
        velocity=preparation.velocity,
        decimation=decimation,
        row_decimation=max(1, round(preparation.decimation / decimation)),
        speed_thresholds=preparation.speed_thresholds,
        stamps=MEASURED if preparation.stamps == MEASURED else "even",
    )
