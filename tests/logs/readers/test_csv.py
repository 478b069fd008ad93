"""CSV: every way to write one, and a sentence with the line number for every way to break one."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from dynid.core.errors import FileError
from dynid.logs.log import Log
from dynid.logs.mapping import mapping_from_table
from dynid.logs.read import read_log
from support.logs import csv_text, pendulum_log

LOG = pendulum_log(seconds=1.0)


@pytest.fixture(params=["numpy", "pyarrow"], autouse=True)
def parser(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both parsers of plain numbers give the same logs and sentences."""
    if request.param == "pyarrow":
        pytest.importorskip("pyarrow", reason="pyarrow reads large CSV files; install the logs extra.")
        monkeypatch.setattr("dynid.logs.readers.csv_text._LARGE", 0)


def written(folder: Path, text: str, name: str = "log.csv", encoding: str = "utf-8") -> Path:
    path = folder / name
    path.write_bytes(text.encode(encoding))
    return path


def assert_same(log: Log, channels: tuple[str, ...] = ("position", "torque")) -> None:
    assert np.allclose(log.time, LOG.time, rtol=0, atol=1e-12)
    for channel in channels:
        assert np.array_equal(log.channels[channel], LOG.channels[channel])


@pytest.mark.parametrize("delimiter", [",", ";", "\t", " ", ", ", "   "])
@pytest.mark.parametrize("ending", ["\n", "\r\n"])
def test_every_delimiter_is_found(tmp_path: Path, delimiter: str, ending: str) -> None:
    assert_same(read_log(written(tmp_path, csv_text(LOG, delimiter).replace("\n", ending))))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    assert_same(read_log(written(tmp_path, csv_text(LOG), encoding=encoding)))


def test_a_degree_sign_of_windows_is_read(tmp_path: Path) -> None:
    text = csv_text(LOG).replace("q1", "q1 [°]").replace("q2", "q2 [°]")
    log = read_log(written(tmp_path, text, encoding="latin-1"))
    assert np.allclose(log.channels["position"], np.radians(LOG.channels["position"]))


def test_quotes_comments_blank_lines_and_trailing_delimiters(tmp_path: Path) -> None:
    lines = csv_text(LOG).splitlines()
    lines[0] = ",".join(f'"{name}"' for name in lines[0].split(","))
    text = "# a comment\n\n" + "\n".join(f"{line}," for line in lines[:50]) + "\n% another\n\n"
    assert_same(read_log(written(tmp_path, text + "\n".join(f"{line}," for line in lines[50:]))))


def test_names_in_a_comment_as_savetxt_writes_them(tmp_path: Path) -> None:
    path = tmp_path / "saved.txt"
    table = np.column_stack([LOG.time, LOG.channels["position"], LOG.channels["torque"]])
    np.savetxt(path, table, fmt="%.17g", header="time q1 q2 tau1 tau2")
    assert_same(read_log(path))


def test_no_header_needs_numbers(tmp_path: Path) -> None:
    path = written(tmp_path, csv_text(LOG).split("\n", 1)[1])
    mapping = {"time": {"column": 1}, "position": {"columns": "2-3"}, "torque": {"columns": [4, 5]}}
    assert_same(read_log(path, mapping_from_table(mapping)))
    with pytest.raises(FileError, match=r"No position and no torque was recognised .* '1', '2', '3'"):
        read_log(path)


def test_a_decimal_comma_is_asked_for_and_not_guessed(tmp_path: Path) -> None:
    path = written(tmp_path, csv_text(LOG, ";", ","))
    with pytest.raises(FileError, match=r'decimal comma; say so in a mapping with decimal = "," in \[csv\]'):
        read_log(path)
    assert_same(read_log(path, mapping_from_table({"csv": {"decimal": ","}})))


def test_a_decimal_comma_between_commas_is_named(tmp_path: Path) -> None:
    path = written(tmp_path, "t,q1,tau1\n0,0,1,5,2,5\n0,1,1,5,2,5\n")
    with pytest.raises(FileError, match=r"line 2: 6 cells under a header of 3 names \(a decimal comma\?"):
        read_log(path)


def test_missing_cells_are_nan(tmp_path: Path) -> None:
    lines = csv_text(LOG).splitlines()
    cells = lines[3].split(",")
    lines[3] = ",".join([cells[0], "", cells[2], "NaN", cells[4]])
    log = read_log(written(tmp_path, "\n".join(lines) + "\n"))
    assert np.argwhere(np.isnan(log.channels["position"])).tolist() == [[2, 0]]
    assert np.argwhere(np.isnan(log.channels["torque"])).tolist() == [[2, 0]]


