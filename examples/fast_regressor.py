"""The regressor of a 7-axis arm over a whole log: by joint, in blocks that stay in cache, and backwards."""

from __future__ import annotations

import numpy as np

import dynid

robot = dynid.load_robot("iiwa14")
base = dynid.find_base(robot)
rng = np.random.default_rng(0)
q, qd, qdd = rng.uniform(-1, 1, (3, 3_000, robot.n_coordinates))

# Only the base columns are computed. Block j is the observation matrix of joint j, column by column.
kernels = dynid.kernels(robot, base.columns, threads=2)
blocks = kernels.regressor_blocks(q, qd, qdd)
print("blocks (joints, columns, samples):", blocks.shape)
zeros = np.count_nonzero(~blocks.any(axis=2))
print(f"{zeros} of {blocks.shape[0] * blocks.shape[1]} columns are zero by structure and were never written")

# The usual stacked shape is a view of the same memory.
W = kernels.regressor(q, qd, qdd)
assert W.shape == (3_000, 7, len(base))

# A long log must not become one huge matrix. Take blocks that stay in cache, and keep only the triangular
# factor R of W: its size does not depend on the length of the log.
kernel = kernels.kernel("regressor")
R = np.zeros((0, len(base)))
for _, samples, buffer in kernel.blocks(q, qd, qdd, tiles=4):
    rows = np.zeros((7 * len(base), samples))
    rows[list(kernel.rows)] = buffer.transpose(1, 0, 2).reshape(len(kernel.rows), -1)[:, :samples]
    dense = rows.reshape(7, len(base), samples).transpose(0, 2, 1).reshape(-1, len(base))
    R = np.linalg.qr(np.vstack([R, dense]), mode="r")
stacked = W.transpose(1, 0, 2).reshape(-1, len(base))
assert np.allclose(R.T @ R, stacked.T @ stacked)
print("R of the whole log:", R.shape)

# Reverse mode: how a criterion J(W) changes with every sample of the motion, for the price of a few W.
# Here J = −log det(WᵀW), the criterion of a good excitation, so dJ/dW = −2 W (WᵀW)⁻¹.
inverse = np.linalg.inv(R.T @ R)
seed = -2.0 * np.einsum("kp,jps->jks", inverse, blocks)
dq, dqd, dqdd = kernels.regressor_adjoint(q, qd, qdd, seed)


def criterion(positions: np.ndarray) -> float:
    flat = kernels.regressor(positions, qd, qdd).reshape(-1, len(base))
    return -float(np.linalg.slogdet(flat.T @ flat)[1])


shift = np.zeros_like(q)
shift[10, 3] = 1e-4
slope = (criterion(q + shift) - criterion(q - shift)) / 2e-4
print(f"dJ/dq of one sample: {dq[10, 3]:.8f} by the adjoint, {slope:.8f} by differences")
assert np.isclose(dq[10, 3], slope, rtol=1e-3)
