"""Options that choose preparation and estimator, shared by commands."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from dynid import estimators
from dynid.cli.estimator_options import METHODS as METHODS, EstimatorOptions
from dynid.cli.loop_options import LOOP_METHODS, LoopOptions
from dynid.core.errors import DynidError, unknown_name
from dynid.core.keys import option_help
from dynid.estimators.strategy import Strategy
from dynid.model.robot import Robot
from dynid.preparation.preparation import Preparation, load_preparation

RULES = {"sigma": "every relative deviation below 20 %", "residual": "σ̂ up by 4 %", "f-test": "F-test"}

MethodOption = Annotated[
    str, typer.Option("--method", help=f"Estimator: {', '.join((*METHODS, *LOOP_METHODS))}.")
]
EssentialOption = Annotated[
    bool, typer.Option("--essential", help="Keep only the parameters that the data really show.")
]
RuleOption = Annotated[
    str | None, typer.Option("--rule", help=f"Rule of --essential: {', '.join(RULES)}; sigma when absent.")
]
ValidateOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--validate", metavar="LOG…", help="Logs kept for validation: all words up to the next option."
    ),
]
SplitOption = Annotated[
    float | None, typer.Option("--split", help="Fit this share of each log, validate on the rest.")
]
RepairOption = Annotated[bool, typer.Option("--repair", help="Repair repairable defects of the logs.")]
OutOption = Annotated[Path, typer.Option("--out", help="Result folder.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace an existing result folder.")]
UncertaintyOption = Annotated[
    str, typer.Option("--uncertainty", help="Standard deviations: classical, hac or bootstrap.")
]
PlanOption = Annotated[
    Path | None, typer.Option("--plan", help="Preparation as TOML; the options below override its keys.")
]
CutoffOption = Annotated[
    float | None, typer.Option("--cutoff-hz", help=option_help(Preparation, "cutoff_hz"))
]
DecimationOption = Annotated[
    int | None, typer.Option("--decimation", help=option_help(Preparation, "decimation"))
]
MaskOption = Annotated[
    str | None, typer.Option("--mask", help="Speeds below which rows are left out: one, or one per joint.")
]
ConventionOption = Annotated[
    str | None, typer.Option("--convention", help=option_help(Preparation, "convention"))
]


def chosen_strategy(
    robot: Robot,
    method: str,
    essential: bool,
    rule: str | None,
    uncertainty: str,
    linear: EstimatorOptions,
    loop: LoopOptions,
) -> Strategy:
    """The estimator of a command line.

    Args:
        robot: the robot, whose parameters a prior names.
        method: one of ``METHODS`` or ``LOOP_METHODS``.
        essential: whether only essential parameters are kept.
        rule: of that; sigma when None.
        uncertainty: how standard deviations are found.
        linear: options of ``METHODS``.
        loop: options of ``LOOP_METHODS``.
    """
    if method not in METHODS and method not in LOOP_METHODS:
        raise unknown_name("method", method, (*METHODS, *LOOP_METHODS))
    if rule is not None and rule not in RULES:
        raise unknown_name("rule", rule, RULES)
    if rule is not None and not essential:
        raise DynidError("--rule has no meaning without --essential; add --essential.")
    kind = getattr(estimators, (METHODS | LOOP_METHODS)[method])
    own = linear.of_strategy(method, robot)
    own |= loop.of_strategy(method) if method in LOOP_METHODS else {}
    strategy: Strategy = kind(uncertainty=uncertainty, **own)
    return estimators.Essential(strategy, rule=rule or "sigma") if essential else strategy


def chosen_plan(
    file: Path | None,
    cutoff_hz: float | None,
    decimation: int | None,
    mask: str | None,
    convention: str | None,
    axes: int,
) -> tuple[Preparation | None, dict[str, Any]]:
    """The preparation of a command line, or None with the keys that replace those of the suggested one."""
    given: dict[str, Any] = {
        "cutoff_hz": cutoff_hz,
        "decimation": decimation,
        "speed_thresholds": None if mask is None else _thresholds(mask, axes),
        "convention": convention,
    }
    said = {key: value for key, value in given.items() if value is not None}
    return (None, said) if file is None else (replace(load_preparation(file), **said), {})


def _thresholds(text: str, axes: int) -> tuple[float, ...]:
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        values = ()
    if len(values) == 1:
        values *= axes
    if len(values) != axes:
        raise DynidError(f"--mask is {text!r}; give one speed, or {axes} separated by commas.")
    return values
