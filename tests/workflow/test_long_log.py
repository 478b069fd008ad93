"""Ten million samples of seven axes through ``dynid fit`` in bounded memory, all of them checked (slow)."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dynid.base import find_base
from dynid.model.load import load_robot
from support.pinocchio_oracle import pinocchio_oracle
from support.robots import with_random_inertias
from support.workflow_logs import write_long

SAMPLES = 10_000_000
CHILD = """
import json, resource, sys, time
from dynid.cli.main import run
start = time.perf_counter()
code = run(["fit", "iiwa14", sys.argv[1], "--cutoff-hz", "20", "--decimation", "10", "--json"])
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(json.dumps({"code": code, "seconds": time.perf_counter() - start, "peak_mb": peak}))
"""


def peer_seconds() -> float:
    """Seconds per sample of a loop over Pinocchio's regressor with ``lstsq``, on a slice."""
    pin = pytest.importorskip("pinocchio")
    robot, few = load_robot("iiwa14"), 20_000
    base = find_base(robot)
    model = pinocchio_oracle(with_random_inertias(robot, np.random.default_rng(1))).model
    data = model.createData()
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, few, 7))
    start = time.perf_counter()
    W = np.vstack(
        [pin.computeJointTorqueRegressor(model, data, *row) for row in zip(q, qd, qdd, strict=True)]
    )
    np.linalg.lstsq(W[:, : min(len(base), W.shape[1])], W[:, 0], rcond=None)
    return (time.perf_counter() - start) / few


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="peak memory is read with the resource module of Unix")
@pytest.mark.parametrize("ending", ["parquet", "csv"])
def test_ten_million_samples_fit_in_bounded_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], ending: str
) -> None:
    pytest.importorskip("pyarrow")
    path = write_long(tmp_path / f"long.{ending}", load_robot("iiwa14"), samples=SAMPLES, rate_hz=1000.0)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path)], check=True, capture_output=True, text=True, cwd=tmp_path
    )
    *document, figures = done.stdout.strip().splitlines()
    found, fitted = json.loads(figures), json.loads("\n".join(document))
    assert found["code"] == 0
    assert found["peak_mb"] < 1000
    assert len(fitted["parameters"]) == 64
    assert fitted["fit"]["overall_percent"] < 2.0
    result = json.loads((tmp_path / "out" / "fit" / "result.json").read_text(encoding="utf-8"))
    assert result["document"]["data"][0]["facts"]["samples"] == SAMPLES
    with capsys.disabled():
        print(
            f"\n10 million samples × 7 axes from {ending}: {found['seconds']:.0f} s, "
            f"{found['peak_mb']:.0f} MB; {SAMPLES * peer_seconds() / found['seconds']:.1f}× the throughput "
            "of a Pinocchio loop with lstsq on a slice"
        )
