"""Estimators that work on measured motions, and the options that each of them alone takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any

import typer

from dynid import estimators
from dynid.base.find import base_of
from dynid.core.errors import DynidError, unknown_name
from dynid.core.lazy import later
from dynid.model.robot import Robot

METHODS = {
    "ols": "OLS",
    "wls": "WLS",
    "irls": "IRLS",
    "tls": "TLS",
    "ridge": "Ridge",
    "separable": "Separable",
}
"""Estimators by name in ``dynid.estimators.identification``; loaded only when one of them is asked for."""
NONLINEAR = {"stribeck": "STRIBECK", "load": "LOAD"}
"""Terms of friction by name in ``dynid.estimators.identification``."""

LossOption = Annotated[
    str | None, typer.Option("--loss", help="Loss of irls: huber or bisquare; huber when absent.")
]
TuningOption = Annotated[
    float | None,
    typer.Option("--tuning", help="Residual of irls, in σ, beyond which a row counts less or nothing."),
]
PriorOption = Annotated[
    Path | None,
    typer.Option("--prior", help="Prior of ridge: a TOML or JSON file, or a result; else the robot's own."),
]
PriorSigmaOption = Annotated[
    float | None,
    typer.Option("--prior-sigma", help="Deviation of ridge's prior as a share of its values; 0.5 if absent."),
]
StrengthOption = Annotated[
    str | None,
    typer.Option("--strength", help="Weight of ridge's prior: a number from 0, or auto; 1 if absent."),
]
NonlinearOption = Annotated[
    list[str] | None,
    typer.Option(
        "--nonlinear",
        metavar="NAME[:JOINTS],…",
        help=f"Friction of separable: {' or '.join(NONLINEAR)}; on some joints, stribeck:1+2.",
    ),
]

_parameters_from = later("dynid.results.load", "parameters_from")


def _as_given(value: Any, robot: Robot) -> Any:
    return value


def _prior(path: Path, robot: Robot) -> dict[str, float]:
    """Base parameters by name, from a file or a result folder."""
    base = base_of(robot)
    return dict(zip(base.names, base.regroup(_parameters_from(path, robot)).tolist(), strict=True))


def _number_or_word(text: str, robot: Robot) -> float | str:
    """A number where it is one; the strategy knows which words it takes."""
    try:
        return float(text)
    except ValueError:
        return text


def _terms(given: Sequence[str], robot: Robot) -> tuple[Any, ...]:
    """Terms by name, on all joints (``stribeck``) or on some (``stribeck:1+2``); each term once."""
    labels = [robot.joints[c].label for c in robot.coordinates]
    found: dict[str, set[int]] = {}
    for word in (word.strip() for part in given for word in part.split(",")):
        name, colon, joints = word.partition(":")
        if name not in NONLINEAR:
            raise unknown_name("nonlinear friction", name, NONLINEAR)
        for label in joints.split("+") if colon else labels:
            if label not in labels:
                raise unknown_name(f"joint of the nonlinear friction {name!r}", label, labels)
            found.setdefault(name, set()).add(labels.index(label))
    return tuple(
        replace(
            getattr(estimators, NONLINEAR[name]), joints=None if len(on) == len(labels) else tuple(sorted(on))
        )
        for name, on in found.items()
    )


@dataclass(frozen=True)
class Setting:
    """What an option sets.

    Args:
        method: the one method that takes it.
        field: of that method's strategy.
        made: the field's value from the option's and the robot.
    """

    method: str
    field: str
    made: Callable[[Any, Robot], Any] = _as_given


SETTINGS = {
    "loss": Setting("irls", "loss"),
    "tuning": Setting("irls", "tuning"),
    "prior": Setting("ridge", "prior", _prior),
    "prior_sigma": Setting("ridge", "relative_sigma"),
    "strength": Setting("ridge", "strength", _number_or_word),
    "nonlinear": Setting("separable", "terms", _terms),
}
"""Options by the names of ``EstimatorOptions``."""


@dataclass(frozen=True)
class EstimatorOptions:
    """What a command line says about the estimator; None or nothing is the default of each.

    Args:
        loss: of IRLS.
        tuning: of IRLS, in σ̂ of a joint.
        prior: file or result folder with the prior of ridge.
        prior_sigma: its standard deviation as a share of its values.
        strength: its weight, a number or "auto".
        nonlinear: friction of separable least squares, names of ``NONLINEAR`` alone or joined by commas.
    """

    loss: str | None = None
    tuning: float | None = None
    prior: Path | None = None
    prior_sigma: float | None = None
    strength: str | None = None
    nonlinear: tuple[str, ...] = ()

    @property
    def said(self) -> dict[str, Any]:
        """The options that were given, by field."""
        given = {field.name: getattr(self, field.name) for field in fields(self)}
        return {name: value for name, value in given.items() if value is not None and value != ()}

    def of_strategy(self, method: str, robot: Robot) -> dict[str, Any]:
        """The options by field of the method's strategy.

        Args:
            method: any method.
            robot: whose parameters a prior names.

        Raises:
            DynidError: when another method was meant.
        """
        for name, value in self.said.items():
            if method != SETTINGS[name].method:
                raise wrong_method(name, value, [SETTINGS[name].method], method)
        return {SETTINGS[name].field: SETTINGS[name].made(value, robot) for name, value in self.said.items()}


def wrong_method(name: str, value: object, owners: Sequence[str], method: str) -> DynidError:
    """The sentence on an option that the chosen method does not take.

    Args:
        name: field of the option.
        value: what was given.
        owners: methods that take it.
        method: the one chosen.
    """
    return DynidError(f"{spelt(name)} is for --method {' or '.join(owners)}, and --method is {method}.")


def spelt(name: str) -> str:
    """An option as it is typed."""
    return f"--{name.replace('_', '-')}"
