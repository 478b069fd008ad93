"""Logs that are faster than the controller: thinned to its samples where they can be, refused otherwise."""

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


def test_a_log_at_another_rate_is_refused_with_what_helps() -> None:
    log = held(1)[0]
    faster = Log("fast", log.time / 2.5, log.channels)
    with pytest.raises(
        DynidError, match=r"runs at 500 Hz, faster than the controller's 200 Hz.* whole multiple of it"
    ):
        build_loop_problem(scara(), [faster], scara_controller(), [scara_reference(5e-3, 1.0)])
