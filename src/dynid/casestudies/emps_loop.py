"""The closed loop of EMPS: simulated as its authors did, and identified from the raw log."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from dynid.casestudies.case import Row, near, packaged_mapping, rows_of_table
from dynid.core.arrays import FloatArray
from dynid.estimators.closed_loop.didim import DIDIM
from dynid.estimators.closed_loop.iv import IV
from dynid.estimators.estimate import Estimate
from dynid.estimators.identification import identify
from dynid.estimators.linear.least_squares import OLS
from dynid.logs.convert import to_joint_side
from dynid.logs.log import Log
from dynid.logs.read import read_log
from dynid.model.load import load_robot
from dynid.preparation.motion import Motion
from dynid.preparation.preparation import Preparation
from dynid.preparation.prepared_motion import prepare
from dynid.problem.closed_loop import build_loop_problem
from dynid.simulation.controller import Controller, Velocity
from dynid.simulation.laws import Cascade
from dynid.simulation.setup import Accuracy
from dynid.simulation.simulation import simulate
from dynid.trajectories.reference import Reference

KP, KV, LIMIT_V = 160.18, 243.45, 10.0
"""Gains [1/s, V s/m] and largest output [V] of the controller."""
PERIOD = 1e-3
FIRST = 49
"""Samples the authors leave out at the start."""
FILES = ("DATA_EMPS.mat", "DATA_EMPS_PULSES.mat")
SIGNALS = ("position", "velocity", "acceleration", "force")
PUBLISHED = ((0.0138, 0.229, 8.60, 5.85), (0.0080, 0.479, 19.8, 8.94))
"""Relative errors of the authors' simulation [%], per file."""
SHARE = 0.15
WIDTH = 1e-3
"""Speed below which the simulated friction is smooth [m/s]; the axis moves at up to 0.13 m/s."""


@dataclass(frozen=True, eq=False)
class Record:
    """One file of the data set.

    Args:
        log: joint side.
        pulses: force pulses added to the controller's output [N], (samples, 1).
        motion: the measured motion as the authors filter it, without the first samples.
    """

    log: Log
    pulses: FloatArray
    motion: Motion


def force_per_volt() -> float:
    """Drive gain [N/V]."""
    drives = load_robot("emps").drives
    assert drives is not None
    assert drives.gain is not None
    return float(drives.gain[0])


def read_record(folder: Path, file: str) -> Record:
    """A file with its pulses, which are volts although their name says newton."""
    robot = load_robot("emps")
    with packaged_mapping("emps") as mapping:
        log = to_joint_side(read_log(folder / file, mapping), robot)
    plan = Preparation(
        stamps="even", cutoff_hz=100.0, order=4, drop_samples=FIRST, drop_end=0, convention="matlab"
    )
    return Record(log, force_per_volt() * _volts(folder / file, log.samples), prepare(log, plan))


def _volts(file: Path, samples: int) -> FloatArray:
    from scipy.io import loadmat

    found = loadmat(file).get("pulses_N")
    return np.zeros((samples, 1)) if found is None else np.asarray(found, dtype=float)


def controller(delay: int = 0, period: float = PERIOD) -> Controller:
    """v = kp kv (q_r − q) − kv q̇ with q̇ from a backward difference of the mean of two samples."""
    gain = force_per_volt()
    law = Cascade((KP,), (KV * gain,))
    return Controller(law, period, Velocity("mean"), delay=delay, saturation=(LIMIT_V * gain,))


def simulated_errors(record: Record, *, delay: int, period: float, held: bool) -> FloatArray:
    """Relative errors [%] of position, velocity, acceleration and force, simulated with the published model.

    Args:
        record: the file.
        delay: samples by which the controller's output acts late.
        period: the simulation's clock [s]; its k-th sample is compared with the log's.
        held: whether the pulses are held between samples; else they run straight from one to the next, and a
            held force of their mean does the same.
    """
    robot, log = load_robot("emps"), record.log
    t = np.asarray(np.arange(log.samples) * period, dtype=np.float64)
    followed = Reference(period, np.interp(t, log.time, log.channel("reference")[:, 0])[:, None])
    ahead = t + delay * period  # the delay of the controller must not hold up the pulses
    at_sample, mean = _pulse(record, t), _pulse(record, ahead)
    if not held:
        mean = (mean + _pulse(record, ahead + period)) / 2
    done = simulate(
        robot,
        None,
        controller(delay, period),
        followed,
        accuracy=Accuracy(friction="stick"),
        start=(log.channel("position")[0], np.zeros(1)),
        torque=mean,
    )
    acted = np.concatenate([np.zeros((delay, 1)), mean[: log.samples - delay]])
    force = done.tau - acted + at_sample
    acceleration = done.qdd + (at_sample - acted) / robot.parameters["M1"]
    motion = record.motion
    pairs = (
        (done.q, motion.q),
        (done.qd, motion.qd),
        (acceleration, motion.qdd),
        (force, motion.tau),
    )
    return np.array([100 * np.linalg.norm(a[FIRST:] - b) / np.linalg.norm(b) for a, b in pairs])


