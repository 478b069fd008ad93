"""The TX40 log fitted with mujoco.sysid on given rows; peers_consistent.py runs it as a process."""

from __future__ import annotations

import json
import re
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
from mujoco import sysid

JOINTS = [f"joint_{j}" for j in range(1, 7)]
FRICTION = (2e-4, 1.0)
"""Time constant [s] and damping of friction; by default, 0.02 s, a large q̈ gives it the wrong sign."""
STARTS = {"armature": (0.1, 5.0), "damping": (1.0, 30.0), "frictionloss": (1.0, 30.0)}
"""First guess and upper bound of what MuJoCo gives a joint; the lower bound is 0."""
DRIVE = {"armature": "Ia", "damping": "Fv", "frictionloss": "Fc"}
Setter = Callable[[mujoco.MjSpec, sysid.Parameter], None]


def robot_spec(folder: Path, coupled: bool) -> mujoco.MjSpec:
    """The robot of the URDF; a tendon of length q5 + q6 is the motor that turns with both wrist joints."""
    text = (folder / "tx40_mdh_modified.urdf").read_text()
    spec = mujoco.MjSpec.from_string(re.sub(r"<(visual|collision)>.*?</\1>", "", text, flags=re.DOTALL))
    spec.compiler.boundinertia = 1e-4  # the file gives its last link no inertia, which MuJoCo refuses
    spec.option.timestep = FRICTION[0] / 2  # MuJoCo holds time constants to two steps
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    for joint in spec.joints:
        joint.solref_friction = FRICTION
    if coupled:
        tendon = spec.add_tendon(name="wrist", solref_friction=FRICTION)
        tendon.wrap_joint("joint_5", 1.0)
        tendon.wrap_joint("joint_6", 1.0)
    return spec


def body_setter(name: str) -> Setter:
    """What ``body_inertia_param`` does by itself up to MuJoCo 3.12; in 3.17 and 4.0 its own setter fails."""

    def set_body(spec: mujoco.MjSpec, parameter: sysid.Parameter) -> None:
        m, *rest = sysid.model_modifier.pi_from_theta(parameter.value)
        c, origin = np.array(rest[:3]) / m, np.reshape(rest[3:], (3, 3))
        moments, axes = np.linalg.eigh(origin - m * (c @ c * np.eye(3) - np.outer(c, c)))
        axes[:, 0] *= np.linalg.det(axes)
        turn = np.empty(4)
        mujoco.mju_mat2Quat(turn, axes.ravel())
        body = spec.body(name)
        body.explicitinertial, body.fullinertia = True, np.full(6, np.nan)
        body.mass, body.ipos, body.inertia, body.iquat = m, c, moments, turn

    return set_body


def drive_setter(kind: str, name: str, field: str) -> Setter:
    def set_drive(spec: mujoco.MjSpec, parameter: sysid.Parameter) -> None:
        value = float(parameter.value[0])
        setattr(getattr(spec, kind)(name), field, (value, 0.0, 0.0) if field == "damping" else value)

    return set_drive


def parameters_of(spec: mujoco.MjSpec, coupled: bool) -> sysid.ParameterDict:
    """Ten per body as a log-Cholesky factor within the tool's own bounds; drives, friction, offsets."""
    model, found = spec.compile(), sysid.ParameterDict()
    for body in list(spec.bodies)[1:]:
        pseudo = sysid.InertiaType.Pseudo
        setter = body_setter(body.name)
        found.add(sysid.body_inertia_param(spec, model, body.name, inertia_type=pseudo, modifier=setter))
    owners = [("joint", name) for name in JOINTS] + ([("tendon", "wrist")] if coupled else [])
    for kind, name in owners:
        for field, (start, most) in STARTS.items():
            setter = drive_setter(kind, name, field)
            found.add(sysid.Parameter(f"{name}_{field}", start, 0.0, most, modifier=setter))
    for name in JOINTS:
        found.add(sysid.Parameter(f"{name}_offset", 0.0, -10.0, 10.0))
    return found


