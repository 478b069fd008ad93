"""Keys of controller files: those of every controller, and those of each kind of law."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated

from dynid.core.errors import DynidError
from dynid.core.keys import Key, OtherKey
from dynid.logs.log import SIDES
from dynid.simulation.controller import KINDS as VELOCITIES, MAXIMUM

ROBOT = "robot"
"""Word for inertias that follow from the robot's own parameters."""
PerAxis = tuple[float, ...]
ModelParameters = bool | str | Mapping[str, float]
"""Whether the robot's own parameters are meant, a file of parameters, or a table of them."""
_MODEL_WORDS = "true or false, a table of parameters, or the name of a file of them"


def period(rate_hz: float) -> float:
    """Time between samples [s]."""
    return 1.0 / rate_hz


def angular_frequency(hertz: float) -> float:
    """ω [rad/s]."""
    return 2 * math.pi * hertz


def _is_posture(given: str | PerAxis) -> bool:
    return given == MAXIMUM or not isinstance(given, str)


def _is_inertia(given: str | PerAxis) -> bool:
    return given == ROBOT or not isinstance(given, str)


@dataclass(frozen=True, kw_only=True)
class ControllerKeys:
    """Keys of every controller."""

    kind: Annotated[str, Key("the law, see below")]
    title: Annotated[str, Key("what it is, in words")] = ""
    source: Annotated[str, Key("where it comes from, in words")] = ""
    sample_time: Annotated[
        float | None,
        Key(
            "period or rate of the controller; exactly one of these two and continuous is given",
            unit="s", above=0, other=OtherKey("rate_hz", "Hz", period),
        ),
    ] = None  # fmt: skip
    continuous: Annotated[bool, Key("a law without samples: exact speeds, smooth friction")] = False
    velocity: Annotated[
        str | None,
        Key(
            "how a sampled controller gets speeds: exact (a tachometer), backward (difference of two "
            "samples), mean (over two periods), filtered (backward, through a first-order low-pass)",
            choices=VELOCITIES, default='`"backward"`',
        ),
    ] = None  # fmt: skip
    velocity_cutoff_hz: Annotated[float | None, Key("cut-off of filtered speeds", unit="Hz", above=0)] = None
    delay: Annotated[
        int, Key("whole samples between a measurement and the torque it causes", least=0, most=1000)
    ] = 0
    saturation: Annotated[
        PerAxis, Key("largest output, in units of the controller's output, see drive_gain", per_axis=True)
    ] = ()
    side: Annotated[
        str,
        Key(
            "motor when gains act on motor positions and give motor torques: the robot's drives make r² of a "
            "gain and |r| of a limit. Coupled motors are simulated as they are, τ = Rᵀ K R e; their "
            "saturation excludes feedforward, and their gains cannot follow the inertias",
            choices=SIDES,
        ),
    ] = "joint"
    drive_gain: Annotated[
        PerAxis,
        Key(
            "torque per unit of the controller's output, such as N/V: every gain that makes torque, and "
            "saturation, are multiplied by it",
            per_axis=True, allowed="a number other than 0, or a list with one per axis",
            rule=lambda gains: 0.0 not in gains,
        ),
    ] = (1.0,)  # fmt: skip
    feedforward: Annotated[
        ModelParameters,
        Key(
            "a model whose inverse dynamics along the reference are added to the torque; true takes the "
            "robot's own parameters",
            allowed=_MODEL_WORDS,
        ),
    ] = False
    posture: Annotated[
        str | PerAxis,
        Key(
            "where the controller's own inertia rule takes J = M(q)ⱼⱼ: over the range of the joints, or at q",
            per_axis=True, allowed=f'"{MAXIMUM}" or one position per axis',
            rule=_is_posture,
        ),
    ] = MAXIMUM  # fmt: skip

    def __post_init__(self) -> None:
        """Exactly one clock, and speeds that a continuous law does not estimate."""
        if self.continuous == (self.sample_time is not None):
            said = "two are given" if self.continuous else "none is given"
            raise DynidError(
                f"the clock is exactly one of sample_time, rate_hz and continuous = true; {said}."
            )
        if self.continuous and self.velocity not in (None, "exact"):
            raise DynidError(
                f"velocity is {self.velocity!r}, but a continuous law knows the speed; give sample_time or "
                "rate_hz, or leave velocity out."
            )
        if (self.velocity == "filtered") != (self.velocity_cutoff_hz is not None):
            given = "with" if self.velocity_cutoff_hz else "without"
            raise DynidError(
                f"velocity is {self.velocity or 'backward'!r} {given} velocity_cutoff_hz; a "
                "cut-off belongs to 'filtered' and to no other."
            )


