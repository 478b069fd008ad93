"""How coarse may the encoders be? From one log: the threshold, what gives way first, and the law."""

from __future__ import annotations

import numpy as np

import dynid

robot = dynid.load_robot("scara")
rng = np.random.default_rng(0)
t = np.arange(0.0, 20.0, 0.001)
w = 2 * np.pi * np.array([[0.3, 0.5], [0.7, 1.1]])  # [rad/s], two sines per joint
size = np.array([[0.8, 0.6], [0.2, 0.15]])  # [rad]
phase = np.multiply.outer(t, w)
q, qd = (size * np.sin(phase)).sum(axis=1), (size * w * np.cos(phase)).sum(axis=1)
tau = dynid.kernels(robot).inverse(robot.parameters, q, qd, -(size * w**2 * np.sin(phase)).sum(axis=1))
tau += 0.02 * np.sqrt(np.mean(tau**2, axis=0)) * rng.normal(size=tau.shape)
log = dynid.Log("sines", t, {"position": q, "torque": tau})

# A faster filter lets more of the encoder's noise through: the same motion then needs a finer encoder.
for cutoff_hz in (10.0, 20.0):
    plan = dynid.Preparation(cutoff_hz=cutoff_hz, decimation=20, drop_samples=200)
    request = dynid.resolution.SensorRequest(torque_steps=(), runs=8)
    study, _ = dynid.workflow.study_resolution(robot, log, request, plan=plan)
    found = study.threshold("encoder", 5.0)
    assert found is not None
    assert found.law_step is not None
    counts, law = study.counts(found.setting.step), study.counts(found.law_step)
    print(f"{cutoff_hz:g} Hz: {counts:.0f} counts per turn, {found.limited_by} gives way; law {law:.0f}")
    assert 0.6 < counts / law < 1.6
