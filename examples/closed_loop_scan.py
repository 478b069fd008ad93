"""A PD-controlled double pendulum in machine code: four simulations in the lanes of one register."""

from __future__ import annotations

from typing import Any

import numpy as np

import dynid

# Coulomb friction makes the right-hand side jump; viscous friction keeps this first example smooth.
robot = dynid.load_robot("double_pendulum").with_terms("Fv")
n = robot.n_coordinates
KP, KD = 8.0, 0.8


def loop(symbols: dict[str, list[Any]]) -> list[Any]:
    """States x = (q, q̇), inputs u = (q_ref, q̇_ref), parameters p; gives ẋ, then the records (q, τ)."""
    q, qd = symbols["x"][:n], symbols["x"][n:]
    reference = symbols["u"]
    tau = [KP * (reference[i] - q[i]) + KD * (reference[n + i] - qd[i]) for i in range(n)]
    return [
        *qd,
        *dynid.dynamics.direct_dynamics(robot, symbols["p"], q, qd, tau, dynid.dynamics.symbolic()),
        *q,
        *tau,
    ]


# The key names the program in the cache: whatever changes the equations must be part of it.
step = dynid.compile.describe_step(
    "pd_loop", f"{robot.digest} {KP} {KD}", (2 * n, 2 * n, len(robot.table), 2 * n), loop
)
simulate = dynid.compile.compile_scan(step, integrator="rk4", lanes=4)

time = np.arange(0.0, 4.0, 0.002)[:, None]
phase = 2.0 * time + np.array([0.0, 1.0])
reference = np.hstack([0.5 * np.sin(phase), 1.0 * np.cos(phase)])

# Each lane has parameters of its own: here the second link is up to 30 % heavier than known.
names = [f"{symbol}2" for symbol in ("ZZ", "MX", "M")]
parameters = np.tile(robot.table.vector(robot.parameters), (4, 1))
parameters[:, list(robot.table.indices(names))] *= np.array([1.0, 1.1, 1.2, 1.3])[:, None]

records, final = simulate(reference[0], reference, parameters, step=0.002, substeps=2)
q, tau = records[:, :, :n], records[:, :, n:]
error = np.sqrt(np.mean((q - reference[:, :n]) ** 2, axis=(1, 2)))
for lane in range(4):
    print(f"second link {10 * lane:2d} % heavier: tracking error {error[lane]:.4f} rad, "
          f"largest torque {np.abs(tau[lane]).max():.2f} N m")  # fmt: skip
assert np.all(np.diff(error) > 0)

# The torques of the loop are those the inverse model gives for the motion, but for the differences taken here
# across steps in which the reference is held.
qd, qdd = np.gradient(q[0], 0.002, axis=0), np.gradient(np.gradient(q[0], 0.002, axis=0), 0.002, axis=0)
model = dynid.kernels(robot).inverse(parameters[0], q[0], qd, qdd)
inside = slice(50, -50)
print(f"loop against inverse model: {np.abs(model - tau[0])[inside].max():.1e} N m apart")
assert np.abs(model - tau[0])[inside].max() < 2e-2
