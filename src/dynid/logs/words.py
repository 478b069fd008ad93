"""Words and units that columns and files are called by, and names taken apart into them."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dynid.core.errors import unknown_name

WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "position": (
            "q", "qm", "q_meas", "q_measured", "pos_meas", "pos_measured", "position_meas", "actual_q",
            "q_actual", "q_act", "pos_actual", "actual_pos", "actual_position", "msr_pos", "pos",
            "position", "positions", "joint_position", "joint_positions", "joint_pos", "pos_joint",
            "joint_q", "joint_angle", "joint_angles", "motor_pos", "motor_position", "angle", "angles",
            "theta", "joint_states_position", "axis_pos", "j_pos", "j_position", "encoder", "joint",
            "j", "axis",
        ),
        "velocity": (
            "qd", "dq", "qdot", "q_dot", "qp", "vel_meas", "vel_measured", "actual_qd", "qd_actual",
            "qd_meas", "dq_meas", "vel", "velocity", "velocities", "joint_velocity", "joint_velocities",
            "joint_vel", "vel_joint", "joint_speed", "speed", "omega", "motor_vel", "motor_velocity",
            "axis_vel", "j_vel", "j_velocity",
        ),
        "acceleration": (
            "qdd", "ddq", "qddot", "q_ddot", "qpp", "acc_meas", "acc_measured", "actual_qdd", "qdd_actual",
            "qdd_meas", "ddq_meas", "acc", "acceleration", "accelerations", "joint_acceleration",
            "joint_accelerations", "joint_acc", "acc_joint", "motor_acceleration", "axis_acc", "j_acc",
        ),
        "torque": (
            "tau", "tau_meas", "tau_measured", "tau_m", "tau_j", "tau_actual", "torque_meas",
            "torque_measured", "torque", "torques", "joint_torque", "joint_torques", "joint_tau",
            "tau_joint", "torque_joint", "motor_torque", "measured_torque", "actual_torque", "msr_torque",
            "effort", "efforts", "joint_effort", "joint_efforts", "effort_joint", "axis_torque", "j_torque",
            "j_tau", "j_effort", "force",
            "current", "currents", "curr", "cur", "motor_current", "joint_current", "actual_current",
            "current_meas", "i_meas",
        ),
        "reference": (
            "qref", "q_ref", "q_des", "q_desired", "q_d", "qdes", "pos_des", "pos_ref", "pos_desired",
            "position_des", "position_ref", "target_q", "q_target", "reference", "joint_ref",
            "joint_target", "pos_cmd", "q_cmd", "cmd_pos", "command",
        ),
    }
)  # fmt: skip
"""What the columns of each channel are called, the surest first."""
WORDS_WITH_NAMES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "position": ("ang",),
        "velocity": ("spd",),
        "acceleration": (),
        "torque": ("trq", "torq", "tq", "tor", "eff", "mom", "moment"),
        "reference": (),
    }
)
"""Words that tell a channel only where all its axes have names."""
FILE_WORDS: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "position": ("position", "positions", "pos", "q", "qm", "angle", "angles", "encoder"),
        "torque": (
            "torque", "torques", "tau", "effort", "efforts", "current", "currents", "curr", "cur", "force",
        ),
        "velocity": ("velocity", "velocities", "vel", "qd", "speed"),
        "acceleration": ("acceleration", "accelerations", "acc", "qdd"),
        "reference": ("reference", "ref", "des", "target"),
    }
)  # fmt: skip
"""What the files of each channel are called, where an experiment has several."""
TIME_WORDS = (
    "t", "time", "times", "stamp", "stamps", "timestamp", "timestamps", "time_stamp", "datetime",
    "date_time", "clock", "tout", "sec", "seconds",
)  # fmt: skip
RATE_WORDS = ("fs", "rate", "rate_hz", "sample_rate", "sampling_rate", "frequency", "freq")
STEP_WORDS = ("ts", "dt", "sample_time", "sampling_time", "t_s")
CURRENT_WORDS = ("current", "curr", "cur")
NO_CHANNEL_ALONE = frozenset({"joint", "j", "axis", "command", "force", "encoder"})
"""Words that are part of a joint's name as often as they tell a channel."""
CARTESIAN = frozenset({"x", "y", "z", "a", "b", "c", "rx", "ry", "rz", "w", "roll", "pitch", "yaw"})
"""What a tool's pose or a force sensor has as often as joints are called so."""
OF_A_FIGURE = frozenset(
    {"max", "min", "mean", "std", "rms", "norm", "total", "limit", "error", "err", "raw", "filt", "filtered",
     "cmd", "ref", "des", "desired", "target", "set", "setpoint", "sp", "ext", "external", "tcp", "tool"}
)  # fmt: skip
"""Words that say which figure a column is, and so are no names of axes."""

