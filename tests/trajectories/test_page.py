"""The page about trajectories: its code prints what it shows, its files load, and every family is on it."""

from __future__ import annotations

import contextlib
import io
import re
import tomllib
from pathlib import Path
from typing import Any

from dynid import trajectories
from dynid.core.keys import entries_of
from dynid.trajectories.keys import KINDS, SAMPLED_KINDS, ReferenceKeys

PAGE = (Path(__file__).parents[2] / "docs" / "trajectories.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"^```(python|text|toml)\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)


def test_the_code_prints_what_the_page_shows() -> None:
    names: dict[str, Any] = {}
    printed = ""
    for language, text in BLOCKS:
        if language == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile(text, "trajectories.md", "exec"), names)
            printed = out.getvalue()
        elif language == "text":
            assert printed == text


def test_its_files_are_motions_of_two_axes() -> None:
    tables = [tomllib.loads(text) for language, text in BLOCKS if language == "toml"]
    assert {table["kind"] for table in tables} == set(KINDS) - {"sines"}
    for table in tables:
        motion = trajectories.trajectory_from_table(table, 2)
        assert motion.axes == 2
        assert motion.periodic == (table["kind"] != "modified-fourier")


def test_every_name_is_described() -> None:
    base = ("MotionSpace", "Trajectory", "Reference", "Quintics", "reference_table")
    wanted = [name for name in trajectories.__all__ if name not in base]
    assert len(wanted) > 10
    assert [name for name in wanted if f"`{name}(" not in PAGE and f"`{name}`" not in PAGE
            and f".{name}(" not in PAGE] == []  # fmt: skip
    (kind,) = [entry for entry in entries_of(ReferenceKeys) if entry.name == "kind"]
    assert tuple(kind.key.choices) == (*KINDS, *SAMPLED_KINDS)
