"""Damaged lines right below the names are damaged lines, not another layout of the file."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dynid.core.errors import FileError
from dynid.logs.read import read_log

ROWS = [f"{0.01 * k:.2f},{0.1 * k:.3f},{-0.2 * k:.3f}" for k in range(60)]


def written(folder: Path, damaged: list[str]) -> Path:
    path = folder / "log.csv"
    path.write_text("\n".join(["time,q1,tau1", *damaged, *ROWS[len(damaged) :], ""]))
    return path


@pytest.mark.parametrize(
    "damaged",
    [["x,x,x"] * 9, ["BUS TIMEOUT"] * 3, ["0.00", "0.01,0.1"], ["# warm-up", "ERROR bus timeout"]],
)
def test_the_rest_of_the_log_is_read(tmp_path: Path, damaged: list[str]) -> None:
    log = read_log(written(tmp_path, damaged))
    bad = np.isnan(log.time)
    lines = [line for line in damaged if not line.startswith("#")]
    assert bad[: len(lines)].all()
    assert not bad[len(lines) :].any()
    assert log.array("torque")[-1, 0] == pytest.approx(-0.2 * 59)
    steps = [step for step in log.history if step.name == "damaged lines"]
    assert [step.options["count"] for step in steps] == [len(lines)]


def test_a_file_of_another_layout_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("\n".join(["time,q1,tau1", *["one,two,three"] * 40, *ROWS[:10], ""]))
    with pytest.raises(FileError, match=r"line 2: .* is no number\. Should the names stand further down"):
        read_log(path)
