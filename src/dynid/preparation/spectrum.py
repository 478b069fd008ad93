"""What the spectrum of the positions says: where the motion ends and where the noise begins."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.logs.log import Log
from dynid.logs.resample import grid, interpolate, is_even, steady_rate
from dynid.preparation.outliers import replace_outliers
from dynid.preparation.preparation import Preparation

FloatArray = NDArray[np.float64]

FEWEST_SAMPLES = 256
"""Samples below which a spectrum says too little: the bands of the slow motion would hold one line each."""
_MOST_SAMPLES = 300_000
"""Samples of a longer log that are looked at, from its beginning; more would only take time."""
_BANDS_PER_DECADE = 8
_MOTION_SHARE = 0.99
_RISE_DB = 6.0
"""How far the spectrum of accelerations must rise again before noise is said to be seen."""
_FLAT_DB = 1.0
_LOW = 0.25
_TINY = 1e-300


@dataclass(frozen=True, eq=False)
class PositionSpectrum:
    """Power spectral densities of positions, averaged in bands that are even on a logarithmic axis.

    Args:
        frequency: centres of the bands [Hz], (bands,).
        density: one-sided density [rad²/Hz or m²/Hz], (bands, axes).
        width: widths of the bands [Hz].
        rate_hz: samples per second of the positions.
    """

    frequency: FloatArray
    density: FloatArray
    width: FloatArray
    rate_hz: float

    @property
    def acceleration(self) -> FloatArray:
        """Density of the accelerations: (2πf)⁴ that of the positions."""
        density: FloatArray = (2.0 * np.pi * self.frequency[:, None]) ** 4 * self.density
        return density

    def noise_begin(self) -> FloatArray:
        """Frequency at which noise takes over, per axis [Hz]: where the accelerations' spectrum is lowest.

        Motion falls faster than f⁻⁴, noise falls slower or not at all, so (2πf)⁴ S has a valley between them.
        Infinite where it never rises again: the noise is below the motion up to half the rate.
        """
        # Gaps between the lines of a periodic motion are filled with the highest density above them.
        envelope = np.maximum(np.maximum.accumulate(self.density[::-1], axis=0)[::-1], _TINY)
        decade = np.log10(2.0 * np.pi * self.frequency)
        return np.array([_valley(10.0 * np.log10(axis), decade, self.frequency) for axis in envelope.T])

    def moving(self) -> NDArray[np.bool_]:
        """Which axes move: their speed is strongest at low frequencies, where that of noise never is."""
        speed = self.frequency[:, None] ** 2 * self.density
        strongest = self.frequency[np.argmax(speed, axis=0)]
        return np.asarray((np.max(speed, axis=0) > 0) & (strongest < _LOW * self.frequency[-1]))

    def motion_end(self, derivative: int) -> FloatArray:
        """Frequency below which 99 % of the power of a derivative of the motion lies, per axis [Hz].

        Args:
            derivative: 1 for the speed, 2 for the acceleration; noise apart.
        """
        scale = (2.0 * np.pi * self.frequency[:, None]) ** (2 * derivative) * self.width[:, None]
        power = self.density * scale * (self.frequency[:, None] <= self.noise_begin())
        total = np.cumsum(power, axis=0)
        reached = total >= _MOTION_SHARE * total[-1]
        return np.asarray(self.frequency[np.argmax(reached, axis=0)])

    def noise_density(self) -> FloatArray:
        """Density of the position noise per axis: the median from where noise takes over, else at the top."""
        begin = np.minimum(self.noise_begin(), self.frequency[-1])
        axes = enumerate(begin)
        return np.array([np.median(self.density[self.frequency >= first, axis]) for axis, first in axes])

    def noise_share(self, band_hz: float) -> FloatArray:
        """κ: power of white position noise, twice differentiated, over the motion's, below a frequency."""
        inside = self.frequency <= band_hz
        noise = (2.0 * np.pi) ** 4 * self.noise_density() * band_hz**5 / 5.0
        power = np.sum((self.acceleration * self.width[:, None])[inside], axis=0)
        return np.asarray(noise / np.maximum(power - noise, np.maximum(0.01 * power, _TINY)))


def _valley(level: FloatArray, decade: FloatArray, frequency: FloatArray) -> float:
    """Where level + 40 dB per decade is lowest above the peak of the speed, level + 20 dB per decade."""
    peak = int(np.argmax(level + 20.0 * decade))
    after = (level + 40.0 * decade)[peak:]
    lowest = int(np.argmin(after))
    if np.max(after[lowest:]) < after[lowest] + _RISE_DB:
        return float("inf")
    flat = np.flatnonzero(after <= after[lowest] + _FLAT_DB)
    return float(frequency[peak + int(flat[0])])


def position_spectrum(q: FloatArray, rate_hz: float) -> PositionSpectrum:
    """Spectrum of positions at a constant rate.

    Taken of the second differences with a Hann window and divided by |2 sin(πf/f_s)|⁴: differences have no
    trend that could leak over the noise.

    Args:
        q: positions (samples, axes), at least 32 samples.
        rate_hz: samples per second.
    """
    change = np.diff(q, 2, axis=0)
    window = np.hanning(len(change))[:, None]
    raw = np.abs(np.fft.rfft(change * window, axis=0)) ** 2 * 2.0 / (rate_hz * float(np.sum(window**2)))
    frequency = np.fft.rfftfreq(len(change), 1.0 / rate_hz)[2:]  # the window smears the mean into bin 1
    density = raw[2:] / (2.0 * np.sin(np.pi * frequency[:, None] / rate_hz)) ** 4
    ratio = 10.0 ** (1.0 / _BANDS_PER_DECADE)
    band = np.floor(np.log(frequency / frequency[0]) / np.log(ratio) + 1e-9).astype(int)
    edges = np.flatnonzero(np.diff(band, prepend=-1))
    counts = np.diff(np.append(edges, len(frequency)))
    return PositionSpectrum(
        frequency=np.add.reduceat(frequency, edges) / counts,
        density=np.add.reduceat(density, edges, axis=0) / counts[:, None],
        width=counts * (frequency[1] - frequency[0]),
        rate_hz=rate_hz,
    )


def spectrum_of_log(log: Log, plan: Preparation) -> PositionSpectrum | None:
    """Spectrum of a log's positions without outliers; None when it is too short to tell.

    Args:
        log: joint side; of a long one the beginning is looked at.
        plan: its outlier filter is used.
    """
    log = log.part(slice(_MOST_SAMPLES))
    if log.samples < FEWEST_SAMPLES:
        return None
    q, rate = log.array("position"), steady_rate(log.time)
    if plan.median_window:
        q = replace_outliers(q, plan.median_window, plan.median_threshold).values
    if not is_even(log.time):
        q = interpolate(log.time, q, grid(float(log.time[0]), float(log.time[-1]), rate))
    return position_spectrum(q, rate)