def _pulse(record: Record, t: FloatArray) -> FloatArray:
    return np.asarray(np.interp(t, record.log.time, record.pulses[:, 0])[:, None], dtype=float)


def clock_of(log: Log) -> float:
    """The period the authors simulate with: the difference of the tenth and ninth stamp [s]."""
    return float(log.time[9] - log.time[8])


def law_error(record: Record) -> float:
    """How well the law tells the logged force, without delay, relative [%]."""
    q, r = record.log.array("position"), record.log.array("reference")
    speed = np.zeros_like(q)
    speed[2:] = (q[2:] - q[:-2]) / (2 * PERIOD)
    volts = KP * KV * (r - q) - KV * speed
    limit = LIMIT_V * force_per_volt()
    told = np.clip(force_per_volt() * volts + record.pulses, -limit, limit)
    force = record.log.array("torque")
    quiet = slice(2, None)
    return float(100 * np.linalg.norm((force - told)[quiet]) / np.linalg.norm(force[quiet]))


def simulation_rows(folder: Path) -> list[Row]:
    """The authors' simulation on both files, and the loop as the log shows it."""
    rows: list[Row] = []
    for file, published in zip(FILES, PUBLISHED, strict=True):
        record = read_record(folder, file)
        theirs = simulated_errors(record, delay=1, period=clock_of(record.log), held=False)
        own = simulated_errors(record, delay=0, period=PERIOD, held=True)
        as_they_did = [
            Row(
                f"{signal} error [%]",
                value,
                float(found),
                f"within {100 * SHARE:g} %",
                bool(abs(found - value) <= SHARE * value),
            )
            for signal, value, found in zip(SIGNALS, published, theirs, strict=True)
        ]
        as_logged = [
            Row(f"{signal} error [%]", value, float(found), "at most the published", bool(found <= value))
            for signal, value, found in zip(SIGNALS, published, own, strict=True)
        ]
        told = law_error(record)
        as_logged.append(Row("logged force by the law [%]", None, told, "at most 3", told <= 3.0))
        rows += rows_of_table(f"{file}: closed loop simulated as its authors do", as_they_did)
        rows += rows_of_table(f"{file}: the same with the loop that the log shows", as_logged)
    return rows


def fit_loop(folder: Path, method: str) -> Estimate:
    """DIDIM or IV from the raw log of the first file: no position is filtered.

    Args:
        folder: of the data.
        method: "DIDIM" or "IV".
    """
    robot, log = load_robot("emps"), read_record(folder, FILES[0]).log
    plan = Preparation(stamps="even", decimation=10, convention="matlab")
    followed = Reference(PERIOD, log.array("reference"))
    motions = [prepare(log, plan)] if method == "IV" else None
    problem = build_loop_problem(
        robot, [log], controller(), [followed], plan, motions=motions, accuracy=Accuracy(width=WIDTH)
    )
    kind = {"DIDIM": DIDIM, "IV": IV}[method]
    return identify(problem, kind(step=OLS(), uncertainty="classical"))


def loop_rows(folder: Path, least_squares: Mapping[str, float]) -> list[Row]:
    """Estimates from the raw log beside the published ones of least squares on filtered positions."""
    rows = []
    for method in ("DIDIM", "IV"):
        found = fit_loop(folder, method)
        own = [
            near(name, least_squares[name], float(ours), float(sigma), 0.02)
            for name, ours, sigma in zip(found.names, found.values, found.sigma, strict=True)
        ]
        trusted = float(found.outcome.trustworthy)
        own.append(Row(f"trustworthy: {found.outcome.name}", None, trusted, "1", trusted == 1.0))
        own.append(Row("iterations", None, float(found.iterations), "at most 8", found.iterations <= 8))
        rows += rows_of_table(f"{method} from the raw log, beside the published least squares", own)
    return rows
