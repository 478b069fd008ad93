"""Two kilograms picked up midway on a simulated iiwa: told within a second, weighed to 5 % within five."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.signal import butter, lfilter

from dynid.core.finding import Name
from dynid.estimators.recursive.recursion import RecursionOptions
from dynid.estimators.recursive.rls import LeastSquaresRecursion
from dynid.model.inertia import LinkInertia
from dynid.model.payload import attach_payload
from dynid.simulation import AddedTorque, Disturbances, Reference, Sensors, simulate
from dynid.tracking.watch import Watch
from population.watch import Rows, rows_at
from support.motions import coloured
from support.payload_arms import arm_named

PICKED, END, RATE, EVERY = 80.0, 92.0, 1000.0, 20
BODY = LinkInertia.from_com(2.0, [0.02, -0.01, 0.08], 0.008 * np.eye(3))


def filtered_rows(seed: int) -> Rows:
    """The closed loop without, then with the payload, its sensors, and causal filters of 12 Hz.

    Friction of the joints has a Stribeck part and a ripple that the model lacks; torques have a slow error.
    """
    arm, rng = arm_named("iiwa"), np.random.default_rng(seed)
    whole, cut = arm.reference(seed, END), round(PICKED * RATE)
    lacking = [
        AddedTorque(j, law, share * arm.robot.parameters[f"Fc{j + 1}"])
        for j in range(7)
        for law, share in (("exp(-(qd/0.15)**2)*tanh(qd/0.01)", 0.3), ("sin(18*q)", 0.2))
    ]
    q, tau, start = list[np.ndarray](), list[np.ndarray](), None
    for robot, part in (
        (arm.robot, slice(None, cut)),
        (attach_payload(arm.robot, BODY), slice(cut, None)),
    ):
        assert whole.qd is not None
        assert whole.qdd is not None
        made = simulate(
            robot,
            None,
            arm.controller,
            Reference(1 / RATE, whole.q[part], whole.qd[part], whole.qdd[part]),
            sensors=Sensors(position_noise=2e-5, torque_noise=0.05),
            disturbances=Disturbances(noise=0.05),
            rng=rng,
            start=start,
            added=lacking,
        )
        start = made.q[-1] + made.qd[-1] / RATE, made.qd[-1] + made.qdd[-1] / RATE
        q.append(made.log.channels["position"])
        tau.append(made.log.channels["torque"])
    position, torque = np.vstack(q), np.vstack(tau)
    slow = 0.02 * np.sqrt(np.mean(torque**2, axis=0))
    torque += coloured(rng, torque.shape, slow, pole=float(np.exp(-1 / (0.3 * RATE))))
    b, a = butter(2, 12.0 / (RATE / 2))
    first = position[0]
    position = lfilter(b, a, position - first, axis=0) + first
    torque = lfilter(b, a, torque, axis=0)
    qd = np.gradient(position, 1 / RATE, axis=0)
    signals = position, qd, np.gradient(qd, 1 / RATE, axis=0), torque
    kept = slice(round(RATE), None, EVERY)
    time = np.arange(len(position)) / RATE
    return rows_at(replace(arm.robot, parameters={}), time[kept], *(signal[kept] for signal in signals))


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_two_kilograms_are_told_within_a_second_and_weighed_within_five(seed: int) -> None:
    rows = filtered_rows(seed)
    sigma = 0.05 * np.sqrt(np.mean(rows.y**2, axis=0))
    recursion = LeastSquaresRecursion(rows.base.names, sigma, None, RecursionOptions(blocks=0))
    watch, events, mass = Watch(rows.base, RATE / EVERY), [], np.nan
    for at in rows.instants():
        events += watch.update(recursion, at)
        if at.time <= PICKED + 5.0:
            mass = watch.mass
    told = [e for e in events if e.finding.name is not Name.INERTIA_NOT_POSITIVE]
    assert [e.finding.name for e in told] == [Name.PAYLOAD_PICKED_UP, Name.PAYLOAD_WEIGHED]
    assert 0.0 < told[0].time - PICKED < 1.0
    np.testing.assert_allclose(mass, 2.0, rtol=0.05)
    np.testing.assert_allclose(told[1].finding.figures["mass"], 2.0, rtol=0.05)
