"""The resolution study on the measured TX40 log against the same study by SciPy and a loop over Pinocchio.

One run: errors added to 45 000 samples of six axes, low-pass, differences, regressor, decimation of every
column that is needed, least squares. The peer runs once per round on the whole log; ours as a study does.
Two workers: processes for a long study, which start once; threads hold Python's lock for a part of a run.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

import dynid
from _harness import Job, Report, best_of
from dynid.core.executor import LocalExecutor
from dynid.logs.convert import to_joint_side
from dynid.resolution.chain import ENCODER, Chain, Sensing, SensorSetting
from dynid.resolution.study import LS, Task, run_task

DATA = Path(os.environ.get("DYNID_DATA", Path(__file__).parents[2] / "shared" / "data")) / "tx40"
ROUNDS, SIDE_BY_SIDE = 2, 24
STEPS = 2 * np.pi / np.array([20000, 10000, 5000, 4000, 3000, 2000, 1500, 1000])


def study_chain() -> Chain:
    """The essential parameters of the measured log, as `dynid resolution` estimates them."""
    from dynid.casestudies.case import packaged_mapping  # not in processes, which import this module
    from dynid.casestudies.cases import TX40_PLAN

    robot = dynid.load_robot("tx40_log")
    with packaged_mapping("tx40") as mapping:
        log = to_joint_side(dynid.read_log(DATA, mapping), robot)
    plan = TX40_PLAN
    problem = dynid.build_problem(robot, [dynid.prepare(log, plan)], plan)
    found = dynid.identify(problem, dynid.Essential(dynid.WLS(uncertainty="classical")))
    weights = np.array(found.facts["weights"])
    return Chain(
        robot, found.problem.base.subset(found.kept), (log,), plan, weights, Sensing("joint", np.ones(6))
    )


def main() -> None:
    """Compare, time, save."""
    if not DATA.exists():
        sys.exit(f"{DATA} is not there; set DYNID_DATA to the folder of the measured logs.")
    from _resolution_peer import Peer

    chain, report = study_chain(), Report("resolution")
    peer = Peer(chain)
    tasks = [Task(SensorSetting(ENCODER, "binary", step), run) for run in range(200) for step in STEPS]
    tiny = SensorSetting(ENCODER, "binary", 1e-12)
    ours, theirs = chain.estimate(tiny, 0), peer.estimate(1e-12, 0)
    apart = np.abs(ours / theirs - 1)
    report.note(
        "largest difference of a parameter without errors",
        share=float(np.max(apart)),
        median=float(np.median(apart)),
        parameters=len(ours),
    )

    def study(workers: int, kind: str = "threads", runs: int = SIDE_BY_SIDE) -> None:
        LocalExecutor(workers, kind).map(run_task, tasks[:runs], shared={LS: chain})

    jobs = {
        "peer": Job(lambda: peer.estimate(STEPS[2], 1)),
        "one": Job(lambda: study(1), units=SIDE_BY_SIDE),
        "two": Job(lambda: study(2), units=SIDE_BY_SIDE),
        "many": Job(lambda: study(1, runs=len(tasks)), units=len(tasks)),
        "processes": Job(lambda: study(2, "processes", len(tasks)), units=len(tasks)),
    }
    best = best_of(jobs, ROUNDS)
    report.ratio(
        "one run of a resolution study, TX40 log",
        "SciPy + Pinocchio loop",
        best["one"],
        best["peer"],
        10,
        "ms",
    )
    report.ratio(
        "200 runs × 8 resolutions, two processes",
        "dynid, one thread",
        best["processes"],
        best["many"],
        1.6,
        "ms",
    )
    report.note("two threads over one", ratio=best["one"] / best["two"])
    report.note(
        "200 runs × 8 resolutions",
        one_thread_seconds=len(tasks) * best["many"],
        two_processes_seconds=len(tasks) * best["processes"],
        peer_seconds=len(tasks) * best["peer"],
    )
    report.save()


if __name__ == "__main__":
    main()
