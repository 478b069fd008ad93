"""Long logs: the same answer chunk by chunk as in one piece."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dynid.estimators.least_squares import WLS
from dynid.model.load import load_robot
from dynid.signals.preparation import Preparation
from dynid.signals.read import read_log
from dynid.workflow.fit import fit_logs
from dynid.workflow.logs import is_long
from dynid.workflow.stream import fit_stream
from support.workflow_logs import write_parquet

pytest.importorskip("pyarrow")
ROBOT = load_robot("scara")
PLAN = Preparation(cutoff_hz=20.0, drop_samples=60, decimation=5)


def test_streamed_equals_whole(tmp_path: Path) -> None:
    path = write_parquet(tmp_path / "long.parquet", ROBOT, samples=60_000)
    streamed = fit_stream(ROBOT, path, None, WLS(), plan=PLAN, chunk=11_000)
    whole = fit_logs(ROBOT, [read_log(path)], WLS(), plan=PLAN)
    # The cuts cost a few rows at their edges, no more.
    assert np.abs(streamed.estimate.values - whole.estimate.values).max() < 0.2 * whole.estimate.sigma.max()
    assert np.allclose(streamed.estimate.sigma, whole.estimate.sigma, rtol=0.05)
    assert is_long(path, None, 59_999)
    assert not is_long(path, None, 60_000)
