"""A planned motion as files: CSV that ``read_log`` understands, and the message that ROS controllers take.

``trajectory_msgs/JointTrajectory`` has the joints' names and, per point, positions, velocities,
accelerations, efforts and the time from the start in seconds and nanoseconds.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from dynid.core.arrays import FloatArray, as_numbers
from dynid.core.errors import DynidError, ShapeError

MOST_POINTS = 200_000
"""Points of one file: more than three minutes at 1 kHz, some 100 MB of text for seven axes."""
_COLUMNS = (("q", "q_ref"), ("qd", "qd_ref"), ("qdd", "qdd_ref"), ("torque", "tau_ref"))
"""What columns are called. None is taken for a measurement: a fit of the plan itself is refused."""


@dataclass(frozen=True, eq=False)
class PlannedMotion:
    """Samples of a motion that a robot is to follow.

    Args:
        stamps: times that increase (samples,) [s].
        q: positions (samples, axes) [rad or m].
        qd: velocities, likewise.
        qdd: accelerations, likewise.
        joints: names, one per axis, all different.
        torque: expected torques or forces (samples, axes) [N m or N]; None where no model is known.
    """

    stamps: FloatArray
    q: FloatArray
    qd: FloatArray
    qdd: FloatArray
    joints: tuple[str, ...]
    torque: FloatArray | None = None

    def __post_init__(self) -> None:
        """Check the sizes, and that everything is finite."""
        stamps = self._keep("stamps")
        if stamps.ndim != 1 or len(stamps) < 2 or np.any(np.diff(stamps) <= 0):
            raise ShapeError(
                f"stamps has shape {stamps.shape}; give at least two times that increase, (samples,)."
            )
        if len(stamps) > MOST_POINTS:
            raise DynidError(
                f"The motion has {len(stamps):,} points; at most {MOST_POINTS:,} go into one file. "
                "Sample it at a lower rate, or write it in parts."
            )
        object.__setattr__(self, "joints", tuple(self.joints))
        if not self.joints or len(set(self.joints)) < len(self.joints):
            raise DynidError(f"The joints are called {list(self.joints)}; give names that all differ.")
        expected = (len(stamps), len(self.joints))
        for name in ("q", "qd", "qdd", *(["torque"] if self.torque is not None else [])):
            shape = self._keep(name).shape
            if shape != expected:
                raise ShapeError(f"{name} has shape {shape}; expected {expected}, (samples, axes).")

    def _keep(self, name: str) -> FloatArray:
        values = as_numbers(getattr(self, name), name)
        if not np.all(np.isfinite(values)):
            raise ShapeError(f"{name} holds values that are not finite; a robot cannot follow them.")
        object.__setattr__(self, name, values)
        return values


def csv_text(motion: PlannedMotion) -> str:
    """The motion as CSV: time_s, q_ref1 …, qd_ref1 …, qdd_ref1 …, tau_ref1 …, with all digits.

    ``read_log`` takes q_ref for the reference without a mapping, so the file is a reference for ``simulate``,
    and a logger that copies these columns beside its own makes a log for the closed-loop methods.

    Args:
        motion: its axes are numbered from 1 in their order; SI units.
    """
    header, columns = ["time_s"], [motion.stamps[:, None]]
    for field, word in _COLUMNS:
        values = getattr(motion, field)
        if values is not None:
            header += [f"{word}{axis + 1}" for axis in range(len(motion.joints))]
            columns.append(values)
    rows = [",".join(map(repr, row)) for row in np.hstack(columns).tolist()]
    return "\n".join([",".join(header), *rows]) + "\n"


def joint_trajectory(motion: PlannedMotion, *, effort: bool = False) -> dict[str, Any]:
    """The motion as a message ``trajectory_msgs/JointTrajectory`` that starts when it is received.

    Args:
        motion: its first stamp is the time zero of the message.
        effort: whether the expected torques are told too. A controller may add them to its own command, so
            only a model that can be trusted should say them.

    Raises:
        DynidError: when torques are asked for and not known, or stamps are less than a nanosecond apart.
    """
    if effort and motion.torque is None:
        raise DynidError("The motion has no torques; give them, or write the message without effort.")
    since = np.round((motion.stamps - motion.stamps[0]) * 1e9).astype(np.int64)
    if np.any(np.diff(since) <= 0):
        raise DynidError("Stamps are less than a nanosecond apart, which the message cannot tell; thin them.")
    none: list[list[float]] = [[]] * len(since)
    efforts = motion.torque.tolist() if effort and motion.torque is not None else none
    states = (values.tolist() for values in (motion.q, motion.qd, motion.qdd))
    told = zip(since.tolist(), *states, efforts, strict=True)
    return {
        "header": {"stamp": _moment(0), "frame_id": ""},  # a stamp of zero: now
        "joint_names": list(motion.joints),
        "points": [
            {
                "positions": q,
                "velocities": qd,
                "accelerations": qdd,
                "effort": tau,
                "time_from_start": _moment(nanoseconds),
            }
            for nanoseconds, q, qd, qdd, tau in told
        ],
    }


def _moment(nanoseconds: int) -> dict[str, int]:
    seconds, rest = divmod(nanoseconds, 1_000_000_000)
    return {"sec": seconds, "nanosec": rest}


def json_text(message: Mapping[str, Any]) -> str:
    """A message as JSON, one point per line."""
    head = {key: value for key, value in message.items() if key != "points"}
    points = ",\n  ".join(json.dumps(point, allow_nan=False) for point in message["points"])
    return f'{json.dumps(head)[:-1]},\n "points": [\n  {points}\n]}}\n'


def yaml_text(message: Mapping[str, Any]) -> str:
    """A message as YAML 1.1, as ``ros2 topic pub`` reads it: one key per line, one point per line.

    Args:
        message: what ``joint_trajectory`` gives.
    """
    lines = [f"{key}: {_flow(value)}" for key, value in message.items() if key != "points"]
    return "\n".join([*lines, "points:", *(f"- {_flow(point)}" for point in message["points"])]) + "\n"


def _flow(value: Any) -> str:
    """A value on one line."""
    if isinstance(value, Mapping):
        return f"{{{', '.join(f'{key}: {_flow(item)}' for key, item in value.items())}}}"
    if isinstance(value, list):
        return f"[{', '.join(map(_flow, value))}]"
    if isinstance(value, str):
        # Escapes of eight digits serve every character, also those that JSON would write as a pair.
        return '"' + "".join(c if _is_plain(c) else f"\\U{ord(c):08x}" for c in value) + '"'
    text = repr(value)
    # YAML 1.1 takes 1e-05 for a text and 1.0e-05 for a number.
    return text.replace("e", ".0e") if "e" in text and "." not in text else text


def _is_plain(letter: str) -> bool:
    return " " <= letter <= "~" and letter not in '"\\'
