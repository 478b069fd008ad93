"""Options of ``dynid simulate``: sensors, disturbances, integration."""

from __future__ import annotations

import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from dynid.core.errors import DynidError
from dynid.simulation.accuracy import FRICTIONS
from dynid.simulation.controller_file import controller_names
from dynid.simulation.reference_file import reference_names

ControllerOption = Annotated[
    str, typer.Option("--controller", help=f"TOML file, or one of {', '.join(controller_names())}.")
]
ReferenceOption = Annotated[
    str, typer.Option("--reference", help=f"TOML file, log, or one of {', '.join(reference_names())}.")
]
MapOption = Annotated[
    Path | None, typer.Option("--map", help="Mapping of the columns of a log given as reference (TOML).")
]
ParametersOption = Annotated[
    Path | None,
    typer.Option("--parameters", help="Result folder, TOML or JSON; the robot's own values when absent."),
]
DurationOption = Annotated[
    float | None, typer.Option("--duration", help="Seconds to simulate; the whole reference when absent.")
]
SeedOption = Annotated[int | None, typer.Option("--seed", min=0, help="Seed of all noise.")]
CountOption = Annotated[
    int, typer.Option("--count", min=1, max=10_000, help="Simulations, with seeds from --seed on.")
]
PositionNoiseOption = Annotated[
    str, typer.Option("--position-noise", help="Encoder noise [rad or m], one or one per axis.")
]
ResolutionOption = Annotated[
    str, typer.Option("--resolution", help="Encoder step [rad or m], one or one per axis.")
]
SideOption = Annotated[str, typer.Option("--side", help="Where the encoder sits: joint or motor.")]
TorqueNoiseOption = Annotated[
    str, typer.Option("--torque-noise", help="Noise of the logged torque [N m or N].")
]
TorqueShareOption = Annotated[
    str, typer.Option("--torque-noise-relative", help="The same as a share of the rms torque, such as 0.05.")
]
TorqueStepOption = Annotated[
    str, typer.Option("--torque-resolution", help="Step of the logged torque [N m or N].")
]
TorqueDelayOption = Annotated[
    int, typer.Option("--torque-delay", min=0, help="Samples by which the logged torque lags.")
]
DisturbanceOption = Annotated[
    str, typer.Option("--disturbance", help="Random torque inside the loop [N m or N].")
]
DisturbanceShareOption = Annotated[
    str, typer.Option("--disturbance-relative", help="The same as a share of the torque along the reference.")
]
RippleOption = Annotated[str, typer.Option("--ripple", help="Torque ripple inside the loop [N m or N].")]
RippleOrderOption = Annotated[
    str, typer.Option("--ripple-order", help="Periods of the ripple per turn or metre.")
]
FrictionOption = Annotated[str, typer.Option("--friction", help=f"{' or '.join(FRICTIONS)}.")]
WidthOption = Annotated[
    float, typer.Option("--width", help="Speed below which the smooth sign bends [rad/s or m/s].")
]
ToleranceOption = Annotated[
    float, typer.Option("--tolerance", help="Accepted integration error of positions [rad or m].")
]
SubstepsOption = Annotated[
    int | None, typer.Option("--substeps", help="Integration steps per sample; chosen when absent.")
]
RateOption = Annotated[
    float | None, typer.Option("--rate-hz", help="Rate of the log; that of the controller when absent.")
]
OutOption = Annotated[Path | None, typer.Option("--out", help="Log to write: .csv, .npz or .parquet.")]


def per_joint(given: Mapping[str, str], axes: int) -> dict[str, tuple[float, ...]]:
    """Options that hold one number, or one per axis separated by commas.

    Args:
        given: texts by option, such as "--ripple".
        axes: of the robot.
    """
    return {option: _numbers(option, text, axes) for option, text in given.items()}


def _numbers(option: str, text: str, axes: int) -> tuple[float, ...]:
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = ()
    if len(values) == 1:
        values *= axes
    if len(values) != axes or not all(0 <= value < math.inf for value in values):
        many = f", or {axes} separated by commas" if axes > 1 else ""
        raise DynidError(f"{option} is {text!r}; give one number of at least 0{many}.")
    return values
