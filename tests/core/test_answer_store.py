"""Kept answers: exact, whole after a kill at any byte, of one study, and for one process at a time."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from dynid.core.answer_store import SCHEMA, AnswerStore, json_key
from dynid.core.errors import DynidError, FileError

posix_only = pytest.mark.skipif(os.name != "posix", reason="needs POSIX")


def filled(path: Path, study: str = "a1") -> bytes:
    """The bytes of a file with two answers."""
    with AnswerStore(path, study) as store:
        store.keep("1", [0.1, 1e-300])
        store.keep("2", {"σ": "ä"})
    return path.read_bytes()


def test_answers_not_worth_keeping_are_asked_again(tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "a", "a1", worth=lambda answer: answer != "failed") as store:
        assert store.keep("x", "failed") == "failed"
        assert store.keep("y", "done") == "done"
        assert ("x" in store, "y" in store) == (False, True)
        store.forget("y")
        assert "y" not in store
    with AnswerStore(tmp_path / "a", "a1", worth=lambda answer: answer != "done") as store:
        assert len(store) == 0


def test_answers_come_back_exactly(tmp_path: Path) -> None:
    answer = {
        "values": np.array([0.1, 1 / 3, math.pi * 1e-200, math.inf, -math.inf]),
        "rows": [np.float64(0.3), np.int64(7), True, None, "text\nof two lines"],
        "pair": (1, 2.5),
    }
    path = tmp_path / "new" / "folder" / "answers.jsonl"
    with AnswerStore(path, "a1") as store:
        now = store.keep("task", answer)
        nan = store.keep("nan", math.nan)
    with AnswerStore(path, "a1") as store:
        assert store["task"] == now
        assert math.isnan(store["nan"])
        assert math.isnan(nan)
        assert (len(store), "task" in store, "other" in store) == (2, True, False)
    assert now["values"] == answer["values"].tolist()  # type: ignore[attr-defined]
    assert now["rows"] == [0.3, 7, True, None, "text\nof two lines"]
    assert now["pair"] == [1, 2.5]


def test_the_file_is_lines_of_json_after_a_header(tmp_path: Path) -> None:
    first, *rest = map(json.loads, filled(tmp_path / "a").splitlines())
    assert first == {"schema": SCHEMA, "study": "a1"}
    assert rest == [{"task": "1", "answer": [0.1, 1e-300]}, {"task": "2", "answer": {"σ": "ä"}}]


def test_a_file_cut_at_any_byte_is_mended(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    content = filled(path)
    for size in range(len(content)):
        path.write_bytes(content[:size])
        with AnswerStore(path, "a1") as store:
            assert len(store) == max(content[:size].count(b"\n") - 1, 0)
            for key, answer in (("1", [0.1, 1e-300]), ("2", {"σ": "ä"})):
                if key not in store:
                    store.keep(key, answer)
        assert path.read_bytes() == content


def test_an_answer_is_on_disk_before_the_file_is_closed(tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "a", "a1") as store:
        store.keep("1", 5)
        assert (tmp_path / "a").read_bytes().endswith(b'{"task": "1", "answer": 5}\n')


def test_a_line_damaged_in_the_middle_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(filled(path).replace(b'"answer": [', b'"answer" [', 1))
    with pytest.raises(FileError, match=r"Line 2 of .* is damaged; add --force to begin anew"):
        AnswerStore(path, "a1")
    with AnswerStore(path, "a1", fresh=True) as store:
        assert len(store) == 0


def test_another_study_is_refused_or_begun_anew(tmp_path: Path) -> None:
    path = tmp_path / "answers.jsonl"
    content = filled(path, "a1")
    with pytest.raises(FileError, match=r"answers\.jsonl holds answers of another study .* add --force"):
        AnswerStore(path, "b2")
    assert path.read_bytes() == content
    with AnswerStore(path, "b2", fresh=True) as store:
        assert "1" not in store
    assert path.read_bytes() == f'{{"schema": "{SCHEMA}", "study": "b2"}}\n'.encode()


@pytest.mark.parametrize("content", [b"time,q1\n0,1\n", b"\x00\xff", b'{"schema": "other/1"}\n', b"[1]\n"])
@pytest.mark.parametrize("fresh", [False, True])
def test_a_file_of_somebody_else_is_never_touched(tmp_path: Path, content: bytes, fresh: bool) -> None:
    (tmp_path / "mine").write_bytes(content)
    with pytest.raises(FileError, match="mine is not a file of answers"):
        AnswerStore(tmp_path / "mine", "a1", fresh=fresh)
    assert (tmp_path / "mine").read_bytes() == content


def test_what_cannot_be_written_gets_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(FileError, match=r"Answers cannot be kept in .*answers: "):
        AnswerStore(tmp_path / "file" / "below" / "answers", "a1")
    with pytest.raises(FileError, match="Answers cannot be kept in"):
        AnswerStore(tmp_path, "a1")


@posix_only
def test_a_pipe_is_refused_without_waiting(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match="pipe is not a regular file"):
        AnswerStore(tmp_path / "pipe", "a1")


def test_a_full_disk_leaves_whole_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = os.write

    def half(handle: int, data: memoryview) -> int:
        if len(data) < 20:
            raise OSError(28, "No space left on device")
        return real(handle, data[: len(data) // 2])

    with AnswerStore(tmp_path / "a", "a1") as store:
        store.keep("1", 1)
        with monkeypatch.context() as patch:
            patch.setattr(os, "write", half)
            with pytest.raises(FileError, match=r"cannot be kept in .*: No space left on device"):
                store.keep("2", list(range(50)))
        assert "2" not in store
        store.keep("3", 3)
    with AnswerStore(tmp_path / "a", "a1") as store:
        assert [key in store for key in "123"] == [True, False, True]


OTHER = """
import sys
from dynid.core.answer_store import AnswerStore
try:
    AnswerStore(sys.argv[1], "a1")
except Exception as error:
    print(error)
"""


def test_a_second_process_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, "-c", OTHER, str(tmp_path / "a")]
    with AnswerStore(tmp_path / "a", "a1"):
        run = subprocess.run(command, capture_output=True, text=True, check=True)
        assert run.stdout.startswith(f"Another dynid process is using {tmp_path / 'a'}; wait for its end")
    assert subprocess.run(command, capture_output=True, text=True, check=True).stdout == ""


def test_what_json_cannot_hold_is_refused(tmp_path: Path) -> None:
    with AnswerStore(tmp_path / "a", "a1") as store:
        with pytest.raises(DynidError, match="answer to 1 cannot be kept as JSON: set is neither a number"):
            store.keep("1", {1, 2})
        with pytest.raises(DynidError, match="complex is neither"):
            store.keep("1", np.array([1j]))
    with pytest.raises(DynidError, match="The task cannot be kept as JSON: object is neither"):
        json_key(object())
    with pytest.raises(DynidError, match="are closed; open them again"):
        store.keep("1", 1)
