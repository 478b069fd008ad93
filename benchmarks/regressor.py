"""Torque regressor of a seven-axis arm against Pinocchio called in a Python loop (what FIGAROH does)."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterable

import numpy as np
import pinocchio as pin

import dynid
from _arms import pinocchio_model, serial_arm, with_bodies
from _harness import Job, Report, best_of
from dynid.compile.arrays import allocate
from dynid.compile.batch import compile_batch
from dynid.compile.ir_batch import TILE
from dynid.compile.trace import describe

FULL = 100_000
PEER = 3000
PEER_GROWTH = 500


def use(blocks: Iterable[object]) -> None:
    """Let every block be computed."""
    for _ in blocks:
        pass


def jobs_for(robot: dynid.Robot) -> dict[str, Job]:
    """Ours into cache and into main memory; Pinocchio's loop without and with storing its results."""
    rng = np.random.default_rng(0)
    n = robot.n_coordinates
    q, qd, qdd = rng.normal(size=(3, FULL, n))
    kernel = compile_batch(describe(robot, "regressor"))
    base = compile_batch(describe(robot, "regressor", dynid.find_base(robot).columns))
    out, base_out = allocate(kernel.n_outputs, FULL), allocate(base.n_outputs, FULL)
    model = pinocchio_model(with_bodies(robot))
    data = model.createData()
    stored = np.zeros((PEER, n, 10 * n))

    def loop() -> None:
        for i in range(PEER):
            pin.computeJointTorqueRegressor(model, data, q[i], qd[i], qdd[i])

    def loop_storing() -> None:
        for i in range(PEER):
            stored[i] = pin.computeJointTorqueRegressor(model, data, q[i], qd[i], qdd[i])

    loop_storing()
    ours = kernel(*(x[:PEER] for x in (q, qd, qdd))).reshape(n, 10 * n, PEER)
    order = [0, 1, 3, 2, 4, 5]  # Pinocchio's tensor: XX XY YY XZ YZ ZZ
    columns = [10 * j + k for j in range(n) for k in (9, 6, 7, 8, *(order[i] for i in (0, 1, 2, 3, 4, 5)))]
    assert np.abs(ours[:, columns].transpose(2, 0, 1) - stored).max() < 1e-10 * np.abs(stored).max()
    return {
        "cache": Job(lambda: use(kernel.blocks(q, qd, qdd)), FULL),
        "cache base": Job(lambda: use(base.blocks(q, qd, qdd)), FULL),
        "memory": Job(lambda: kernel(q, qd, qdd, out=out), FULL),
        "memory base": Job(lambda: base(q, qd, qdd, out=base_out), FULL),
        "memory two threads": Job(lambda: kernel(q, qd, qdd, out=out, threads=2), FULL),
        "peer": Job(loop, PEER),
        "peer storing": Job(loop_storing, PEER),
    }


def growth(report: Report) -> None:
    """Cost per sample and time of the first compilation with the number of joints."""
    rng = np.random.default_rng(1)
    for n in (3, 5, 7, 10, 15, 20, 25, 30):
        robot = serial_arm(n)
        start = time.perf_counter()
        kernel = compile_batch(describe(robot, "regressor"))
        seconds = time.perf_counter() - start
        states = rng.normal(size=(3, 40 * TILE, n))
        model = pinocchio_model(with_bodies(robot))
        data = model.createData()
        q, qd, qdd = states

        def loop(model=model, data=data, q=q, qd=qd, qdd=qdd) -> None:  # type: ignore[no-untyped-def]
            for i in range(PEER_GROWTH):
                pin.computeJointTorqueRegressor(model, data, q[i], qd[i], qdd[i])

        times = best_of(
            {
                "ours": Job(lambda k=kernel, s=states: use(k.blocks(*s)), 40 * TILE, 5),
                "peer": Job(loop, PEER_GROWTH),
            },
            rounds=8,
        )
        report.note(
            f"regressor of {n} joints",
            ours_us=times["ours"] * 1e6,
            pinocchio_us=times["peer"] * 1e6,
            ratio=times["peer"] / times["ours"],
            nonzero=len(kernel.rows),
            first_compilation_s=seconds,
        )


def main() -> None:
    report = Report("regressor")
    times = best_of(jobs_for(dynid.load_robot("iiwa14").with_terms()), rounds=40)
    loop, storing = "Pinocchio in a Python loop", "Pinocchio in a Python loop that stores W"
    report.ratio("7-axis regressor, blocks in cache", loop, times["cache"], times["peer"], 40)
    report.ratio("7-axis regressor, into main memory", storing, times["memory"], times["peer storing"], 25)
    report.ratio("7-axis regressor, base columns, in cache", loop, times["cache base"], times["peer"], 40)
    report.ratio(
        "7-axis regressor, base columns, into memory",
        storing,
        times["memory base"],
        times["peer storing"],
        25,
    )
    report.note(
        "two threads against one, into main memory", ratio=times["memory"] / times["memory two threads"]
    )
    with tempfile.TemporaryDirectory() as empty:
        os.environ["DYNID_CACHE"] = empty
        growth(report)
    print(f"saved {report.save()}")


if __name__ == "__main__":
    main()
