"""A seven-axis arm under sampled PD control at 1 kHz, Runge–Kutta 4: against Pinocchio and MuJoCo.

The controller acts at its samples and the torque is held in between, in all three.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import mujoco
import numpy as np
import pinocchio as pin

import dynid
from _arms import mujoco_text, pinocchio_model, with_bodies
from _harness import Job, Report, best_of
from dynid.base.find import find_base
from dynid.cli.process import settle
from dynid.simulation.controller import Controller, Velocity
from dynid.simulation.laws import PID
from dynid.simulation.setup import Accuracy, Setup, loop_inputs, prepare_loop
from dynid.simulation.simulation import simulate, simulate_many
from dynid.trajectories.reference import Reference

KP, KD, FRICTION, STEP, WIDTH = 50.0, 5.0, 0.5, 1e-3, 3e-3
STEPS, PEER_STEPS = 10_000, 300


def reference(n: int) -> Reference:
    t = np.arange(STEPS)[:, None] * STEP
    w = 2 * np.pi * (0.2 + 0.05 * np.arange(n))
    return Reference(STEP, 0.5 * np.sin(w * t), 0.5 * w * np.cos(w * t), -0.5 * w**2 * np.sin(w * t))


def smooth_sign(v: np.ndarray) -> np.ndarray:
    c = np.clip(v / WIDTH, -1.0, 1.0)
    return c * (1.5 - 0.5 * c * c)


def pinocchio_loop(robot: dynid.Robot, ref: Reference, steps: int) -> np.ndarray:
    """The same loop as one writes it with Pinocchio: ABA and Runge–Kutta in Python."""
    model, n = pinocchio_model(robot), robot.n_coordinates
    data = model.createData()
    assert ref.qd is not None
    q, v = ref.q[0].copy(), ref.qd[0].copy()
    path = np.empty((steps, n))

    def rate(q: np.ndarray, v: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return pin.aba(model, data, q, v, tau - FRICTION * v - FRICTION * smooth_sign(v))

    h = STEP
    for k in range(steps):
        path[k] = q
        tau = KP * (ref.q[k] - q) + KD * (ref.qd[k] - v)
        a1 = rate(q, v, tau)
        v2 = v + h / 2 * a1
        a2 = rate(q + h / 2 * v, v2, tau)
        v3 = v + h / 2 * a2
        a3 = rate(q + h / 2 * v2, v3, tau)
        v4 = v + h * a3
        a4 = rate(q + h * v3, v4, tau)
        q = q + h / 6 * (v + 2 * v2 + 2 * v3 + v4)
        v = v + h / 6 * (a1 + 2 * a2 + 2 * a3 + a4)
    return path


def mujoco_loop(model: mujoco.MjModel, ref: Reference, steps: int) -> None:
    """MuJoCo's own Runge–Kutta and friction."""
    data = mujoco.MjData(model)
    assert ref.qd is not None
    data.qpos[:], data.qvel[:] = ref.q[0], ref.qd[0]
    for k in range(steps):
        data.ctrl[:] = KP * (ref.q[k] - data.qpos) + KD * (ref.qd[k] - data.qvel)
        mujoco.mj_step(model, data)


class Ours:
    """The compiled loop with everything but its time loop done before."""

    def __init__(self, setup: Setup) -> None:
        r = setup.reference
        assert r.qd is not None
        self.simulator, self.inputs = setup.simulator, loop_inputs(setup)
        self.state = setup.simulator.start(r.q[0], r.qd[0], setup.controller)
        self.vector = setup.vector

    def __call__(self, lanes: int, steps: int = STEPS) -> np.ndarray:
        states, vectors = np.tile(self.state, (lanes, 1)), np.tile(self.vector, (lanes, 1))
        records, _ = self.simulator.kernel(lanes, shared=True)(states, self.inputs[:steps], vectors, STEP, 1)
        return records

    def eight(self) -> None:
        """Two vector registers, one after the other."""
        for _ in range(2):
            self(4)

    def threads(self, pool: ThreadPoolExecutor) -> None:
        list(pool.map(self, [4, 4]))


def whole(robot: dynid.Robot, controller: Controller, ref: Reference) -> dict[str, Job]:
    """``simulate`` and ``simulate_many`` as users call them: checks, substeps by step doubling, logs."""
    vector, base = robot.table.vector(robot.parameters), find_base(robot)
    given = {"accuracy": Accuracy(width=WIDTH), "base": base}
    sets = [vector * (1 + 0.01 * k) for k in range(8)]
    return {
        "simulate": Job(lambda: simulate(robot, vector, controller, ref, **given)),
        "simulate_many": Job(lambda: simulate_many(robot, sets, controller, ref, **given), 8),
        "two threads": Job(lambda: simulate_many(robot, sets, controller, ref, threads=2, **given), 8),
    }


def main() -> None:
    settle()  # as every command does: memory that was freed is used again
    report = Report("closed_loop")
    robot = with_bodies(dynid.load_robot("iiwa14").with_terms("Fv", "Fc"), FRICTION)
    n = robot.n_coordinates
    ref = reference(n)
    controller = Controller(PID(KP, KD, 0.0, np.ones(n)), STEP, Velocity("exact"))
    ours = Ours(prepare_loop(robot, None, controller, ref, Accuracy(width=WIDTH)))
    path = ours(1, PEER_STEPS)[0, :, n : 2 * n]
    assert np.abs(path - pinocchio_loop(robot, ref, PEER_STEPS)).max() < 1e-9, "must be the same simulation"
    arm = mujoco.MjModel.from_xml_string(mujoco_text(robot, FRICTION, STEP))
    with ThreadPoolExecutor(2) as pool:
        times = best_of(
            {
                "one": Job(lambda: ours(1), 4 * STEPS),
                "eight": Job(ours.eight, 8 * 4 * STEPS),
                "threads": Job(lambda: ours.threads(pool), 8 * 4 * STEPS),
                "pinocchio": Job(lambda: pinocchio_loop(robot, ref, PEER_STEPS), 4 * PEER_STEPS),
                "mujoco": Job(lambda: mujoco_loop(arm, ref, PEER_STEPS), 4 * PEER_STEPS),
            },
            rounds=20,
        )
    what = "7-axis closed loop, 10 s at 1 kHz, per right-hand side"
    report.ratio(what, "Pinocchio ABA + RK4 in Python", times["one"], times["pinocchio"], 20)
    report.ratio(what, "MuJoCo RK4 with friction", times["one"], times["mujoco"], 8)
    together = "8 simulations in 4 lanes, per right-hand side"
    for threads, name in (("one thread", "eight"), ("two threads", "threads")):
        report.ratio(f"{together}, {threads}", "one simulation", times[name], times["one"], 4)
    calls = best_of(whole(robot, controller, ref), rounds=6)
    # One simulation has its accuracy checked in the lanes that eight simulations fill themselves.
    gains = [calls["simulate"] / calls[name] for name in ("simulate_many", "two threads")]
    what = "simulate_many of 8, checks and logs included, against simulate"
    report.note(what, one_thread=gains[0], two_threads=gains[1])
    print(f"saved {report.save()}")


if __name__ == "__main__":
    main()
