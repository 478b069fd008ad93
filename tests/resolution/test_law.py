"""The law: gains of the chain against filtered noise, P1's formula, and simulated estimates."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.base.find import base_of
from dynid.core.errors import ModelError
from dynid.logs.log import Log
from dynid.model.drives import Drives
from dynid.preparation.decimate import decimate_rows
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.resolution.chain import Chain, Sensing, SensorSetting
from dynid.resolution.law import BiasLaw, bias_law, chain_gains
from dynid.resolution.rounding import MODES
from support.coarse_arms import PLAN, scara, scara_log


def coarse_chain(plan: Preparation = PLAN, side: str = "joint", drives: Drives | None = None) -> Chain:
    robot = scara() if drives is None else scara().with_drives(drives)
    return Chain(robot, base_of(robot), (scara_log(),), plan, np.ones(2), Sensing(side, np.ones(2)))


def law_of(chain: Chain) -> BiasLaw:
    return bias_law(chain, [prepare(log, chain.plan) for log in chain.logs])


@pytest.mark.parametrize(
    "plan",
    [
        Preparation(cutoff_hz=50.0, decimation=40),
        Preparation(cutoff_hz=100.0, decimation=100),
        Preparation(cutoff_hz=20.0),
        Preparation(cutoff_hz=200.0, order=2, difference_points=5, decimation=10),
        Preparation(decimation=20),
    ],
)
def test_gains_are_those_of_filtered_white_noise(plan: Preparation) -> None:
    rate, n = 5000.0, 200_000
    noise = np.random.default_rng(0).standard_normal((n, 2))
    motion = prepare(Log("noise", np.arange(n) / rate, {"position": noise, "torque": noise}), plan)
    inner = slice(5000, -5000)
    qdd = decimate_rows(np.ascontiguousarray(np.asarray(motion.qdd)[inner].T), plan.decimation)
    gains = chain_gains(plan, rate)
    assert gains.acceleration == pytest.approx(qdd[:, 50:-50].std(), rel=0.05)
    assert gains.speed == pytest.approx(np.asarray(motion.qd)[inner].std(), rel=0.05)


def test_the_gain_of_a_sharp_band_is_the_formula_of_the_papers_method() -> None:
    """s = √((2/f_s)(2π)⁴ f_c⁵/5) for an ideal low-pass; a steep one comes near it."""
    rate, cutoff = 5000.0, 50.0
    ideal = np.sqrt(2 / rate * (2 * np.pi) ** 4 * cutoff**5 / 5)
    assert chain_gains(Preparation(cutoff_hz=cutoff, order=12), rate).acceleration == pytest.approx(
        ideal, rel=0.1
    )


@pytest.mark.parametrize("mode", ["binary", "gaussian", "uniform"])
def test_simulated_estimates_follow_the_law(mode: str) -> None:
    chain = coarse_chain()
    law = law_of(chain)
    step = law.coarsest_step(10.0, np.ones(8, dtype=bool), 1.0, 1e-4, 0.1, residual=False)
    variance = MODES[mode].variance
    for size in (step, 2 * step):
        runs = np.array([chain.estimate(SensorSetting("encoder", mode, size), k) for k in range(12)])
        spread = runs.std(axis=0, ddof=1) / np.sqrt(len(runs)) / np.abs(law.reference)
        away = np.abs(runs.mean(axis=0) / law.reference - law.ratios(size, variance))
        assert np.all(away < 4 * spread + 0.005), (size, away, spread)
    assert np.max(np.abs(law.ratios(2 * step, variance) - 1)) > 0.05  # there was something to follow


def test_an_inertia_alone_loses_one_over_one_plus_kappa() -> None:
    law = law_of(coarse_chain())
    first = law.chain.base.names.index("ZZ1R")
    small, large = law.kappa(1e-4)[first], law.kappa(2e-4)[first]
    assert large == pytest.approx(4 * small)
    s, a_rms = law.gains[0].acceleration, law.acceleration_rms[0]
    assert small == pytest.approx((1e-4 * s / a_rms) ** 2, rel=0.1)


def test_a_gear_divides_the_step_of_a_motor_encoder() -> None:
    drives = Drives(((50.0, 0.0), (0.0, 50.0)), (0.0, 0.0), (1.0, 1.0))
    joint, motor = law_of(coarse_chain()), law_of(coarse_chain(side="motor", drives=drives))
    assert motor.ratios(5e-3) == pytest.approx(joint.ratios(1e-4), rel=1e-9)


def test_a_coupled_wrist_shares_the_error_of_a_motor() -> None:
    drives = Drives(((50.0, 0.0), (50.0, 50.0)), (0.0, 0.0), (1.0, 1.0))
    chain = coarse_chain(side="motor", drives=drives)
    log = chain.coarse_logs(SensorSetting("encoder", "gaussian", 5e-3), 0)[0]
    error = log.array("position") - chain.logs[0].array("position")
    assert error.std(axis=0) == pytest.approx([1e-4, np.sqrt(2) * 1e-4], rel=0.05)
    root = chain.sensing.joint_root(chain.robot)
    assert np.sqrt(np.sum(root**2, axis=1)) * 5e-3 == pytest.approx(error.std(axis=0), rel=0.05)


def test_the_motor_side_needs_drives() -> None:
    with pytest.raises(ModelError, match="no drives"):
        law_of(replace(coarse_chain(), sensing=Sensing("motor", np.ones(2))))