def torques(model: mujoco.MjModel, parameters: sysid.ParameterDict, rows: Any) -> np.ndarray:
    """Inverse dynamics at the samples, (samples, joints) [N m]."""
    data, found = mujoco.MjData(model), np.empty_like(rows["tau"])
    for i, (q, qd, qdd) in enumerate(zip(rows["q"], rows["qd"], rows["qdd"], strict=True)):
        data.qpos[:], data.qvel[:], data.qacc[:] = q, qd, qdd
        mujoco.mj_inverse(model, data)
        found[i] = data.qfrc_inverse
    return found + [parameters[f"{name}_offset"].value[0] for name in JOINTS]


def standard(model: mujoco.MjModel, parameters: sysid.ParameterDict, coupled: bool) -> dict[str, float]:
    """The standard parameters by dynid's names; bodies as the compiled model has them."""
    found: dict[str, float] = {}
    for j, name in enumerate(JOINTS, start=1):
        body, axes = model.body(f"link_{j}"), np.empty(9)
        mujoco.mju_quat2Mat(axes, body.iquat)
        R, c, m = axes.reshape(3, 3), body.ipos, body.mass[0]
        J = R @ np.diag(body.inertia) @ R.T + m * (c @ c * np.eye(3) - np.outer(c, c))
        ten = [J[0, 0], J[0, 1], J[0, 2], J[1, 1], J[1, 2], J[2, 2], *(m * c), m]
        symbols = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M")
        found |= {f"{symbol}{j}": float(value) for symbol, value in zip(symbols, ten, strict=True)}
        found |= {f"{s}{j}": parameters[f"{name}_{field}"].value[0] for field, s in DRIVE.items()}
        found[f"off{j}"] = parameters[f"{name}_offset"].value[0]
    if coupled:
        Ia, Fv, Fc = (parameters[f"wrist_{field}"].value[0] for field in DRIVE)
        for j in (5, 6):
            found[f"Ia{j}"] += Ia
            found[f"Fv{j}"] += Fv
        found |= {"Iam6": Ia, "Fvm6": Fv, "Fcm6": Fc}
    return found


def fit(folder: Path, rows: Any, coupled: bool) -> dict[str, Any]:
    """``sysid.optimize`` with its defaults on torques instead of simulated positions."""
    start = time.perf_counter()
    spec = robot_spec(folder, coupled)
    first = parameters_of(spec, coupled)
    spec.compiler.boundinertia = 0.0
    tau = np.where(rows["mask"], rows["tau"], 0.0)

    def residual(x: np.ndarray, parameters: sysid.ParameterDict) -> Any:
        columns = []
        for column in np.atleast_2d(x.T):
            parameters.update_from_vector(column)
            model = sysid.apply_param_modifiers(parameters, spec)
            error = np.where(rows["mask"], rows["tau"] - torques(model, parameters, rows), 0.0)
            columns.append(sysid.normalize_residual(error, tau).ravel())
        return [columns[0] if x.ndim == 1 else np.stack(columns, axis=1)], [], []

    best, result = sysid.optimize(first, residual, verbose=False)
    values = standard(sysid.apply_param_modifiers(best, spec), best, coupled)
    return {
        "fit": f"inverse dynamics, {'wrist as a tendon' if coupled else 'no coupling'}",
        "seconds": time.perf_counter() - start,
        "said": f"{best.size} parameters, {len(result.extras['objective'])} iterations of at most 200",
        "standard": [float(values.get(name, 0.0)) for name in rows["names"]],
    }


def main() -> None:
    folder, rows = Path(sys.argv[1]), dict(np.load(sys.argv[2]))
    Path(sys.argv[3]).write_text(json.dumps([fit(folder, rows, coupled) for coupled in (True, False)]))


if __name__ == "__main__":
    main()
