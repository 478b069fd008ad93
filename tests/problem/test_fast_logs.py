"""Logs that are faster than the controller: thinned to its samples, or read between their own."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.core.errors import DynidError
from dynid.logs.log import Log
from dynid.problem import build_loop_problem
from dynid.simulation import simulate
from support.loops import scara, scara_controller, scara_reference


def held(times: int, shift: float = 0.0) -> tuple[Log, Log]:
    """The log of a 200 Hz loop, and one that notes every sample several times while the torque is held."""
    log = simulate(scara(), None, scara_controller(), scara_reference(5e-3, 1.0)).log
    stamps = log.time[0] + shift + 5e-3 / times * np.arange(times * log.samples)
    channels = {name: np.repeat(values, times, axis=0) for name, values in log.channels.items()}
    return log, Log("fast", stamps, channels)


@pytest.mark.parametrize("shift", [0.0, 4e-4])
def test_a_log_at_a_multiple_of_the_rate_is_thinned(shift: float) -> None:
    log, fast = held(5, shift)
    reference = scara_reference(5e-3, 1.05)
    found = build_loop_problem(scara(), [fast], scara_controller(), [reference]).experiments[0]
    assert found.time[:3] == pytest.approx(np.array([0.0, 5e-3, 10e-3]) + shift)
    assert np.array_equal(found.samples, np.arange(log.samples))
    assert np.array_equal(found.tau, log.channel("torque"))
    assert found.position is not None
    assert np.array_equal(found.position, log.channel("position"))
    assert found.history[-1].name == "thinned"
    assert found.history[-1].options["factor"] == 5
    assert found.history[-1].options["to_hz"] == pytest.approx(200.0)


def test_a_log_at_another_rate_is_read_at_the_controller_s_samples() -> None:
    log = held(1)[0]
    faster = Log("fast", log.time / 2.5, log.channels)
    found = build_loop_problem(scara(), [faster], scara_controller(), [scara_reference(5e-3, 1.0)])
    own = found.experiments[0]
    assert np.array_equal(own.samples, np.arange(len(own.samples)))
    assert own.position is not None
    np.testing.assert_allclose(
        own.position[::2], log.array("position")[: 5 * len(own.samples) // 2 : 5], 1e-12
    )
    assert own.history[-1].name == "resample"
    assert "were read at 80 of its samples (200 Hz) by cubic splines" in own.history[-1].note


def test_stamps_out_of_order_are_refused_with_what_helps() -> None:
    log = held(1)[0]
    back = Log("back", np.where(np.arange(log.samples) == 50, 0.0, log.time), log.channels)
    with pytest.raises(
        DynidError, match=r"^Stamps of log 'back' repeat or go backward; .*dynid check LOG --repair"
    ):
        build_loop_problem(scara(), [back], scara_controller(), [scara_reference(5e-3, 1.0)])
