"""Quantisation and saturation, against signals whose truth is known."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.checks.saturation import check_saturation
from dynid.preparation.bad_rows import log_columns
from dynid.preparation.column import quantisation_step
from support.logs import pendulum_log, with_channel

LOG = pendulum_log()
Q, TAU = LOG.channels["position"], LOG.channels["torque"]


@pytest.mark.parametrize("step", [1e-6, 3.14159e-4, 2 * np.pi / 2**17, 0.01])
@pytest.mark.parametrize("scale", [1.0, 1e-3, 1e4])
def test_the_step_is_found(step: float, scale: float) -> None:
    step *= scale
    x = np.round(Q[:, 0] * scale / step) * step
    assert quantisation_step(x) == pytest.approx(step, rel=1e-3)


@pytest.mark.parametrize("seed", range(4))
def test_no_step_is_found_where_there_is_none(seed: int) -> None:
    rng = np.random.default_rng(seed)
    assert quantisation_step(rng.normal(size=5000)) is None
    assert quantisation_step(Q[:, 0]) is None
    # A grid that no difference comes near to is as good as none.
    assert quantisation_step(np.round(1e3 * Q[:, 0], 7)) is None


def test_constants_have_no_step() -> None:
    assert quantisation_step(np.full(100, 3.0)) is None
    assert quantisation_step(np.array([])) is None


def test_the_tops_of_a_smooth_signal_are_not_saturation() -> None:
    t = np.linspace(0, 20, 5000)
    wave = np.stack([np.sin(t), np.cos(2 * t)], axis=1)
    log = with_channel(pendulum_log(seconds=20.0), torque=np.round(wave / 1e-3) * 1e-3)
    assert not [f for f in check_saturation(log, log_columns(log)).findings if f.name == "saturation"]


def test_a_robot_that_waits_at_its_end_is_not_saturated() -> None:
    t = np.linspace(0, 10, 2500)
    s = np.clip(t / 4, 0, 1)
    smooth = 10 * s**3 - 15 * s**4 + 6 * s**5
    log = with_channel(LOG, position=np.stack([smooth, smooth], axis=1))
    assert not [f for f in check_saturation(log, log_columns(log)).findings if f.name == "saturation"]


def test_a_clipped_position_is_saturated() -> None:
    log = with_channel(LOG, position=np.clip(Q, -0.5, 0.5))
    told = [f for f in check_saturation(log, log_columns(log)).findings if f.name == "saturation"]
    assert {f.where.channel for f in told} == {"position"}
    assert any("0.5" in f.where.moment for f in told)
