"""The estimator of a command line: its method, and the options that some methods alone take."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dynid import estimators
from dynid.base.find import base_of
from dynid.cli.command import OptionGroup, option
from dynid.core.errors import DynidError, unknown_name
from dynid.core.lazy import later
from dynid.estimators.linear.catalogue import TERM_NAMES
from dynid.estimators.strategy import Strategy
from dynid.estimators.uncertainty import DEFAULT_KIND, KINDS
from dynid.model.robot import Robot

METHODS = {
    "ols": "OLS",
    "wls": "WLS",
    "irls": "IRLS",
    "tls": "TLS",
    "ridge": "Ridge",
    "separable": "Separable",
    "rls": "RLS",
}
"""Methods on measured motions, by the names of their strategies, which are loaded when asked for."""
LOOP_METHODS = {"didim": "DIDIM", "iv": "IV", "oe": "OutputError", "riv": "RIV"}
"""Methods that know the closed loop, likewise."""
_SIMULATING = tuple(name for name in LOOP_METHODS if name != "riv")
"""Of these, the ones that simulate: riv takes the reference as it is."""
START_NAMES = ("regular", "prior", "least-squares", "didim")
"""Starts of those methods that have a name; any other word is a file with values."""
RULES = {"sigma": "every relative deviation below 20 %", "residual": "σ̂ up by 4 %", "f-test": "F-test"}

_parameters_from = later("dynid.results.load", "parameters_from")


@dataclass(frozen=True)
class MethodOptions(OptionGroup, title="Estimator"):
    """Method, choice of parameters, standard deviations."""

    method: str = option(
        "wls",
        "NAME",
        f"{', '.join(METHODS)}; with the control law {', '.join(LOOP_METHODS)}.",
        choices=(*METHODS, *LOOP_METHODS),
    )
    essential: bool = option(False, "", "Keep only the parameters that the data really show.")
    rule: str | None = option(
        None,
        "NAME",
        "Rule of --essential: sigma (every relative deviation below 20 %), residual or f-test.",
        choices=RULES,
        shown="sigma",
    )
    add: list[str] | None = option(
        None,
        "NAME[@JOINTS],…",
        "Terms beside the robot's own, with ols and wls: auto (those that predict parts of the logs better "
        f"that were not used), none, or {', '.join(TERM_NAMES)}, on every joint or on some "
        "(load@2,3,stribeck@1); may be repeated.",
        choices=("auto", "none", *TERM_NAMES),
        shown="none",
    )
    consistent: str = option(
        "auto",
        "WHEN",
        "Values of a robot that can exist: auto (where it predicts parts of the logs that were not used as "
        "well as least squares), always or never.",
        choices=("auto", "always", "never"),
    )
    known: Path | None = option(
        None,
        "FILE",
        "TOML file of what is known of the robot beside its logs: bounds of masses, centres of mass and "
        "parameters, symmetries, values with their doubt; then consistent parameters are always taken.",
    )
    uncertainty: str = option(
        DEFAULT_KIND,
        "NAME",
        "Standard deviations: honest (chosen from the residuals: classical where errors are white, else from "
        "long blocks of time), classical, hac or bootstrap.",
        choices=KINDS,
    )
    digits: bool = option(
        False, "", "Also find the significant digits of the values by stochastic arithmetic, as a finding."
    )


@dataclass(frozen=True)
class SettingOptions(OptionGroup, title="Options of one method alone"):
    """What irls, ridge and rls take; None is the default of each."""

    loss: str | None = option(
        None,
        "NAME",
        "irls: huber (rows far off count less) or bisquare (they count nothing).",
        choices=("huber", "bisquare"),
        shown="huber",
    )
    tuning: float | None = option(
        None,
        "K",
        "irls: from how many standard deviations on a row counts less (huber) or nothing (bisquare).",
        shown="1.345 or 4.685",
    )
    prior: Path | None = option(
        None,
        "FILE",
        "ridge, rls: what was known before: a result folder of the same robot, or TOML or JSON with values "
        "by standard or by base name (absent ones are zero).",
        shown="the robot's own",
    )
    prior_sigma: float | None = option(
        None, "S", "ridge: standard deviation of the prior as a share of its values.", shown="0.5"
    )
    prior_variance: float | None = option(
        None,
        "V",
        "rls: variance of every value at the start, in its squared SI unit (100 in P4).",
        shown="nothing is known",
    )
    strength: str | None = option(
        None,
        "L",
        "ridge: weight of the prior, a number from 0 (none) on, or auto: the one that makes the torques most "
        "likely.",
        shown="1",
    )


@dataclass(frozen=True)
class LoopOptions(OptionGroup, title="Closed loop (didim, iv, oe)"):
    """Law, reference and simulation of methods that simulate the loop; None is the default of each."""

    controller: str | None = option(
        None, "C", "Control law the robot ran under: a shipped name or a TOML file; needed."
    )
    reference: list[str] | None = option(
        None,
        "R",
        "What it followed: one for all logs, or one per log (those of --validate last).",
        shown="the logs' own",
    )
    friction: str | None = option(
        None,
        "NAME",
        "Friction in the simulation: smooth, or stick (not for oe).",
        choices=("smooth", "stick"),
        shown="smooth",
    )
    width: float | None = option(None, "V", "Speed below which the smooth sign bends [rad/s or m/s].")
    instruments: str | None = option(
        None,
        "NAME",
        "iv: model, reference (nothing is simulated; --controller still gives the sample time) or both.",
        choices=("model", "reference", "both"),
        shown="model",
    )
    open_loop: bool = option(
        False,
        "",
        "oe: simulate from the measured torques, without the law; it starts at the first measured position "
        "with the speed of the reference.",
    )
    start: str | None = option(
        None,
        "NAME|FILE",
        "First model: regular or prior (the robot's own values); also least-squares with iv, didim with oe; "
        "or values as --prior takes them: a result folder, TOML or JSON.",
        choices=START_NAMES,
        shown="regular, least-squares, didim",
    )
    max_iterations: int | None = option(None, "N", "Passes at most.", shown="15, 10, 20")
    value_tolerance: float | None = option(
        None,
        "SHARE",
        "It stops when no parameter moves by more than this share of itself (or than σ allows).",
        shown="0.005, 0.005, 0.0001",
    )
    residual_tolerance: float | None = option(
        None, "SHARE", "didim: … and no joint's residual by more than this share of itself.", shown="0.01"
    )
    transient_s: float | None = option(
        None,
        "S",
        "didim, oe: time left out at the beginning, because the start is not known [s].",
        shown="5/ω_n of the slowest axis",
    )
    follow_inertia: str | None = option(
        None,
        "NAME",
        "didim, iv: when simulated gains follow the simulated inertia: start, always or never.",
        choices=("start", "always", "never"),
        shown="start where the law knows its inertia, else never",
    )
    tolerance: float | None = option(
        None, "Q", "Error of simulated positions that is accepted [rad or m].", shown="5e-06"
    )

    @property
    def accuracy(self) -> dict[str, Any]:
        """Options that say how to simulate, by field of ``Accuracy``."""
        if self.friction == "stick" and self.width is not None:
            raise DynidError(
                f"--width is {self.width:g}, but only smooth friction has a width; leave out --width or "
                "--friction stick."
            )
        return {name: self.given[name] for name in ("friction", "width", "tolerance") if name in self.given}


def _as_given(value: Any, robot: Robot) -> Any:
    return value


def _prior(path: Path, robot: Robot) -> dict[str, float]:
    """Base parameters by name, from a file or a result folder."""
    base = base_of(robot)
    return dict(zip(base.names, base.regroup(_parameters_from(path, robot)).tolist(), strict=True))


def _start(text: str, robot: Robot) -> str | dict[str, float]:
    """A start by name, or values from a file or a result folder."""
    if text in START_NAMES or not Path(text).exists():
        return text.replace("-", " ")
    return _prior(Path(text), robot)


def _number_or_word(text: str, robot: Robot) -> float | str:
    """A number where it is one; the strategy knows which words it takes."""
    try:
        return float(text)
    except ValueError:
        return text


@dataclass(frozen=True)
class Setting:
    """What an option sets.

    Args:
        methods: those that take it.
        field: of their strategies.
        made: the field's value from the option's and the robot.
    """

    methods: tuple[str, ...]
    field: str
    made: Callable[[Any, Robot], Any] = _as_given


SETTINGS = {
    "loss": Setting(("irls",), "loss"),
    "tuning": Setting(("irls",), "tuning"),
    "prior": Setting(("ridge", "rls"), "prior", _prior),
    "prior_variance": Setting(("rls",), "prior_variance"),
    "prior_sigma": Setting(("ridge",), "relative_sigma"),
    "strength": Setting(("ridge",), "strength", _number_or_word),
    "instruments": Setting(("iv",), "instruments"),
    "open_loop": Setting(("oe",), "open_loop"),
    "start": Setting(_SIMULATING, "start", _start),
    "max_iterations": Setting(_SIMULATING, "max_iterations"),
    "value_tolerance": Setting(_SIMULATING, "value_tolerance"),
    "residual_tolerance": Setting(("didim",), "residual_tolerance"),
    "transient_s": Setting(("didim", "oe"), "transient_s"),
    "follow_inertia": Setting(("didim", "iv"), "follow_inertia"),
}
"""Options of ``SettingOptions`` and ``LoopOptions`` that are fields of a strategy."""


def chosen_strategy(
    robot: Robot, estimator: MethodOptions, settings: SettingOptions, loop: LoopOptions
) -> Strategy:
    """The estimator of a command line.

    Args:
        robot: the robot, whose parameters a prior names.
        estimator: method and what belongs to every method.
        settings: options of single methods.
        loop: options of methods that simulate the closed loop.

    Raises:
        DynidError: for an option of another method.
    """
    method = estimator.method
    if method not in METHODS and method not in LOOP_METHODS:
        raise unknown_name("method", method, (*METHODS, *LOOP_METHODS))
    if estimator.rule is not None and estimator.rule not in RULES:
        raise unknown_name("rule", estimator.rule, RULES)
    if estimator.rule is not None and not estimator.essential:
        raise DynidError("--rule has no meaning without --essential; add --essential.")
    if method in METHODS:
        _refuse_loop_options(method, loop)
    given = {name: value for name, value in (settings.given | loop.given).items() if name in SETTINGS}
    for name in given:
        if method not in SETTINGS[name].methods:
            owners = " or ".join(SETTINGS[name].methods)
            raise DynidError(f"{_option_text(name)} is for --method {owners}, and --method is {method}.")
    own = {SETTINGS[name].field: SETTINGS[name].made(value, robot) for name, value in given.items()}
    kind = getattr(estimators, (METHODS | LOOP_METHODS)[method])
    strategy: Strategy = kind(uncertainty=estimator.uncertainty, **own)
    if estimator.essential:
        return estimators.Essential(strategy, rule=estimator.rule or "sigma")
    return strategy


def _refuse_loop_options(method: str, loop: LoopOptions) -> None:
    """A method that does not simulate takes neither law nor reference nor options of a simulation."""
    for name in loop.given:
        raise DynidError(
            f"{_option_text(name)} is for methods that simulate the closed loop ({', '.join(LOOP_METHODS)}), "
            f"and --method is {method}."
        )


def _option_text(name: str) -> str:
    return f"--{name.replace('_', '-')}"
