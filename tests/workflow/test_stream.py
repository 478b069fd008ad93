"""Long logs: the same answer chunk by chunk as in one piece."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dynid.estimators import WLS
from dynid.logs.read import read_log
from dynid.model.load import load_robot
from dynid.preparation.preparation import Preparation
from dynid.workflow.fit import fit_logs
from dynid.workflow.logs import is_long
from dynid.workflow.stream import fit_stream
from support.workflow_logs import write_parquet

pytest.importorskip("pyarrow")
ROBOT = load_robot("scara")
PLAN = Preparation(cutoff_hz=20.0, drop_samples=60, decimation=5)


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_parquet(tmp_path_factory.mktemp("long") / "long.parquet", ROBOT, samples=200_000)


@pytest.mark.parametrize(
    ("plan", "chunk"),
    [
        (PLAN, 7_001),
        (PLAN, 100_000),
        (Preparation(cutoff_hz=20.0), 33_333),
        (Preparation(cutoff_hz=4.0, decimation=25, speed_thresholds=(0.1, 0.1)), 9_000),
    ],
)
def test_streamed_equals_whole(path: Path, plan: Preparation, chunk: int) -> None:
    """Filters and decimation go on over the cuts: the fit is that of the whole log, to rounding."""
    streamed = fit_stream(ROBOT, path, None, WLS(), plan=plan, chunk=chunk).estimate
    whole = fit_logs(ROBOT, [read_log(path)], WLS(), plan=plan).estimate
    assert streamed.problem.row_counts.tolist() == whole.problem.row_counts.tolist()
    np.testing.assert_allclose(streamed.values, whole.values, rtol=1e-9)
    np.testing.assert_allclose(streamed.sigma, whole.sigma, rtol=1e-9)
    (own,), (other,) = streamed.problem.experiments, whole.problem.experiments
    assert (own.samples, own.regression_samples, own.rows) == (
        other.samples,
        other.regression_samples,
        other.rows,
    )


def test_long_logs_are_told_by_their_samples(path: Path, tmp_path: Path) -> None:
    assert is_long(path, None, 199_999)
    assert not is_long(path, None, 200_000)
    short = tmp_path / "short.csv"
    short.write_text("t,q1,tau1\n" + "0.001,0.5,1.5\n" * 20_000)
    assert is_long(short, None, 19_000)
    assert not is_long(short, None, 21_000)
