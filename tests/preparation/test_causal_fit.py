"""Parameters from rows of causal filters, beside those of the zero-phase preparation and the truth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dynid.casestudies.case import packaged_mapping
from dynid.casestudies.cases import read_pendulum
from dynid.checks.check import repair_log
from dynid.estimators import WLS, Estimate, identify
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log
from dynid.logs.read import read_log
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from dynid.preparation import Preparation, prepare, suggest
from dynid.problem import Problem, build_problem
from support.causal import causal_plans, causal_problem
from support.datasets import dataset
from support.population import draw

CLASSICAL, HONEST = WLS(uncertainty="classical"), WLS()


def off(batch: Estimate, causal: Estimate) -> float:
    """Largest difference of a parameter in σ of the batch."""
    return float(np.max(np.abs(causal.values - batch.values) / batch.sigma))


def problems(robot: Robot, logs: list[Log], plan: Preparation) -> tuple[Problem, Problem]:
    batch = build_problem(robot, [prepare(log, plan) for log in logs], plan)
    return batch, causal_problem(robot, logs, causal_plans(logs, plan), batch.base)


def read_emps() -> tuple[Robot, list[Log]]:
    robot = load_robot("emps").with_terms("Fv", "Fc", "off")
    with packaged_mapping("emps") as mapping:
        return robot, [read_log(dataset("emps", "DATA_EMPS.mat"), mapping)]


def read_tx40() -> tuple[Robot, list[Log]]:
    with packaged_mapping("tx40") as mapping:
        return load_robot("tx40_log"), [read_log(dataset("tx40"), mapping)]


def read_double_pendulum() -> tuple[Robot, list[Log]]:
    return load_robot("double_pendulum"), read_pendulum(Path(dataset("double_pendulum")))


@pytest.mark.parametrize("read", [read_emps, read_tx40, read_double_pendulum])
def test_measured_logs_are_within_two_sigma_of_the_batch(read) -> None:  # type: ignore[no-untyped-def]
    robot, logs = read()
    logs = [repair_log(to_joint_side(log, robot)) for log in logs]
    batch, causal = problems(robot, logs, suggest(logs[0]).plan)
    for strategy in (CLASSICAL, HONEST):
        assert off(identify(batch, strategy), identify(causal, strategy)) < 2.0


@pytest.mark.parametrize("seeds", [range(30, 36)])
def test_drawn_arms_err_as_little_as_in_the_batch(seeds: range) -> None:
    """Seeds of the showing half; the defaults were set on seeds 0 to 29."""
    ratios, close = [], []
    for seed in seeds:
        drawn = draw(seed)
        batch, causal = problems(drawn.base.robot, [drawn.log], suggest(drawn.log).plan)
        found, live = (identify(problem, HONEST) for problem in (batch, causal))
        wrong = [
            np.linalg.norm(np.einsum("jcs,c->js", drawn.clean, x.values - drawn.truth)) for x in (found, live)
        ]
        ratios.append(wrong[1] / wrong[0])
        close.append(np.mean(np.abs(live.values - found.values) < 2.0 * found.sigma))
    assert np.exp(np.mean(np.log(ratios))) < 1.3
    assert np.mean(close) > 0.95
