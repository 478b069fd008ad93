"""Where the motion ends and noise begins in the spectrum of the positions, and the filter that follows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dynid.core.arrays import FloatArray
from dynid.logs.log import Log
from dynid.logs.resample import grid, interpolate, is_even, steady_rate
from dynid.preparation.derivative import DIFFERENCE_POINTS, difference_gain
from dynid.preparation.preparation import MEASURED, Preparation
from dynid.preparation.robust import replace_outliers

FEWEST_SAMPLES = 256
"""Samples below which a spectrum says too little: the bands of the slow motion would hold one line each."""
_MOST_SAMPLES = 300_000
"""Samples of a longer log that are looked at, from its beginning; more would only take time."""
_TINY = 1e-300


@dataclass(frozen=True)
class SpectrumRules:
    """How a spectrum is read. Chosen by hand on simulated and measured logs.

    Args:
        bands_per_decade: of frequency; fewer average more lines, and place the valley less surely.
        motion_share: of the power of a derivative that lies within the band of the motion.
        rise_db: how far the accelerations' spectrum must rise again before noise is said to be seen [dB].
        flat_db: the valley begins where the spectrum is so close to its lowest value [dB].
        low: an axis moves when its speed is strongest below this share of half the rate.
    """

    bands_per_decade: int = 8
    motion_share: float = 0.99
    rise_db: float = 6.0
    flat_db: float = 1.0
    low: float = 0.25


@dataclass(frozen=True)
class BandRules:
    """Where the cut-off of the positions lies: higher ones leave the motion alone, lower ones keep noise out.

    Args:
        above_motion: cut-off over the bandwidth of the motion (P1 §2.2.2: ω_f > 10 ω_dyn).
        clear_of_speed: least cut-off over the band of the speed: 0.02 % are taken off the fastest motion.
        well_clear: the same where noise is no reason to stay lower: less than 1e-6 is taken off.
        quiet: share of noise in the power of the accelerations that is no reason to stay lower.
        highest: cut-off over the rate: above, differences over 3 points take 12 % off an acceleration.
        highest_needed: the same where the motion asks for more: differences over 9 points take 2 % off there.
        taken: share of the fastest acceleration that differences may take off, a fifth of the filter's.
    """

    above_motion: float = 10.0
    clear_of_speed: float = 3.0
    well_clear: float = 6.0
    quiet: float = 1e-5
    highest: float = 0.1
    highest_needed: float = 0.25
    taken: float = 4e-5


SPECTRUM = SpectrumRules()
BAND = BandRules()


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

    def moving_axes(self) -> NDArray[np.bool_]:
        """Which axes move: their speed is strongest at low frequencies, where that of noise never is."""
        speed = self.frequency[:, None] ** 2 * self.density
        strongest = self.frequency[np.argmax(speed, axis=0)]
        return np.asarray((np.max(speed, axis=0) > 0) & (strongest < SPECTRUM.low * self.frequency[-1]))

    def motion_end(self, derivative: int) -> FloatArray:
        """Frequency below which 99 % of the power of a derivative of the motion lies, per axis [Hz].

        Args:
            derivative: 1 for the speed, 2 for the acceleration; noise apart.
        """
        scale = (2.0 * np.pi * self.frequency[:, None]) ** (2 * derivative) * self.width[:, None]
        power = self.density * scale * (self.frequency[:, None] <= self.noise_begin())
        total = np.cumsum(power, axis=0)
        reached = total >= SPECTRUM.motion_share * total[-1]
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
    if np.max(after[lowest:]) < after[lowest] + SPECTRUM.rise_db:
        return float("inf")
    flat = np.flatnonzero(after <= after[lowest] + SPECTRUM.flat_db)
    return float(frequency[peak + int(flat[0])])


def position_spectrum(q: FloatArray, rate_hz: float) -> PositionSpectrum:
    """Spectrum of positions at a constant rate.

    Taken of the second differences and divided by |2 sin(πf/f_s)|⁴: differences have no trend that could
    leak over the noise. What leaks of a motion that is cut off at both ends falls as f⁻⁶ with a Hann window
    and as f⁻¹⁰ with its square, whose lines are half as wide again: each band takes the lower of both.

    Args:
        q: positions (samples, axes), at least 32 samples.
        rate_hz: samples per second.
    """
    change = np.diff(q, 2, axis=0)
    frequency = np.fft.rfftfreq(len(change), 1.0 / rate_hz)[2:]  # a window smears the mean into bin 1
    ratio = 10.0 ** (1.0 / SPECTRUM.bands_per_decade)
    band = np.floor(np.log(frequency / frequency[0]) / np.log(ratio) + 1e-9).astype(int)
    edges = np.flatnonzero(np.diff(band, prepend=-1))
    counts = np.diff(np.append(edges, len(frequency)))
    hann = np.hanning(len(change))[:, None]
    gain = 2.0 / rate_hz / (2.0 * np.sin(np.pi * frequency[:, None] / rate_hz)) ** 4
    powers = (gain * _line_powers(change, window)[2:] for window in (hann, hann**2))
    return PositionSpectrum(
        frequency=np.add.reduceat(frequency, edges) / counts,
        density=np.minimum(*(np.add.reduceat(power, edges, axis=0) for power in powers)) / counts[:, None],
        width=counts * (frequency[1] - frequency[0]),
        rate_hz=rate_hz,
    )


def _line_powers(x: FloatArray, window: FloatArray) -> FloatArray:
    """|FFT|² of windowed signals over the window's own power, (lines, axes)."""
    return np.asarray(np.abs(np.fft.rfft(x * window, axis=0)) ** 2 / float(np.sum(window**2)))


