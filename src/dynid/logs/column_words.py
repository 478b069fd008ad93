"""Words that columns and files are called by, and names taken apart into them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from dynid.logs.units import plain_unit

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
"""What columns are called, the surest first."""
TIME_WORDS = (
    "t",
    "time",
    "times",
    "stamp",
    "stamps",
    "timestamp",
    "timestamps",
    "time_stamp",
    "datetime",
    "date_time",
    "clock",
    "tout",
    "sec",
    "seconds",
)
RATE_WORDS = ("fs", "rate", "rate_hz", "sample_rate", "sampling_rate", "frequency", "freq")
STEP_WORDS = ("ts", "dt", "sample_time", "sampling_time", "t_s")
FILE_WORDS = {
    "position": ("position", "positions", "pos", "q", "qm", "angle", "angles", "encoder"),
    "torque": (
        "torque",
        "torques",
        "tau",
        "effort",
        "efforts",
        "current",
        "currents",
        "curr",
        "cur",
        "force",
    ),
    "velocity": ("velocity", "velocities", "vel", "qd", "speed"),
    "reference": ("reference", "ref", "des", "target"),
}
_UNITS_AT_THE_END = {unit: unit for unit in ("rad", "deg", "ms", "us", "ns", "mm", "s")} | {
    "nm": "Nm", "mnm": "mNm", "a": "A",
}  # fmt: skip
"""Units that may end a name without brackets."""
CURRENT_WORDS = ("current", "curr", "cur")


@dataclass(frozen=True)
class Word:
    """A column's name taken apart: its word, the number of its axis, and the unit it names."""

    word: str
    number: int | None
    unit: str | None


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


@dataclass(frozen=True)
class Piece:
    """A run of letters or of digits of a name, in small letters, and where it stands."""

    text: str
    start: int
    stop: int


def pieces_of(name: str) -> tuple[list[Piece], str | None]:
    """The letters and numbers of a name, in order, and the unit it names.

    Args:
        name: such as "posTurret [deg]", which has the pieces "pos" and "turret" and the unit "deg".
    """
    unit = re.search(r"[\[(]\s*([^\])]*[^\])\d\s][^\])]*?)\s*[\])]\s*$", name)  # q[0] has none
    text = name[: unit.start()] if unit else name
    named = plain_unit(unit[1]) if unit else None
    found = re.finditer(r"[A-Z]*[a-z]+|[A-Z]+|\d+", text)
    parts = [Piece(match[0].lower(), match.start(), match.end()) for match in found]
    words = [i for i, part in enumerate(parts) if not part.text.isdigit()]
    if named is None and len(words) > 1 and parts[words[-1]].text in _UNITS_AT_THE_END:
        last = parts.pop(words[-1]).text
        named = _UNITS_AT_THE_END[last]
    return parts, named
