"""How a raw log becomes a prepared motion: a plan of named steps, as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from dynid.core.errors import DynidError, unknown_name
from dynid.preparation.derivative import DIFFERENCE_POINTS

CONVENTIONS = ("scipy", "matlab")
STAMPS = ("auto", "even", "measured")


@dataclass(frozen=True)
class Preparation:
    """A plan of preparation (P0 §II, P1 §2.2.2, P3 §2.3); steps run in the order of the fields.

    Args:
        trim_start_s: seconds dropped at the start.
        trim_end_s: seconds dropped at the end.
        median_window: odd number of samples of the outlier filter; 0 leaves it out.
        median_threshold: how many robust deviations from the running median make an outlier.
        stamps: "even" takes the stamps for evenly spaced, "measured" interpolates to a constant rate, "auto"
            interpolates where a step differs by more than 2 % from the others.
        resample_hz: rate to interpolate to; the log's own rate when None.
        cutoff_hz: zero-phase Butterworth cut-off of the positions; None leaves it out.
        order: order of the Butterworth filter (applied forward and backward).
        difference_points: samples that a central difference reaches over: 3 (the papers'), 5, 7 or 9.
        torque_cutoff_hz: zero-phase cut-off of the torques; None leaves it to the parallel decimation.
        rloess_acceleration: span (share of the samples) of the RLOESS smoother of accelerations; 0 none.
        rloess_torque: the same for torques.
        drop_samples: samples dropped at both ends after differentiation.
        drop_end: samples dropped at the end where it differs from ``drop_samples``.
        decimation: one sample kept of so many, after the same low-pass on torques and every column.
        speed_thresholds: per coordinate, rows below this speed are left out of the regression; () none.
        convention: "scipy", or "matlab" for filtfilt and decimate exactly as MATLAB does them.
    """

    trim_start_s: float = 0.0
    trim_end_s: float = 0.0
    median_window: int = 0
    median_threshold: float = 6.0
    stamps: str = "auto"
    resample_hz: float | None = None
    cutoff_hz: float | None = None
    order: int = 4
    difference_points: int = 3
    torque_cutoff_hz: float | None = None
    rloess_acceleration: float = 0.0
    rloess_torque: float = 0.0
    drop_samples: int = 0
    drop_end: int | None = None
    decimation: int = 1
    speed_thresholds: tuple[float, ...] = ()
    convention: str = "scipy"

    def __post_init__(self) -> None:
        """Refuse plans that no log can follow."""
        if self.convention not in CONVENTIONS:
            raise unknown_name("filter convention", self.convention, CONVENTIONS)
        if self.stamps not in STAMPS:
            raise unknown_name("treatment of stamps", self.stamps, STAMPS)
        rules = (
            ("median_window", self.median_window == 0 or _is_odd(self.median_window), "0 or an odd number"),
            ("median_threshold", self.median_threshold > 0, "positive"),
            ("resample_hz", self.resample_hz is None or self.resample_hz > 0, "positive or absent"),
            ("decimation", self.decimation >= 1, "at least 1"),
            ("order", 1 <= self.order <= 12, "1 to 12"),
            ("difference_points", self.difference_points in DIFFERENCE_POINTS, "3, 5, 7 or 9"),
            ("cutoff_hz", self.cutoff_hz is None or self.cutoff_hz > 0, "positive or absent"),
            (
                "torque_cutoff_hz",
                self.torque_cutoff_hz is None or self.torque_cutoff_hz > 0,
                "positive or absent",
            ),
            ("trim_start_s", self.trim_start_s >= 0, "not negative"),
            ("trim_end_s", self.trim_end_s >= 0, "not negative"),
            ("drop_samples", self.drop_samples >= 0, "not negative"),
            ("drop_end", self.drop_end is None or self.drop_end >= 0, "not negative or absent"),
            ("rloess_acceleration", 0 <= self.rloess_acceleration <= 1, "a share from 0 to 1"),
            ("rloess_torque", 0 <= self.rloess_torque <= 1, "a share from 0 to 1"),
            ("speed_thresholds", all(t >= 0 for t in self.speed_thresholds), "not negative"),
        )
        for name, good, allowed in rules:
            if not good:
                raise DynidError(f"{name} of the preparation is {getattr(self, name)}; it must be {allowed}.")

    @property
    def ends(self) -> tuple[int, int]:
        """Samples dropped at the start and at the end after differentiation."""
        return self.drop_samples, self.drop_samples if self.drop_end is None else self.drop_end

    def to_dict(self) -> dict[str, Any]:
        """The plan, ready for JSON."""
        return asdict(self)


def _is_odd(count: int) -> bool:
    return count > 0 and count % 2 == 1
