"""Ten million samples of seven axes in bounded memory (slow)."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from dynid.base.find import find_base
from dynid.model.load import load_robot
from support.pinocchio_oracle import pinocchio_oracle
from support.robots import with_random_inertias
from support.workflow_logs import write_parquet

CHILD = """
import json, resource, sys, time
from pathlib import Path
from dynid.estimators import WLS
from dynid.model.load import load_robot
from dynid.preparation.preparation import Preparation
from dynid.workflow.stream import fit_stream
start = time.perf_counter()
plan = Preparation(cutoff_hz=20.0, decimation=10)
result = fit_stream(load_robot("iiwa14"), Path(sys.argv[1]), None, WLS(), plan=plan)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
seconds, relative = time.perf_counter() - start, result.own.judged.overall_percent
n_base = len(result.estimate.values)
print(json.dumps({"seconds": seconds, "peak_mb": peak, "n_base": n_base, "relative": relative}))
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="peak memory is read with the resource module of Unix")
def test_ten_million_samples_fit_in_bounded_memory(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("pyarrow")
    pin = pytest.importorskip("pinocchio")
    robot = load_robot("iiwa14")
    samples = 10_000_000
    path = write_parquet(tmp_path / "long.parquet", robot, samples=samples, rate_hz=1000.0)
    done = subprocess.run(
        [sys.executable, "-c", CHILD, str(path)], check=True, capture_output=True, text=True
    )
    found = json.loads(done.stdout)
    assert found["peak_mb"] < 1500
    assert found["n_base"] == 64
    assert found["relative"] < 2.0

    base, few = find_base(robot), 20_000
    model = pinocchio_oracle(with_random_inertias(robot, np.random.default_rng(1))).model
    data = model.createData()
    q, qd, qdd = np.random.default_rng(0).normal(size=(3, few, 7))
    start = time.perf_counter()
    W = np.vstack(
        [pin.computeJointTorqueRegressor(model, data, *row) for row in zip(q, qd, qdd, strict=True)]
    )
    np.linalg.lstsq(W[:, : min(len(base), W.shape[1])], W[:, 0], rcond=None)
    peer = (time.perf_counter() - start) / few
    ours = found["seconds"] / samples
    with capsys.disabled():
        print(
            f"\n10 million samples × 7 axes: {found['seconds']:.0f} s, {found['peak_mb']:.0f} MB; "
            f"{peer / ours:.1f}× the throughput of a Pinocchio loop with lstsq on a slice"
        )
