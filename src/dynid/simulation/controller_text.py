"""Controllers written as TOML, so that a controller made in Python can be kept and handed on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dynid.core.errors import DynidError
from dynid.core.files import toml_key, toml_value
from dynid.simulation.controller import MAXIMUM, Controller
from dynid.simulation.drive_side import DriveSide
from dynid.simulation.law import Law
from dynid.simulation.laws import PID, Bandwidth, Cascade
from dynid.simulation.model_laws import ComputedTorque, Replay

_PLAIN: dict[type[Law], tuple[str, tuple[str, ...]]] = {
    Bandwidth: ("bandwidth", ("natural_frequency", "damping", "inertia")),
    PID: ("pid", ("kp", "kd", "ki", "reference_speed", "acceleration")),
    Cascade: ("cascade", ("kp", "kv", "ki", "reference_speed", "acceleration")),
    ComputedTorque: ("computed-torque", ("kp", "kd")),
    Replay: ("open-loop", ()),
}


def controller_to_toml(controller: Controller) -> str:
    """The controller as the text of a controller file, from which it is loaded as it was.

    Gains come out on the joint side and in SI, with one number per axis; only those of coupled motors stay on
    the motors.

    Raises:
        DynidError: for a law of the user's own, which is code and not data.
    """
    law, entries = controller.law, _clock(controller)
    if isinstance(law, DriveSide):
        entries |= {"side": "motor", "drive_gain": list(law.drive_gain)}
        entries |= {"saturation": list(law.limit)} if law.limit else {}
        law = law.inner
    if type(law) not in _PLAIN:
        raise DynidError(
            f"The law {getattr(law, 'name', type(law).__name__)!r} is a Python function and cannot be "
            "written as TOML; keep its file and name it in a controller file of kind 'python'."
        )
    kind, names = _PLAIN[type(law)]
    entries = {"kind": kind} | {name: list(getattr(law, name)) for name in names} | entries
    lines = [f"{key} = {toml_value(value)}" for key, value in entries.items()]
    if isinstance(law, ComputedTorque):
        lines += _table("model", law.robot.parameters)
    if controller.feedforward is not None:
        lines += _table("feedforward", controller.feedforward)
    return "\n".join(lines) + "\n"


def _clock(controller: Controller) -> dict[str, Any]:
    if controller.sample_time is None:
        entries: dict[str, Any] = {"continuous": True}
    else:
        entries = {"sample_time": controller.sample_time, "velocity": controller.velocity.kind}
        if controller.velocity.cutoff_hz is not None:
            entries["velocity_cutoff_hz"] = controller.velocity.cutoff_hz
    if controller.delay:
        entries["delay"] = controller.delay
    if controller.saturation:
        entries["saturation"] = list(controller.saturation)
    if controller.posture != MAXIMUM:
        entries["posture"] = list(controller.posture)
    return entries


def _table(name: str, values: Mapping[str, float]) -> list[str]:
    return ["", f"[{name}]", *(f"{toml_key(key)} = {toml_value(value)}" for key, value in values.items())]
