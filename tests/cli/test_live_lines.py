"""Live records as lines: NDJSON that any reader takes, files that are not lost, readers that leave."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from dynid.cli.live_lines import RecordLines, record_file, record_output, status_line
from dynid.core.errors import FileError
from dynid.report.live_history import LiveHistory
from support.live_records import live_records

RECORDS = list(live_records(20, parameters=4, joints=2))
SCRIPT = """
import sys
from dynid.cli.live_lines import record_output
from dynid.cli.process import patient_output
with patient_output(), record_output() as lines:
    count = 0
    while lines.write({"kind": "record", "t": float(count), "text": "x" * 1000}):
        count += 1
    print("gone")  # what follows goes nowhere, without a complaint
sys.exit(7 if not lines.open else 1)
"""


class Told(io.BytesIO):
    """Counts how often it is flushed."""

    flushed = 0

    def flush(self) -> None:
        self.flushed += 1


class Full(io.BytesIO):
    def flush(self) -> None:
        raise OSError(28, "No space left on device")


def test_one_line_per_record_flushed_with_null_for_no_number() -> None:
    stream = Told()
    lines = RecordLines(stream)
    assert all(lines.write(record) for record in RECORDS)
    assert stream.flushed == len(RECORDS)
    read = [json.loads(line) for line in stream.getvalue().decode().splitlines()]
    assert [record["kind"] for record in read] == [record["kind"] for record in RECORDS]
    assert read[1]["inertia"] is None
    assert read[1]["values"] == RECORDS[1]["values"].tolist()  # all digits
    assert b"NaN" not in stream.getvalue()


def test_a_file_grows_line_by_line_and_is_not_overwritten(tmp_path: Path) -> None:
    path = tmp_path / "run.ndjson"
    with record_file(path, force=False) as lines:
        lines.write(RECORDS[0])
        assert json.loads(path.read_text())["kind"] == "header"  # while it is being written
    with pytest.raises(FileError, match="exists already; add --force"), record_file(path, force=False):
        pass
    with record_file(path, force=True) as lines:
        lines.write(RECORDS[1])
    assert json.loads(path.read_text())["kind"] == "record"


def test_a_file_that_cannot_be_written_is_one_sentence(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="is a folder"), record_file(tmp_path, force=True):
        pass
    with (
        pytest.raises(FileError, match="cannot be written: No such file"),
        record_file(tmp_path / "a" / "b", False),
    ):
        pass
    with pytest.raises(FileError, match=r"^run cannot be written: No space left on device\.$"):
        RecordLines(Full(), "run").write(RECORDS[0])


def test_standard_output_takes_records(capfdbinary: pytest.CaptureFixture[bytes]) -> None:
    with record_output() as lines:
        assert lines.write(RECORDS[1])
    assert json.loads(capfdbinary.readouterr().out)["kind"] == "record"


@pytest.mark.skipif(os.name == "nt", reason="needs a POSIX shell.")
def test_a_reader_who_leaves_ends_the_run_with_its_own_exit_code(tmp_path: Path) -> None:
    (tmp_path / "run.py").write_text(SCRIPT)
    script = f"{{ '{sys.executable}' run.py; echo $? > code; }} 2> said | head -n 2 > seen"
    subprocess.run(["sh", "-c", script], cwd=tmp_path, check=True, timeout=60)
    assert (tmp_path / "code").read_text() == "7\n"
    assert (tmp_path / "said").read_text() == ""
    assert len((tmp_path / "seen").read_text().splitlines()) == 2


def test_the_state_of_a_run_in_one_line() -> None:
    history = LiveHistory()
    assert status_line(history) == "no record yet"
    for record in RECORDS:
        kept: Any = history.add(record)
    percents = " ".join(f"{percent:.3g}" for _, percent in history.torque_errors())
    chi = f"{RECORDS[-2]['innovation']:.3g}"
    assert kept["kind"] == "end"
    assert status_line(history) == (
        f"1.9 s, rows used 2000, χ² {chi}, torque errors [%] {percents}, "
        "late 2, missing 3, out of order 1, events 1"
    )