def spectrum_of_log(log: Log, plan: Preparation) -> PositionSpectrum | None:
    """Spectrum of a log's positions without outliers; None when it is too short to tell.

    Args:
        log: joint side; of a long one the beginning is looked at.
        plan: its outlier filter is used.
    """
    log = log.part(slice(_MOST_SAMPLES))
    if log.samples < FEWEST_SAMPLES:
        return None
    return position_spectrum(even_positions(log, plan), steady_rate(log.time))


def even_positions(log: Log, plan: Preparation) -> FloatArray:
    """Positions at a constant rate, without the outliers that a plan's filter replaces.

    Where a plan takes logged speeds, these are summed up: their noise is that of the accelerations then.
    """
    q = log.array("position")
    if plan.velocity == MEASURED:
        q = np.cumsum(log.array("velocity"), axis=0) / steady_rate(log.time)
    if plan.median_window:
        q = replace_outliers(q, plan.median_window, plan.median_threshold).values
    if is_even(log.time):
        return q
    return interpolate(log.time, q, grid(float(log.time[0]), float(log.time[-1]), steady_rate(log.time)))


@dataclass(frozen=True)
class MotionBand:
    """Frequencies of a log [Hz] and what they ask of its preparation.

    Args:
        rate_hz: rate of the log.
        speed_hz: 99 % of the speed's power lie below.
        motion_hz: 99 % of the acceleration's power lie below.
        noise_hz: where noise takes over; None when not seen.
        trusted_hz: up to here motion is told from noise; the regression's band stays a factor below.
        cutoff_hz: of the position filter, at least ``trusted_hz``.
        points: of the central differences.
    """

    rate_hz: float
    speed_hz: float
    motion_hz: float
    noise_hz: float | None
    trusted_hz: float
    cutoff_hz: float
    points: int

    @property
    def too_fast(self) -> bool:
        """Whether the motion is too fast for the rate: the filter cannot stay clear of it."""
        return self.cutoff_hz < 0.99 * BAND.clear_of_speed * self.speed_hz


