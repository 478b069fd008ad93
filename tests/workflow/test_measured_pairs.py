"""Two motions of one measured robot, fitted apart: do their parameters agree within the σ they print?

Prints the table of docs/uncertainty.md (pytest -s). Either at most 10 % of the parameters are beyond 2
combined σ, or a finding says that the motions contradict each other.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from dynid.casestudies.case import packaged_mapping
from dynid.estimators import WLS, identify
from dynid.logs.log import Log
from dynid.logs.mapping import mapping_from_table
from dynid.logs.read import read_log
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.results.comparison import compare_results
from dynid.workflow import FitResult, fit
from support.datasets import dataset
from support.kr300 import KR300, RECORD

Pair = tuple[Robot, Log, Log]


def halves(log: Log) -> tuple[Log, Log]:
    middle = log.samples // 2
    return log.part(slice(0, middle)), log.part(slice(middle, None))


def packaged(name: str, *paths: Path) -> list[Log]:
    with packaged_mapping(name) as mapping:
        return [read_log(path, mapping) for path in paths]


def tx40() -> Pair:
    (log,) = packaged("tx40", dataset("tx40"))
    return load_robot("tx40_log"), *halves(log)


def ur10() -> Pair:
    return load_robot("ur10"), *halves(read_log(dataset("ur10", "ur10_exciting_trajectory.db3")))


def emps() -> Pair:
    first, second = packaged("emps", *(dataset("emps", f"DATA_EMPS{end}.mat") for end in ("", "_PULSES")))
    return load_robot("emps"), first, second


def kr300(first: str, second: str, folder: Path) -> Pair:
    file = folder / "kr300.toml"
    file.write_text(KR300, encoding="utf-8")
    mapping = mapping_from_table(RECORD)
    logs = [read_log(dataset("kr300", f"trajectory_{name}.mat"), mapping) for name in (first, second)]
    return load_robot(file), logs[0], logs[1]


def med7() -> Pair:
    axes = range(7)
    table = {
        "rate_hz": 100.0,
        "position": {"columns": [f"q_{i}" for i in axes]},
        "torque": {"columns": [f"tau_{i}" for i in axes]},
    }
    log = read_log(dataset("lbr_med7", "measurements.csv"), mapping_from_table(table))
    robot = load_robot(dataset("lbr_med7", "med7dock.urdf")).with_terms("Fv", "Fc", "off")
    return robot, *halves(log)


def pendulum(folder: str, *names: str) -> Pair:
    first, second = packaged("double_pendulum", *(dataset(folder, name) for name in names))
    return load_robot("double_pendulum"), first, second


C0, C1 = "double_pendulum", "double_pendulum_c1"
PAIRS: dict[str, Callable[[Path], Pair]] = {
    "TX40, halves": lambda folder: tx40(),
    "UR10, halves": lambda folder: ur10(),
    "EMPS and PULSES": lambda folder: emps(),
    "KR300, A and B": lambda folder: kr300("A", "B", folder),
    "KR300, A and C": lambda folder: kr300("A", "C", folder),
    "KR300, B and C": lambda folder: kr300("B", "C", folder),
    "Med 7, halves": lambda folder: med7(),
    "double pendulum C.0, 12 and 13": lambda folder: pendulum(
        C0, *(f"design_C.0__20220914__sys_id__trajectory_{k}.csv" for k in (12, 13))
    ),
    "double pendulum C.1, 154220 and 154548": lambda folder: pendulum(
        C1, "20230629-154220.csv", "20230629-154548.csv"
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_two_motions_of_one_robot_agree_or_are_told_to_contradict(name: str, tmp_path: Path) -> None:
    robot, first, second = PAIRS[name](tmp_path)
    one = fit(robot, first, repair=True)
    other = fit(robot, second, plan=one.plan, repair=True)
    both = compare_results([one, other])
    shares = [share_beyond(one, other, kind) for kind in ("classical", "hac")]
    gaps = both.gaps[np.isfinite(both.gaps)]
    honest, told = float(np.mean(gaps > 2)), both.contradiction
    row = " | ".join(f"{100 * share:.0f} %" for share in (*shares, honest))
    print(f"\n| {name} | {len(gaps)} | {row} | {told.level.word if told else ''} |")
    assert honest <= 0.1 or told is not None


def share_beyond(one: FitResult, other: FitResult, kind: str) -> float:
    """Share of the parameters beyond 2 combined σ of another kind."""
    a, b = (identify(result.estimate.problem, WLS(uncertainty=kind)) for result in (one, other))
    return float(np.mean(np.abs(a.values - b.values) > 2 * np.hypot(a.sigma, b.sigma)))