@dataclass(frozen=True, kw_only=True)
class BandwidthKeys(ControllerKeys):
    """A PD law by its bandwidth: τ = k_p k_v e − k_v q̇, k_p = ω/2ζ, k_v = 2 ζ ω J (P0 eq 53 and 57)."""

    natural_frequency: Annotated[
        PerAxis,
        Key(
            "ω of the closed loop",
            unit="rad/s", above=0, per_axis=True,
            other=OtherKey("natural_frequency_hz", "Hz", angular_frequency),
        ),
    ]  # fmt: skip
    damping: Annotated[PerAxis, Key("ζ of the closed loop", above=0, per_axis=True)] = (1.0,)
    inertia: Annotated[
        str | PerAxis,
        Key(
            "J that the controller was tuned for; robot takes it from the robot's own parameters at the "
            "controller's posture",
            unit="kg m² or kg", per_axis=True, allowed=f'numbers, or "{ROBOT}"',
            rule=_is_inertia,
        ),
    ] = ROBOT  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class PKeys(ControllerKeys):
    """τ = k_p e."""

    kp: Annotated[PerAxis, Key("k_p", per_axis=True)]


@dataclass(frozen=True, kw_only=True)
class PDKeys(PKeys):
    """τ = k_p e + k_d (β q̇_r − q̇) + k_a q̈_r."""

    kd: Annotated[PerAxis, Key("k_d", per_axis=True)]
    reference_speed: Annotated[PerAxis, Key("β", per_axis=True)] = (1.0,)
    acceleration: Annotated[PerAxis, Key("k_a", per_axis=True)] = (0.0,)


@dataclass(frozen=True, kw_only=True)
class PIKeys(PKeys):
    """τ = k_p e + k_i ∫e."""

    ki: Annotated[PerAxis, Key("k_i", per_axis=True)]


@dataclass(frozen=True, kw_only=True)
class PIDKeys(PDKeys):
    """τ = k_p e + k_d (β q̇_r − q̇) + k_i ∫e + k_a q̈_r."""

    ki: Annotated[PerAxis, Key("k_i", per_axis=True)]


@dataclass(frozen=True, kw_only=True)
class CascadeKeys(ControllerKeys):
    """s = k_p e + β q̇_r − q̇, τ = k_v (s + k_i ∫s) + k_a q̈_r."""

    kp: Annotated[PerAxis, Key("k_p", unit="1/s", per_axis=True)]
    kv: Annotated[PerAxis, Key("k_v", per_axis=True)]
    ki: Annotated[PerAxis, Key("k_i", unit="1/s", per_axis=True)] = (0.0,)
    reference_speed: Annotated[PerAxis, Key("β", per_axis=True)] = (0.0,)
    acceleration: Annotated[PerAxis, Key("k_a", per_axis=True)] = (0.0,)


@dataclass(frozen=True, kw_only=True)
class ComputedTorqueKeys(ControllerKeys):
    """τ = M̂(q) (q̈_r + k_d (q̇_r − q̇) + k_p e) + N̂(q, q̇); with ω and ζ, k_p = ω² and k_d = 2 ζ ω."""

    kp: Annotated[PerAxis, Key("k_p; needs kd", unit="1/s²", per_axis=True)] = ()
    kd: Annotated[PerAxis, Key("k_d; needs kp", unit="1/s", per_axis=True)] = ()
    natural_frequency: Annotated[
        PerAxis,
        Key(
            "ω of the closed loop, instead of kp and kd",
            unit="rad/s", above=0, per_axis=True,
            other=OtherKey("natural_frequency_hz", "Hz", angular_frequency),
        ),
    ] = ()  # fmt: skip
    damping: Annotated[PerAxis, Key("ζ of the closed loop", per_axis=True, default="`1.0`")] = ()
    model: Annotated[
        ModelParameters, Key("parameters of M̂ and N̂; true takes the robot's own", allowed=_MODEL_WORDS)
    ] = True

    def __post_init__(self) -> None:
        """Gains or a bandwidth, and a model."""
        super().__post_init__()
        gains = bool(self.kp) + bool(self.kd)
        if gains and (self.natural_frequency or self.damping):
            raise DynidError("give either kp and kd, or a natural frequency and damping, not both.")
        if gains != 2 and not self.natural_frequency:
            raise DynidError(
                "it needs kp and kd, or a natural frequency (natural_frequency or natural_frequency_hz)."
            )
        if self.model is False:
            raise DynidError("model is false; a computed-torque controller needs one.")


@dataclass(frozen=True, kw_only=True)
class OpenLoopKeys(ControllerKeys):
    """τ is the feedforward alone."""


@dataclass(frozen=True, kw_only=True)
class PythonKeys(ControllerKeys):
    """A function of the user's own."""

    file: Annotated[str, Key("the Python file, relative to the controller file; it is run")]
    function: Annotated[str, Key("name of the function in it")]
    gains: Annotated[PerAxis, Key("numbers that the function takes as symbols")] = ()
    states: Annotated[int, Key("numbers that it remembers", least=0, most=10_000)] = 0


KINDS: dict[str, type[ControllerKeys]] = {
    "bandwidth": BandwidthKeys,
    "p": PKeys,
    "pd": PDKeys,
    "pi": PIKeys,
    "pid": PIDKeys,
    "cascade": CascadeKeys,
    "computed-torque": ComputedTorqueKeys,
    "open-loop": OpenLoopKeys,
    "python": PythonKeys,
}
"""Kinds of law."""
