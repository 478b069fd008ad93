"""Long simulations: errors that come late, encoders that round, and pieces that equal the whole."""

from __future__ import annotations

import numpy as np
import pytest

from dynid.simulation import PID, Controller, Reference, Sensors, simulate, simulate_many
from dynid.simulation.batch import Batch, difference_between, in_pieces
from dynid.simulation.setup import Accuracy, loop_inputs, prepare_loop
from dynid.simulation.substeps import liveliest_windows
from support.loops import largest, scara, scara_controller, scara_reference

LATE = 3000


def late(duration: float = 8.0) -> Reference:
    """Rest for a long time, then fast motion that begins gently."""
    moving = scara_reference(5e-3, duration).q
    ramp = np.minimum(1.0, np.arange(len(moving)) * 5e-3)[:, None]
    rest = np.tile(moving[0], (LATE, 1))
    return Reference(5e-3, np.vstack([rest, moving[0] + 3 * ramp**2 * (3 - 2 * ramp) * (moving - moving[0])]))


@pytest.mark.parametrize("friction", ["smooth", "stick"])
@pytest.mark.parametrize("gains", [((150.0, 20.0), (30.0, 2.0)), ((600.0, 40.0), (60.0, 4.0))])
def test_errors_that_come_late_are_met_and_told(
    friction: str, gains: tuple[tuple[float, float], ...]
) -> None:
    """All motion comes after 3000 samples at rest."""
    own, reference = Controller(PID(*gains), 5e-3), late()
    found = simulate(scara(), None, own, reference, accuracy=Accuracy(friction))
    truth = simulate(scara(), None, own, reference, accuracy=Accuracy(friction, substeps=256))
    true = largest(found.q, truth.q)
    assert found.outcome.name == "fine"
    assert true <= found.error <= 5e-6
    assert found.error < 4 * true


@pytest.mark.parametrize("friction", ["smooth", "stick"])
def test_given_steps_are_judged_where_the_motion_is(friction: str) -> None:
    own, reference = Controller(PID((600.0, 40.0), (60.0, 4.0)), 5e-3), late()
    truth = simulate(scara(), None, own, reference, accuracy=Accuracy(friction, substeps=256))
    few = Accuracy(friction, substeps=8 if friction == "smooth" else 1, tolerance=1e-9)
    found = simulate(scara(), None, own, reference, accuracy=few)
    assert found.outcome.name == "tolerance not reached"
    assert largest(found.q, truth.q) <= found.error < 4 * largest(found.q, truth.q)


@pytest.mark.parametrize("friction", ["smooth", "stick"])
@pytest.mark.parametrize("resolution", [1e-4, (1e-3, 0.0)])
def test_encoders_that_round_leave_single_steps(friction: str, resolution: float | tuple[float, ...]) -> None:
    own, reference = scara_controller(), scara_reference(5e-3, 30.0)
    sensors, step = Sensors(resolution=resolution), float(np.max(resolution))
    found = simulate(scara(), None, own, reference, sensors=sensors, accuracy=Accuracy(friction))
    exact = Accuracy(friction, substeps=128)
    truth = simulate(scara(), None, own, reference, sensors=sensors, accuracy=exact)
    assert found.outcome.name == "fine"
    assert "positions are exact up to single encoder steps" in found.outcome.sentence
    assert f"({step:.2g} rad or m)" in found.outcome.sentence
    assert found.substeps <= 64, "readings that flip ask for no more steps"
    assert largest(found.q, truth.q) <= found.error < 4 * step
    assert found.error >= step


def test_many_long_simulations_equal_single_ones() -> None:
    reference, own = late(6.0), Controller(PID((150.0, 20.0), (30.0, 2.0)), 5e-3)
    values = scara().table.vector(scara().parameters)
    sets = [values * factor for factor in (1.0, 1.2, 0.9)]
    accuracy = Accuracy("stick")
    for values, found in zip(
        sets, simulate_many(scara(), sets, own, reference, accuracy=accuracy), strict=True
    ):
        alone = simulate(scara(), values, own, reference, accuracy=accuracy)
        assert (found.substeps, found.outcome) == (alone.substeps, alone.outcome)
        assert found.error == pytest.approx(alone.error, rel=1e-3)
        assert largest(found.q, alone.q) < 1e-11


def test_pieces_of_a_run_equal_the_whole() -> None:
    """Restarted from its own states a run goes the same way, with all that a controller remembers."""
    own = Controller(PID((150.0, 20.0), (30.0, 2.0), (60.0, 9.0)), 5e-3, delay=2)
    for friction in ("smooth", "stick"):
        setup = prepare_loop(scara(), None, own, scara_reference(5e-3, 4.115), Accuracy(friction))
        start = setup.simulator.start(setup.reference.q[0], setup.reference.qd[0], own)
        batch = Batch([setup], start[None], [loop_inputs(setup)])
        whole = batch.whole_runs([0], 4, pieces=True)[0]
        assert largest(whole.paths.q, batch.whole_runs([0], 4, pieces=False)[0].paths.q) == 0
        pieces = batch.pieces([0], [whole], 4)[0]
        assert difference_between(in_pieces(whole, batch), pieces, setup.encoder, follows=True).total < 1e-11
        states = batch.window_states(0, whole, 4)
        assert largest(states[:, 0], whole.states) == 0
        at = batch.firsts[2] + 3 * batch.window
        window = batch.windows([0], states[2, 3][None], [at], batch.window, 4)
        assert largest(window.q[0], whole.paths.q[0, at : at + batch.window]) < 1e-11


def test_the_liveliest_windows_are_where_joints_turn() -> None:
    reference = late()
    firsts = liveliest_windows(reference, 250, 4)
    assert firsts[0] == 0
    assert len(set(firsts)) == 4
    assert min(firsts[1:]) >= LATE - 250
