"""How a raw log becomes a prepared motion: a plan of named steps, as data."""

from __future__ import annotations

from collections.abc import Container
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from dynid.core.files import naming_file, read_toml
from dynid.core.keys import key
from dynid.core.tables import check_fields, table_from
from dynid.preparation.derivative import DIFFERENCE_POINTS

CONVENTIONS = ("scipy", "matlab")
STAMPS = ("auto", "even", "measured")
DIFFERENTIATED, MEASURED = "differentiated", "measured"
"""Where speeds and accelerations come from: differences of the positions, or the log itself."""


@dataclass(frozen=True)
class Preparation:
    """A plan of preparation (P0 §II, P1 §2.2.2, P3 §2.3); steps run in the order of the fields."""

    trim_start_s: float = key("time dropped at the start", 0.0, unit="s", least=0)
    trim_end_s: float = key("time dropped at the end", 0.0, unit="s", least=0)
    median_window: int = key(
        "samples of the outlier filter; 0 leaves it out",
        0,
        allowed="0 or an odd number",
        rule=lambda count: count == 0 or (count > 0 and count % 2 == 1),
    )
    median_threshold: float = key(
        "robust deviations from the running median that make an outlier", 6.0, above=0
    )
    stamps: str = key(
        "even takes the stamps for evenly spaced, measured interpolates to a constant rate, auto "
        "interpolates where a step differs by more than 2 % from the others",
        "auto",
        choices=STAMPS,
    )
    resample_hz: float | None = key(
        "rate to interpolate to", None, unit="Hz", above=0, absent="the log's own"
    )
    cutoff_hz: float | None = key(
        "cut-off of the zero-phase Butterworth filter of the positions", None, unit="Hz", above=0
    )
    order: int = key("order of that filter, which runs forward and backward", 4, least=1, most=12)
    difference_points: int = key(
        "samples that a central difference reaches over; 3 in the papers", 3, choices=DIFFERENCE_POINTS
    )
    velocity: str = key(
        "speeds by differences of the positions, or as logged, through the same low-pass",
        DIFFERENTIATED,
        choices=(DIFFERENTIATED, MEASURED),
    )
    acceleration: str = key(
        "accelerations by differences of the speeds, or as logged, through the same low-pass",
        DIFFERENTIATED,
        choices=(DIFFERENTIATED, MEASURED),
    )
    torque_cutoff_hz: float | None = key(
        "zero-phase cut-off of the torques", None, unit="Hz", above=0, absent="none: left to the decimation"
    )
    rloess_acceleration: float = key(
        "share of the samples that the RLOESS smoother of accelerations spans", 0.0, least=0, most=1
    )
    rloess_torque: float = key("the same for torques", 0.0, least=0, most=1)
    drop_samples: int = key("samples dropped at both ends after differentiation", 0, least=0)
    drop_end: int | None = key("samples dropped at the end", None, least=0, absent="as many as at the start")
    decimation: int = key(
        "one sample is kept of so many, after the same low-pass on every column", 1, least=1
    )
    speed_thresholds: tuple[float, ...] = key(
        "speeds below which rows are left out, one per coordinate", (), unit="rad/s or m/s", least=0
    )
    convention: str = key(
        "filters as SciPy has them, or exactly as MATLAB does", "scipy", choices=CONVENTIONS
    )

    def __post_init__(self) -> None:
        """Refuse plans that no log can follow."""
        check_fields(self, "Preparation")

    @property
    def ends(self) -> tuple[int, int]:
        """Samples dropped at the start and at the end after differentiation."""
        return self.drop_samples, self.drop_samples if self.drop_end is None else self.drop_end

    @property
    def logged_derivatives(self) -> tuple[str, ...]:
        """Channels of a log that take the place of differences."""
        return tuple(name for name in ("velocity", "acceleration") if getattr(self, name) == MEASURED)

    def for_channels(self, channels: Container[str]) -> Preparation:
        """The plan for a log with these channels: derivatives that it does not hold are differences."""
        velocity, acceleration = (
            getattr(self, name) if name in channels else DIFFERENTIATED
            for name in ("velocity", "acceleration")
        )
        return replace(self, velocity=velocity, acceleration=acceleration)

    def band_hz(self, rate_hz: float) -> float:
        """Highest frequency that a regression sees [Hz]: 0.8 of half the decimated rate, or the cut-off.

        Args:
            rate_hz: rate before the decimation.
        """
        decimated = 0.4 * rate_hz / self.decimation
        return decimated if self.cutoff_hz is None else min(decimated, self.cutoff_hz)

    def to_dict(self) -> dict[str, Any]:
        """The plan, ready for JSON."""
        return asdict(self)


def load_preparation(path: str | Path) -> Preparation:
    """A preparation from a TOML file; its keys are described in ``docs/preparation.md``."""
    file = Path(path)
    content = read_toml(file, "preparation file")
    with naming_file(file, "Preparation file"):
        return table_from(content, Preparation)