BROKEN = {
    "empty": ("", r"log\.csv is empty"),
    "only blanks": ("\n\n\n", "holds no rows of numbers"),
    "only a header": ("t,q1,tau1\n", "a header but no rows of numbers"),
    "only comments": ("# nothing\n", "holds no rows of numbers"),
    "a row of words": (
        "t,q1,tau1\none,two,3\n1,2,3\n2,3,4\n",
        r"line 2: column 't' holds 'one', which is no number\. Should the names stand further down, give",
    ),
    "other width": ("t,q1,tau1\n0,1\n1,2,3\n2,3,4\n", r"line 2: 2 cells under a header of 3 names"),
    "binary": ("t,q1\0,tau1\n0,1,2\n", "is not text"),
    "two names": (
        "t,q1,q1,tau1\n0,1,2,3\n1,2,3,4\n",
        r"q1 of log\.csv occurs twice among its columns, so the position cannot be told; give the columns",
    ),
}


@pytest.mark.parametrize(("text", "sentence"), BROKEN.values(), ids=BROKEN)
def test_broken_files_say_where(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(FileError, match=sentence):
        read_log(written(tmp_path, text))


DAMAGED = {
    "short row": ("1,2", "line 4: 2 cells where 5 are expected"),
    "one cell": ("ERROR: controller fault", "line 4: 1 cell where 5 are expected"),
    "long row": ("1,2,3,4,5,6", "line 4: 6 cells where 5 are expected"),
    "text": ("1,ERR,3,4,5", "line 4: column 'q1' holds 'ERR', which is no number"),
    "underscore": ("1,1_0,3,4,5", "line 4: column 'q1' holds '1_0', which is no number"),
    "header again": ("t,q1,q2,tau1,tau2", "line 4: column 't' holds 't', which is no number"),
}


@pytest.mark.parametrize(("line", "sentence"), DAMAGED.values(), ids=DAMAGED)
def test_a_damaged_line_leaves_a_hole_and_is_noted(tmp_path: Path, line: str, sentence: str) -> None:
    lines = csv_text(LOG).splitlines()
    lines[3] = line
    log = read_log(written(tmp_path, "\n".join(lines) + "\n"))
    assert log.samples == LOG.samples
    assert np.flatnonzero(np.isnan(log.time)).tolist() == [2]
    assert np.isnan(log.channels["position"][2]).all()
    kept = np.arange(LOG.samples) != 2
    assert np.array_equal(log.channels["torque"][kept], LOG.channels["torque"][kept])
    (step,) = [step for step in log.history if step.name == "damaged lines"]
    assert step.options["lines"] == [4]
    assert f"1 line is damaged in log.csv ({sentence}); no values were read there." == step.note


@pytest.mark.parametrize("cut", [3, 25, 60])
def test_a_cut_off_last_row_is_left_out_and_noted(tmp_path: Path, cut: int) -> None:
    lines = csv_text(LOG).splitlines()
    path = written(tmp_path, "\n".join([*lines[:-1], lines[-1][:cut]]))
    log = read_log(path)
    if lines[-1][:cut].count(",") < 4:
        assert log.samples == LOG.samples - 1
        (step,) = [s for s in log.history if s.name == "truncated row"]
        assert step.options["line"] == len(lines)
        assert "cut off" in step.note


def test_lines_are_counted_across_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dynid.logs.readers.csv_text._BLOCK", 700)
    path = written(tmp_path, csv_text(LOG))
    assert_same(read_log(path))
    lines = csv_text(LOG).splitlines()
    lines[150] = lines[150].replace(",", ",x", 1)
    lines[200] = "1,2"
    log = read_log(written(tmp_path, "\n".join(lines)))
    (step,) = [step for step in log.history if step.name == "damaged lines"]
    assert step.options["lines"] == [151, 201]
    assert "line 151: column 'q1' holds 'x" in step.note


def test_an_endless_line_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = written(tmp_path, csv_text(LOG) + "1" * 20_000)
    monkeypatch.setattr("dynid.logs.readers.csv_text._BLOCK", 2_000)
    with pytest.raises(FileError, match="longer than"):
        read_log(path)
    monkeypatch.setattr("dynid.logs.readers.csv_layout._LOOKED_AT", 1_000)
    with pytest.raises(FileError, match=r"The first line of .* is longer than"):
        read_log(written(tmp_path, "1," * 5_000))
