"""DIDIM on 100 s of the SCARA: time per iteration, against SciPy doing the same simulation."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_ivp

import dynid
from _harness import Job, Report, best_of
from dynid.cli.process import settle
from dynid.compile.kernels import kernels
from dynid.estimators import DIDIM, identify
from dynid.preparation.preparation import Preparation
from dynid.problem.closed_loop import build_loop_problem
from dynid.simulation.controller import Controller, Velocity
from dynid.simulation.inertia import joint_inertias
from dynid.simulation.laws import Bandwidth
from dynid.simulation.sensors import Disturbances, Sensors
from dynid.simulation.simulation import simulate
from dynid.trajectories.reference import Reference
from dynid.trajectories.sines import Sines

PERIOD, DURATION, PEER_STEPS, WIDTH = 5e-3, 100.0, 200, 3e-3


def setup(seed: int = 0) -> tuple[dynid.Robot, Controller, Reference]:
    """P0's SCARA under its law."""
    robot = dynid.load_robot("scara")
    rng = np.random.default_rng(seed)
    phases = tuple(map(tuple, rng.uniform(0, 2 * np.pi, (2, 2))))
    reference = Sines(((2.0, 1.0), (0.8, 0.4)), ((0.08, 0.15), (0.11, 0.3)), phases).sample(PERIOD, DURATION)
    rule = Controller(Bandwidth((2 * np.pi, 20 * np.pi)), PERIOD, Velocity("exact"), posture=(0.0, 0.0))
    inertias = joint_inertias(robot, robot.table.vector(robot.parameters), rule)
    return robot, rule.scaled(tuple(inertias)), reference


def scipy_loop(robot: dynid.Robot, controller: Controller, reference: Reference, steps: int) -> np.ndarray:
    """The sampled loop with solve_ivp between the samples, as one writes it with SciPy."""
    model = kernels(robot.with_sign_width(WIDTH))
    p = robot.table.vector(robot.parameters)
    kp, kv = np.array(controller.law.gains).reshape(2, -1)
    assert reference.qd is not None
    x = np.concatenate([reference.q[0], reference.qd[0]])
    path = np.empty((steps, 2))

    def rate(t: float, x: np.ndarray, tau: np.ndarray) -> np.ndarray:
        return np.concatenate([x[2:], model.direct(p, x[None, :2], x[None, 2:], tau[None])[0]])

    for k in range(steps):
        path[k] = x[:2]
        tau = kv * (kp * (reference.q[k] - x[:2]) - x[2:])
        x = solve_ivp(rate, (0.0, PERIOD), x, args=(tau,), rtol=1e-7, atol=1e-9).y[:, -1]
    return path


def main() -> None:
    settle()  # as every command does: memory that was freed is used again
    report = Report("didim")
    robot, controller, reference = setup()
    run = simulate(
        robot,
        None,
        controller,
        reference,
        sensors=Sensors(position_noise=4e-5, torque_noise_relative=0.05),
        disturbances=Disturbances(noise_relative=0.025),
        rng=np.random.default_rng(1),
    )
    plan = Preparation(decimation=20)
    problem = build_loop_problem(robot, [run.log], controller, [reference], plan)
    passes = identify(problem, DIDIM()).iterations
    clean = simulate(robot, None, controller, reference)
    theirs = scipy_loop(robot, controller, reference, PEER_STEPS)
    assert np.abs(clean.q[:PEER_STEPS] - theirs).max() < 1e-5, "both loops must be the same simulation"
    steps = reference.samples
    times = best_of(
        {
            "didim": Job(lambda: identify(problem, DIDIM()), passes),
            "simulate": Job(lambda: simulate(robot, None, controller, reference), steps),
            "scipy": Job(lambda: scipy_loop(robot, controller, reference, PEER_STEPS), PEER_STEPS),
        },
        rounds=7,
    )
    what = "DIDIM iteration, SCARA, 100 s of data"
    peer = "SciPy solve_ivp"
    report.bound(what, 1e3 * times["didim"], 60.0, "ms")
    report.ratio(what, f"{peer}, the simulation alone", times["didim"], steps * times["scipy"], 20, "ms")
    report.ratio("closed-loop simulation, per sample", peer, times["simulate"], times["scipy"], 20)
    report.note("iterations from the regular start", iterations=passes)
    print(f"saved {report.save()}")


if __name__ == "__main__":
    main()
