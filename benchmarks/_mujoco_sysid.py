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
STARTS = {"armature": (0.1, 5.0), "damping": (1.0, 30.0), "frictionloss": (1.0, 30.0)}
"""First guess and upper bound of what MuJoCo gives a joint; the lower bound is 0."""
DRIVE = {"armature": "Ia", "damping": "Fv", "frictionloss": "Fc"}
STEP, WINDOW = 2e-3, 100
"""Time step [s] and steps of a simulated window."""
Setter = Callable[[mujoco.MjSpec, sysid.Parameter], None]
Residual = Callable[[np.ndarray, sysid.ParameterDict], Any]


def robot_spec(folder: Path, coupled: bool, step: float) -> mujoco.MjSpec:
    """The robot of the URDF; a tendon of length q5 + q6 is the motor that turns with both wrist joints.

    Args:
        folder: the folder of the log.
        coupled: whether with that tendon.
        step: time step [s]. Friction gets the shortest time constant that it allows: with the default of
            0.02 s a large q̈ turns the sign of friction.
    """
    text = (folder / "tx40_mdh_modified.urdf").read_text()
    spec = mujoco.MjSpec.from_string(re.sub(r"<(visual|collision)>.*?</\1>", "", text, flags=re.DOTALL))
    spec.compiler.boundinertia = 1e-4  # the file gives its last link no inertia, which MuJoCo refuses
    spec.option.timestep, friction = step, (2 * step, 1.0)
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_CONTACT | mujoco.mjtDisableBit.mjDSBL_LIMIT
    for joint in spec.joints:
        joint.solref_friction = friction
    if coupled:
        tendon = spec.add_tendon(name="wrist", solref_friction=friction)
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


def with_drives(spec: mujoco.MjSpec) -> mujoco.MjSpec:
    """The robot with a motor, an angle and a speed sensor on every joint."""
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    sensors = (mujoco.mjtSensor.mjSENS_JOINTPOS, mujoco.mjtSensor.mjSENS_JOINTVEL)
    for name in JOINTS:
        motor = spec.add_actuator(name=name, target=name, trntype=mujoco.mjtTrn.mjTRN_JOINT)
        motor.biastype = mujoco.mjtBias.mjBIAS_AFFINE
    for kind in sensors:
        for name in JOINTS:
            spec.add_sensor(
                name=f"{name}_{kind.name}", type=kind, objtype=mujoco.mjtObj.mjOBJ_JOINT, objname=name
            )
    return spec


def offset_setter(name: str) -> Setter:
    def set_offset(spec: mujoco.MjSpec, parameter: sysid.Parameter) -> None:
        if spec.actuators:  # inverse dynamics adds offsets to its torques
            spec.actuator(name).biasprm[0] = -parameter.value[0]

    return set_offset


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
        found.add(sysid.Parameter(f"{name}_offset", 0.0, -10.0, 10.0, modifier=offset_setter(name)))
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


def torque_residual(spec: mujoco.MjSpec, rows: Any) -> Residual:
    """Torques of inverse dynamics in place of simulated positions: a residual of ours, the tool has none."""
    tau = np.where(rows["mask"], rows["tau"], 0.0)

    def residual(x: np.ndarray, parameters: sysid.ParameterDict) -> Any:
        columns = []
        for column in np.atleast_2d(x.T):
            parameters.update_from_vector(column)
            model = sysid.apply_param_modifiers(parameters, spec)
            error = np.where(rows["mask"], rows["tau"] - torques(model, parameters, rows), 0.0)
            columns.append(sysid.normalize_residual(error, tau).ravel())
        return [columns[0] if x.ndim == 1 else np.stack(columns, axis=1)], [], []

    return residual


def window_residual(spec: mujoco.MjSpec, rows: Any) -> Residual:
    """The documented way: measured torques drive the model from measured states, here in short windows.

    Windows in which a joint rests are left out: the tool divides by the size of each signal.
    """
    model, q, qd, tau = spec.compile(), rows["slow_q"], rows["slow_qd"], rows["slow_tau"]
    time_s = np.arange(WINDOW) * STEP
    starts = [k for k in range(0, len(q) - WINDOW + 1, WINDOW) if qd[k : k + WINDOW].std(axis=0).min() > 1e-3]
    cuts = [slice(k, k + WINDOW) for k in starts]
    windows = sysid.ModelSequences(
        "tx40",
        spec,
        [f"from sample {k}" for k in starts],
        [sysid.create_initial_state(model, q[k], qd[k]) for k in starts],
        [sysid.TimeSeries(time_s, tau[cut]) for cut in cuts],
        [sysid.TimeSeries.from_names(time_s, np.hstack([q[cut], qd[cut]]), model) for cut in cuts],
    )
    residual: Residual = sysid.build_residual_fn(models_sequences=[windows])
    return residual


def fit(
    label: str, spec: mujoco.MjSpec, rows: Any, make: Callable[..., Residual], most: int
) -> dict[str, Any]:
    """``sysid.optimize`` with its defaults and at most so many iterations."""
    start, coupled = time.perf_counter(), bool(spec.tendons)
    first = parameters_of(spec, coupled)
    residual = make(spec, rows)
    spec.compiler.boundinertia = 0.0
    best, result = sysid.optimize(first, residual, verbose=False, max_iters=most)
    values = standard(sysid.apply_param_modifiers(best, spec), best, coupled)
    count = len(result.extras["objective"]) - 1  # the first is the start
    return {
        "fit": label,
        "seconds": time.perf_counter() - start,
        "said": f"{best.size} parameters, {count} iterations of at most {most}",
        "standard": [float(values.get(name, 0.0)) for name in rows["names"]],
    }


def main() -> None:
    folder, rows = Path(sys.argv[1]), dict(np.load(sys.argv[2]))
    coupled, plain = robot_spec(folder, True, 1e-4), robot_spec(folder, False, 1e-4)
    driven = with_drives(robot_spec(folder, True, STEP))
    results = [
        fit("torques, wrist as a tendon", coupled, rows, torque_residual, 200),
        fit("torques, no coupling", plain, rows, torque_residual, 200),
        fit("simulated windows of 0.2 s", driven, rows, window_residual, 40),
    ]
    Path(sys.argv[3]).write_text(json.dumps(results))


if __name__ == "__main__":
    main()
