"""Run the command line inside the test process and read what it says."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from dynid.cli.main import run


@dataclass(frozen=True)
class Said:
    """What a command answered."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Standard output as the one JSON document it must be."""
        document = json.loads(self.out, parse_constant=_not_json)
        assert isinstance(document, dict)
        return document


def _not_json(name: str) -> None:
    raise AssertionError(f"{name} is not JSON")


def dynid(capsys: pytest.CaptureFixture[str], *arguments: str) -> Said:
    code = run(list(arguments))
    captured = capsys.readouterr()
    return Said(code, captured.out, captured.err)


def assert_one_sentence(said: Said, code: int = 1) -> str:
    """Exit code, nothing on standard output, and one line on standard error; returns the sentence."""
    assert (said.code, said.out) == (code, "")
    assert said.err.startswith("dynid: ")
    assert said.err.count("\n") == 1
    assert said.err.endswith(".\n")
    assert "Traceback" not in said.err
    return said.err.removeprefix("dynid: ").strip()
