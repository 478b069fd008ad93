"""Regression rows of instants, one by one, through one low-pass: torques, columns, instruments and speeds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from dynid.core.arrays import FloatArray
from dynid.core.errors import DynidError
from dynid.preparation.causal_plan import ALL, CausalPlan


class CausalRows:
    """Parallel decimation (P0 §II) with a known delay: h ∗ τ = (h ∗ W) χ, one row of every r instants.

    The kernel is cut into m blocks of r instants, the oldest filled up with zeros. A block of rows is
    multiplied once by all m cuts; m sums, one per row that is still open, take what is theirs.

    A row is ready when ``push`` says so. It is then in the arrays below, which the next one overwrites, and
    belongs to the instant ``delay_s`` before the one that was pushed.

    Args:
        plan: the low-pass, and the speeds below which joints are left out.
        joints: rows of W.
        columns: columns of W.
        instruments: whether instruments Z are filtered beside W.

    Attributes:
        W: (joints, columns).
        y: torques (joints,).
        Z: instruments (joints, columns); None without.
        speed: (joints,).
        moving: joints whose rows count, (joints,).
        delay_s: from a row to the instant at which it is ready [s].
    """

    def __init__(self, plan: CausalPlan, joints: int, columns: int, *, instruments: bool = False) -> None:
        """Take all memory that is ever needed."""
        self.plan, self._shape = plan, (joints, columns)
        thresholds = plan.speed_thresholds
        if len(thresholds) not in (0, joints):
            raise DynidError(
                f"The plan has {len(thresholds)} speed thresholds for {joints} joints; give one each, or "
                "none."
            )
        r, kernel = plan.row_decimation, plan.row_kernel
        cuts = -(-len(kernel) // r)
        padded = np.concatenate([np.zeros(cuts * r - len(kernel)), kernel]).reshape(cuts, r)
        # The sum in place s is complete first when the turn is at s: its next block is the newest cut.
        self._cuts = np.stack([padded[(s - np.arange(cuts) - 1) % cuts] for s in range(cuts)])
        size = joints * columns
        width = (1 + instruments) * size + 2 * joints
        self._block, self._sums = np.zeros((r, width)), np.zeros((cuts, width))
        self._products, self._row = np.zeros((cuts, width)), np.zeros(width)
        self._W, self._Z = self._block[:, :size], self._block[:, size : (1 + instruments) * size]
        self._y, self._speed = self._block[:, -2 * joints : -joints], self._block[:, -joints:]
        row = self._row
        self.W = row[:size].reshape(joints, columns)
        self.Z = row[size : 2 * size].reshape(joints, columns) if instruments else None
        self.y, self.speed = row[-2 * joints : -joints], row[-joints:]
        self.moving = np.ones(joints, dtype=bool)
        self._thresholds = np.array(thresholds) if thresholds else None
        self._size_of_speed = np.zeros(joints)
        self.delay_s = plan.row_delay_s - plan.delay_s
        self._plain = len(kernel) == 1
        self.restart()

    def restart(self) -> None:
        """Begin a new stretch."""
        self._sums[:] = 0.0
        self._filled = self._blocks = 0

    def push(self, W: FloatArray, y: FloatArray, speed: FloatArray, Z: FloatArray | None = None) -> bool:
        """Take the rows of one instant; whether a filtered row is ready.

        Args:
            W: (joints, columns).
            y: torques (joints,).
            speed: (joints,), for the thresholds.
            Z: instruments (joints, columns), where the rows were made with them.
        """
        if self._plain:
            return self._pass_on(W, y, speed, Z)
        at = self._filled
        self._W[at] = W.reshape(-1)
        self._y[at] = y
        self._speed[at] = speed
        if self.Z is not None:
            if Z is None:
                raise _no_instruments()
            self._Z[at] = Z.reshape(-1)
        self._filled = at + 1
        return self._filled == len(self._block) and self._end_block()

    def _pass_on(self, W: FloatArray, y: FloatArray, speed: FloatArray, Z: FloatArray | None) -> bool:
        """Take an instant as it is, where there is no low-pass."""
        self.W[...], self.y[...], self.speed[...] = W, y, speed
        if self.Z is not None:
            if Z is None:
                raise _no_instruments()
            self.Z[...] = Z
        self._mask()
        return True

    def _end_block(self) -> bool:
        """Give each open row its share of the block; the oldest is complete, but for the warm-up."""
        cuts = len(self._sums)
        turn = self._blocks % cuts
        np.dot(self._cuts[turn], self._block, out=self._products)
        self._sums += self._products
        self._row[:] = self._sums[turn]
        self._sums[turn] = 0.0
        self._filled = 0
        self._blocks += 1
        if self._blocks < cuts:
            return False
        self._mask()
        return True

    def _mask(self) -> None:
        """Whose rows count."""
        if self._thresholds is None:
            return
        np.abs(self.speed, out=self._size_of_speed)
        np.greater_equal(self._size_of_speed, self._thresholds, out=self.moving)
        if self.plan.slow == ALL and not self.moving.all():
            self.moving[:] = False

    def state(self) -> dict[str, Any]:
        """All that rows need to go on where these are: arrays and numbers."""
        return {
            "block": self._block[: self._filled].copy(),
            "sums": self._sums.copy(),
            "blocks": self._blocks,
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on where other rows of the same plan and shape were.

        Args:
            state: of those rows.
        """
        block, sums = (np.asarray(state[name], dtype=float) for name in ("block", "sums"))
        if sums.shape != self._sums.shape or block.shape[1:] != self._block.shape[1:]:
            raise DynidError(
                f"The saved state holds sums of shape {sums.shape} and these rows have {self._sums.shape}; "
                "restore it with the plan and robot it was saved with."
            )
        self._filled, self._blocks = len(block), int(state["blocks"])
        self._block[: self._filled], self._sums[:] = block, sums


def _no_instruments() -> DynidError:
    return DynidError("An instant has no instruments, and the rows were made with some; give Z.")


def filtered_rows(values: FloatArray, plan: CausalPlan) -> FloatArray:
    """What ``CausalRows`` makes of instants, all at once: (any, instants) to (any, rows).

    Args:
        values: torques, columns or speeds at all instants of a stretch.
        plan: the low-pass.
    """
    r, length = plan.row_decimation, len(plan.row_kernel)
    first = -(-length // r) * r - length
    if values.shape[1] < first + length:
        return values[:, :0]
    return np.asarray(sliding_window_view(values, length, axis=1)[:, first::r] @ plan.row_kernel)


def row_times(times: FloatArray, plan: CausalPlan) -> FloatArray:
    """The instants that filtered rows belong to [s], (rows,).

    Args:
        times: all instants of a stretch [s].
        plan: the low-pass.
    """
    r, length = plan.row_decimation, len(plan.row_kernel)
    last = -(-length // r) * r - 1
    return np.asarray(times[last - length // 2 : len(times) - length // 2 : r])
