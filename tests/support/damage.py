"""Damaged files, generated: CSV logs of robots whose truth is known, with one kind of damage each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dynid.base import find_base
from dynid.logs.log import Log
from dynid.model.load import load_robot
from dynid.model.robot import Robot
from support.motions import base_truth, fourier_motion, simulated

ROBOTS = ("double_pendulum", "scara", "tx40")
Rows = list[list[str]]


@dataclass(frozen=True, eq=False)
class Sheet:
    """A log as cells of a file.

    Args:
        robot: what moved.
        names: of the columns: stamps, positions, torques.
        values: (samples, columns).
        decimals: digits behind the point, per column.
        mapping: what the user knows about the columns, as the tables of a mapping.
    """

    robot: Robot
    names: tuple[str, ...]
    values: NDArray[np.float64]
    decimals: tuple[int, ...]
    mapping: Mapping[str, Any] = field(default_factory=dict)

    @property
    def rows(self) -> Rows:
        """Cells of all samples."""
        columns = [[f"{x:.{d}f}" for x in self.values[:, i]] for i, d in enumerate(self.decimals)]
        return [list(row) for row in zip(*columns, strict=True)]

    @property
    def axes(self) -> int:
        """Number of axes."""
        return self.robot.n_coordinates


@dataclass(frozen=True)
class DamagedFile:
    """Text of a file, and what its user knows about it."""

    text: str
    mapping: Mapping[str, Any] = field(default_factory=dict)


def sheet(seed: int) -> Sheet:
    """A log drawn from a seed: robot, length, rate, speed, noise, digits."""
    rng = np.random.default_rng(seed)
    robot = load_robot(str(rng.choice(ROBOTS)))
    rate = float(rng.choice([200.0, 250.0, 500.0, 1000.0]))
    seconds = float(rng.uniform(8.0, 14.0))
    motion = fourier_motion(robot, rng, seconds=seconds, rate_hz=rate, speed=rng.uniform(1.0, 2.5))
    base = find_base(robot)
    truth = base_truth(base, np.random.default_rng(0))
    moved = simulated(base, truth, motion, rng, rng.uniform(0.005, 0.04))
    q = moved.q + rng.uniform(0, 2e-5) * rng.normal(size=moved.q.shape)
    grid = float(rng.choice([1e-6, 2 * np.pi / 2**17, 2 * np.pi / 2**20]))
    q = np.round(q / grid) * grid
    n = robot.n_coordinates
    names = ("time", *(f"q{i + 1}" for i in range(n)), *(f"tau{i + 1}" for i in range(n)))
    start = float(rng.choice([0.0, 12.5, 1700000000.0]))
    values = np.column_stack([start + moved.time, q, moved.tau])
    return Sheet(robot, names, values, (6, *[7] * n, *[int(rng.choice([4, 6]))] * n))


def plain_file(log: Sheet) -> DamagedFile:
    """The log as it is."""
    return DamagedFile(_text(log.names, log.rows), log.mapping)


def garbage_at_the_start(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """Rows of a logger's buffer that was not yet filled: numbers without meaning, one of them a stamp."""
    rows = log.rows
    for i in range(int(rng.integers(3, 12))):
        wild = 10.0 ** rng.uniform(-300, 160, len(log.names)) * rng.choice([-1.0, 1.0], len(log.names))
        rows[i] = [f"{x:.6e}" for x in wild]
    rows[0][0] = "2.7e154"
    return DamagedFile(_text(log.names, rows), log.mapping)


