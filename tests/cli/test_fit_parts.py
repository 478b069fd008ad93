"""Positions in one file and torques in another are one experiment, to every command alike."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from dynid.cli.main import run
from dynid.model.load import load_robot
from support.workflow_logs import experiment


def test_check_and_fit_join_the_files_of_one_experiment(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    motion = experiment(load_robot("scara"), 1)
    files = []
    for name, values in (("q", motion.q), ("tau", motion.tau)):
        file = tmp_path / f"{name}.csv"
        rows = np.column_stack([motion.time, values])
        np.savetxt(file, rows, delimiter=",", header=f"time,{name}1,{name}2", comments="", fmt="%.12g")
        files.append(str(file))
    assert run(["check", *files, "--robot", "scara", "--json"]) == 0
    assert len(json.loads(capsys.readouterr().out)["logs"]) == 1
    assert run(["fit", "scara", *files, "--out", str(tmp_path / "result"), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["n_base"] == 8
    assert summary["fit"]["overall_percent"] < 5.0
