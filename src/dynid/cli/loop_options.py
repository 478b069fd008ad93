"""Options of methods that simulate the closed loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Any

import typer

from dynid import estimators
from dynid.cli.estimator_options import spelt, wrong_method
from dynid.core.errors import DynidError

LOOP_METHODS = {"didim": "DIDIM", "iv": "IV", "oe": "OutputError"}
"""Methods by the names of their strategies; what they need is loaded only when one of them is asked for."""
ControllerOption = Annotated[
    str | None,
    typer.Option("--controller", help="Control law of didim, iv and oe: a shipped name or a TOML file."),
]
ReferenceOption = Annotated[
    list[str] | None,
    typer.Option(
        "--reference",
        help="Reference of didim, iv, oe: one per log (--validate's last); the logs' own when absent.",
    ),
]
FrictionOption = Annotated[
    str | None, typer.Option("--friction", help="Friction of didim, iv, oe's simulation: smooth or stick.")
]
WidthOption = Annotated[
    float | None, typer.Option("--width", help="Speed below which the smooth sign bends [rad/s or m/s].")
]
InstrumentsOption = Annotated[
    str | None, typer.Option("--instruments", help="Instruments of iv: model, reference or both.")
]
OpenLoopOption = Annotated[
    bool, typer.Option("--open-loop", help="Let oe simulate from the measured torques, without the law.")
]
StartOption = Annotated[
    str | None,
    typer.Option("--start", help="First model: regular or prior; also least-squares with iv, didim with oe."),
]
IterationsOption = Annotated[
    int | None, typer.Option("--max-iterations", help="Passes of didim, iv or oe at most.")
]


@dataclass(frozen=True)
class LoopOptions:
    """How a command line wants the closed loop simulated and its method run; None is the default of each.

    Args:
        friction: "smooth" or "stick".
        width: of the smooth sign [rad/s or m/s].
        instruments: of IV.
        open_loop: of output error.
        start: first model.
        max_iterations: passes at most.
    """

    friction: str | None = None
    width: float | None = None
    instruments: str | None = None
    open_loop: bool = False
    start: str | None = None
    max_iterations: int | None = None

    @property
    def said(self) -> dict[str, Any]:
        """The options that were given, by field."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in given.items() if value is not None and value is not False}

    @property
    def accuracy(self) -> dict[str, Any]:
        """Those that say how to simulate, by field of ``Accuracy``."""
        if self.friction == "stick" and self.width is not None:
            raise DynidError(
                f"--width is {self.width:g}, but only smooth friction has a width; leave out --width or "
                "--friction stick."
            )
        return {name: value for name, value in self.said.items() if name in _SIMULATION}

    def of_strategy(self, method: str) -> dict[str, Any]:
        """Those of a closed-loop method, by field of its strategy.

        Args:
            method: one of ``LOOP_METHODS``.

        Raises:
            DynidError: when another method was meant.
        """
        given = {name: value for name, value in self.said.items() if name not in _SIMULATION}
        for name, value in given.items():
            owners = [other for other in LOOP_METHODS if name in _fields_of(other)]
            if method not in owners:
                raise wrong_method(name, value, owners, method)
        if self.start is not None:
            given["start"] = self.start.replace("-", " ")
        return given


_SIMULATION = ("friction", "width")


def _fields_of(method: str) -> set[str]:
    return {field.name for field in fields(getattr(estimators, LOOP_METHODS[method]))}


def refuse_loop_options(
    method: str, controller: str | None, references: Sequence[str], options: LoopOptions
) -> None:
    """A method that does not simulate takes neither law nor reference nor options of a simulation."""
    for name, given in {"controller": controller, "reference": references, **options.said}.items():
        if given or name in options.said:
            raise DynidError(
                f"{spelt(name)} is for methods that simulate the closed loop ({', '.join(LOOP_METHODS)}), "
                f"and --method is {method}."
            )


@dataclass(frozen=True)
class LoopFiles:
    """What a command line names for a closed-loop fit.

    Args:
        logs: to fit.
        mapping: what their columns are.
        kept: logs for validation.
        controller: name or file.
        references: names or files.
        options: of simulation and method.
    """

    logs: Sequence[Path]
    mapping: Path | None
    kept: Sequence[Path]
    controller: str | None
    references: Sequence[str]
    options: LoopOptions = LoopOptions()
