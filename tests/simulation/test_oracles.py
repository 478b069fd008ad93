"""Closed loops of Pinocchio and MuJoCo under the same law and hold, beside ours."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.simulation import PID, Accuracy, Controller, Reference, Sines, Velocity, simulate
from support.loops import Array, Loop, largest

T = 2e-3
VISCOUS = 0.8


def reference(n: int, duration: float = 0.1) -> Reference:
    rng = np.random.default_rng(0)
    sines = Sines(
        tuple((0.3,) for _ in range(n)),
        tuple((1.0 + 0.2 * k,) for k in range(n)),
        tuple((float(p),) for p in rng.uniform(0, 6, n)),
    )
    return sines.sample(T, duration)


def gains(n: int) -> tuple[Array, Array]:
    return np.linspace(400.0, 60.0, n), np.linspace(40.0, 6.0, n)


@pytest.mark.parametrize("name", ["iiwa14", "prismatic", "branched_tilted", "welded"])
def test_pinocchio(name: str) -> None:
    """pin.aba inside DOP853, for arms, slides, branches and welded links, with viscous friction."""
    pytest.importorskip("pinocchio", reason="Pinocchio is an oracle of the tests; install the test extra.")
    from support.evaluate import States
    from support.pinocchio_oracle import pinocchio_oracle
    from support.robots import ORACLE_ROBOTS

    robot = ORACLE_ROBOTS[name]
    n = robot.n_coordinates
    oracle = pinocchio_oracle(robot)

    def plant(q: Array, qd: Array, tau: Array) -> Array:
        return oracle.aba(States(q[None], qd[None], qd[None]), (tau - VISCOUS * qd)[None])[0]

    kp, kd = gains(n)
    r = reference(n, 0.04)
    truth = Loop(plant, lambda r, rd, rdd, q, v: kp * (r - q) + kd * (rd - v), T).run(r)
    rough = robot.with_terms("Ia", "Fv")
    values = {**robot.parameters} | {f"Fv{robot.joints[j].label}": VISCOUS for j in robot.coordinates}
    ours = simulate(rough, values, Controller(PID(tuple(kp), tuple(kd)), T), r, accuracy=Accuracy(substeps=8))
    assert largest(ours.q, truth.q) < 1e-9
    assert largest(ours.tau, truth.tau) < 1e-6 * np.abs(truth.tau).max()


def test_mujoco() -> None:
    """MuJoCo's own Runge–Kutta and its own damping, stepped twenty times per sample."""
    mujoco = pytest.importorskip("mujoco", reason="MuJoCo is an oracle of the tests; install the test extra.")
    from support.mujoco_oracle import mujoco_oracle
    from support.robots import ORACLE_ROBOTS

    robot = ORACLE_ROBOTS["iiwa14"]
    n, r = robot.n_coordinates, reference(robot.n_coordinates)
    kp, kd = gains(n)
    oracle = mujoco_oracle(robot)
    model, data, place = oracle.model, oracle.data, list(oracle.coordinate)
    model.opt.integrator, model.opt.timestep = mujoco.mjtIntegrator.mjINT_RK4, T / 20
    model.dof_damping[:] = VISCOUS
    data.qpos[place], data.qvel[place] = r.q[0], r.qd[0]
    path = []
    for k in range(r.samples):
        path.append(data.qpos[place].copy())
        torque = kp * (r.q[k] - data.qpos[place]) + kd * (r.qd[k] - data.qvel[place])
        data.qfrc_applied[place] = torque
        for _ in range(20):
            mujoco.mj_step(model, data)
    values = {**robot.parameters} | {f"Fv{k + 1}": VISCOUS for k in range(n)}
    own = Controller(PID(tuple(kp), tuple(kd)), T, velocity=Velocity("exact"))
    ours = simulate(robot.with_terms("Ia", "Fv"), values, own, r, accuracy=Accuracy(tolerance=1e-10))
    assert largest(ours.q, np.array(path)) < 1e-8