def text_in_the_middle(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """Messages of the logger between the rows, and rows that are cut."""
    rows = log.rows
    for i in _places(log, rng, int(rng.integers(2, 9))):
        rows[i] = ["WARN: bus timeout, retry"] if rng.random() < 0.5 else rows[i][: len(rows[i]) // 2]
    return DamagedFile(_text(log.names, rows), log.mapping)


def rows_of_zeros(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """An array that was made too long: zeros in every column at the end, stamps too."""
    rows = log.rows
    zero = ["0"] * len(log.names)
    return DamagedFile(_text(log.names, [*rows, *[zero] * int(rng.integers(5, 400))]), log.mapping)


def wild_stamps(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """A few stamps that are no times."""
    rows = log.rows
    wild = ["2.7e154", "-1.3e9", "0", "nan", "1e12", "inf", "-2147483648"]
    for i in [0, *_places(log, rng, int(rng.integers(2, 12)))]:
        rows[i][0] = str(rng.choice(wild))
    return DamagedFile(_text(log.names, rows), log.mapping)


def stale_rows(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """Rows that repeat the row before while the stamps go on: the bus had nothing new."""
    values = log.values.copy()
    stale = rng.random(len(values)) < rng.uniform(0.02, 0.25)
    stale[0] = False
    fresh = np.maximum.accumulate(np.where(stale, 0, np.arange(len(values))))
    values[:, 1:] = values[fresh, 1:]
    return DamagedFile(_text(log.names, Sheet(log.robot, log.names, values, log.decimals).rows), log.mapping)


def stale_positions(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """Positions alone that repeat those before."""
    values = log.values.copy()
    stale = rng.random(len(values)) < rng.uniform(0.02, 0.25)
    stale[0] = False
    fresh = np.maximum.accumulate(np.where(stale, 0, np.arange(len(values))))
    values[:, 1 : 1 + log.axes] = values[fresh, 1 : 1 + log.axes]
    return DamagedFile(_text(log.names, Sheet(log.robot, log.names, values, log.decimals).rows), log.mapping)


def unsigned_torques(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """Torques that a bus sends as signed numbers of 16 bits, logged as unsigned ones."""
    tau = log.values[:, 1 + log.axes :]
    unit = np.abs(tau).max(axis=0) / (rng.uniform(0.3, 0.98, log.axes) * 2**15)
    counts = np.round(tau / unit) % 2**16
    values = np.column_stack([log.values[:, : 1 + log.axes], counts])
    decimals = (*log.decimals[: 1 + log.axes], *[0] * log.axes)
    names = (*log.names[: 1 + log.axes], *(f"tau{i + 1}" for i in range(log.axes)))
    mapping = {"torque": {"columns": "tau{axis}", "scale": unit.tolist()}}
    return DamagedFile(_text(names, Sheet(log.robot, names, values, decimals).rows), mapping)


def counter_wraps(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """Positions as a counter of 16 bits that wraps, perhaps several times."""
    bits = int(rng.choice([12, 16]))
    q = log.values[:, 1 : 1 + log.axes]
    middle = 0.5 * np.abs(q.max(axis=0) + q.min(axis=0)).max()  # the turn nearest zero must be the right one
    unit = float(max(np.ptp(q, axis=0).min() / rng.uniform(0.7, 2.5), 2.2 * middle) / 2**bits)
    counts = np.round(q / unit) % 2**bits
    values = log.values.copy()
    values[:, 1 : 1 + log.axes] = counts
    decimals = (log.decimals[0], *[0] * log.axes, *log.decimals[1 + log.axes :])
    mapping = {"position": {"columns": "q{axis}", "scale": unit}}
    return DamagedFile(_text(log.names, Sheet(log.robot, log.names, values, decimals).rows), mapping)


def turned_angles(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """Angles within ±π or 0 … 2π."""
    values = log.values.copy()
    q = values[:, 1 : 1 + log.axes]
    low = -np.pi if rng.random() < 0.5 else 0.0
    values[:, 1 : 1 + log.axes] = (q - low) % (2 * np.pi) + low
    return DamagedFile(_text(log.names, Sheet(log.robot, log.names, values, log.decimals).rows), log.mapping)


def cut_tail(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """A file that ends within a number."""
    text = _text(log.names, log.rows)
    return DamagedFile(text[: len(text) - int(rng.integers(3, 60))], log.mapping)


def missing_rows(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """Rows that were lost, one or a few at a time."""
    lost = np.zeros(len(log.values), dtype=bool)
    for i in _places(log, rng, int(rng.integers(3, 60))):
        lost[i : i + int(rng.integers(1, 7))] = True
    rows = [row for row, gone in zip(log.rows, lost, strict=True) if not gone]
    return DamagedFile(_text(log.names, rows), log.mapping)


def long_gap(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """A pause of the logger near one end."""
    n = len(log.values)
    start, count = int(0.05 * n), int(rng.uniform(0.02, 0.06) * n)
    rows = log.rows
    return DamagedFile(_text(log.names, rows[:start] + rows[start + count :]), log.mapping)


def repeated_block(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """A buffer that was written twice."""
    rows = log.rows
    (at,) = _places(log, rng, 1)
    count = int(rng.integers(10, 200))
    return DamagedFile(
        _text(log.names, rows[: at + count] + rows[at : at + count] + rows[at + count :]), log.mapping
    )


def swapped_rows(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """Rows written in another order, here and there."""
    rows = log.rows
    for i in _places(log, rng, int(rng.integers(3, 30))):
        j = i + int(rng.integers(1, 4))
        rows[i], rows[j] = rows[j], rows[i]
    return DamagedFile(_text(log.names, rows), log.mapping)


def empty_cells(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """Cells without a number."""
    rows = log.rows
    for i in _places(log, rng, int(rng.integers(5, 80))):
        rows[i][int(rng.integers(1, len(log.names)))] = str(rng.choice(["", "nan", "NULL", "inf"]))
    return DamagedFile(_text(log.names, rows), log.mapping)


def mixed_separators(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """Part of the rows with another separator."""
    rows = [",".join(row) for row in log.rows]
    for i in _places(log, rng, int(rng.integers(5, 100))):
        rows[i] = rows[i].replace(",", str(rng.choice([";", "\t"])))
    return DamagedFile("\n".join([",".join(log.names), *rows]) + "\n", log.mapping)


def repeated_header(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """Pieces of one recording that were put together with their headers."""
    rows = log.rows
    for i in sorted(_places(log, rng, int(rng.integers(1, 4))))[::-1]:
        rows.insert(i, list(log.names))
    return DamagedFile(_text(log.names, rows), log.mapping)


def spikes(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """Wild values in single samples of positions and torques."""
    values = log.values.copy()
    span = np.ptp(values[:, 1:], axis=0)
    for i in _places(log, rng, int(rng.integers(2, 12))):
        column = int(rng.integers(0, 2 * log.axes))
        values[i, 1 + column] += rng.choice([-1.0, 1.0]) * rng.uniform(5, 50) * span[column]
    return DamagedFile(_text(log.names, Sheet(log.robot, log.names, values, log.decimals).rows), log.mapping)


def clock_set_back(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """A clock that was set back within the motion, or began again."""
    values = log.values.copy()
    (at,) = _places(log, rng, 1)
    values[at:, 0] -= values[at, 0] - values[0, 0] if rng.random() < 0.5 else rng.uniform(0.1, 2.0)
    return DamagedFile(_text(log.names, Sheet(log.robot, log.names, values, log.decimals).rows), log.mapping)


def clock_set_forward(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """A clock that was set forward within the motion, by a second or by years."""
    values = log.values.copy()
    (at,) = _places(log, rng, 1)
    values[at:, 0] += float(rng.choice([1.0, 3600.0, 1.6e9]))
    return DamagedFile(_text(log.names, Sheet(log.robot, log.names, values, log.decimals).rows), log.mapping)


def frozen_tail(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """A recorder that repeats its last row, while the stamps go on."""
    n = len(log.values)
    values = np.concatenate([log.values, np.repeat(log.values[-1:], int(rng.uniform(0.1, 0.5) * n), axis=0)])
    values[n:, 0] += (values[1, 0] - values[0, 0]) * np.arange(1, len(values) - n + 1)
    return DamagedFile(_text(log.names, Sheet(log.robot, log.names, values, log.decimals).rows), log.mapping)


def nul_rows(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """Rows of NUL bytes, which a file system leaves where nothing was written."""
    rows = log.rows
    for i in _places(log, rng, int(rng.integers(1, 4))):
        rows[i] = ["\0" * len(",".join(rows[i]))]
    return DamagedFile(_text(log.names, rows), log.mapping)


def shuffled_rows(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """Rows in no order at all."""
    rows = log.rows
    return DamagedFile(_text(log.names, [rows[i] for i in rng.permutation(len(rows))]), log.mapping)


def _places(log: Sheet, rng: np.random.Generator, count: int) -> list[int]:
    """Rows apart from each other and from the ends."""
    return [int(i) for i in 5 + 12 * rng.choice((len(log.values) - 40) // 12, count, replace=False)]


def _text(names: tuple[str, ...], rows: Rows) -> str:
    return "\n".join([",".join(names), *(",".join(row) for row in rows)]) + "\n"


def held_positions(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """Positions that were measured at a fraction of the rate and held in between."""
    values, k = log.values.copy(), int(rng.integers(2, 5))
    values[:, 1 : 1 + log.axes] = values[np.arange(len(values)) // k * k, 1 : 1 + log.axes]
    return DamagedFile(_text(log.names, Sheet(log.robot, log.names, values, log.decimals).rows), log.mapping)


def stamps_of_nothing(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """A third to a half of the stamps are random numbers."""
    rows = log.rows
    span = np.ptp(log.values[:, 0])
    for i in np.flatnonzero(rng.random(len(rows)) < rng.uniform(0.3, 0.5)):
        rows[i][0] = f"{log.values[0, 0] + rng.uniform(-1, 2) * span:.6f}"
    return DamagedFile(_text(log.names, rows), log.mapping)


def coarse_stamps(log: Sheet, rng: np.random.Generator) -> DamagedFile:
    """Stamps of a clock that ticks seldom: several rows have the same, or steps differ by a tick."""
    values = log.values.copy()
    step = values[1, 0] - values[0, 0]
    tick = float(rng.choice([0.3, 0.7, 1.7, 4.3, 7.0])) * step
    tick = max(round(tick, 4), 1e-4)
    values[:, 0] = np.floor((values[:, 0] - values[0, 0]) / tick + rng.uniform()) * tick
    return DamagedFile(_text(log.names, Sheet(log.robot, log.names, values, log.decimals).rows), log.mapping)


KINDS: Mapping[str, Callable[[Sheet, np.random.Generator], DamagedFile]] = {
    kind.__name__: kind
    for kind in (
        garbage_at_the_start,
        text_in_the_middle,
        rows_of_zeros,
        wild_stamps,
        stale_rows,
        stale_positions,
        unsigned_torques,
        counter_wraps,
        turned_angles,
        cut_tail,
        missing_rows,
        long_gap,
        repeated_block,
        swapped_rows,
        empty_cells,
        mixed_separators,
        repeated_header,
        spikes,
        clock_set_back,
        held_positions,
        stamps_of_nothing,
        coarse_stamps,
        clock_set_forward,
        frozen_tail,
        nul_rows,
        shuffled_rows,
    )
}
"""Kinds of damage by name."""


def sound_sheet(seed: int) -> Log:
    """An undamaged log drawn from a seed that looks damaged at first sight: coarse, slow, resting, noisy."""
    rng = np.random.default_rng(seed)
    made = sheet(seed)
    n = made.axes
    t = made.values[:, 0] - made.values[0, 0]
    if rng.random() < 0.5:  # slower, or with rests between the moves
        pace = np.clip(rng.uniform(-0.3, 0.5) + np.sin(2 * np.pi * t / rng.uniform(1.0, 4.0)), 0, None)
        at = np.cumsum(pace) / max(np.sum(pace), 1e-9) * t[-1] * rng.uniform(0.2, 1.0)
        values = np.column_stack([np.interp(at, t, x) for x in made.values[:, 1:].T])
    else:
        values = made.values[:, 1:].copy()
    q, tau = values[:, :n], values[:, n:]
    if rng.random() < 0.7:
        grid = 2 * np.pi / 2 ** int(rng.integers(9, 18))
        q = np.round((q + rng.uniform(0, 2) * grid * rng.normal(size=q.shape)) / grid) * grid
    if rng.random() < 0.7:
        grid = np.ptp(tau, axis=0) / 10 ** rng.uniform(1.3, 3.5)
        tau = np.round((tau + rng.uniform(0, 2) * grid * rng.normal(size=tau.shape)) / grid) * grid
    jitter = rng.choice([0.0, 0.0, 0.01, 0.2]) * (t[1] - t[0])
    time = t + jitter * rng.uniform(-0.5, 0.5, len(t))
    return Log("sound", time, {"position": q, "torque": tau})
