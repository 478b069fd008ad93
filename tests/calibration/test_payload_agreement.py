"""Loaded logs that do not carry one payload, and payloads that torques hardly show."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from dynid.calibration import PayloadEstimate, identify_payload
from dynid.compile.kernels import kernels
from dynid.core.finding import Level, Name
from dynid.model.inertia import LinkInertia
from dynid.model.load import load_robot
from dynid.preparation.motion import Motion
from support.loaded_arms import PLAN, measured, payload, random_states
from support.payload_arms import arm_named, drawn_payload, taken

RIGHT = np.ones(6)


def loaded_runs(seed: int, *loads: dict[str, float]) -> list[Motion]:
    """A free run and one loaded run per payload, gains right, 3 % noise."""
    rng = np.random.default_rng(seed)
    free = measured("free", random_states(rng), rng, gains=RIGHT)
    runs = [measured("loaded", random_states(rng), rng, gains=RIGHT, load=payload(**load)) for load in loads]
    return [free, *(replace(run, name=f"loaded {k + 1}") for k, run in enumerate(runs))]


def found(motions: list[Motion]) -> PayloadEstimate:
    return identify_payload(load_robot("rx90"), motions, PLAN)


def changed(estimate: PayloadEstimate) -> bool:
    return any(f.name is Name.PAYLOAD_CHANGED for f in estimate.findings)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_one_payload_in_two_logs_is_one(seed: int) -> None:
    assert not changed(found(loaded_runs(seed, {}, {})))
    assert not changed(found(loaded_runs(seed, {})))


def test_two_payloads_are_named() -> None:
    """7 and 9 kg: their mean is no payload."""
    estimate = found(loaded_runs(1, {}, {"mass": 9.0, "mz": 1.285}))
    assert changed(estimate)
    assert not estimate.trustworthy
    (said,) = [f for f in estimate.findings if f.name is Name.PAYLOAD_CHANGED]
    assert "mass of loaded 1 and of loaded 2" in said.sentence or "MZ of loaded 1" in said.sentence
    assert "slipped" in said.remedy


def test_a_payload_that_slips_within_a_log_is_named() -> None:
    """6 cm at half time."""
    first, second = loaded_runs(2, {}, {"mx": 0.06 * 7.025})[1:]
    half = first.samples // 2
    mixed = np.vstack([np.asarray(first.tau)[:half], np.zeros((first.samples - half, 6))])
    signals = {}
    for name in ("q", "qd", "qdd"):
        signals[name] = np.vstack(
            [np.asarray(getattr(first, name))[:half], np.asarray(getattr(second, name))[half:]]
        )
    mixed[half:] = np.asarray(second.tau)[half:]
    slipped = replace(first, tau=mixed, **signals)
    estimate = found([loaded_runs(2, {})[0], slipped])
    assert changed(estimate)
    (said,) = [f for f in estimate.findings if f.name is Name.PAYLOAD_CHANGED]
    assert "the first half and of the second half" in said.sentence


@pytest.mark.parametrize("seed", [1, 2])
def test_friction_that_changed_between_the_logs_does_not_matter(seed: int) -> None:
    """30 % more in the loaded log: σ as with equal friction; held at that of the free log it is of no use."""
    robot = load_robot("rx90")
    free, loaded = loaded_runs(seed, {})
    rubbing = {name: 0.3 * v for name, v in robot.parameters.items() if name[:2] in ("Fv", "Fc")}
    more = kernels(robot).inverse(robot.table.vector(rubbing), loaded.q, loaded.qd, loaded.qdd)
    hot = replace(loaded, tau=np.asarray(loaded.tau) + more)
    same, own = found([free, loaded]), found([free, hot])
    assert own.mass == pytest.approx(same.mass, rel=1e-6)
    assert own.mass_sigma < 1.05 * same.mass_sigma
    assert own.mass == pytest.approx(7.025, abs=3 * own.mass_sigma)
    held = identify_payload(robot, [free, hot], PLAN, refit_friction=False)
    assert held.mass_sigma > 5 * own.mass_sigma


def test_nothing_shown_is_no_payload() -> None:
    """On joint 1, which is vertical, no torque shows a mass; a scale then confirms nothing."""
    motions = loaded_runs(1, {})
    estimate = identify_payload(load_robot("rx90"), motions, PLAN, carrier="joint1", mass=7.0)
    names = {f.name for f in estimate.findings}
    assert Name.MASS_CONFIRMED not in names
    assert {Name.PAYLOAD_NOT_SHOWN, Name.NO_LOAD_SEEN} & names
    assert max(f.level for f in estimate.findings) >= Level.CARE
    assert np.isnan(estimate.mass)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tx40", "iiwa14"])
def test_rates_of_docs(name: str) -> None:
    """Arms under control, errors as measured logs have them: alarms and detections of docs/payload.md."""
    arm = arm_named(name)
    alarms, seen, runs = 0, 0, 8
    for run in range(runs):
        rng = np.random.default_rng((5, run))
        body = drawn_payload(rng)
        free = [taken(arm, None, 100 * run + k, rng, seconds=12) for k in (1, 2)]
        loaded = [taken(arm, body, 100 * run + k, rng, seconds=12) for k in (1, 2)]
        for sound in (loaded, loaded[:1]):
            alarms += changed(identify_payload(arm.robot, [*free, *sound], arm.plan))
        mass, com, inertia = body.com_form()
        heavier = LinkInertia.from_com(1.3 * mass, com, inertia)
        moved = LinkInertia.from_com(mass, com + np.array([0.04, 0.0, 0.0]), inertia)
        for other in (heavier, moved):
            second = taken(arm, other, 100 * run + 2, rng, seconds=12)
            seen += changed(identify_payload(arm.robot, [*free, loaded[0], second], arm.plan))
    assert alarms == 0
    assert seen >= 2 * runs - 1