def choose_bandwidth(spectrum: PositionSpectrum, rate_hz: float) -> MotionBand:
    """Cut-off and differences that leave the motion alone and keep noise out.

    The cut-off stands ten times above the motion, or where noise takes over if that is lower, but at least
    three times above the speed, six times where the noise up to there is next to nothing. It is at most a
    tenth of the rate, more only to stay clear of the motion.

    Args:
        spectrum: of the positions.
        rate_hz: their rate.
    """
    moving = spectrum.moving_axes()
    moving = moving if np.any(moving) else np.ones_like(moving)
    seen = spectrum.noise_begin()[moving]
    noise = float(np.max(seen[np.isfinite(seen)])) if np.any(np.isfinite(seen)) else None
    speed, motion = (float(np.max(spectrum.motion_end(order)[moving])) for order in (1, 2))
    least, most = BAND.clear_of_speed * speed, BAND.above_motion * motion
    wanted = most if noise is None else min(max(noise, least), most)
    limit = max(BAND.highest * rate_hz, min(least, BAND.highest_needed * rate_hz))
    trusted = min(wanted, limit)
    further = min(BAND.well_clear * speed, BAND.highest_needed * rate_hz)
    quiet = further > trusted and float(np.max(spectrum.noise_share(further)[moving])) <= BAND.quiet
    cutoff = further if quiet else trusted
    points = fewest_points(motion, rate_hz)
    return MotionBand(rate_hz, speed, motion, noise, trusted, three_digits(cutoff), points)


def fewest_points(motion_hz: float, rate_hz: float) -> int:
    """Points of the shortest central difference that takes no more off than the filter does.

    Args:
        motion_hz: band of the acceleration.
        rate_hz: samples per second.
    """
    enough = (p for p in DIFFERENCE_POINTS if _taken_off(motion_hz, rate_hz, p) <= BAND.taken)
    return next(enough, DIFFERENCE_POINTS[-1])


def cutoff_reason(chosen: MotionBand) -> str:
    """Why the cut-off is what it is."""
    cutoff, noise = chosen.cutoff_hz, chosen.noise_hz
    said = (
        f"99 % of the speed lies below {chosen.speed_hz:.3g} Hz and 99 % of the acceleration below "
        f"{chosen.motion_hz:.3g} Hz"
    )
    if noise is None:
        said += "; no noise is seen up to half the rate. "
    else:
        said += f"; noise takes over at {noise:.3g} Hz, where the accelerations' spectrum is lowest. "
    over_speed = cutoff / chosen.speed_hz if chosen.speed_hz else float("inf")
    if chosen.too_fast:
        return said + (
            f"The cut-off is a quarter of the rate, {cutoff:g} Hz, and still takes something off the motion: "
            f"the rate is low for it; log at {4 * BAND.clear_of_speed * chosen.speed_hz:.3g} Hz or more."
        )
    if noise is not None and cutoff > 1.01 * chosen.trusted_hz:
        return said + (
            f"The cut-off is {over_speed:.2g} times the speed's band, {cutoff:g} Hz: noise up to there is "
            "next to nothing, and the filter leaves the motion alone."
        )
    if cutoff == three_digits(BAND.highest * chosen.rate_hz):
        return said + f"The cut-off is a tenth of the rate, {cutoff:g} Hz: above, differences distort."
    if noise is not None and cutoff == three_digits(noise):
        return said + f"The cut-off is there: {cutoff:g} Hz."
    if cutoff == three_digits(BAND.above_motion * chosen.motion_hz):
        return said + f"The cut-off is ten times the acceleration's band: {cutoff:g} Hz."
    return said + f"The cut-off is three times the speed's band, to leave the motion alone: {cutoff:g} Hz."


def points_reason(chosen: MotionBand) -> str:
    """Why differences take so many points."""
    motion, points = chosen.motion_hz, chosen.points
    taken, simple = (100 * _taken_off(motion, chosen.rate_hz, p) for p in (points, DIFFERENCE_POINTS[0]))
    said = f"Differences over {points} points take {taken:.2g} % off the acceleration at {motion:.3g} Hz"
    if points == DIFFERENCE_POINTS[0]:
        return said + "."
    said += f"; over 3 points they would take {simple:.2g} %, and a speed near its reversal the wrong sign."
    if taken > 100 * BAND.taken:
        said += " The rate is low for this motion."
    return said


def three_digits(value: float) -> float:
    """Three digits are as many as such a figure deserves."""
    return float(f"{value:.3g}")


def _taken_off(frequency_hz: float, rate_hz: float, points: int) -> float:
    """Share of an acceleration that two differences take off."""
    if frequency_hz <= 0:
        return 0.0
    return 1.0 - float(difference_gain(frequency_hz, rate_hz, points)) ** 2