TIME_UNITS: Mapping[str, float] = MappingProxyType({"s": 1.0, "ms": 1e-3, "us": 1e-6, "ns": 1e-9})
_POSITIONS = {
    "rad": 1.0, "mrad": 1e-3, "deg": math.pi / 180, "rev": 2 * math.pi,
    "m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6,
}  # fmt: skip
_SIGNALS = {"A": 1.0, "mA": 1e-3, "V": 1.0, "mV": 1e-3}
_EFFORTS = {
    "Nm": 1.0, "mNm": 1e-3, "kNm": 1e3, "Ncm": 1e-2, "Nmm": 1e-3, "N": 1.0, "mN": 1e-3, "kN": 1e3,
}  # fmt: skip
UNITS: Mapping[str, Mapping[str, float]] = MappingProxyType(
    {
        "position": _POSITIONS,
        "reference": _POSITIONS,
        "velocity": {f"{unit}/s": factor for unit, factor in _POSITIONS.items()} | {"rpm": math.pi / 30},
        "acceleration": {f"{unit}/s2": factor for unit, factor in _POSITIONS.items()},
        "torque": _EFFORTS | _SIGNALS,
    }
)
"""Units by channel, with their factors to rad, m, s, N m, N."""
_ALL = frozenset(TIME_UNITS).union(*UNITS.values())
_WRITTEN = {unit.lower(): unit for unit in sorted(_ALL)} | {
    "sec": "s", "secs": "s", "second": "s", "seconds": "s", "msec": "ms", "usec": "us", "nsec": "ns",
    "degree": "deg", "degrees": "deg", "radian": "rad", "radians": "rad", "turn": "rev",
    "r/min": "rpm", "1/min": "rpm", "amp": "A", "amps": "A", "ampere": "A", "volt": "V",
    "newtonmeter": "Nm", "n-m": "Nm",
    "deg/sec": "deg/s", "rad/sec": "rad/s", "degs": "deg",
}  # fmt: skip
"""Other ways to write units, in small letters."""
_AT_THE_END = {unit: unit for unit in ("rad", "deg", "ms", "us", "ns", "mm", "s")} | {
    "nm": "Nm", "mnm": "mNm", "a": "A",
}  # fmt: skip
"""Units that may end a name without brackets, whatever their capitals."""
_BEHIND = re.compile(
    r"(?<=[\d_\s-])(mNm|kNm|Ncm|Nmm|mN|kN|mA|mV|mrad|rev|cm|um|degrees?|radians?|rpm|(?:deg|rad)_s"
    r"|[Ff]t_?[Ll]bf?|[Ll]bf?_?[Ff]t|[Ii]n_?[Ll]bf?|[Ll]bf?_?[Ii]n|[Oo]z_?[Ii]n|kgf?_?c?m|percent|pct|counts?|ticks?)"
    r"(?=[_\s-]?\d*$)"
)
"""Units whose capitals or prefixes must not be torn apart: "tau1_mNm" is not in newton metres."""


_FOREIGN = frozenset(
    {"ftlb", "lbft", "ftlbf", "lbfft", "inlb", "lbin", "ozin", "kgm", "kgcm", "kgfm", "kgfcm", "lbf",
     "percent", "pct", "count", "counts", "tick", "ticks", "inc", "pulse", "pulses", "lsb", "digits", "in",
     "inch", "ft"}
)  # fmt: skip
"""Units that are seen in logs and not converted, in small letters."""


