"""Six- and seven-axis arms under control at 1 kHz, in dynid's own simulation and in MuJoCo's."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
import pytest

from dynid.estimators import DIDIM, IV, WLS, Essential, Estimate, Strategy, identify
from dynid.logs.log import Log
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.problem import build_loop_problem, build_problem
from dynid.simulation import Disturbances, Sensors, simulate
from support.loop_arms import Arm, iiwa, mujoco_log, tx40

PLAN = Preparation(cutoff_hz=20.0, decimation=20, drop_samples=50)
# Rows near a reversal of the friction are left out, and the transient of the start.
WORLD_PLAN = Preparation(
    trim_start_s=1.5, cutoff_hz=20.0, decimation=20, drop_samples=50, speed_thresholds=(0.1,) * 6
)
INERTIAS = ("XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "Ia")


def noisy_log(arm: Arm) -> Log:
    """The closed loop with encoder noise, torque noise and a disturbance inside the loop."""
    run = simulate(
        arm.robot,
        None,
        arm.controller,
        arm.reference,
        sensors=Sensors(position_noise=1e-5, torque_noise_relative=0.01),
        disturbances=Disturbances(noise_relative=0.005),
        rng=np.random.default_rng(2),
    )
    assert run.outcome.name == "fine"
    return run.log


def essential_errors(estimate: Estimate, arm: Arm, sure: float) -> dict[str, float]:
    """Relative errors of the inertial parameters whose %σ is below ``sure`` [%]."""
    rows = zip(estimate.names, estimate.values, arm.truth, estimate.relative_sigma, strict=True)
    return {
        name: abs(value / true - 1)
        for name, value, true, percent in rows
        if name.startswith(INERTIAS) and true != 0 and percent < sure
    }


@pytest.mark.parametrize(("make", "least"), [(tx40, 14), (iiwa, 12)])
def test_didim_finds_an_arm_from_the_regular_start(make: Callable[[float], Arm], least: int) -> None:
    arm = make(20.0)
    log = noisy_log(arm)
    # Positions are kept from it: DIDIM needs torques only.
    torques = Log(log.name, log.time, {"torque": log.channel("torque")})
    problem = build_loop_problem(arm.robot, [torques], arm.controller, [arm.reference], PLAN)
    started = time.perf_counter()
    estimate = identify(problem, DIDIM())
    seconds = time.perf_counter() - started
    assert estimate.outcome.name == "fine"
    assert estimate.iterations <= 8
    errors = essential_errors(estimate, arm, sure=0.7)
    worst = 100 * max(errors.values())
    print(f"{arm.robot.name}: {estimate.iterations} iterations, {seconds:.1f} s, worst inertia {worst:.2f} %")
    assert len(errors) >= least
    assert max(errors.values()) < 0.02, errors


@pytest.fixture(scope="module")
def other_world() -> tuple[Arm, Log]:
    """An arm in MuJoCo with a little torque noise; friction is a tenth of the TX40's, for inertia to show."""
    pytest.importorskip("mujoco", reason="MuJoCo is the other world; install the test extra.")
    arm = tx40(20.0, friction=0.1)
    log = mujoco_log(arm)
    tau = log.channel("torque")
    noise = 0.01 * np.sqrt(np.mean(tau**2, axis=0)) * np.random.default_rng(3).standard_normal(tau.shape)
    return arm, Log("mujoco", log.time, {**log.channels, "torque": tau + noise})


@pytest.mark.parametrize(
    "strategy",
    [WLS(), IV(), DIDIM(), Essential(DIDIM())],
    ids=["wls", "iv", "didim", "essential"],
)
def test_an_arm_of_another_world_is_found(other_world: tuple[Arm, Log], strategy: Strategy) -> None:
    arm, log = other_world
    motion = prepare(log, WORLD_PLAN)
    if isinstance(strategy, WLS):
        estimate = identify(build_problem(arm.robot, [motion], WORLD_PLAN), strategy)
    else:
        problem = build_loop_problem(
            arm.robot, [log], arm.controller, [arm.reference], WORLD_PLAN, motions=[motion]
        )
        estimate = identify(problem, strategy)
    assert estimate.outcome.name == "fine"
    errors = essential_errors(estimate, arm, sure=0.7)
    assert len(errors) >= 14
    assert max(errors.values()) < 0.02, errors
