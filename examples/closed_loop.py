"""A SCARA under its controller: with sensors, with friction that sticks, and a hundred robots at once."""

from __future__ import annotations

import numpy as np

import dynid

robot = dynid.load_robot("scara")
truth = robot.table.vector(robot.parameters)

# ω_n = 1 Hz and 10 Hz at 200 samples per second, with gains for the inertias of the stretched arm.
law = dynid.simulation.Bandwidth((2 * np.pi, 20 * np.pi))
controller = dynid.simulation.Controller(law, sample_time=5e-3, posture=(0.0, 0.0))
controller = controller.scaled(tuple(dynid.simulation.joint_inertias(robot, truth, controller)))
reference = dynid.simulation.Sines(((2.0, 1.0), (0.8, 0.4)), ((0.08, 0.15), (0.11, 0.30))).sample(5e-3, 20.0)

run = dynid.simulate(robot, None, controller, reference)
error = np.sqrt(np.mean((run.q - reference.q) ** 2, axis=0))
print(f"{run.outcome.name}: {run.substeps} integration steps per sample, error below {run.error:.0e} rad")
print(f"tracking error {error[0]:.3f} and {error[1]:.3f} rad")

# The torques of the loop are those of its motion.
model = dynid.kernels(robot.with_sign_width(dynid.simulation.Accuracy().width))
gap = np.abs(model.inverse(truth, run.q, run.qd, run.qdd) - run.tau).max()
print(f"inverse dynamics of the motion: {gap:.0e} N m from the torque of the controller")
assert gap < 1e-11

# With set-valued friction joints come to rest; the smooth sign lets them creep.
stuck = dynid.simulate(robot, None, controller, reference, accuracy=dynid.simulation.Accuracy("stick"))
apart = np.abs(stuck.q - run.q).max()
print(f"stick instead of smooth friction: paths {apart:.0e} rad apart")
assert apart < 1e-3

# Encoders round, noise comes from a generator: this is what a log would hold.
sensors = dynid.simulation.Sensors(position_noise=4e-5, resolution=1e-5, torque_noise_relative=0.05)
noisy = dynid.simulate(robot, None, controller, reference, sensors=sensors, rng=np.random.default_rng(0))
print(f"log {noisy.log.name!r}: {noisy.log.samples} samples of {', '.join(sorted(noisy.log.channels))}")

# A hundred robots with inertias around the known ones, four in the lanes of each register.
rng = np.random.default_rng(1)
robots = [truth * rng.uniform(0.9, 1.1, truth.shape) for _ in range(100)]
many = dynid.simulation.simulate_many(robot, robots, controller, reference)
spread = np.std([one.tau for one in many], axis=0).mean(axis=0)
print(f"{sum(one.outcome.trustworthy for one in many)} of {len(many)} robots, torques vary by "
      f"{spread[0]:.2f} and {spread[1]:.2f} N m")  # fmt: skip
assert all(one.outcome.trustworthy for one in many)