def plain_unit(unit: str) -> str:
    """A unit without the ways to write a product or a micro: "N·m" is "Nm"."""
    for mark in (" ", "·", "*", ".", "⋅", "_"):
        unit = unit.replace(mark, "")
    return unit.replace("µ", "u").replace("μ", "u").replace("°", "deg").replace("²", "2").replace("^2", "2")


def bare_unit(text: str) -> str:
    """A unit without brackets and the ways to write a product: "[N·m]" is "Nm", "-" is nothing."""
    plain = plain_unit(text.strip().strip("[](){}<>").strip())
    return "" if set(plain) <= {"-"} else plain


def known_unit(text: str) -> str | None:
    """The unit that a text means, whatever its capitals and brackets: "(Deg)" is "deg"; None for other text.

    Args:
        text: such as a cell of a row of units.
    """
    plain = bare_unit(text)
    return plain if plain in _ALL else _WRITTEN.get(plain.lower())


def unit_like(text: str) -> bool:
    """Whether a text in brackets is a unit, known or not, and no remark such as "measured"."""
    plain = bare_unit(text)
    return known_unit(plain) is not None or plain.lower() in _FOREIGN or not plain.isalpha()


def unit_factor(channel: str, unit: object) -> float:
    """Factor from a unit to SI.

    Args:
        channel: position, velocity, torque or reference.
        unit: such as "deg", "N m", "A".
    """
    known = UNITS[channel]
    plain = plain_unit(str(unit))
    if plain not in known:
        raise unknown_name(f"unit of {channel}", str(unit), known)
    return known[plain]


def is_signal(unit: str) -> bool:
    """Whether a unit is that of a drive signal, which only a gain makes a torque."""
    return plain_unit(unit) in _SIGNALS


@dataclass(frozen=True)
class Word:
    """A column's name taken apart: its word, the number of its axis, and the unit it names."""

    word: str
    number: int | None
    unit: str | None


@dataclass(frozen=True)
class Piece:
    """A run of letters or of digits of a name, in small letters, and where it stands."""

    text: str
    start: int
    stop: int


def taken_apart(name: str) -> Word:
    """A column's name without its axis number, unit and capitals.

    Args:
        name: such as "Joint_1_pos [deg]", which is the word "joint_pos", axis 1, unit "deg".
    """
    parts, unit = pieces_of(name.rsplit("/", 1)[-1].rsplit(".", 1)[-1])
    numbers = [part.text for part in parts if part.text.isdigit()]
    words = [part.text for part in parts if not part.text.isdigit()]
    number = int(numbers[0]) if len(numbers) == 1 and len(numbers[0]) < 5 else None
    return Word("_".join(words), number, unit)


def pieces_of(name: str) -> tuple[list[Piece], str | None]:
    """The letters and numbers of a name, in order, and the unit it names.

    Args:
        name: such as "posTurret [deg]", which has the pieces "pos" and "turret" and the unit "deg".
    """
    unit = re.search(r"[\[(]\s*([^\])]*[^\])\d\s][^\])]*?)\s*[\])]\s*$", name)  # q[0] has none
    text = name[: unit.start()] if unit else name
    named = plain_unit(unit[1]) if unit else None
    behind = _BEHIND.search(text) if named is None else None
    if behind is not None and re.search("[A-Za-z]", text[: behind.start()]):
        text = text[: behind.start()] + " " * len(behind[1]) + text[behind.end() :]  # places stay the same
        named = known_unit(behind[1].replace("_s", "/s")) or behind[1]
    found = re.finditer(r"[A-Z]*[a-z]+|[A-Z]+|\d+", text)
    parts = [Piece(match[0].lower(), match.start(), match.end()) for match in found]
    words = [i for i, part in enumerate(parts) if not part.text.isdigit()]
    if named is None and len(words) > 1 and parts[words[-1]].text in _AT_THE_END:
        named = _AT_THE_END[parts.pop(words[-1]).text]
    return parts, named
