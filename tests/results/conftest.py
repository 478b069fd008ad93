"""One small estimate for all tests of result folders."""

from __future__ import annotations

import pytest

from dynid.estimators import WLS, Estimate, identify
from dynid.model.load import load_robot
from dynid.preparation.preparation import Preparation
from dynid.problem import build_problem
from support.workflow_logs import experiment


@pytest.fixture(scope="session")
def estimate() -> Estimate:
    robot = load_robot("scara")
    plan = Preparation(decimation=1, speed_thresholds=(0.01, 0.02))
    return identify(build_problem(robot, [experiment(robot, 1)], plan), WLS())
