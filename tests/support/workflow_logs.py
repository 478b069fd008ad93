"""Logs written to files for the tests of the main job."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from dynid.base import find_base
from dynid.model.robot import Robot
from dynid.preparation.motion import Motion
from support.motions import base_truth, fourier_motion, simulated


def experiment(
    robot: Robot, seed: int, seconds: float = 20.0, rate_hz: float = 500.0, noise: float = 0.01
) -> Motion:
    """A simulated experiment; the truth is the same for every seed."""
    base = find_base(robot)
    rng = np.random.default_rng(seed)
    motion = fourier_motion(robot, rng, seconds=seconds, rate_hz=rate_hz, name=f"run{seed}")
    return simulated(base, base_truth(base, np.random.default_rng(0)), motion, rng, noise)


def write_csv(path: Path, robot: Robot, seed: int, **options: float) -> Path:
    """A log with a time column, positions q1… and torques tau1…"""
    motion = experiment(robot, seed, **options)
    n = robot.n_coordinates
    names = ["time", *(f"q{i + 1}" for i in range(n)), *(f"tau{i + 1}" for i in range(n))]
    table = np.column_stack([motion.time, motion.q, motion.tau])
    np.savetxt(path, table, delimiter=",", header=",".join(names), comments="", fmt="%.12g")
    return path


def write_long(path: Path, robot: Robot, samples: int, rate_hz: float = 500.0, piece: int = 100_000) -> Path:
    """A long log, written piece by piece: a Fourier motion of twenty seconds, repeated, with fresh noise.

    Args:
        path: ends in .parquet, or in .csv.
        robot: what moves.
        samples: how many.
        rate_hz: per second.
        piece: samples written at once.
    """
    import pyarrow as pa
    import pyarrow.csv as pc
    import pyarrow.parquet as pq

    clean = experiment(robot, 1, seconds=20.0, rate_hz=rate_hz, noise=0.0)
    spread = 0.01 * np.sqrt(np.mean(clean.tau**2, axis=0))
    rng = np.random.default_rng(2)
    n = robot.n_coordinates
    names = ["time", *(f"q{i + 1}" for i in range(n)), *(f"tau{i + 1}" for i in range(n))]
    schema = pa.schema([(name, pa.float64()) for name in names])
    make = pq.ParquetWriter if path.suffix == ".parquet" else pc.CSVWriter
    with make(path, schema) as writer:
        for start in range(0, samples, piece):
            index = np.arange(start, min(start + piece, samples))
            row = index % clean.samples
            tau = clean.tau[row] + spread * rng.normal(size=(len(index), n))
            columns = [index / rate_hz, *clean.q[row].T, *tau.T]
            writer.write_table(pa.table(dict(zip(names, map(pa.array, columns), strict=True))))
    return path
