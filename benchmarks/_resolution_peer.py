"""One run of a resolution study as a straightforward script has it: SciPy's filters, a loop over Pinocchio.

A file of its own: processes of a study import the module that started them, and Pinocchio takes seconds.
"""

from __future__ import annotations

import numpy as np
import pinocchio as pin
from scipy import signal

from _arms import pinocchio_model, with_bodies
from dynid.resolution.chain import Chain

INERTIAL_ORDER = (9, 6, 7, 8, 0, 1, 3, 2, 4, 5)
"""Pinocchio's m, mc, Ixx Ixy Iyy Ixz Iyz Izz among XX XY XZ YY YZ ZZ MX MY MZ M."""


class Peer:
    """The same run as a straightforward script has it."""

    def __init__(self, chain: Chain) -> None:
        """Model, filters and the columns that are needed."""
        self.chain, self.log = chain, chain.logs[0]
        self.model = pinocchio_model(with_bodies(chain.robot))
        self.data = self.model.createData()
        self.rate = self.log.rate_hz
        self.low_pass = signal.butter(chain.plan.order, chain.plan.cutoff_hz, fs=self.rate, output="sos")

    def estimate(self, step: float, seed: int) -> np.ndarray:
        """Add errors, and all the rest."""
        rng = np.random.default_rng(seed)
        q = self.log.array("position") + step * rng.choice([-1.0, 1.0], (self.log.samples, 6))
        q = signal.sosfiltfilt(self.low_pass, q, axis=0)
        qd = np.gradient(q, 1 / self.rate, axis=0)
        qdd = np.gradient(qd, 1 / self.rate, axis=0)
        W, tau = self.columns(q, qd, qdd), self.log.array("torque")
        factor, rows, torques = self.chain.plan.decimation, [], []
        speed = np.array([signal.decimate(v, factor) for v in qd.T])
        for j in range(6):
            fast = np.abs(speed[j]) > self.chain.plan.speed_thresholds[j]
            kept = [
                signal.decimate(c, factor)[fast] if np.any(c) else np.zeros(fast.sum()) for c in W[:, j].T
            ]
            rows.append(self.chain.weights[j] * np.array(kept).T)
            torques.append(self.chain.weights[j] * signal.decimate(tau[:, j], factor)[fast])
        return np.linalg.lstsq(np.vstack(rows), np.concatenate(torques), rcond=None)[0]

    def columns(self, q: np.ndarray, qd: np.ndarray, qdd: np.ndarray) -> np.ndarray:
        """W of the needed parameters, (samples, joints, columns): a loop over samples, then friction."""
        inertial = np.empty((len(q), 6, 60))
        for k in range(len(q)):
            inertial[k] = pin.computeJointTorqueRegressor(self.model, self.data, q[k], qd[k], qdd[k])
        W = np.zeros((len(q), 6, len(self.chain.base)))
        for i, column in enumerate(self.chain.base.columns):
            entry = self.chain.robot.table.entries[column]
            if entry.family == "inertial":
                order = INERTIAL_ORDER.index(
                    ["XX", "XY", "XZ", "YY", "YZ", "ZZ", "MX", "MY", "MZ", "M"].index(entry.symbol)
                )
                W[:, :, i] = inertial[:, :, 10 * entry.joint + order]
            else:
                self._drive_column(W[:, :, i], entry.symbol, entry.joint, qd, qdd)
        return W

    @staticmethod
    def _drive_column(out: np.ndarray, symbol: str, j: int, qd: np.ndarray, qdd: np.ndarray) -> None:
        own = {"Ia": qdd, "Fv": qd, "Fc": np.sign(qd), "off": np.ones_like(qd)}
        if symbol in own:
            out[:, j] = own[symbol][:, j]
            return
        both = np.sign(qd[:, 4] + qd[:, 5])  # the coupled wrist
        for row, other in ((4, 5), (5, 4)):
            out[:, row] = {"Iam": qdd[:, other], "Fvm": qd[:, other], "Fcm": both}[symbol]
