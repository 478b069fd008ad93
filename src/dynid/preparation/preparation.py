"""How a raw log becomes a prepared motion: a plan of named steps, as data."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

from dynid.core.files import naming_file, read_toml
from dynid.core.keys import Key
from dynid.core.tables import check_fields, table_from
from dynid.preparation.derivative import DIFFERENCE_POINTS

CONVENTIONS = ("scipy", "matlab")
STAMPS = ("auto", "even", "measured")


@dataclass(frozen=True)
class Preparation:
    """A plan of preparation (P0 §II, P1 §2.2.2, P3 §2.3); steps run in the order of the fields."""

    trim_start_s: Annotated[float, Key("time dropped at the start", unit="s", least=0)] = 0.0
    trim_end_s: Annotated[float, Key("time dropped at the end", unit="s", least=0)] = 0.0
    median_window: Annotated[
        int,
        Key(
            "samples of the outlier filter; 0 leaves it out",
            allowed="0 or an odd number",
            rule=lambda count: count == 0 or (count > 0 and count % 2 == 1),
        ),
    ] = 0
    median_threshold: Annotated[
        float, Key("robust deviations from the running median that make an outlier", above=0)
    ] = 6.0
    stamps: Annotated[
        str,
        Key(
            "even takes the stamps for evenly spaced, measured interpolates to a constant rate, auto "
            "interpolates where a step differs by more than 2 % from the others",
            choices=STAMPS,
        ),
    ] = "auto"
    resample_hz: Annotated[
        float | None, Key("rate to interpolate to", unit="Hz", above=0, default="the log's own")
    ] = None
    cutoff_hz: Annotated[
        float | None, Key("cut-off of the zero-phase Butterworth filter of the positions", unit="Hz", above=0)
    ] = None
    order: Annotated[int, Key("order of that filter, which runs forward and backward", least=1, most=12)] = 4
    difference_points: Annotated[
        int,
        Key("samples that a central difference reaches over; 3 in the papers", choices=DIFFERENCE_POINTS),
    ] = 3
    torque_cutoff_hz: Annotated[
        float | None,
        Key("zero-phase cut-off of the torques", unit="Hz", above=0, default="none: left to the decimation"),
    ] = None
    rloess_acceleration: Annotated[
        float, Key("share of the samples that the RLOESS smoother of accelerations spans", least=0, most=1)
    ] = 0.0
    rloess_torque: Annotated[float, Key("the same for torques", least=0, most=1)] = 0.0
    drop_samples: Annotated[int, Key("samples dropped at both ends after differentiation", least=0)] = 0
    drop_end: Annotated[
        int | None, Key("samples dropped at the end", least=0, default="as many as at the start")
    ] = None
    decimation: Annotated[
        int,
        Key("one sample is kept of so many, after the same low-pass on every column", least=1),
    ] = 1
    speed_thresholds: Annotated[
        tuple[float, ...],
        Key("speeds below which rows are left out, one per coordinate", unit="rad/s or m/s", least=0),
    ] = ()
    convention: Annotated[
        str,
        Key("filters as SciPy has them, or exactly as MATLAB does", choices=CONVENTIONS),
    ] = "scipy"

    def __post_init__(self) -> None:
        """Refuse plans that no log can follow."""
        check_fields(self, "Preparation")

    @property
    def ends(self) -> tuple[int, int]:
        """Samples dropped at the start and at the end after differentiation."""
        return self.drop_samples, self.drop_samples if self.drop_end is None else self.drop_end

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
