"""A seven-axis arm under PD control, Runge–Kutta 4 at 1 kHz: compiled scan against Pinocchio and MuJoCo."""

from __future__ import annotations

import mujoco
import numpy as np
import pinocchio as pin

import dynid
from _arms import mujoco_text, pinocchio_model, with_bodies
from _harness import Job, Report, best_of
from dynid.compile.scan import compile_scan, describe_step
from dynid.compile.trace import Kernel
from dynid.dynamics.direct import direct_dynamics
from dynid.dynamics.operations import symbolic

KP, KD, FRICTION, STEP = 50.0, 5.0, 0.5, 1e-3
STEPS, PEER_STEPS = 2000, 300


def loop_kernel(robot: dynid.Robot) -> Kernel:
    """States (q, q̇), inputs (q_r, q̇_r), records q."""
    n = robot.n_coordinates

    def body(s: dict) -> list:  # type: ignore[type-arg]
        q, qd, u = s["x"][:n], s["x"][n:], s["u"]
        tau = [KP * (u[i] - q[i]) + KD * (u[n + i] - qd[i]) for i in range(n)]
        return [*qd, *direct_dynamics(robot, s["p"], q, qd, tau, symbolic()), *q]

    return describe_step("bench_loop", f"{robot.digest} {KP} {KD}", (2 * n, 2 * n, len(robot.table), n), body)


def reference(n: int, steps: int) -> np.ndarray:
    t = np.arange(steps)[:, None] * STEP
    w = 2 * np.pi * (0.2 + 0.05 * np.arange(n))
    return np.hstack([0.5 * np.sin(w * t), 0.5 * w * np.cos(w * t)])


def pinocchio_loop(robot: dynid.Robot, ref: np.ndarray, steps: int) -> np.ndarray:
    """The same loop as one writes it with Pinocchio: ABA and Runge–Kutta in Python."""
    model, n = pinocchio_model(robot), robot.n_coordinates
    data = model.createData()
    q, v = ref[0, :n].copy(), ref[0, n:].copy()
    path = np.empty((steps, n))

    def rate(q: np.ndarray, v: np.ndarray, u: np.ndarray) -> np.ndarray:
        tau = KP * (u[:n] - q) + KD * (u[n:] - v) - FRICTION * v - FRICTION * np.sign(v)
        return pin.aba(model, data, q, v, tau)

    h = STEP
    for k in range(steps):
        u = ref[k]
        path[k] = q
        a1 = rate(q, v, u)
        v2 = v + h / 2 * a1
        a2 = rate(q + h / 2 * v, v2, u)
        v3 = v + h / 2 * a2
        a3 = rate(q + h / 2 * v2, v3, u)
        v4 = v + h * a3
        a4 = rate(q + h * v3, v4, u)
        q = q + h / 6 * (v + 2 * v2 + 2 * v3 + v4)
        v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return path


def mujoco_loop(model: mujoco.MjModel, ref: np.ndarray, steps: int, n: int) -> None:
    """MuJoCo's own Runge–Kutta and friction; the control is held over a step, as its API offers."""
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[:] = ref[0, :n], ref[0, n:]
    for k in range(steps):
        data.ctrl[:] = KP * (ref[k, :n] - data.qpos) + KD * (ref[k, n:] - data.qvel)
        mujoco.mj_step(model, data)


def main() -> None:
    report = Report("closed_loop")
    robot = with_bodies(dynid.load_robot("iiwa14").with_terms("Fv", "Fc"), FRICTION)
    n, p = robot.n_coordinates, robot.table.vector(robot.parameters)
    kernel, ref = loop_kernel(robot), reference(n, STEPS)
    x0 = ref[0]
    one, eight = compile_scan(kernel), compile_scan(kernel, lanes=8)
    four = compile_scan(kernel, lanes=4)
    ours = one(x0, ref[:PEER_STEPS], p, STEP)[0][0]
    theirs = pinocchio_loop(robot, ref, PEER_STEPS)
    assert np.abs(ours - theirs).max() < 1e-9, "both loops must be the same simulation"
    arm = mujoco.MjModel.from_xml_string(mujoco_text(robot, FRICTION, STEP))
    times = best_of(
        {
            "one": Job(lambda: one(x0, ref, p, STEP), 4 * STEPS),
            "four": Job(lambda: four(x0, ref, p, STEP), 4 * 4 * STEPS),
            "eight": Job(lambda: eight(x0, ref, p, STEP), 8 * 4 * STEPS),
            "pinocchio": Job(lambda: pinocchio_loop(robot, ref, PEER_STEPS), 4 * PEER_STEPS),
            "mujoco": Job(lambda: mujoco_loop(arm, ref, PEER_STEPS, n), 4 * PEER_STEPS),
        },
        rounds=20,
    )
    what = "7-axis closed loop, per right-hand side"
    report.ratio(what, "Pinocchio ABA + RK4 in Python", times["one"], times["pinocchio"], 20)
    report.ratio(what, "MuJoCo RK4 with friction", times["one"], times["mujoco"], 8)
    lanes = {name: times["one"] / times[name] for name in ("four", "eight")}
    report.note("throughput of simulations in lanes against one", **lanes)
    print(f"saved {report.save()}")


if __name__ == "__main__":
    main()
