"""Logs of one SCARA that several commands are tried on."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dynid.model.load import load_robot
from support.workflow_logs import write_csv, write_long

PLAN = "cutoff_hz = 10\ndrop_samples = 60\ndecimation = 10\nspeed_thresholds = [0.01, 0.01]\n"


@pytest.fixture(scope="session")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three good logs of one SCARA, a noisy one, one that stands still, and a plan."""
    folder = tmp_path_factory.mktemp("logs")
    robot = load_robot("scara")
    for seed in (1, 2, 3):
        write_csv(folder / f"run{seed}.csv", robot, seed, seconds=12.0, rate_hz=250.0)
    write_csv(folder / "noisy.csv", robot, 4, seconds=12.0, rate_hz=250.0, noise=2.0)
    write_long(folder / "run.parquet", robot, 3000, 250.0)
    table = np.loadtxt(folder / "run1.csv", delimiter=",", skiprows=1)
    table[:, 1:3] = 0.5
    np.savetxt(folder / "still.csv", table, delimiter=",", header="time,q1,q2,tau1,tau2", comments="")
    (folder / "plan.toml").write_text(PLAN)
    write_csv(folder / "small.csv", robot, 2, seconds=8.0, rate_hz=250.0)
    _write_variants(folder)
    return folder


def _write_variants(folder: Path) -> None:
    """A value that no sensor gives, torques 40 ms late, and the same motion twice with fresh noise."""
    table = np.loadtxt(folder / "run3.csv", delimiter=",", skiprows=1)
    wild, late, twice = table.copy(), table[10:].copy(), np.concatenate([table, table])
    wild[2500, 4] = 1e300
    late[:, 3:5] = table[:-10, 3:5]
    twice[:, 0] = np.arange(len(twice)) / 250.0
    twice[:, 3:5] += 0.01 * np.random.default_rng(0).normal(size=(len(twice), 2))
    for name, rows in (("wild", wild), ("late", late), ("twice", twice)):
        np.savetxt(folder / f"{name}.csv", rows, delimiter=",", header="time,q1,q2,tau1,tau2", comments="")


@pytest.fixture
def logs(recorded: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Stand in an empty folder; the logs are elsewhere."""
    monkeypatch.chdir(tmp_path)
    return recorded
