"""Keys of controller files: those of every controller, and those of each kind of law."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from dynid.core.errors import DynidError
from dynid.core.keys import RATE_HZ, OtherKey, key
from dynid.logs.log import SIDES
from dynid.simulation.controller import KINDS as VELOCITIES, MAXIMUM

ROBOT = "robot"
"""Word for inertias that follow from the robot's own parameters."""
PerAxis = tuple[float, ...]
ModelParameters = bool | str | Mapping[str, float]
"""Whether the robot's own parameters are meant, a file of parameters, or a table of them."""
_MODEL_WORDS = "true or false, a table of parameters, or the name of a file of them"


def angular_frequency(hertz: float) -> float:
    """ω [rad/s]."""
    return 2 * math.pi * hertz


@dataclass(frozen=True, kw_only=True)
class ControllerKeys:
    """Keys of every controller."""

    kind: str = key("the law, see below")
    title: str = key("what it is, in words", "")
    source: str = key("where it comes from, in words", "")
    sample_time: float | None = key(
        "period or rate of the controller; exactly one of these two and continuous is given",
        None,
        unit="s",
        above=0,
        other=RATE_HZ,
    )
    continuous: bool = key("a law without samples: exact speeds, smooth friction", False)
    velocity: str | None = key(
        "how a sampled controller gets speeds: exact (a tachometer), backward (difference of two "
        "samples), mean (over two periods), filtered (backward, through a first-order low-pass)",
        None,
        choices=VELOCITIES,
        absent='`"backward"`',
    )
    velocity_cutoff_hz: float | None = key("cut-off of filtered speeds", None, unit="Hz", above=0)
    delay: int = key("whole samples between a measurement and the torque it causes", 0, least=0, most=1000)
    saturation: PerAxis = key(
        "largest output, in units of the controller's output, see drive_gain", (), per_axis=True
    )
    side: str = key(
        "motor when gains act on motor positions and give motor torques: the robot's drives make r² of a "
        "gain and |r| of a limit. Coupled motors are simulated as they are, τ = Rᵀ K R e; their "
        "saturation excludes feedforward, and their gains cannot follow the inertias",
        "joint",
        choices=SIDES,
    )
    drive_gain: PerAxis = key(
        "torque per unit of the controller's output, such as N/V: every gain that makes torque, and "
        "saturation, are multiplied by it",
        (1.0,),
        per_axis=True,
        allowed="a number other than 0, or a list with one per axis",
        rule=lambda gains: 0.0 not in gains,
    )
    feedforward: ModelParameters = key(
        "a model whose inverse dynamics along the reference are added to the torque; true takes the "
        "robot's own parameters",
        False,
        allowed=_MODEL_WORDS,
    )
    posture: str | PerAxis = key(
        "where the controller's own inertia rule takes J = M(q)ⱼⱼ: over the range of the joints, or at q",
        MAXIMUM,
        per_axis=True,
        allowed=f'"{MAXIMUM}" or one position per axis',
        rule=lambda given: given == MAXIMUM or not isinstance(given, str),
    )

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

    natural_frequency: PerAxis = key(
        "ω of the closed loop",
        unit="rad/s",
        above=0,
        per_axis=True,
        other=OtherKey("natural_frequency_hz", "Hz", angular_frequency),
    )
    damping: PerAxis = key("ζ of the closed loop", (1.0,), above=0, per_axis=True)
    inertia: str | PerAxis = key(
        "J that the controller was tuned for; robot takes it from the robot's own parameters at the "
        "controller's posture",
        ROBOT,
        unit="kg m² or kg",
        per_axis=True,
        allowed=f'numbers, or "{ROBOT}"',
        rule=lambda given: given == ROBOT or not isinstance(given, str),
    )


@dataclass(frozen=True, kw_only=True)
class PKeys(ControllerKeys):
    """τ = k_p e."""

    kp: PerAxis = key("k_p", per_axis=True)


@dataclass(frozen=True, kw_only=True)
class PDKeys(PKeys):
    """τ = k_p e + k_d (β q̇_r − q̇) + k_a q̈_r."""

    kd: PerAxis = key("k_d", per_axis=True)
    reference_speed: PerAxis = key("β", (1.0,), per_axis=True)
    acceleration: PerAxis = key("k_a", (0.0,), per_axis=True)


@dataclass(frozen=True, kw_only=True)
class PIKeys(PKeys):
    """τ = k_p e + k_i ∫e."""

    ki: PerAxis = key("k_i", per_axis=True)


@dataclass(frozen=True, kw_only=True)
class PIDKeys(PDKeys):
    """τ = k_p e + k_d (β q̇_r − q̇) + k_i ∫e + k_a q̈_r."""

    ki: PerAxis = key("k_i", per_axis=True)


@dataclass(frozen=True, kw_only=True)
class CascadeKeys(ControllerKeys):
    """s = k_p e + β q̇_r − q̇, τ = k_v (s + k_i ∫s) + k_a q̈_r."""

    kp: PerAxis = key("k_p", unit="1/s", per_axis=True)
    kv: PerAxis = key("k_v", per_axis=True)
    ki: PerAxis = key("k_i", (0.0,), unit="1/s", per_axis=True)
    reference_speed: PerAxis = key("β", (0.0,), per_axis=True)
    acceleration: PerAxis = key("k_a", (0.0,), per_axis=True)


@dataclass(frozen=True, kw_only=True)
class ComputedTorqueKeys(ControllerKeys):
    """τ = M̂(q) (q̈_r + k_d (q̇_r − q̇) + k_p e) + N̂(q, q̇); with ω and ζ, k_p = ω² and k_d = 2 ζ ω."""

    kp: PerAxis = key("k_p; needs kd", (), unit="1/s²", per_axis=True)
    kd: PerAxis = key("k_d; needs kp", (), unit="1/s", per_axis=True)
    natural_frequency: PerAxis = key(
        "ω of the closed loop, instead of kp and kd",
        (),
        unit="rad/s",
        above=0,
        per_axis=True,
        other=OtherKey("natural_frequency_hz", "Hz", angular_frequency),
    )
    damping: PerAxis = key("ζ of the closed loop", (), per_axis=True, absent="`1.0`")
    model: ModelParameters = key(
        "parameters of M̂ and N̂; true takes the robot's own", True, allowed=_MODEL_WORDS
    )

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

    file: str = key("the Python file, relative to the controller file; it is run")
    function: str = key("name of the function in it")
    gains: PerAxis = key("numbers that the function takes as symbols", ())
    states: int = key("numbers that it remembers", 0, least=0, most=10_000)


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
