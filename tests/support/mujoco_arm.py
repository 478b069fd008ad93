"""A four-axis arm in MuJoCo, tracked by a PD law, logged as motor positions and motor currents."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
RATIO = np.array([50.0, 80.0, 60.0, 30.0])
TORQUE_CONSTANT = np.array([0.11, 0.13, 0.095, 0.06])
"""True torque constants [N m/A]."""
_LOAD = (
    '<body name="load" pos="0 0 0.12"><inertial pos="{com}" mass="{mass}" fullinertia="{inertia}"/></body>'
)
_ARM = """<mujoco model="bench">
<compiler angle="radian"/><option timestep="0.0005" integrator="RK4" gravity="0 0 -9.81"/>
<worldbody><body name="column" pos="0 0 0.3"><inertial pos="0 0.01 0" mass="6" diaginertia=".05 .05 .04"/>
<joint name="yaw" axis="0 0 1" armature=".6" damping="6" frictionloss="3"/>
<body name="upper" pos="0 0 0.1"><inertial pos="0 0.03 0.18" mass="5" diaginertia=".09 .09 .02"/>
<joint name="shoulder" axis="0 1 0" armature=".9" damping="8" frictionloss="4"/>
<body name="fore" pos="0 0 0.4"><inertial pos="0 -0.02 0.14" mass="3" diaginertia=".04 .04 .008"/>
<joint name="elbow" axis="0 1 0" armature=".5" damping="4" frictionloss="2.5"/>
<body name="hand" pos="0 0 0.32"><inertial pos="0.01 0 0.05" mass="1" diaginertia=".004 .004 .002"/>
<joint name="wrist" axis="1 0 0" armature=".1" damping="1" frictionloss=".8"/>
{load}</body></body></body></body></worldbody>
<actuator><motor joint="yaw"/><motor joint="shoulder"/><motor joint="elbow"/><motor joint="wrist"/></actuator>
</mujoco>
"""


@dataclass(frozen=True)
class Load:
    """A body welded to the hand: mass [kg], centre from the weld [m], inertia about the centre [kg m²]."""

    mass: float = 3.2
    com: tuple[float, float, float] = (0.03, -0.015, 0.06)
    inertia: tuple[float, float, float] = (0.012, 0.010, 0.008)


WELD = (0.0, 0.0, 0.12)
"""Where the load is welded, in the frame of the hand [m]."""


def arm_text(load: Load | None = None) -> str:
    """The arm as MJCF, with or without the load."""
    if load is None:
        return _ARM.format(load="")
    words = {
        "com": " ".join(map(str, load.com)),
        "mass": str(load.mass),
        "inertia": " ".join(map(str, (*load.inertia, 0, 0, 0))),
    }
    return _ARM.format(load=_LOAD.format(**words))


def write_log(path: Path, load: Load | None, seed: int, seconds: float = 14.0) -> Path:
    """Simulate the arm and write time, motor positions [rad] and currents [A] at 1 kHz, with noise."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(arm_text(load))
    data, rng = mujoco.MjData(model), np.random.default_rng(seed)
    n = model.nv
    amplitude = rng.uniform(0.3, 0.6, (n, 4)) * np.array([[1], [0.8], [1], [1.6]]) / np.arange(1, 5)
    phase = rng.uniform(0, 2 * np.pi, (n, 4))
    w = 2 * np.pi * 0.25 * np.arange(1, 5)
    kp, kd = np.array([900.0, 1500, 800, 200]), np.array([60.0, 90, 50, 12])
    rows = []
    every = round(0.001 / model.opt.timestep)
    torque = np.zeros(n)
    for k in range(int(seconds / model.opt.timestep)):
        if k % every == 0:
            t = k * model.opt.timestep
            angle, share = w * t + phase, min(t / 2.0, 1.0)
            grow, rate = share**2 * (3 - 2 * share), 3 * share * (1 - share)  # from rest within two seconds
            wanted = grow * np.sum(amplitude * np.sin(angle), axis=1)
            speed = grow * np.sum(amplitude * w * np.cos(angle), axis=1)
            speed += rate * np.sum(amplitude * np.sin(angle), axis=1)
            torque = kp * (wanted - data.qpos) + kd * (speed - data.qvel)
            rows.append(np.concatenate([[t], data.qpos, torque]))
        data.ctrl[:] = torque
        mujoco.mj_step(model, data)
    log = np.array(rows)
    counts = 2 * np.pi / 16384
    motor = np.round(log[:, 1 : n + 1] * RATIO / counts) * counts
    current = log[:, n + 1 :] / (RATIO * TORQUE_CONSTANT)
    # The torque of a sample is held until the next one: its mean over the sample is half a step later.
    current[1:] = (current[1:] + current[:-1]) / 2
    current += 0.03 * np.std(current, axis=0) * rng.normal(size=current.shape)
    names = ["t_s", *(f"motor{j + 1}_rad" for j in range(n)), *(f"current{j + 1}_A" for j in range(n))]
    np.savetxt(
        path, np.column_stack([log[:, 0], motor, current]), delimiter=",", header=",".join(names), comments=""
    )
    return path


MAPPING = """side = "motor"
[time]
column = "t_s"
[position]
columns = "motor{axis}_rad"
unit = "rad"
[torque]
columns = "current{axis}_A"
unit = "A"
"""


def drives_text(gains: Array) -> str:
    """[drives] with the gear ratios and torque constants given."""
    return f"[drives]\nratio = {RATIO.tolist()}\ngain = {gains.tolist()}\n"
